import pytest

from benchmarks import lm


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(lm, "WIDTHS", {"overhead": 32, "search": 32})
    monkeypatch.setattr(lm, "ROWS", (1, 2))
    monkeypatch.setattr(lm, "NUM_NEW", 24)
    monkeypatch.setattr(lm, "PROMPT", 8)
    monkeypatch.setattr(lm, "PROMPTS", (300, 400))
    monkeypatch.setattr(lm, "FAMILIES", {name: lm.FAMILIES[name] for name in ("llama", "mamba")})


def test_every_family_has_a_line_for_each_batch_and_each_prompt(short):
    lines = list(lm.lines())
    assert [line.name for line in lines] == [
        *(f"lm-overhead {family}, batch of {rows}" for family in ("llama", "mamba") for rows in (1, 2)),
        *(f"lm-search {family}" for family in ("llama", "mamba") for _ in (1, 2)),
    ]
    for line in lines:
        assert line.ratio == pytest.approx(line.ours / line.reference)
    assert [line.n for line in lines if "search" in line.name] == [300, 400] * 2
