import torch

from recherche._rng import torch_generator
from recherche.mixers.projection import Projection, generator_or_default, uniform


def test_blocks_are_stacked():
    projection = Projection(16, (3, 5), generator=torch_generator(0, "p"))
    x = torch.ones(2, 16)
    y = projection(x)
    assert projection.blocks == (3, 5)
    torch.testing.assert_close(y[:, :3], x @ projection.weight[:3].t())


def test_first_entries_are_within_the_bound_and_fill_it():
    weight = uniform(100, 100, bound=0.25, generator=torch_generator(0, "p"))
    assert weight.abs().max() <= 0.25
    assert weight.min() < -0.24
    assert weight.max() > 0.24


def test_no_generator_means_seed_zero():
    draws = [torch.rand(3, generator=generator_or_default(None)) for _ in range(2)]
    assert torch.equal(*draws)
    given = torch_generator(0, "p")
    assert generator_or_default(given) is given
