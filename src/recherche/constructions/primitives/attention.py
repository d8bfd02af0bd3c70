"""What one attention head computes: copy from a distance, count, invert; and look up a key (matching.py).

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
from typing import final

from recherche.constructions.affine import Affine, bracketed
from recherche.constructions.layout import OperationKind
from recherche.constructions.primitives.operation import Column, Reader

Square = Callable[[Affine], Affine]
"""The square of a form as a form: a register that holds it, or a combination of registers that do."""

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
        return Copy(value, back, Head(merged(pairs), value))

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
class CountInverse:
    """1 / (m + 1), where m positions up to here have keys equal to the queries.

    The score is -|a(k) - b(q)|^2 (minus 1 where `where` is 0) outside <s>, and 0 at <s>: it is 0 at the m matches and
    at <s>, at most -1 elsewhere. The weights are 1 / (m + 1) on m + 1 positions; the value is 1 at <s> and 0
    elsewhere.
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
        pairs = [(stream.inside, -norm(stream, queries))]
        pairs += [(key, 2 * query) for key, query in zip(keys, queries, strict=True)]
        pairs += [(norm(stream, keys), -ONE)]
        pairs += [(stream.inside - where, -ONE)] if where else []
        return CountInverse(keys, queries, where, Head(merged(pairs), stream.begin))

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

    Score L (2 r k - r^2 k^2) = L (1 - (r k - 1)^2) with L >= N^2 a power of two: L at k = c, and at another k smaller
    by L (k - c)^2 / c^2 >= L / N^2 >= 1. The roundings of r, r^2 and the products (2^-53 each, relative) move a score
    by at most L 2^-50 max(1, k^2 / c^2). That is less than 2^-50 N^2 times the gap, so for N <= 2^20 the gap stays
    above 1/2; lambda / 2 still makes the weights exactly one-hot at k = c, and the value there, its position, is c.
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


def norm(stream: Stream, forms: tuple[Affine, ...]) -> Affine:
    """The sum of the squares of some forms."""
    squares = [stream.square(form) for form in forms]
    return sum(squares[1:], squares[0])


def merged(pairs: Iterable[tuple[Affine, Affine]]) -> tuple[tuple[Affine, Affine], ...]:
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
