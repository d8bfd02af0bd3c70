import unicodedata
from random import Random

import pytest

from recherche.errors import ConfigError
from recherche.retrieval import After, Fold, Line, Retriever, Status, Word, folding
from recherche.retrieval.folding import FoldedText, clusters

LETTERS = "aeioAE.\u0301\u0300\u0327\u0345ßſK\u212b\u1100\u1161\u11a8가각ᾳΩİıǰ\u0c46\u0c56世\U0001d157\U0001d165\n "
FOLDS = {"form": Fold(), "case": Fold(form=None, case="ignore"), "both": Fold(case="ignore")}
DECOMPOSED = "Le cafe\u0301 noir.\nSTRASSE und Straße!\nx"


def random_text(random: Random) -> str:
    return "".join(random.choices(LETTERS, k=random.randint(0, 12)))


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_clusters_are_folded_alone(fold: Fold):
    random = Random(1)
    for _ in range(3_000):
        text = random_text(random)
        assert "".join(clusters(text)) == text
        assert "".join(map(fold, clusters(text))) == fold(text)


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_a_text_that_grows_is_folded_as_a_whole(fold: Fold):
    random = Random(2)
    for _ in range(500):
        folded, text = FoldedText(fold), ""
        for _ in range(4):
            text += random_text(random)
            folded.grow(bytearray(text.encode()))
            if random.random() < 0.3:
                folded = folded.fork()
            assert folded.data.decode() == fold(text)
            assert fold(text).encode().startswith(folded.data[: folded.settled])
        begin = 0
        for cluster in clusters(text):
            at, past = (len(text[:place].encode()) for place in (begin, begin + len(cluster)))
            first, end = (len(fold(text[:place]).encode()) for place in (begin, begin + len(cluster)))
            assert folded.source(first, end) == (at, past)
            begin += len(cluster)


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_places_are_kept_where_every_cluster_keeps_its_size(fold: Fold, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(folding, "_PIECE", 3)
    random = Random(3)
    for _ in range(2_000):
        text = random_text(random)
        sizes = [(len(one), len(one.encode())) for one in clusters(text)]
        folded = [(len(fold(one)), len(fold(one).encode())) for one in clusters(text)]
        assert not fold.keeps_places(text) or sizes == folded
        form = FoldedText(fold)
        form.grow(bytearray(text.encode()))
        assert form.data.decode() == fold(text)


def test_by_default_characters_are_exact():
    assert Retriever().text(DECOMPOSED).literal("caf\u00e9").status is Status.NO_MATCH


def test_what_is_found_is_the_text_itself():
    context = Retriever().text(DECOMPOSED, fold=Fold())
    for found in (context.literal("caf\u00e9"), context.search(r"caf\w"), context.query(Word("Le"))):
        assert (found.text, found.span) == ("cafe\u0301", (3, 8))
    assert context.query(After("caf\u00e9")).text == "noir."
    assert context.literal("\u00e9").text == "e\u0301"


def test_case_is_ignored_as_the_pattern_or_the_key_means_it():
    context = Retriever().text(DECOMPOSED, fold=Fold(case="ignore"))
    assert context.literal("strasse", "last").text == "Straße"
    assert context.query(Line("CAFÉ")).text == "Le cafe\u0301 noir."
    assert context.search(r"\bCAFÉ\b").text == "cafe\u0301"
    assert context.search("straSSe").text == "STRASSE"
    assert context.search("STRASSE!").status is Status.NO_MATCH


def test_a_mark_that_comes_later_belongs_to_its_letter():
    context = Retriever().text("e", fold=Fold())
    assert context.search("\u00e9").status is Status.NO_MATCH
    context.extend("\u0301")
    assert (context.search("\u00e9").span, context.search(r"\b\u00e9\b").span) == ((0, 2), (0, 2))
    twin = context.fork()
    context.extend("x")
    assert (context.literal("\u00e9x").span, context.search(r"\b\u00e9\b").status) == ((0, 3), Status.NO_MATCH)
    assert twin.search(r"\b\u00e9\b").span == (0, 2)


def test_within_a_changed_cluster_a_place_is_the_cluster():
    folded = FoldedText(Fold(form=None, case="ignore"))
    folded.grow(bytearray("aßb".encode()))
    assert [folded.source(*span) for span in ((1, 2), (2, 3), (2, 4), (2, 2))] == [(1, 3), (1, 3), (1, 4), (1, 1)]


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("settings", [{"form": "NFD"}, {"case": "upper"}])
def test_another_fold_is_refused(settings: dict):
    with pytest.raises(ConfigError, match="folds to the form 'NFC' or None, with the case 'keep' or 'ignore', got"):
        Fold(**settings)


def test_the_letters_of_this_test_need_folding():
    assert unicodedata.normalize("NFC", LETTERS) != LETTERS
    assert LETTERS.casefold() != LETTERS
