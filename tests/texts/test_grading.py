import pytest

from recherche.text_queries import After
from recherche.texts.base import Ask, TextExample, searched
from recherche.texts.grading import grade, normalise, parts


def example(*answers: str) -> TextExample:
    return TextExample(
        context="", question="\nQuestion: which?\nAnswer:", answers=answers,
        trace=searched([Ask(After("a"), "b")], answers),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "written", "right"),
    [
        (("555-1234",), " 555-1234\n", True),
        (("555-1234",), "555-1234.", True),
        (("555-1234",), " 555-1234\nQuestion: more", True),
        (("555-1234",), "\n555-1234", False),
        (("555-1234",), " 555-12345", False),
        (("555-1234",), " It is 555-1234", False),
        (("555-1234",), "", False),
        (("Yes, and no.",), " yes,  and no", True),
        (("7", "8"), " 7, 8\n", True),
        (("7", "8"), "8 and 7.", True),
        (("7", "8", "9"), "7, 8, and 9", True),
        (("7", "8"), "7", False),
        (("7", "8"), "7, 8, 8", False),
        (("7", "8"), "7, 8, 9", False),
        (("7", "8"), "7 8", False),
        (("ﬁre",), "fire", True),
        (("café",), "cafe\u0301", True),
    ],
)
def test_an_answer_is_right_when_all_of_it_is(answers: tuple[str, ...], written: str, right: bool):
    assert grade(example(*answers), written) == right


def test_only_the_end_and_the_spaces_are_taken_off():
    assert normalise(" A. b.. ") == "a. b."
    assert parts("1,2", 1) == ["1,2"]
    assert parts("1,2", 2) == ["1", "2"]
