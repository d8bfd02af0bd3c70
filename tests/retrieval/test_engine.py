import math
import os
import threading

import pytest

from recherche.retrieval import engine
from recherche.retrieval.engine import (
    Program,
    Spans,
    all_matches,
    check_cost,
    compile_program,
    result_of,
    run_within,
)
from recherche.retrieval.limits import Limits, Paper, Standard
from recherche.retrieval.outcome import RefusedError, Status

MEMORY = 8 << 20


def test_a_match_gives_the_spans_of_all_groups():
    program = compile_program("(a)|(b)", MEMORY)
    assert program.match(bytearray(b"xb")) == ((1, 2), (-1, -1), (1, 2))
    assert program.match(bytearray(b"x")) is None


def test_matches_from_left_to_right_move_on_after_an_empty_one():
    program = compile_program("a*", MEMORY)
    spans = [match[0] for match in program.match_all(bytearray("aaébé".encode()), seconds=60.0)[0]]
    assert spans == [(0, 2), (2, 2), (4, 4), (5, 5), (7, 7)]
    assert program.match_all(bytearray(b"aa b"), seconds=-1.0) == ([((0, 2),)], False)


def test_enough_matches_are_enough():
    program = compile_program("a", MEMORY)
    data = bytearray(b"aaaa")
    spans, is_complete = all_matches(lambda at: program.match(data, at), data, seconds=60.0, most=2)
    assert (len(spans), is_complete) == (2, True)


@pytest.mark.parametrize(
    ("groups", "standard", "paper"),
    [(((-1, -1), (2, 3)), (2, 3), (-1, -1)), (((1, 2), (2, 3)), (1, 2), (1, 2)), (((-1, -1),), (-1, -1), (-1, -1))],
)
def test_the_rules_say_which_group_is_the_result(groups: Spans, standard: tuple[int, int], paper: tuple[int, int]):
    assert (result_of(groups, Standard()), result_of(groups, Paper())) == (standard, paper)


def test_programs_are_kept_a_few_at_a_time():
    compile_program.cache_clear()
    for number in range(engine._PROGRAMS_KEPT + 10):
        compile_program(f"(a{number})", MEMORY)
    assert compile_program.cache_info().currsize == engine._PROGRAMS_KEPT


def test_a_program_that_does_not_fit_its_memory_is_too_large(capfd: pytest.CaptureFixture):
    with pytest.raises(RefusedError, match=r"within Limits.memory_bytes = 20000: .*too large") as refusal:
        Program("(a{1000}){1}b{1000}", 20_000)
    assert refusal.value.status is Status.TOO_LARGE
    assert capfd.readouterr() == ("", "")


def test_cost_is_bounded_before_anything_runs():
    program = compile_program("(a)b{300}", MEMORY)
    assert check_cost(program, 1_000, Limits()) == program.size * 1_000
    with pytest.raises(RefusedError, match=r"may have 100 instructions \(Limits.program_size\), got 30"):
        check_cost(program, 1, Limits(program_size=100))
    with pytest.raises(RefusedError, match=r"may be 1e\+03 \(Limits.cost\)"):
        check_cost(program, 1_000, Limits(cost=1_000))


def test_what_is_quick_runs_in_the_caller():
    assert run_within(threading.get_ident, cost=1.0, limits=Limits(), abandon=lambda: None) == threading.get_ident()
    assert (
        run_within(threading.get_ident, cost=math.inf, limits=Limits(), abandon=lambda: None) != threading.get_ident()
    )


def test_past_the_deadline_the_caller_goes_on_and_a_crowd_is_turned_away():
    release, abandoned = threading.Event(), []
    limits = Limits(deadline_ms=1)

    def ask() -> Status:
        with pytest.raises(RefusedError) as refusal:
            run_within(lambda: release.wait(30), cost=math.inf, limits=limits, abandon=lambda: abandoned.append(1))
        return refusal.value.status

    try:
        assert [ask() for _ in range(engine._WORKERS)] == [Status.TIMEOUT] * engine._WORKERS
        assert ask() is Status.BUSY
        assert len(abandoned) == engine._WORKERS
    finally:
        release.set()
    _, places = engine.workers(os.getpid())
    assert places.acquire(timeout=30)
    places.release()
    assert run_within(lambda: 1, cost=math.inf, limits=Limits(deadline_ms=30_000), abandon=lambda: None) == 1


def test_a_forked_process_has_threads_of_its_own():
    assert engine.workers(1)[0] is not engine.workers(2)[0]


def test_an_error_of_the_search_reaches_the_caller():
    def fail() -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        run_within(fail, cost=math.inf, limits=Limits(), abandon=lambda: None)
