"""Problems for recurrences whose state is a matrix for each head, and their comparison with a slow reference."""

import torch

from recherche._rng import torch_generator

B, H, K, M = 2, 3, 4, 5
STRENGTH, DECAY = (1, 0.0, 1.0), (1, 0.2, 0.7)
"""A gate: how many numbers it has for a head, the least of them, and how far they lie apart."""


def problem(t, *gates):
    """q, k, v, gates and a first state, random, with gradients."""
    generator = torch_generator(t, "recurrence")

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    drawn = [least + span * draw(B, H, t, rows).sigmoid() for rows, least, span in gates]
    parts = (draw(B, H, t, K), 0.5 * draw(B, H, t, K), draw(B, H, t, M), *drawn, draw(B, H, K, M))
    return tuple(part.requires_grad_() for part in parts)


def assert_same_values_and_gradients(function, slow, inputs):
    results = []
    for each in (function, slow):
        y, state = each(*inputs)
        results.append((y, state, *torch.autograd.grad(y.sin().sum() + state.sin().sum(), inputs)))
    for ours, expected in zip(*results, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-11, atol=1e-11)
