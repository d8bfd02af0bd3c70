import json
from math import isclose, sqrt

import pytest

from recherche.experiments.language_samples import AROUND, HEAD, TAIL, sample_record, shortened, tally
from recherche.lm.decode_loop import EndReason
from recherche.texts import Phonebook
from tests.experiments.pretend_subject import looked_up, say

EXAMPLE = Phonebook(n=40).example(7)
NUMBER, SPAN = looked_up(EXAMPLE.prompt)


def sample(right: bool = True, **changes):
    return {
        **{"right": right, "decided": True, "searches": [], "seconds": 0.5, "prompt_tokens": 100, "tokens": 20},
        **changes,
    }


def wilson_by_roots(successes: int, n: int) -> tuple[float, float]:
    """The two p with |p - successes/n| = z sqrt(p (1 - p) / n), as roots of a quadratic equation."""
    z, share = 1.959963984540054, successes / n
    a, b, c = 1 + z * z / n, -(2 * share + z * z / n), share * share
    middle, half = -b / (2 * a), sqrt(max(0.0, b * b - 4 * a * c)) / (2 * a)
    return middle - half, middle + half


@pytest.mark.parametrize(
    ("text", "reason", "decided", "right"),
    [
        pytest.param(f" {NUMBER}\n", EndReason.STOP_STRING, True, True, id="right"),
        pytest.param(f" {NUMBER}\nQuestion: x", EndReason.LENGTH, True, True, id="what follows the line is no matter"),
        pytest.param(f" {NUMBER}", EndReason.EOS, True, True, id="ended without a line break"),
        pytest.param(f" {NUMBER}", EndReason.LENGTH, False, False, id="no end within the budget"),
        pytest.param(" 000-0000\n", EndReason.STOP_STRING, True, False, id="wrong"),
        pytest.param("\n", EndReason.STOP_STRING, True, False, id="nothing"),
    ],
)
def test_an_answer_is_one_line_and_must_end(text, reason, decided, right):
    record = sample_record(EXAMPLE, say(EXAMPLE.prompt, text, reason=reason))
    assert (record["decided"], record["right"]) == (decided, right)
    assert record["answers"] == [NUMBER]


def test_a_search_is_kept_with_what_it_found_and_where():
    record = sample_record(EXAMPLE, say(EXAMPLE.prompt, f" {NUMBER}\n", search=True), key=3)
    [search] = record["searches"]
    whole = EXAMPLE.prompt + record["text"]
    assert whole[slice(*search["span"])] == search["found"] == NUMBER
    assert whole[slice(*search["inserted"])] == f"<found>{NUMBER}</found>"
    assert whole[slice(*search["place"])] == f"<search>after it</search><found>{NUMBER}</found>"
    assert (search["status"], search["asked"], record["key"]) == ("OK", "after it", 3)
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(
    ("length", "spans", "expected"),
    [
        pytest.param(500, [], [(0, 500)], id="a short prompt is kept"),
        pytest.param(5000, [], [(0, HEAD), (5000 - TAIL, 5000)], id="its ends"),
        pytest.param(
            9000,
            [(4000, 4010)],
            [(0, HEAD), (4000 - AROUND, 4010 + AROUND), (9000 - TAIL, 9000)],
            id="what surrounds a span",
        ),
        pytest.param(9000, [(10, 20)], [(0, HEAD), (9000 - TAIL, 9000)], id="a span at the beginning"),
        pytest.param(9000, [(9100, 9110)], [(0, HEAD), (9000 - TAIL, 9000)], id="a span behind the prompt"),
        pytest.param(
            9000,
            [(4000, 4010), (4100, 4110)],
            [(0, HEAD), (4000 - AROUND, 4110 + AROUND), (9000 - TAIL, 9000)],
            id="surroundings that meet are one piece",
        ),
    ],
)
def test_of_a_long_prompt_the_ends_and_what_was_found_are_kept(length, spans, expected):
    prompt = "".join(chr(33 + i % 90) for i in range(length))
    pieces = shortened(prompt, spans)
    assert [(begin, begin + len(text)) for begin, text in pieces] == expected
    assert all(prompt[begin : begin + len(text)] == text for begin, text in pieces)


def test_pieces_are_whole_lines_where_lines_are_short():
    prompt = "".join(f"line {i:04d}\n" for i in range(900))
    begin = prompt.index("0450")
    pieces = [text for _, text in shortened(prompt, [(begin, begin + 4)])]
    lines = {line for text in pieces for line in text.splitlines()}
    assert lines <= {f"line {i:04d}" for i in range(900)}
    assert "line 0450" in pieces[1]
    assert all(prompt[place : place + len(text)] == text for place, text in shortened(prompt, [(begin, begin + 4)]))


@pytest.mark.parametrize(("num_right", "num"), [(0, 10), (3, 10), (10, 10), (97, 100)])
def test_the_interval_is_that_of_an_independent_formula(num_right, num):
    numbers = tally([sample(i < num_right) for i in range(num)])
    low, high = wilson_by_roots(num_right, num)
    assert numbers["accuracy"] == num_right / num
    assert isclose(numbers["accuracy_low"], low, abs_tol=1e-12)
    assert isclose(numbers["accuracy_high"], high, abs_tol=1e-12)


def test_numbers_of_a_point_are_sums_over_its_samples():
    searches = [{"status": "OK"}, {"status": "OK"}, {"status": "NO_MATCH"}]
    numbers = tally([sample(searches=searches), sample(False, decided=False, prompt_tokens=140, searches=searches[:1])])
    assert numbers["search_outcomes"] == {"NO_MATCH": 0.25, "OK": 0.75}
    assert numbers["searches_per_answer"] == 2.0
    assert (numbers["prompt_tokens"], numbers["num_undecided"], numbers["num_samples"]) == (120, 1, 2)
    assert (numbers["seconds"], numbers["tokens_per_second"]) == (1.0, 280.0)
    assert numbers["measured_by"] == "generation"


def test_without_searches_there_are_no_outcomes():
    numbers = tally([sample()])
    assert (numbers["search_outcomes"], numbers["searches_per_answer"]) == ({}, 0.0)
