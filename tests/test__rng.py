import numpy as np
import pytest
import torch

from recherche._rng import numpy_generator, seed_for, torch_generator


def test_the_seed_of_a_stream_never_changes():
    assert seed_for(0, "data") == 5807405673665083786
    assert seed_for(1, "data") == 8830085292689215445


def test_seeds_fit_every_generator():
    seeds = [seed_for(seed, label) for seed in (0, 1, -1, 2**70) for label in ("", "data", "ünïcode")]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(("seed", "label"), [(0, "model"), (1, "data")], ids=["other label", "other seed"])
def test_another_seed_or_label_gives_another_stream(seed: int, label: str):
    here = numpy_generator(0, "data").integers(0, 2**62, size=64)
    there = numpy_generator(seed, label).integers(0, 2**62, size=64)
    assert not np.isin(here, there).any()


def test_the_same_seed_and_label_give_the_same_numbers():
    assert numpy_generator(3, "x").bytes(32) == numpy_generator(3, "x").bytes(32)
    assert torch.equal(
        torch.randn(8, generator=torch_generator(3, "x")), torch.randn(8, generator=torch_generator(3, "x"))
    )


def test_making_generators_leaves_the_global_ones_alone():
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1]
    numpy_generator(1, "x").random()
    torch.rand(1, generator=torch_generator(1, "x"))
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)
