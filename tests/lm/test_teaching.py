import pytest

from recherche.errors import ConfigError
from recherche.lm.teaching import LORA_ABOVE, LORA_RANK, Teaching, text_task
from tests.lm.taught import tiny_teaching

WRONG = {
    "unknown task": ({"tasks": ("fonebook",)}, "did you mean phonebook"),
    "no task": ({"tasks": ()}, "tasks"),
    "size that a task has not": ({"sizes": ((0, 3),)}, "n from 1"),
    "size that a held-out task has not": ({"held_out_tasks": ("keyvalue",), "held_out_sizes": (10**7,)}, "n from 1"),
    "taught and held out": ({"held_out_tasks": ("phonebook",)}, "phonebook cannot be both"),
    "size taught and held out": ({"held_out_sizes": (2,)}, "n = 2 cannot be both"),
    "downward range": ({"sizes": ((3, 1),)}, "got 3-1"),
    "no rank": ({"lora": 0}, "at least 1, got 0"),
    "only prose": ({"prose_share": 1.0}, "prose_share"),
    "unknown setting": ({"speed": 3}, "speed"),
    "no precision": ({"precision": "float8"}, "precision"),
}


@pytest.mark.parametrize(("fields", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_taught_is_refused(fields, message):
    with pytest.raises(ConfigError, match=message):
        tiny_teaching(**fields)


def test_its_json_makes_it_again():
    teaching = tiny_teaching(held_out_sizes=(9,), lora=4)
    assert Teaching.of(**teaching.model_dump(mode="json")) == teaching


@pytest.mark.parametrize(
    ("lora", "size", "rank"),
    [("auto", LORA_ABOVE - 1, None), ("auto", LORA_ABOVE, LORA_RANK), ("none", 10**12, None), (3, 10, 3)],
)
def test_adapters_are_for_large_models_unless_said_otherwise(lora, size, rank):
    assert tiny_teaching(lora=lora).lora_rank(size) == rank


@pytest.mark.parametrize(("share", "names"), [(0, ("direct",)), (1, ("search",)), (0.3, ("direct", "search"))])
def test_protocols_are_those_with_a_share(share, names):
    assert tiny_teaching(search_share=share).protocols == names


@pytest.mark.parametrize(("steps", "every", "pause"), [(2000, 0, 500), (3, 0, 1), (10, 0, 3), (10, 7, 7)])
def test_a_teaching_is_measured_four_times_unless_said_otherwise(steps, every, pause):
    assert tiny_teaching(steps=steps, evaluate_every=every).pause == pause


def test_the_largest_size_is_that_of_all_ranges():
    assert tiny_teaching(sizes=((1, 9), (2, 3))).largest == 9
    assert text_task("phonebook", 9).n == 9
