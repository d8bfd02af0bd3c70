import json
from pathlib import Path

import numpy as np
import pytest
import torch

from recherche._rng import numpy_generator, torch_generator
from recherche.batching import IGNORE_INDEX, to_tensors
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import model_config
from recherche.tasks import TASKS
from recherche.training.curriculum import Fixed, SelfPaced
from recherche.training.loop import Trainer
from recherche.training.optimizers import Adam, MuonAdamW
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import Cosine, WarmupStableDecay

GOLDEN = Path(__file__).parent / "data" / "golden_losses.json"


def trainer(architecture="transformer", protocol="cot", *, dtype=torch.float32, **plan):
    task = TASKS["istree"].configured(n=6, protocol=protocol)
    config = model_config(architecture, "quick-cot", vocab_size=len(task.vocab))
    settings = {
        "num_steps": 20,
        "batch_size": 8,
        "optimizer": MuonAdamW(),
        "schedule": WarmupStableDecay(),
        "log_every": 5,
    }
    return Trainer(
        model=LanguageModel(config, torch_generator(0, "weights")).to(dtype),
        task=task,
        plan=TrainingPlan(**(settings | plan)),
        generator=numpy_generator(0, "train"),
    )


def weights(run):
    return torch.cat([weight.detach().flatten() for weight in run.model.parameters()])


def test_rows_come_at_even_steps_and_at_the_end():
    run = trainer(log_every=3)
    assert [row.step for row in run.run(8)] == [3, 6, 8]
    assert [row.samples for row in run.run(11)] == [72, 88]


def test_the_loss_falls():
    rows = list(trainer(num_steps=60).run(60))
    assert rows[-1].loss < 0.8 * rows[0].loss


def test_interrupting_the_iteration_changes_nothing():
    straight, broken = trainer(), trainer()
    list(straight.run(20))
    for until in (3, 7, 20):
        list(broken.run(until))
    assert torch.equal(weights(straight), weights(broken))


def test_a_restored_trainer_draws_the_data_that_was_to_come():
    straight, first, second = (trainer(curriculum=SelfPaced(start_n=4, threshold=9.0)) for _ in range(3))
    list(straight.run(12))
    list(first.run(6))
    second.model.load_state_dict(first.model.state_dict())
    for ours, theirs in zip(second.optimizers, first.optimizers, strict=True):
        ours.load_state_dict(theirs.state_dict())
    second.restore(first.state()._replace(progress=json.loads(json.dumps(first.state().progress))))
    list(second.run(12))
    assert torch.equal(weights(straight), weights(second))
    assert straight.level == second.level


def test_without_the_generator_the_data_would_be_others():
    first, second = trainer(), trainer()
    list(first.run(6))
    assert first.generator.random() != second.generator.random()


def test_the_curriculum_decides_the_size():
    run = trainer(curriculum=SelfPaced(start_n=4, threshold=99.0))
    assert [row.n for row in run.run(5)] == [6]
    assert trainer(curriculum=Fixed()).level.n == 6


def test_only_what_the_model_must_produce_is_scored():
    run = trainer(protocol="retrieval")
    batch = run.task.sample_batch(numpy_generator(0, "check"), 16)
    _, targets = to_tensors(batch)
    scored = (targets != IGNORE_INDEX).numpy()
    assert np.array_equal(scored, batch.loss_mask[:, 1:])
    assert not scored[:, : int(batch.prompt_lengths.min()) - 1].any()


@pytest.mark.parametrize("optimizer", [MuonAdamW(), Adam(lr=1e-3)], ids=["muon", "adam"])
def test_every_trainable_weight_moves(optimizer):
    run = trainer("hybrid", optimizer=optimizer)
    before = [weight.detach().clone() for weight in run.model.parameters()]
    list(run.run(2))
    moved = [not torch.equal(old, new) for old, new in zip(before, run.model.parameters(), strict=True)]
    assert all(moved)


def test_the_gradient_is_clipped():
    free, clipped = trainer(optimizer=Adam(lr=1e-3), clip_norm=1e6), trainer(optimizer=Adam(lr=1e-3), clip_norm=1e-6)
    list(free.run(1)), list(clipped.run(1))
    assert not torch.equal(weights(free), weights(clipped))


def test_no_global_randomness_is_drawn():
    before = torch.get_rng_state()
    list(trainer().run(2))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("architecture", ["transformer", "mamba", "hybrid"])
def test_losses_are_the_golden_ones(architecture):
    """Twenty steps in float64; a refactoring reproduces them, a change of the mathematics does not."""
    run = trainer(architecture, dtype=torch.float64, optimizer=Adam(lr=1e-3), schedule=Cosine(), log_every=1)
    losses = [row.loss for row in run.run(20)]
    assert losses == pytest.approx(json.loads(GOLDEN.read_text())[architecture], rel=1e-6)
