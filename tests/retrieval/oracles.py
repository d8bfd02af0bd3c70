"""Random texts and queries, and the answer to each query by its definition, in plain Python."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from recherche.queries import AR, CGram, Count, FirstEdge, Index, LastWrite, NextEdge, Parent, Query
from recherche.retrieval import Context, Retriever

NAMES = ("1", "2", "3", "11", "12", "21", "-1", "x(", "a.b", "é")
ODD_NAMES = ("a\u00a0b", "t\tb", "\x1c", "٣", "a\x00b")
SIGNS = ("~", "-", "=", ";", "<s>", "FAILED")

Text = list[str | None]
"""Tokens; None is a hidden span."""


@dataclass(frozen=True)
class Case:
    """A text, the context that holds it, and where each of its tokens stands in the whole context."""

    text: Text
    context: Context
    places: list[int]

    @property
    def joined(self) -> str:
        return " ".join(token or "" for token in self.text)


def random_case(random: Random, names: tuple[str, ...] = NAMES, *, most_parts: int = 12) -> Case:
    """A context grown in random steps: tokens, edges, records, writes and sometimes hidden spans; sometimes forked."""
    context, text, places = Retriever().context([]), Text(), list[int]()
    has_hidden = random.random() < 0.3
    for _ in range(random.randint(0, most_parts)):
        if has_hidden and random.random() < 0.15:
            size = random.randint(1, 4)
            places.append(len(context))
            context.hide(["q"] * size)
            text.append(None)
            continue
        part = _random_part(random, names)
        places.extend(range(len(context), len(context) + len(part)))
        context.extend(part)
        text.extend(part)
        if random.random() < 0.05:
            context = context.fork()
    return Case(text, context, places)


def _random_part(random: Random, names: tuple[str, ...]) -> list[str]:
    a, b = random.choice(names), random.choice(names)
    return random.choice(([a], [a], [a, b], [a, "~", b], [a, "-", b], [a, "=", b, ";"], [random.choice(SIGNS)]))


def random_queries(random: Random, kind: str, count: int, names: tuple[str, ...] = NAMES) -> list[Query]:
    """Queries of one kind."""
    return [_KINDS[kind](random, names) for _ in range(count)]


_KINDS: dict[str, Callable[[Random, tuple[str, ...]], Query]] = {
    "index": lambda random, names: Index(random.randint(1, 20)),
    "ar-first": lambda random, names: AR(random.choice(names)),
    "ar-last": lambda random, names: AR(random.choice(names), "last"),
    "cgram": lambda random, names: CGram(tuple(random.choice(names[:3]) for _ in range(random.randint(1, 3)))),
    "count": lambda random, names: Count(random.choice(names), random.randint(0, 3)),
    "parent": lambda random, names: Parent(random.choice(names)),
    "first-edge": lambda random, names: FirstEdge(random.choice(names)),
    "next-edge": lambda random, names: NextEdge(random.choice(names), random.choice(names)),
    "last-write": lambda random, names: LastWrite(random.choice(names)),
}
KINDS = tuple(_KINDS)


def answer(query: Query, text: Text) -> int | None:
    """Where the answer stands in the text."""
    places = range(len(text))
    match query:
        case Index(k):
            return k - 1 if k < len(text) and None not in text[: k + 1] else None
        case AR(key, select):
            found = [p + 1 for p in places if text[p] == key and _shown(text, p + 1, 2)]
            return found[0 if select == "first" else -1] if found else None
        case CGram(prefix):
            size = len(prefix)
            return next(
                (p + size for p in places if tuple(text[p : p + size]) == prefix and _shown(text, p + size, size + 1)),
                None,
            )
        case Count(value, threshold):
            end = text.index(None) if None in text else len(text)
            found = [p for p in range(end - 2) if text[p] == value]
            return found[threshold] if len(found) > threshold else None
        case Parent(child):
            return next((p for p in places if text[p] is not None and text[p + 1 : p + 3] == ["-", child]), None)
        case FirstEdge(vertex):
            return _edge_end(text, vertex, 0)
        case NextEdge(vertex, after):
            used = ([after, "~", vertex], [vertex, "~", after])
            place = next((p for p in places if text[p : p + 3] in used), None)
            return None if place is None else _edge_end(text, vertex, place + 3)
        case LastWrite(pointer):
            writes = [p for p in places if text[p : p + 2] == [pointer, "="] and text[p + 3 : p + 4] == [";"]]
            shown = [p + 2 for p in writes if text[p + 2] is not None]
            return shown[-1] if shown else None


def _shown(text: Text, begin: int, count: int) -> bool:
    part = text[begin : begin + count]
    return len(part) == count and None not in part


def _edge_end(text: Text, vertex: str, begin: int) -> int | None:
    for p in range(begin, len(text) - 2):
        u, sign, v = text[p : p + 3]
        if sign == "~" and u is not None and v is not None and vertex in (u, v):
            return p if v == vertex else p + 2
    return None
