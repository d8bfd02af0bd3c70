from random import Random

import pytest

from recherche.retrieval.bordered_text import BorderedText
from recherche.retrieval.charset import is_word
from recherche.retrieval.folding import Fold, FoldedText
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.raw_text import RawText

LETTERS = "ab_ é世−\n\x01\u0301e"


def bordered_by_hand(text: str, stand_in: str) -> str:
    signs = ("_" + stand_in + "_" if c == "_" else f"_{c}_" if c > "\x7f" and is_word(c) else c for c in text)
    return "".join(signs)


@pytest.mark.parametrize("fold", [None, Fold()], ids=["exact", "folded"])
def test_letters_beyond_ascii_get_borders_while_the_text_grows(fold: Fold | None):
    random = Random(1)
    for _ in range(200):
        raw, text = RawText(), ""
        form = raw if fold is None else FoldedText(fold)
        bordered = BorderedText(form)
        for _ in range(4):
            more = "".join(random.choices(LETTERS, k=random.randint(0, 8)))
            raw.extend(more)
            text += more
            if isinstance(form, FoldedText):
                form.grow(raw.data)
            bordered.grow()
            shown = text if fold is None else fold(text)
            assert bordered.data.decode() == bordered_by_hand(shown, chr(bordered.stand_in))
            assert chr(bordered.stand_in) not in shown
            assert bordered.data[: bordered.settled] == bordered.data[: len(bordered.data)][: bordered.settled]


def test_borders_lead_back_to_the_text():
    raw = RawText()
    raw.extend("né_ e世")
    bordered = BorderedText(raw)
    bordered.grow()
    ends = [len(bordered_by_hand("né_ e世"[:count], "\x01").encode()) for count in range(7)]
    assert [bordered.source(at, at)[0] for at in ends] == [len("né_ e世"[:count].encode()) for count in range(7)]
    inside = bordered.inside()
    assert [at for at in range(len(bordered.data) + 1) if not inside(at)] == ends


def test_a_search_that_still_runs_keeps_its_own_marks():
    raw = RawText()
    raw.extend("é" * 3)
    bordered = BorderedText(raw)
    bordered.grow()
    inside, marks = bordered.inside(), bordered._marks
    bordered.share()
    assert bordered._marks is not marks
    raw.extend("_")
    bordered.grow()
    assert [at for at in range(12) if not inside(at)] == [0, 4, 8]


def test_a_text_with_every_control_character_is_refused():
    raw = RawText()
    raw.extend("é" + "".join(map(chr, range(128))))
    with pytest.raises(RefusedError, match="all control characters; name the borders") as refusal:
        BorderedText(raw).grow()
    assert refusal.value.status is Status.UNSUPPORTED
