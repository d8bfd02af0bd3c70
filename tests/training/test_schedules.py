import pytest
from torch import nn, optim

from recherche.training.schedules import Cosine, WarmupStableDecay


@pytest.mark.parametrize("num_steps", [1, 7, 100])
@pytest.mark.parametrize(
    "schedule", [WarmupStableDecay(), WarmupStableDecay(warmup_steps=0), Cosine(), Cosine(warmup_steps=5)]
)
def test_factors_stay_between_zero_and_one(schedule, num_steps):
    assert all(0 < schedule.factor(step, num_steps) <= 1 for step in range(num_steps))


def test_cosine_is_the_one_of_torch():
    optimizer = optim.SGD([nn.Parameter()], lr=1.0)
    peer = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50)
    for step in range(50):
        assert Cosine().factor(step, 50) == pytest.approx(peer.get_last_lr()[0])
        optimizer.step()
        peer.step()


def test_the_plateau_lies_between_warm_up_and_decay():
    factors = [WarmupStableDecay(warmup_steps=10, decay_fraction=0.4).factor(step, 100) for step in range(100)]
    assert factors[0] == pytest.approx(0.1)
    assert set(factors[9:61]) == {1.0}
    assert factors[99] == pytest.approx(1 / 40)
