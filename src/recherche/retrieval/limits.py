"""What a search may cost, and which rules it follows.

Each limit bounds one way in which a pattern that a model wrote could hurt: time, memory, or the length of the text that
it makes the model read. The reasons stand beside the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

from recherche.errors import ConfigError
from recherche.retrieval.outcome import Status
from recherche.vocab import FAILED


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one search, and on the searches of one text.

    Attributes:
        pattern_bytes: length of a pattern; reading one takes time linear in it (milliseconds at the default).
        nesting: depth of parentheses; the reader and the compiler recurse once for each.
        groups: number of capturing groups; RE2 copies their borders at each step.
        tree_size: signs of a pattern with its repeats written out; compiling can take time quadratic in it.
        program_size: instructions of the compiled pattern.
        cost: instructions times bytes of text; RE2 was never seen to do fewer than 3e8 a second.
        memory_bytes: what RE2 may use for one compiled pattern.
        result_tokens: length of what is handed to the model.
        result_characters: the same for a search of a text.
        deadline_ms: when the caller has its answer; RE2 cannot be interrupted, so the search itself ends later.
        searches: number of searches that a text may make at once.
        searches_per_token: further searches for each token that the model has generated. The shortest query of the
            retrieval traces has four tokens of its own.
    """

    pattern_bytes: int = 4096
    nesting: int = 50
    groups: int = 16
    tree_size: int = 20_000
    program_size: int = 10_000
    cost: float | int = 2.5e8
    memory_bytes: int = 8 << 20
    result_tokens: int = 64
    result_characters: int = 10_000
    deadline_ms: float | int = 300.0
    searches: int = 64
    searches_per_token: float | int = 0.34

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ConfigError(f"Limits need positive numbers, got {name} = {getattr(self, name)}; raise it.")


TEXT_LIMITS = Limits(cost=5e9, deadline_ms=1000.0)
"""The limits of a text where none are given: a program of 500 instructions may be tried on ten million characters."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """The first group that took part is the result, and it must be whole tokens.

    Attributes:
        failure_tokens: the token that a model sees for an outcome, where it is not FAILED.
    """

    failure_tokens: Mapping[Status, str] = field(default_factory=lambda: MappingProxyType({}))

    def failure_token(self, status: Status) -> str:
        """What a model sees instead of a result."""
        return self.failure_tokens.get(status, FAILED)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """Group 1 is the result, as text that is split into tokens again; anything else is FAILED.

    Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
    """

    def failure_token(self, status: Status) -> str:
        """What a model sees instead of a result: FAILED, whatever happened."""
        return FAILED


Mode = Standard | Paper
