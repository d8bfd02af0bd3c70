"""Muon: momentum whose matrix updates are orthogonalised, block by block and batched over equal shapes.

    M <- mu M + G                       momentum of the gradient
    U  = G + mu M                       Nesterov's look-ahead
    W <- W - lr * max(1, out/in)^(1/2) * NewtonSchulz5(U)

NewtonSchulz5 applies X <- aX + (bA + cA^2)X with A = XX^T five times: it moves all singular values of U near 1.
A fused weight (q, k, v stacked; gate and up stacked) is several matrices: its row blocks are orthogonalised one by one,
otherwise the update would couple maps that have nothing to do with each other. Blocks of one shape share a batched
product, which on a CPU costs a few per cent of a training step instead of most of it.

Reference: Jordan et al. (2024), https://kellerjordan.github.io/posts/muon/
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5
_EPSILON = 1e-7


class Matrix(NamedTuple):
    """A hidden weight of shape (rows, columns) and the row blocks that it is made of."""

    weight: nn.Parameter
    blocks: tuple[int, ...]


def orthogonalise(x: Float[Tensor, "k rows columns"]) -> Float[Tensor, "k rows columns"]:
    """Matrices with the singular vectors of `x` and singular values near 1 (within about 0.7 to 1.2)."""
    wide = x.mT if x.shape[-2] > x.shape[-1] else x
    wide = wide / wide.norm(dim=(-2, -1), keepdim=True).clamp_min(_EPSILON)
    for _ in range(_STEPS):
        gram = wide @ wide.mT
        polynomial = torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C)
        wide = torch.baddbmm(wide, polynomial, wide, beta=_A)
    return wide.mT if x.shape[-2] > x.shape[-1] else wide


class Muon(torch.optim.Optimizer):
    """The optimiser of hidden matrices; everything else (head, norms, convolutions) wants AdamW beside it."""

    def __init__(self, matrices: Sequence[Matrix], *, lr: float = 0.02, momentum: float = 0.95) -> None:
        super().__init__([matrix.weight for matrix in matrices], {"lr": lr, "momentum": momentum})
        self._matrices = tuple(matrices)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Move every matrix that has a gradient; `closure` is not supported and must be None."""
        assert closure is None, "Muon evaluates no closure"
        lr, momentum = self.param_groups[0]["lr"], self.param_groups[0]["momentum"]
        by_shape: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for weight, blocks in self._matrices:
            if weight.grad is None:
                continue
            state = self.state[weight]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(weight)
            buffer = state["momentum"].mul_(momentum).add_(weight.grad)
            update = weight.grad.add(buffer, alpha=momentum)
            for target, block in zip(weight.split(blocks), update.split(blocks), strict=True):
                by_shape[(block.shape[0], block.shape[1])].append((target, block))
        for (rows, columns), pairs in by_shape.items():
            directions = orthogonalise(torch.stack([block for _, block in pairs]))
            scale = lr * max(1.0, rows / columns) ** 0.5
            torch._foreach_add_([target for target, _ in pairs], list(directions.unbind()), alpha=-scale)
