from random import Random

import pytest

from recherche.retrieval import Between, Fold, Limits, Line, Retriever, Sentence, Status
from recherche.text_queries import TextQuery
from tests.retrieval import fuzz
from tests.retrieval.text_oracles import answer, places, random_query, random_text


def wrong_answers(random: Random, count: int) -> list[tuple[str, TextQuery]]:
    """Texts and queries whose answer is not the one of the definition; texts grow, are forked, and hide stretches."""
    wrong, retriever = [], Retriever()
    for _ in range(count):
        context, visible, shift = retriever.text(), "", []
        for _ in range(3):
            if random.random() < 0.3:
                hidden = random_text(random)
                context.hide(hidden)
                shift.append((len(visible), len(hidden)))
            if random.random() < 0.2:
                context = context.fork()
            more = random_text(random)
            context.extend(more)
            visible += more
            query = random_query(random)
            found, wanted = context.query(query), answer(visible, query)
            if wanted is None:
                right = (found.status, found.span) == (Status.NO_MATCH, None)
            else:
                begin = wanted[0] + sum(size for at, size in shift if at <= wanted[0])
                end = wanted[1] + sum(size for at, size in shift if at < wanted[1])
                is_empty = wanted[0] == wanted[1]
                right = found.span == (begin, begin if is_empty else end) and found.text == (
                    None if is_empty else visible[slice(*wanted)]
                )
                right = right and found.status is (Status.EMPTY_RESULT if is_empty else Status.OK)
            if not right:
                wrong.append((visible, query))
    return wrong


@pytest.mark.usefixtures("unchecked_types")
def test_every_question_has_the_answer_of_its_definition():
    assert wrong_answers(Random(1), 3_000) == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
def test_every_question_has_the_answer_of_its_definition_at_length():
    assert wrong_answers(Random(2), fuzz.number_of_comparisons() // 3) == []


def test_the_definition_can_see_a_difference():
    text = "Ada Bergen. Ada Berg! x\n\nyes"
    assert places(text, "Ada Berg") == [12]
    assert answer(text, Sentence("Berg")) == (12, 21)
    assert answer(text, Sentence("x")) == (22, 23)
    assert answer(text, Between("Ada", "x")) == (4, 21) != answer(text, Between("Ada", "x", "last"))


def test_keys_are_folded_and_answers_are_not():
    context = Retriever().text("STRASSE 1\nStraße: CAFE\u0301\n", fold=Fold(case="ignore"))
    assert context.query(Line("strasse", "last")).text == "Straße: CAFE\u0301"
    assert context.query(Between("strasse", "café", 2)).text == ":"


def test_a_stretch_that_is_too_long_is_named():
    context = Retriever(limits=Limits(result_characters=10)).text("a" + " b" * 5_000 + " c")
    for query in (Between("a", "c"), Line("a"), Sentence("c")):
        assert context.query(query).status is Status.RESULT_TOO_LONG
