"""Looking up a key with one attention head: the first, the last or the nearest position whose keys equal the queries.

The paper has a lemma for each (MATCH, MATCH-CLOSEST, MATCH-NEAREST); they differ in what breaks ties among matches.

Reference: Wen, Dang & Lyu (2024), Lemmas C.14-C.16, corrected as docs/errata.md lists, https://arxiv.org/abs/2402.18510
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal, final

from recherche.constructions.affine import Affine, bracketed
from recherche.constructions.layout import OperationKind
from recherche.constructions.primitives.attention import ONE, Head, Stream, merged, norm
from recherche.constructions.primitives.operation import Column, Reader

Select = Literal["first", "last", "nearest"]


@final
@dataclass(frozen=True, slots=True)
class Match:
    """The value at a position whose keys equal the queries: the first, the last, or the nearest to `near`.

    Let a(k) be the keys, b(q) the queries, W a power of two with W >= 4N, N a bound on positions. Outside <s> the score
    is

        -W |a(k) - b(q)|^2  -  W [where(k) = 0]  -  W [unless(q) = 1]  +  tie(k),   1 - N <= tie(k) <= N,

    and at <s>, where keys and `where` vanish (contract), it is -W / 2 + tie. A match scores at least 1 - N; a position
    that does not match, or is excluded, at most -W + N; and -W + N < -W / 2 - 1 <= score of <s> <= -W / 2 + 1 < 1 - N.
    So the largest score lies at a match if there is one, and at <s> if there is none. Among matches, which have
    different positions, tie(k) = -k (first), k (last) or -(k - near)^2 (nearest, with W >= 4 D^2 for D >= |k - near|;
    of two equally near ones both count half) decides by at least 1.

    Expanded, with nu = 1 outside <s> and 0 there:  nu * -W |b|^2  +  a_i * 2 W b_i  +  |a|^2 * -W.
    """

    keys: tuple[Affine, ...]
    queries: tuple[Affine, ...]
    value: Affine
    where: Affine | None
    unless: Affine | None
    select: Select
    near: Affine | None
    head: Head

    kind: OperationKind = "attention"

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """All forms of the head."""
        return self.head.forms

    def meaning(self, at: Reader) -> Column:
        """The value at the chosen match of each position, or at <s>."""
        keys = list(zip(*(at(key) for key in self.keys), strict=True))
        queries = list(zip(*(at(query) for query in self.queries), strict=True))
        values = at(self.value)
        allowed = at(self.where) if self.where else [Fraction(1)] * len(keys)
        barred = at(self.unless) if self.unless else [Fraction(0)] * len(keys)
        targets = at(self.near) if self.near else [Fraction(0)] * len(keys)
        places: dict[tuple, list[int]] = {}
        chosen = []
        for i, query in enumerate(queries):
            if i > 0 and allowed[i] == 1:
                places.setdefault(keys[i], []).append(i)
            matches = [] if barred[i] == 1 else places.get(query, [])
            chosen.append(self._choose(matches, targets[i]))
        return [sum((values[k] for k in ks), Fraction(0)) / len(ks) for ks in chosen]

    def _choose(self, matches: list[int], target: Fraction) -> list[int]:
        if not matches:
            return [0]
        if self.select == "nearest":
            distance = min(abs(k + 1 - target) for k in matches)
            return [k for k in matches if abs(k + 1 - target) == distance]
        return [matches[0] if self.select == "first" else matches[-1]]

    def __str__(self) -> str:
        tests = [
            f"{bracketed(key)} = {bracketed(query)} here" for key, query in zip(self.keys, self.queries, strict=True)
        ]
        tests += [bracketed(self.where)] if self.where else []
        text = f"{bracketed(self.value)} at the {self.select} token with {' and '.join(tests)}"
        return text + (f", unless {self.unless} here" if self.unless else "")


def match(
    stream: Stream,
    keys: tuple[Affine, ...],
    queries: tuple[Affine, ...],
    value: Affine,
    *,
    where: Affine | None = None,
    unless: Affine | None = None,
    select: Select = "first",
    near: Affine | None = None,
) -> Match:
    """The head of `Match`; see there for the proof."""
    reach = (
        stream.capacity if near is None else ceil(max(float(stream.capacity - near.low), float(near.high), 1.0)) ** 2
    )
    W = 1 << (4 * reach - 1).bit_length()
    inside = stream.inside
    pairs = [(inside, -W * norm(stream, queries))]
    pairs += [(key, 2 * W * query) for key, query in zip(keys, queries, strict=True)]
    pairs += [(norm(stream, keys), -W * ONE)]
    pairs += [(inside - where, -W * ONE)] if where else []
    pairs += [(inside, -W * unless)] if unless else []
    pairs += [(stream.begin, Fraction(-W, 2) * ONE), *_tie(stream, select, near)]
    head = Head(merged(pairs), value)
    return Match(keys, queries, value, where, unless, select, near, head)


def _tie(stream: Stream, select: Select, near: Affine | None) -> list[tuple[Affine, Affine]]:
    """What prefers one match to another; at <s> at most 1 in absolute value."""
    if select == "first":
        return [(stream.inside - stream.position, ONE)]
    if select == "last":
        return [(stream.position, ONE)]
    assert near is not None, "a match nearest to something needs that something"
    return [
        (stream.inside, -stream.square(near)),
        (stream.position - stream.begin, 2 * near),
        (stream.square(stream.position) - stream.begin, -ONE),
    ]
