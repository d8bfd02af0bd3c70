from pathlib import Path

import pytest

from recherche.report.sweep_findings import sweep_caption, sweep_findings, sweep_headline
from recherche.report.sweep_results import RunRecord, SweepRun
from tests.report.made_up_sweep import points


def run_of(**changes) -> SweepRun:
    return SweepRun(folder=Path("runs/made-up"), record=RunRecord(), points=points(**changes))


def test_the_headline_says_what_is_needed_and_what_was_reached():
    headline = sweep_headline(run_of())
    assert headline.title == "MQAR and Index: 4 models against the bits of their states"
    assert "MQAR at n = 32 needs 128 bits; states that grow reach 0.990 (attention, 16k bits)" in headline.sentence
    assert "states of fixed size reach 0.360 (mamba, d_state 16, 8.19k bits)" in headline.sentence


def test_nobody_above_the_bound_is_a_finding_with_the_nearest_point():
    first = sweep_findings(run_of())[0]
    assert first.verdict == "holds"
    assert "nearest to it is mamba, d_state 2 on MQAR at n = 16: 0.580 of at most 0.800" in first.sentence


def test_a_point_above_the_bound_would_be_named():
    first = sweep_findings(run_of(bound_accuracy=0.5, accuracy_low=0.6))[0]
    assert first.verdict == "does not hold"
    assert "lies above their bound: attention, MQAR, n = 8" in first.sentence


def test_who_solved_a_task_is_listed_and_who_ran_out_of_steps_is_not_judged():
    sentences = [f"{finding.verdict}: {finding.sentence}" for finding in sweep_findings(run_of())]
    assert any(s.startswith("holds: MQAR at n = 32: 2 of 5 reach 97.0 %: attention (16k bits)") for s in sentences)
    assert any(s.startswith("cannot be told: Index at n = 32: whether the 3 unsolved ones") for s in sentences)
    assert any("longer texts cost accuracy at equal training: mamba 0.840 → 0.360" in s for s in sentences)


def test_the_caption_says_what_was_trained_for_how_long():
    trained, measured, bound = sweep_caption(run_of())
    assert "10 models, each trained once (seed 0)" in trained
    assert "at most 2,000 steps: in fact 600 to 2,000 steps" in trained
    assert "6 of 10 used up their steps" in trained
    assert "1,000 fresh texts, counted by every question" in measured
    assert "Fano" in bound


@pytest.mark.parametrize("say", [sweep_caption, sweep_findings])
def test_without_numbers_nothing_is_claimed(say):
    empty = SweepRun(folder=Path(), record=RunRecord(), points=())
    assert say(empty) == []
    assert sweep_headline(empty).title == "Nothing is measured yet"


def test_without_a_bound_none_is_spoken_of():
    assert len(sweep_caption(run_of(bound_accuracy=None))) == 2
    assert "bits of the state allow" not in sweep_findings(run_of(bound_accuracy=None))[0].sentence
