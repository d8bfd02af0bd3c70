"""`bench prove` writes on where a trace was cut, and reports every kind of model at every length."""

from dataclasses import replace

import pytest
import torch

from benchmarks import prove

LENGTHS = (150, 300)


def test_each_kind_of_model_is_timed_at_each_length(monkeypatch):
    monkeypatch.setattr(prove, "REPEATS", 1)
    monkeypatch.setattr(prove, "NUM_TOKENS", 24)
    lines = list(prove.lines_at(LENGTHS))
    kinds = [line.name.partition(" (")[0] for line in lines]
    assert kinds == ["RNN + search"] * 2 + ["hybrid"] * 2 + ["Transformer"] * 2
    assert [line.n for line in lines] == [*LENGTHS] * 3
    assert [line.growth is None for line in lines] == [True, False] * 3
    assert all(line.unit == "tokens/s" and line.ratio == pytest.approx(line.ours / line.reference) for line in lines)


def test_a_trace_with_searches_is_cut_before_one():
    trace = prove.machine_trace("rag", 300)
    assert trace.case.text[trace.cut(150)] == "<StartSearch>"
    assert 150 - 11 < trace.cut(150) <= 150


def test_a_model_that_leaves_the_text_is_not_timed():
    trace = prove.machine_trace("hybrid", 300)
    wrong = replace(trace, case=replace(trace.case, completion=trace.case.completion[:100] + ("YES",) * 300))
    with torch.inference_mode():
        _, state = trace.model.prefill(torch.from_numpy(trace.model.vocab.encode(trace.case.text[:149]))[None])
    with pytest.raises(ArithmeticError, match="machine-hybrid leaves the oracle's text"):
        wrong.go_on(150, state)
