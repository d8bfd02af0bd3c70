import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from recherche.errors import ConfigError
from recherche.text_queries import Sentence, TextQuery, write
from recherche.texts.base import Ask
from recherche.texts.hotpot_file import HotpotQuestion, read_hotpot
from recherche.texts.hotpot_prompts import (
    OPENING,
    Searching,
    answer_of,
    arranged,
    asked,
    choose_shots,
)
from tests.texts.made_up_hotpot import entries, write_hotpot


def slow_find(text: str, query: TextQuery) -> str | None:
    """The first sentence that holds the key as a whole, by splitting the text."""
    assert isinstance(query, Sentence)
    for block in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+", block):
            if re.search(rf"(?<!\w){re.escape(query.key)}" + r"(?!\w)" * query.key[-1].isalnum(), sentence):
                return sentence.strip()
    return None


def spell(ask: Ask) -> str:
    return f"<search>{write(ask.query)}</search><found>{ask.found}</found>"


SEARCHING = Searching(slow_find, spell)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> tuple[HotpotQuestion, ...]:
    return read_hotpot(write_hotpot(tmp_path_factory.mktemp("hotpot") / "dev.json"))


def test_two_paragraphs_are_those_with_the_facts_in_the_same_order_for_both(questions):
    for question in questions:
        pair = arranged(question, 2, "random", seed=0)
        assert pair == arranged(question, 2, "last", seed=0)
        assert {question.paragraphs.index(paragraph) for paragraph in pair} == set(question.supporting)


def test_the_facts_stand_last_or_anywhere(questions):
    places = Counter()
    for seed in range(20):
        for question in questions:
            facts = arranged(question, 2, "last", seed=seed)
            shown = arranged(question, 6, "last", seed=seed)
            assert (len(shown), shown[-2:]) == (6, facts)
            mixed = arranged(question, 6, "random", seed=seed)
            assert set(mixed) == set(shown)
            assert [paragraph for paragraph in mixed if paragraph in facts] == list(facts)
            places.update(mixed.index(paragraph) for paragraph in facts)
    expected = 20 * len(questions) * 2 / 6
    assert all(abs(places[place] - expected) < 0.25 * expected for place in range(6))


@pytest.mark.parametrize("order", ["random", "last"])
def test_more_paragraphs_keep_the_distractors_and_the_order_of_fewer(questions, order: str):
    for question in questions:
        shown = [arranged(question, n, order, seed=3) for n in (2, 4, 6, 8, 10)]
        for fewer, more in pairwise(shown):
            assert [paragraph for paragraph in more if paragraph in fewer] == list(fewer)
        assert set(shown[-1]) == set(question.paragraphs)


@pytest.mark.parametrize(("n", "order"), [(1, "random"), (11, "random"), (4, "first")])
def test_what_cannot_be_shown_is_refused(questions, n: int, order: str):
    with pytest.raises(ConfigError, match="is shown with 2 to 10 paragraphs in the order random or last"):
        arranged(questions[0], n, order, seed=0)


def test_a_question_stands_below_its_paragraphs(questions):
    question = questions[0]
    text = asked(arranged(question, 2, "last", seed=0), question.question)
    assert re.fullmatch(r"(\w+( \w+)?: [^\n]+\n\n){2}Question: On which river [^\n]+\?\nAnswer:", text)


def test_examples_tell_or_search_for_the_same_facts(questions):
    shots = choose_shots(questions, 4, SEARCHING, seed=0)
    assert len(set(shots.ids)) == 4
    assert shots.direct.startswith(OPENING)
    of_id = {question.id: question for question in questions}
    told = re.findall(r"Answer:( .*) So the answer is: (.*)\n\n", shots.direct)
    searched = re.findall(r"Answer:(.*) So the answer is: (.*)\n\n", shots.search)
    for name, (facts, answer), (searches, same) in zip(shots.ids, told, searched, strict=True):
        question = of_id[name]
        assert answer == same == question.answer
        sentences = [question.paragraphs[i].sentences[at].strip() for i, at in question.facts]
        assert sorted(sentences) == sorted(sentence for sentence in sentences if sentence in facts)
        found = re.findall(r"<search>sentence with (.*?)</search><found>(.*?)</found>", searches)
        assert len(found) == len(sentences)
        for key, passage in found:
            before = shots.search[: shots.search.index(f"<search>sentence with {key}</search><found>{passage}")]
            assert slow_find(before, Sentence(key)) == passage
            assert any(sentence in passage for sentence in sentences)


def test_the_first_search_is_by_words_of_the_question_and_the_next_by_what_was_found(questions):
    bridges = [question for question in questions if question.kind == "bridge"]
    shots = choose_shots(bridges, 1, SEARCHING, seed=1)
    [question] = [question for question in bridges if question.id == shots.ids[0]]
    person = question.question.split("where ")[1].removesuffix(" was born?")
    [first, second] = re.findall(r"<search>sentence with (.*?)</search>", shots.search)
    assert first.startswith(person)
    assert second not in question.question
    assert second.removesuffix(":") in {paragraph.title for paragraph in question.paragraphs}


def test_other_seeds_draw_other_examples(questions):
    drawn = {choose_shots(questions, 4, SEARCHING, seed=seed).ids for seed in range(5)}
    assert len(drawn) == 5


def test_no_examples_are_an_opening_only(questions):
    shots = choose_shots(questions, 0, SEARCHING, seed=0)
    assert shots.prompt("search", "Question: ?\nAnswer:") == f"{OPENING}Question: ?\nAnswer:"


def test_questions_whose_facts_cannot_be_searched_for_are_no_examples(tmp_path: Path, questions):
    made = entries()
    for entry in made[1:]:
        entry["question"] = "where was it?"
    [fit, *unfit] = read_hotpot(write_hotpot(tmp_path / "dev.json", made))
    assert choose_shots([*unfit, fit], 1, SEARCHING, seed=0).ids == (fit.id,)
    with pytest.raises(ConfigError, match="2 examples were asked for, and of 24 questions 1 have facts"):
        choose_shots([fit, *unfit], 2, SEARCHING, seed=0)
    with pytest.raises(ConfigError, match="1 examples were asked for"):
        choose_shots(questions, 1, Searching(lambda text, query: None, spell), seed=0)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (" It snowed. So the answer is: Lune\n", "Lune"),
        (" so the answer is Lune.\nSo the answer is: Arva", "Lune."),
        (" So the answer is:", ""),
        (" It snowed.\n\nSo the answer is: Lune", None),
        ("", None),
    ],
)
def test_the_answer_is_what_the_first_line_concludes(written: str, answer: str | None):
    assert answer_of(written) == answer
