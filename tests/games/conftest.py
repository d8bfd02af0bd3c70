"""A memory of known size for the games: the last tokens it has read."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch


class Window(NamedTuple):
    last: torch.Tensor


class LastTokens:
    """Remembers the last `width` tokens and says the oldest of them."""

    device = torch.device("cpu")

    def __init__(self, width: int) -> None:
        self.width = width

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {"width": torch.tensor([self.width])}

    def init_state(self, batch: int, *, dtype: Any = None, device: Any = None) -> Any:
        return (Window(torch.zeros(batch, self.width)),)

    def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        last = torch.cat([state[0].last[:, 1:], token[:, None].float()], dim=1)
        return torch.nn.functional.one_hot(last[:, 0].long(), 64).float(), (Window(last),)

    def prefill(
        self, tokens: torch.Tensor, state: Any = None, *, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        state = self.init_state(len(tokens)) if state is None else state
        logits = torch.zeros(len(tokens), 64)
        for token in tokens.T:
            logits, state = self.step(token, state)
        return logits, state


@pytest.fixture
def last_tokens() -> Callable[[int], LastTokens]:
    return LastTokens
