"""What one attention head computes: copy from a distance, look up a key, count, invert.

    s(k, q) = sum over pairs of key_i(k) query_i(q)      the score of position k for a query at position q

A pair is an affine form read at k times one read at q. W_K holds the first, W_Q the second times lambda sqrt(d), so
the softmax sees lambda s(k, q). All forms are integers (contract), so two different scores differ by at least 1, and
with lambda = 1024 the smaller one gets weight exp(-1024 ...) = 0 in float64: the weights are exactly equal on the
positions of the largest score and exactly 0 elsewhere. No approximation remains.

What does not depend on k never changes the weights. It is kept where it makes the largest score small, because then the
statement holds in R_p as well, where scores saturate.

Reference: Wen, Dang & Lyu (2024), Lemmas C.7-C.19, corrected as docs/errata.md lists, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

from recherche.constructions.affine import Affine, bracketed
from recherche.constructions.layout import OperationKind
from recherche.constructions.primitives.operation import Column, Reader

Square = Callable[[Affine], Affine]
"""The square of a form as a form: a register that holds it, or a combination of registers that do."""

Select = Literal["first", "last", "nearest"]

ONE = Affine.of(1)


@final
@dataclass(frozen=True, slots=True)
class Head:
    """The weights of one head, before they are matrices.

    Attributes:
        pairs: (key, query) forms whose products add up to the score.
        value: the form that is averaged with the weights.
        sharpening: a power of two by which the scores are multiplied besides lambda.
    """

    pairs: tuple[tuple[Affine, Affine], ...]
    value: Affine
    sharpening: int = 1

    @property
    def forms(self) -> tuple[Affine, ...]:
        """All that the head reads."""
        return (*(form for pair in self.pairs for form in pair), self.value)


@final
@dataclass(frozen=True, slots=True)
class Stream:
    """The forms that every head needs: the position, the flag of <s>, squares; and a bound on positions."""

    position: Affine
    begin: Affine
    square: Square
    capacity: int

    @property
    def inside(self) -> Affine:
        """1 everywhere but at <s>."""
        return 1 - self.begin


@final
@dataclass(frozen=True, slots=True)
class Copy:
    """The value `back` tokens ago, at position 1 if there is no such token.

    Score -(k - (q - back))^2, largest at k = q - back if that is a position, else at k = 1, the nearest one.
    Expanded: 1 * -(q - back)^2  +  k * 2 (q - back)  +  k^2 * -1.
    """

    value: Affine
    back: int
    head: Head

    kind: OperationKind = "attention"

    @staticmethod
    def of(stream: Stream, value: Affine, back: int) -> "Copy":
        """The head that looks `back` tokens back."""
        target = stream.position - back
        pairs = (
            (ONE, -stream.square(target)),
            (stream.position, 2 * target),
            (stream.square(stream.position), -ONE),
        )
        return Copy(value, back, Head(_merged(pairs), value))

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """All forms of the head."""
        return self.head.forms

    def meaning(self, at: Reader) -> Column:
        """The value's column, shifted."""
        column = at(self.value)
        return [column[max(0, i - self.back)] for i in range(len(column))]

    def __str__(self) -> str:
        return f"{bracketed(self.value)}, {self.back} back"


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
    different positions, tie(k) = -k (first), k (last) or -(k - near)^2 (nearest, with W >= 4 N^2 for N^2 in place
    of N; of two equally near ones both count half) decides by at least 1.

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
    reach = stream.capacity if select != "nearest" else stream.capacity**2
    W = 1 << (4 * reach - 1).bit_length()
    inside = stream.inside
    pairs = [(inside, -W * _norm(stream, queries))]
    pairs += [(key, 2 * W * query) for key, query in zip(keys, queries, strict=True)]
    pairs += [(_norm(stream, keys), -W * ONE)]
    pairs += [(inside - where, -W * ONE)] if where else []
    pairs += [(inside, -W * unless)] if unless else []
    pairs += [(stream.begin, Fraction(-W, 2) * ONE), *_tie(stream, select, near)]
    head = Head(_merged(pairs), value)
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


