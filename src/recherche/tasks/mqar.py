"""Multi-query associative recall (MQAR): pairs of key and value, then every key is asked for once, at a drawn distance.

    prompt  <s> 1 5 2 6  8 9  2 6  8 8  1         target  5

Keys are 1..4 here, values 5..7, fillers 8 and 9. Two pairs (1 5 and 2 6), then slots of two tokens: a question with its
answer (2 6), or two fillers. The answer to the last question is the target; the answers to earlier ones stand in the
prompt and count for the loss too.

Numbers come in three ranges that never meet: 1..n_keys are keys, the next n_values are values, the next n_fillers are
fillers. So no filler can be taken for a key or a value. (The original draws fillers from all tokens, keys included:
https://github.com/HazyResearch/zoology/issues/29.)
Slots for the questions are drawn without replacement with weights g^(a-1) for the g-th slot, a = exponent_percent /
100: zoology's power law; 100 is uniform.

    >>> task = MQAR(n=12, num_pairs=2, n_keys=4, n_values=3, n_fillers=2)
    >>> task.solve({"pairs": [[1, 5], [2, 6]], "queries": [2, 1]})
    '5'
    >>> task.solve({"pairs": [[1, 5], [2, 6]], "queries": [1, 2]})
    '6'

Reference: Arora et al. (2023), Zoology, https://arxiv.org/abs/2312.04927
"""

from dataclasses import dataclass, field, replace
from math import log2
from types import MappingProxyType
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from recherche.kernels.compiled import compiled
from recherche.kernels.random import below, permutation, shuffle, stream
from recherche.queries import AR, Query
from recherche.tasks.number_task import AbstractNumberTask, refuse_query, require
from recherche.tasks.protocols import AbstractAnswer, DirectAnswer, Lookup, SearchAnswer
from recherche.tasks.rows import Prompts, Targets
from recherche.tasks.symbols import BEGIN_ID, FAILED_ID

