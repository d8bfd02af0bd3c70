import pytest

from recherche.report.deviations import deviations_of, training_of


@pytest.mark.parametrize("preset", ["smoke", "quick", "laptop"])
def test_small_presets_name_every_departure(preset: str):
    text = " ".join(" ".join(row) for row in deviations_of(preset))
    named = (
        "Muon and AdamW",
        "self-paced",
        "orthogonal",
        "untied",
        "QK-norm",
        "SwiGLU 2x",
        "2 to 4 layers",
        "d_state 4",
    )
    assert [words for words in named if words not in text] == []


@pytest.mark.parametrize("preset", ["paper", "paper-16"])
def test_paper_presets_depart_in_the_searches_alone(preset: str):
    assert [row.subject for row in deviations_of(preset)] == ["Searches", "Retrieval trace"]
    assert "5M" in training_of(preset)


def test_a_run_without_a_preset_claims_nothing():
    assert deviations_of("") == ()
