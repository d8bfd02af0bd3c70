import pytest

from benchmarks import step
from recherche.mixers import MIXERS


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(step, "LENGTHS", (8, 16, 32))
    monkeypatch.setattr(step, "CHUNK", 5)
    monkeypatch.setattr(step, "NUM_STEPS", 2)
    monkeypatch.setattr(step, "NUM_TURNS", 1)
    monkeypatch.setattr(step, "MIXERS", {name: MIXERS[name] for name in ("gla", "attention")})


def test_every_mixer_has_a_line_for_each_length(short):
    lines = list(step.lines())
    assert [(line.name, line.n) for line in lines] == [
        (f"step-{name}", n) for name in ("gla", "attention") for n in (8, 16, 32)
    ]
    for line in lines:
        assert line.ratio == pytest.approx(line.ours / line.reference)
        assert (line.growth is None) == (line.n == 8)
    assert lines[1].growth == pytest.approx(lines[0].ours / lines[1].ours)


@pytest.mark.parametrize(("name", "columns"), [("attention", [8, 16, 32]), ("gla", [None] * 3)])
def test_the_state_is_that_after_as_many_tokens(short, name, columns):
    model = step.language_model(name)
    states = list(step._states(model))
    assert [len(state) for state in states] == [8, 8, 8]
    assert [getattr(state[0], "columns", None) for state in states] == columns