@final
@dataclass(frozen=True, slots=True)
class CountInverse:
    """1 / (m + 1), where m positions up to here have keys equal to the queries.

    The score is -|a(k) - b(q)|^2 (minus 1 where `where` is 0) outside <s>, and 0 at <s>: it is 0 at the m matches and at
    <s>, at most -1 elsewhere. The weights are 1 / (m + 1) on m + 1 positions; the value is 1 at <s> and 0 elsewhere.
    """

    keys: tuple[Affine, ...]
    queries: tuple[Affine, ...]
    where: Affine | None
    head: Head

    kind: OperationKind = "attention"

    @staticmethod
    def of(
        stream: Stream, keys: tuple[Affine, ...], queries: tuple[Affine, ...], where: Affine | None
    ) -> "CountInverse":
        """The head that counts."""
        pairs = [(stream.inside, -_norm(stream, queries))]
        pairs += [(key, 2 * query) for key, query in zip(keys, queries, strict=True)]
        pairs += [(_norm(stream, keys), -ONE)]
        pairs += [(stream.inside - where, -ONE)] if where else []
        return CountInverse(keys, queries, where, Head(_merged(pairs), stream.begin))

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """All forms of the head."""
        return self.head.forms

    def meaning(self, at: Reader) -> Column:
        """1 over 1 plus the number of matches so far."""
        keys = zip(*(at(key) for key in self.keys), strict=True)
        queries = zip(*(at(query) for query in self.queries), strict=True)
        allowed = at(self.where) if self.where else [Fraction(1)] * len(at(self.keys[0]))
        seen: dict[tuple, int] = {}
        column = []
        for i, (key, query) in enumerate(zip(keys, queries, strict=True)):
            if i > 0 and allowed[i] == 1:
                seen[key] = seen.get(key, 0) + 1
            column.append(Fraction(1, 1 + seen.get(query, 0)))
        return column

    def __str__(self) -> str:
        tests = [
            f"{bracketed(key)} = {bracketed(query)} here" for key, query in zip(self.keys, self.queries, strict=True)
        ]
        tests += [bracketed(self.where)] if self.where else []
        return f"1 / (1 + number of tokens with {' and '.join(tests)})"


@final
@dataclass(frozen=True, slots=True)
class Invert:
    """The integer c, given r = 1 / c as `CountInverse` leaves it, correctly rounded; needs 1 <= c <= position.

    Score L (2 r k - r^2 k^2) = L (1 - (r k - 1)^2) with L >= N^2 a power of two. At k = c it is L up to rounding; at
    another k it is smaller by L (k - c)^2 / c^2 >= L / N^2 >= 1. The rounding of r (relative 2^-53), of r^2 and of the products
    moves a score by at most L 2^-50 times (k / c)^2, which at k = c, c +- 1 is far below 1, and elsewhere far below the
    gap. So the weights are exactly one-hot at k = c, and the value there, its position, is c.
    """

    reciprocal: Affine
    head: Head

    kind: OperationKind = "attention"

    @staticmethod
    def of(stream: Stream, reciprocal: Affine) -> "Invert":
        """The head that turns 1 / c into c."""
        pairs = (
            (stream.square(stream.position), -stream.square(reciprocal)),
            (stream.position, 2 * reciprocal),
        )
        sharpening = 1 << 2 * (stream.capacity - 1).bit_length()
        return Invert(reciprocal, Head(pairs, stream.position, sharpening))

    @property
    def inputs(self) -> tuple[Affine, ...]:
        """All forms of the head."""
        return self.head.forms

    def meaning(self, at: Reader) -> Column:
        """The reciprocal of the reciprocal."""
        return [1 / r for r in at(self.reciprocal)]

    def __str__(self) -> str:
        return f"1 / {bracketed(self.reciprocal)}"


def _norm(stream: Stream, forms: tuple[Affine, ...]) -> Affine:
    squares = [stream.square(form) for form in forms]
    return sum(squares[1:], squares[0])


def _merged(pairs: Iterable[tuple[Affine, Affine]]) -> tuple[tuple[Affine, Affine], ...]:
    """The same score with fewer pairs: constant queries move into their keys, equal keys and queries are joined."""
    by_query: dict[tuple, tuple[Affine, Affine]] = {}
    for key, query in pairs:
        if not query.terms:
            key, query = key * query.constant, ONE
        known = by_query.get(query.key)
        by_query[query.key] = (key if known is None else known[0] + key, query)
    by_key: dict[tuple, tuple[Affine, Affine]] = {}
    for key, query in by_query.values():
        known = by_key.get(key.key)
        by_key[key.key] = (key, query if known is None else known[1] + query)
    return tuple(by_key.values())