WEIGHT_OF_FIRST_SLOT = 2**32


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MQAR(AbstractNumberTask):
    """Many keys asked for in one text (multi-query associative recall).

    Attributes:
        n: tokens of the text after `<s>`: pairs and slots; even.
        num_pairs: pairs of key and value; n // 8, at least 1, unless given.
        exponent_percent: 100 times the exponent a of the gap distribution, 1..100; small means early questions.
        n_keys: how many keys there are; n unless given. n_values and n_fillers likewise.
    """

    key: ClassVar[str] = "mqar"
    protocols: ClassVar[MappingProxyType[str, AbstractAnswer]] = MappingProxyType(
        {"direct": DirectAnswer(), "retrieval": SearchAnswer()}
    )
    n: int = 64
    protocol: AbstractAnswer = field(default_factory=DirectAnswer)
    num_pairs: int | None = None
    exponent_percent: int = 1
    n_keys: int | None = None
    n_values: int | None = None
    n_fillers: int | None = None

    def __post_init__(self) -> None:
        pairs = self.pairs
        require(self.n % 2 == 0, f"MQAR needs an even number of tokens, got n = {self.n}; it is made of slots of two.")
        require(pairs >= 1, f"MQAR needs at least one pair, got num_pairs = {pairs}; raise n or num_pairs.")
        require(
            4 * pairs <= self.n,
            f"MQAR needs 4 tokens for each pair and its question, got n = {self.n} for {pairs} pairs; "
            f"use n >= {4 * pairs} or fewer pairs.",
        )
        require(
            1 <= self.exponent_percent <= 100,
            f"MQAR's gap exponent lies in 1..100 percent, got {self.exponent_percent}; 1 is zoology's choice.",
        )
        n_keys, n_values, n_fillers = self.ranges
        require(
            n_keys >= pairs and n_values >= 2 and n_fillers >= 1,
            f"MQAR needs a key for each of its {pairs} pairs, 2 values and a filler that is none of them, "
            f"got n_keys = {n_keys}, n_values = {n_values}, n_fillers = {n_fillers}; enlarge the vocabulary.",
        )

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return max(1, self.n // 8) if self.num_pairs is None else self.num_pairs

    @property
    def ranges(self) -> tuple[int, int, int]:
        """How many keys, values and fillers there are."""
        keys, values, fillers = (
            self.n if size is None else size for size in (self.n_keys, self.n_values, self.n_fillers)
        )
        return keys, values, fillers

    @property
    def num_numbers(self) -> int:
        """Keys, values and fillers."""
        return sum(self.ranges)

    @property
    def max_length(self) -> int:
        """`<s>`, the text up to the last question, and the target."""
        return self.n + self.protocol.max_target(1)

    @property
    def chance(self) -> float:
        """One in n_values: values are uniform."""
        return 1 / self.ranges[1]

    @property
    def lower_bound_bits(self) -> float:
        """pairs * log2(n_values).

        Take the lists of pairs with the keys 1..pairs in order. After the pairs each key may be the next to be asked
        for. Two lists differ at the value of some key, and so do the right answers to it; so a reader that is always
        right is in different states after each of n_values^pairs lists. (Which keys there are adds nothing: only keys
        of the list are ever asked for.)
        """
        return self.pairs * log2(self.ranges[1])

    def at_size(self, n: int) -> "MQAR":
        """Texts of n tokens with the same vocabulary, and as many pairs if their number was given.

        Raises:
            ConfigError: n is odd or too small for the pairs, or the keys are too few.
        """
        keys, values, fillers = self.ranges
        return replace(self, n=n, n_keys=keys, n_values=values, n_fillers=fillers)

    def rows(self, keys: UInt64[np.ndarray, " b"]) -> tuple[Prompts, Targets]:
        """Pairs, then slots up to the last question."""
        n_slots = self.n // 2 - self.pairs
        weights = slot_weights(n_slots, self.exponent_percent)
        tokens, asked, ends = draw(keys, self.pairs, weights, np.array(self.ranges))
        begin = np.zeros((len(keys), 1), np.int64)
        ids = np.concatenate((begin + BEGIN_ID, tokens + FAILED_ID), axis=1)
        mask = np.concatenate((begin > 0, asked), axis=1)
        question = np.take_along_axis(ids, ends[:, None], axis=1)
        answers = np.take_along_axis(ids, ends[:, None] + 1, axis=1)[:, 0]
        return Prompts(ids, ends + 1, mask), self.protocol.write(Lookup(question, answers, answers))

    def read_prompt(self, prompt: tuple[str, ...]) -> dict[str, Any]:
        """The pairs, and the keys in the order in which they are asked for."""
        numbers = [int(token) for token in prompt[1:]]
        pairs, slots = numbers[: 2 * self.pairs], numbers[2 * self.pairs :]
        return {
            "pairs": [pairs[i : i + 2] for i in range(0, len(pairs), 2)],
            "queries": [number for number in slots[::2] if number <= self.ranges[0]],
        }

    def solve(self, problem: dict[str, Any]) -> str:
        """The value of the key that is asked for last."""
        return str(dict(problem["pairs"])[problem["queries"][-1]])

    def read_query(self, tokens: tuple[str, ...]) -> Query:
        """A key.

        Raises:
            QueryError: the tokens are not one number.
        """
        match tokens:
            case (token,) if self.is_number(token):
                return AR(token)
        raise refuse_query(self.key, tokens, form="for one key")


def slot_weights(n_slots: int, exponent_percent: int) -> Int64[np.ndarray, " s"]:
    """Integer weights proportional to g^(a-1), rounded, at least 1: the same on every machine."""
    places = np.arange(1, n_slots + 1, dtype=np.float64)
    return np.maximum(1, np.rint(WEIGHT_OF_FIRST_SLOT * places ** (exponent_percent / 100 - 1))).astype(np.int64)


@compiled
def draw_slots(state: UInt64[np.ndarray, "1"], weights: Int64[np.ndarray, " s"], count: int) -> Int64[np.ndarray, " s"]:
    """1 at `count` slots, drawn one after the other without replacement in proportion to their weights, else 0."""
    left = weights.copy()
    chosen = np.zeros(len(weights), np.int64)
    for _ in range(count):
        mark = below(state, left.sum())
        slot = 0
        while mark >= left[slot]:
            mark -= left[slot]
            slot += 1
        chosen[slot] = 1
        left[slot] = 0
    return chosen


@compiled
def draw(
    keys: UInt64[np.ndarray, " b"], n_pairs: int, weights: Int64[np.ndarray, " s"], ranges: Int64[np.ndarray, "3"]
) -> tuple[Int64[np.ndarray, "b n"], Bool[np.ndarray, "b n"], Int64[np.ndarray, " b"]]:
    """Numbers of the text, where answers stand before the last one, and the place of the last question (from 1)."""
    n_slots = len(weights)
    tokens = np.empty((len(keys), 2 * (n_pairs + n_slots)), np.int64)
    asked = np.zeros(tokens.shape, np.bool_)
    ends = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        state = stream(keys[row], 0)
        names = permutation(state, ranges[0])
        for i in range(n_pairs):
            tokens[row, 2 * i] = 1 + names[i]
            tokens[row, 2 * i + 1] = 1 + ranges[0] + below(state, ranges[1])
        order = np.arange(n_pairs)
        shuffle(state, order)
        chosen = draw_slots(state, weights, n_pairs)
        num_asked = 0
        for slot in range(n_slots):
            at = 2 * (n_pairs + slot)
            if chosen[slot]:
                tokens[row, at] = tokens[row, 2 * order[num_asked]]
                tokens[row, at + 1] = tokens[row, 2 * order[num_asked] + 1]
                num_asked += 1
                asked[row, at + 1] = num_asked < n_pairs
                ends[row] = at + 1
            else:
                tokens[row, at] = 1 + ranges[0] + ranges[1] + below(state, ranges[2])
                tokens[row, at + 1] = 1 + ranges[0] + ranges[1] + below(state, ranges[2])
    return tokens, asked, ends
