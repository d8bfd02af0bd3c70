"""What a model shows of itself to be held to the contract of a state; `contract_checks` has the checks.

    full forward  =  token by token  =  chunks of 2, 3, 7, 64 from a carried cache  =  a batch with padding
                  =  resumed after the cache was written to a file and read by a new process
                  =  what a fork of the cache gives, whatever happened to the other branch
    generate with the cache  =  generate without

A subject is used as its makers mean it to be used: positions and masks are given wherever it takes them.

Reference: Gu & Dao (2023), Mamba, Section 3.3 (one model, a recurrent and a parallel form),
https://arxiv.org/abs/2312.00752
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from jaxtyping import Bool, Float, Int
from torch import Tensor


class Reading(NamedTuple):
    """What a model makes of a token that it has read.

    Attributes:
        logits: of the token after it.
        layers: the output of each layer there, from the first on; empty where it cannot be seen.
    """

    logits: Float[Tensor, "b v"]
    layers: tuple[Float[Tensor, "b d"], ...] = ()


class Extension(NamedTuple):
    """What comes of reading on.

    Attributes:
        readings: of the last tokens read, in their order; at least of the last one.
        cache: what to go on from; None if there is nothing.
    """

    readings: list[Reading]
    cache: Any


class AbstractSubject(ABC):
    """A model with a cache, as the contract sees it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the report calls it."""

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """Number of tokens."""

    @abstractmethod
    def full(self, tokens: Int[Tensor, "b t"]) -> list[Reading]:
        """One forward pass without a cache; a reading for each position."""

    @abstractmethod
    def extend(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """Read on from a cache; None is the beginning."""

    @abstractmethod
    def extend_by_default(self, tokens: Int[Tensor, "b t"], cache: Any) -> Extension:
        """Read on from a cache, and leave it to the model to know at which position it is.

        Raises:
            Refusal: there is nothing that one could leave to it.
        """

    @abstractmethod
    def padded(
        self, tokens: Int[Tensor, "b t"], real: Bool[Tensor, "b t"], then: Int[Tensor, "b n"]
    ) -> Float[Tensor, "b m v"]:
        """Logits after the last real token of each row of a padded batch, and after each token that comes then.

        Raises:
            Refusal: the model does not take such padding.
        """

    @abstractmethod
    def fork(self, cache: Any) -> Any:
        """A cache to go on from that leaves this one alone."""

    @abstractmethod
    def tensors(self, cache: Any) -> dict[str, Tensor]:
        """All that the cache holds."""

    @abstractmethod
    def resume(self, cache: Any, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b v"]:
        """Logits after further tokens, read in a new process that is given the cache as a file."""

    @abstractmethod
    def generate(self, tokens: Int[Tensor, "1 t"], num_new: int, *, from_cache: bool) -> list[int]:
        """Greedy continuation by the model's own means."""

    @abstractmethod
    def misname(self, cache: Any, tokens: Int[Tensor, "b t"]) -> tuple[str, Float[Tensor, "b v"]]:
        """A wrong name under which a cache is taken without complaint, and the logits that come of it.

        Raises:
            Refusal: the model notices, as it should.
        """

    @abstractmethod
    def script(self, check: str) -> str:
        """A short program that shows how a check fails."""

    @property
    def unpromised(self) -> Mapping[str, str]:
        """Checks that the model's makers do not promise to pass, with the reason: their failure is no fault."""
        return {}


class Refusal(Exception):  # noqa: N818  (an answer, not a failure of ours)
    """The model declines what it is asked."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one check.

    Attributes:
        passed: True, False, or None where the check does not apply.
        error: relative error of the logits, the worst of all positions; NaN where none was measured.
        position: first position (from 0) where the error exceeds the tolerance.
        layer: first layer (from 0) that is wrong there.
        note: one sentence for a person.
    """

    check: str
    passed: bool | None
    error: float = float("nan")
    position: int | None = None
    layer: int | None = None
    note: str = ""
