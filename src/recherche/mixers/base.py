"""The contract of a sequence mixer: how a layer moves information along time.

Three views of one map from x_1..x_t to y_1..y_t, causal, equal to each other (values and gradients):

    forward(x, state)   all tokens at once, from a carried state; returns the state after the last token of each row
    step(x_t, state)    one token
    init_state(batch)   the state before the first token

A state is a NamedTuple of tensors whose first axis is the batch. It is a value: `step` and `forward` never change the
state they were given, so keeping the old one is a fork. Whatever a mixer remembers of the past is in its tensors, which
is what makes its size in bits (`state_bits`) a fact about the model. A field that is no tensor carries no information
(spare room of a growing buffer): copies of a state reset it to None.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn

State = Any
"""A NamedTuple of tensors, batch first; each mixer defines its own."""


class AbstractMixer(nn.Module, ABC):
    """A causal map along time with an explicit state."""

    @abstractmethod
    def init_state(self, batch: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> State:
        """The state before the first token, in the parameters' dtype and device unless told otherwise."""

    @abstractmethod
    def step(self, x_t: Float[Tensor, "b d"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        """The output for one token, and the state after it."""

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "b t d"], state: State | None = None, *, lengths: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """Outputs for all tokens, and the state after them.

        Args:
            state: where to start from; None is `init_state`.
            lengths: number of real tokens of each row (right padding follows); None means all of them. A row of length
                0 keeps its state. Outputs at padding mean nothing.
        """


class LayerConfig(BaseModel, ABC):
    """One layer of a model as a value: the sizes of its sequence mixer, and the width of what follows it.

    Attributes:
        mixer: the mixer's key in `MIXERS`. A config outside of the package leaves it out: it is then the path of the
            class, `package.module:Class`, by which files find it again.
        d_ffn: width of the SwiGLU channel mixer after the sequence mixer; None for a layer without one.
        state_grows: whether the state grows with the text (linearly) or keeps its size.
        stands_alone: whether the mixer's authors use it without a channel mixer after it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    state_grows: ClassVar[bool] = False
    stands_alone: ClassVar[bool] = False

    mixer: str = ""
    d_ffn: int | None = Field(default=None, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_path(cls, values: Any) -> Any:
        if not isinstance(values, dict) or cls.model_fields["mixer"].default:
            return values
        path = f"{cls.__module__}:{cls.__qualname__}"
        if values.get("mixer", path) != path:
            raise ValueError(f"the mixer of {cls.__name__} is {path!r}, got {values['mixer']!r}; leave it out")
        return values | {"mixer": path}

    @abstractmethod
    def build(self, d_model: int, generator: torch.Generator | None = None) -> AbstractMixer:
        """The mixer with fresh weights drawn from `generator` (None: a generator with seed 0).

        Raises:
            ConfigError: the sizes do not fit `d_model`.
        """
