import gc

import pytest

from benchmarks.harness import Line, compare


class Worker:
    """Does `work` units in `seconds` of a clock that only work moves, and notes when it was called."""

    def __init__(self, name: str, clock: list[float], calls: list[str], *, seconds: tuple[float, ...], work: float):
        self.name, self.clock, self.calls, self.seconds, self.work = name, clock, calls, seconds, work

    def __call__(self) -> float:
        turn = self.calls.count(self.name)
        self.clock[0] += self.seconds[turn % len(self.seconds)]
        self.calls.append(self.name)
        return self.work


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("benchmarks.harness.time.perf_counter", lambda: now[0])
    return now


def test_the_best_turn_of_each_side_counts(clock: list[float]):
    calls: list[str] = []
    ours = Worker("ours", clock, calls, seconds=(9.0, 4.0, 2.0), work=8.0)
    reference = Worker("reference", clock, calls, seconds=(9.0, 4.0, 8.0), work=8.0)
    assert compare(ours, reference, repeats=2) == (4.0, 2.0)


def test_sides_take_turns_after_a_warm_up(clock: list[float]):
    calls: list[str] = []
    sides = [Worker(name, clock, calls, seconds=(1.0,), work=1.0) for name in ("ours", "reference")]
    compare(sides[0], sides[1], repeats=2)
    assert calls == ["ours", "reference"] * 3


def test_garbage_collection_is_on_again_after_a_failure():
    def fail() -> float:
        if gc.isenabled():
            return 1.0
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        compare(fail, lambda: 1.0)
    assert gc.isenabled()


def test_a_ratio_above_one_means_that_ours_is_better():
    line = Line.from_rates("x", (30.0, 10.0), reference_name="y", unit="tokens/s")
    assert line.ratio == 3.0


def test_fields_without_a_value_are_left_out():
    assert set(Line("x", 1.0, 2.0, "y", 0.5, "s").as_json()) == {
        "name", "ours", "reference", "reference_name", "ratio", "unit"
    }  # fmt: skip
