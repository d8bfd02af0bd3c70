import pytest

from recherche.errors import ConfigError
from recherche.experiments.presets import PRESETS, default_config

NUM_CELLS = {"smoke": 9, "quick": 9, "laptop": 27, "paper-16": 27, "paper": 108}


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_its_cells_under_names_of_their_own(name):
    cells = dict(PRESETS[name].cells(0))
    assert len(cells) == NUM_CELLS[name]
    assert len({config.hash for config in cells.values()}) == len(cells)


@pytest.mark.parametrize("name", PRESETS)
def test_architectures_train_on_equally_many_samples_within_a_protocol_and_n(name):
    budgets: dict[tuple[str, int], set[int]] = {}
    for config in dict(PRESETS[name].cells(0)).values():
        samples = budgets.setdefault((config.task.protocol, config.task.n), set())
        samples.add(sum(plan.num_steps * plan.batch_size for plan in config.plans))
    assert all(len(samples) == 1 for samples in budgets.values())


def test_paper_cells_follow_the_paper():
    config = dict(PRESETS["paper-16"].cells(0))["mamba-cot-n16-1M"]
    first, second = config.plans
    assert first.num_steps * first.batch_size == 1_000_000
    assert second.num_steps * second.batch_size == 5_000_000
    assert (first.optimizer.kind, first.optimizer.lr, first.schedule.kind) == ("adam", 3e-4, "cosine")
    assert config.evaluation.num_samples == 5000
    assert config.model.embedding.kind == "sinusoidal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mambo", "cot", 8), "did you mean mamba"),
        (("mamba", "retrieve", 8), "did you mean retrieval"),
        (("mamba", "cot", 3), "at least 4 vertices"),
    ],
)
def test_wrong_words_are_answered_with_right_ones(arguments, message):
    with pytest.raises(ConfigError, match=message):
        default_config(*arguments)
