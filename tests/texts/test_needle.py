import re

import pytest

from recherche.errors import ConfigError, InputError
from recherche.texts.needle import AbstractNeedle, Needle, NeedleMultiKey, NeedleMultiQuery, NeedleMultiValue
from recherche.texts.prose import prose

NEEDLE = re.compile(r"(?:The|One) magic number of (\w+ \w+) is (\d{7})\.\s")


def needles(context: str) -> list[tuple[str, str]]:
    """Names and numbers in the order of the text."""
    return NEEDLE.findall(context)


@pytest.mark.parametrize(
    ("task", "count", "wanted"),
    [
        (Needle(), 1, 1),
        (NeedleMultiKey(keys=5), 5, 1),
        (NeedleMultiQuery(queries=3), 3, 3),
        (NeedleMultiValue(values=6), 6, 6),
    ],
    ids=lambda value: getattr(value, "name", value),
)
@pytest.mark.parametrize("n", [1, 50, 2000])
def test_the_answers_are_the_needles_of_those_who_are_asked_for(task: AbstractNeedle, count: int, wanted: int, n: int):
    for key in range(20):
        example = task.at_size(n).example(key)
        hidden = needles(example.context)
        assert len(hidden) == count
        right = [number for name, number in hidden if re.search(rf"\b{name}\b", example.question)]
        assert sorted(example.answers) == sorted(right)
        assert len(set(right)) == wanted


@pytest.mark.parametrize("n", [50, 2000])
def test_without_its_needles_the_text_is_prose_that_begins_with_a_sentence(n: int):
    for key in range(10):
        bare = NEEDLE.sub("", NeedleMultiKey(n=n, keys=7).example(key).context).strip()
        assert len(bare.split()) == n
        at = prose().index(bare)
        assert at == 0 or re.search(r"[.!?][\"')\]]*\s+\Z|\n\n\Z", prose()[max(0, at - 9) : at])


def test_needles_stand_between_sentences_everywhere():
    contexts = [Needle(n=400).example(key).context for key in range(200)]
    depths = [context.index("The magic number") / len(context) for context in contexts]
    assert all(25 < sum(low <= depth < low + 0.25 for depth in depths) < 75 for low in (0, 0.25, 0.5, 0.75))
    assert all(re.search(r"(\A|[.!?][\"')\]]*\s+|\n\n)The magic number", context) for context in contexts)


def test_the_one_who_is_asked_for_may_be_any_of_them():
    examples = [NeedleMultiKey(n=1, keys=3).example(key) for key in range(60)]
    assert {needles(e.context).index((*re.findall(r"of (.*)\?", e.question), *e.answers)) for e in examples} == {
        0,
        1,
        2,
    }


def test_the_user_names_prose_of_his_own(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("We sat by the fire. " * 50, encoding="utf-8")
    context = Needle(n=1000, prose=str(path)).example(3).context
    assert set(NEEDLE.sub("", context).split()) == {"We", "sat", "by", "the", "fire."}
    with pytest.raises(InputError, match="Cannot read the prose"):
        Needle(prose=str(tmp_path / "gone")).example(3)


@pytest.mark.parametrize(
    ("task", "option"), [(NeedleMultiKey, "keys"), (NeedleMultiValue, "values"), (NeedleMultiQuery, "queries")]
)
def test_too_few_or_too_many_needles_are_refused(task: type[AbstractNeedle], option: str):
    for value in (0, 1001):
        with pytest.raises(ConfigError, match=f"takes {option} from 1 to 1000, got {option} = {value}"):
            task(**{option: value})
