from dataclasses import dataclass
from typing import ClassVar

import pytest

from recherche.errors import ConfigError, RechercheError
from recherche.retrieval.retriever import Retriever
from recherche.text_queries import After, write
from recherche.texts import TEXT_TASKS, AbstractTextTask, Ask, Say, TextExample, example_keys, examples, grade
from tests.texts.oracle import check_trace

KEYS = [0, 1, 2**64 - 1, *range(1000, 1020)]


@dataclass(frozen=True, kw_only=True)
class Wrong(AbstractTextTask):
    """A task whose search finds another line than it says."""

    name: ClassVar[str] = "wrong"
    counted: ClassVar[str] = "lines"

    def example(self, key: int) -> TextExample:
        return TextExample(
            context="ab: 1\nab: 2\n", question="\nab?\nAnswer:", answers=("2",),
            trace=(Ask(After("ab:"), "2"), Say(" 2\n")),
        )  # fmt: skip


@pytest.mark.parametrize("n", [None, 7, 40])
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_every_search_finds_what_the_trace_says(name: str, n: int | None):
    small = TEXT_TASKS[name]()
    task = small.at_size(max(small.least, n or 0))
    for key in KEYS:
        check_trace(task.example(key))


@pytest.mark.parametrize("n", [None, 200])
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_the_search_engine_agrees(name: str, n: int | None):
    task = TEXT_TASKS[name](n=n or TEXT_TASKS[name].n)
    for key in range(5):
        example = task.example(key)
        context = Retriever().text(example.prompt)
        for part in example.trace:
            if isinstance(part, Ask):
                context.hide(f"<search>{write(part.query)}</search>")
                assert context.query(part.query).text == part.found, part
                context.extend(f"<found>{part.found}</found>" if part.found is not None else "<nothing>")


def test_a_search_that_finds_another_line_is_noticed():
    with pytest.raises(AssertionError):
        check_trace(Wrong().example(0))


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_the_target_is_right_and_anything_else_is_not(name: str):
    example = TEXT_TASKS[name]().example(5)
    assert grade(example, example.target)
    assert not grade(example, "")
    assert not grade(example, example.target.replace("\n", " 1\n"))


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_a_prompt_ends_where_the_answer_begins(name: str):
    example = TEXT_TASKS[name]().example(5)
    assert example.prompt == example.context + example.question
    assert example.question.startswith("\nQuestion: ")
    assert example.prompt.endswith("\nAnswer:")


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_an_example_is_a_function_of_its_key(name: str):
    task = TEXT_TASKS[name]()
    assert task.example(9) == task.example(9)
    assert task.example(9).prompt != task.example(10).prompt


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_every_query_can_be_written(name: str):
    for part in TEXT_TASKS[name]().example(5).trace:
        assert isinstance(part, Say) or "\n" not in write(part.query)


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_sizes_out_of_range_are_refused(name: str):
    task = TEXT_TASKS[name]()
    for n in (task.least - 1, task.greatest + 1):
        with pytest.raises(ConfigError, match=rf"The task {name} takes n from {task.least} to \d+, got n = {n} "):
            task.at_size(n)


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_a_bound_never_falls_and_is_less_than_the_text_holds(name: str):
    bounds = [TEXT_TASKS[name](n=n).lower_bound_bits for n in (20, 40)]
    if bounds != [None, None]:
        assert 0 < bounds[0] <= bounds[1] < 8 * len(TEXT_TASKS[name](n=40).example(1).context)


def test_options_are_fields():
    assert TEXT_TASKS["variables"].configured(n=9, hops=3).example(1).prompt.count("=") == 9


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("phonebook", {"hops": 2}, "The task phonebook has no options, got 'hops'"),
        ("variables", {"hop": 2}, "no option of variables 'hop'; did you mean hops"),
        ("variables", {"hops": "two"}, "hops of variables is an integer, got 'two'"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        TEXT_TASKS[name].configured(n=9, **options)


def test_an_unknown_task_is_answered_with_the_nearest_names():
    with pytest.raises(KeyError):
        TEXT_TASKS["phone"]
    with pytest.raises(RechercheError, match="not part of the package"):
        TEXT_TASKS["mine.texts:Task"]


def test_a_seed_gives_the_same_keys_at_every_number():
    assert example_keys(3, 5) == example_keys(3, 9)[:5]
    assert example_keys(3, 5) != example_keys(4, 5)
    task = TEXT_TASKS["phonebook"](n=4)
    assert list(examples(task, 2, seed=3)) == [task.example(key) for key in example_keys(3, 2)]
    with pytest.raises(ConfigError, match="at least one example, got 0"):
        example_keys(3, 0)
