"""A generated trace cut into steps that a reader can walk through beside the graph.

A step is what the model did at once: a search with its result, a record `parent - child`, a vertex of a tour, the
answer. It knows its own tokens, the tokens it found and where they stand in the context (prompt and trace), and which
vertices and edge of the graph it is about. Positions are ranges [start, stop) of the context.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, final

from recherche.report.examples import Example, Range, Search
from recherche.report.graph_drawing import Drawing, draw_graph
from recherche.vocab import CONTROL_TOKENS, NO, START_SEARCH, YES

EDGE_SIGN = "~"
RECORD_SIGN = "-"
StepKind = Literal["search", "record", "vertex", "answer", "other"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the model did at once.

    Attributes:
        tokens: its tokens.
        found: the tokens that a search found.
        record: the edge or record that those tokens belong to.
        vertices: names of the vertices it is about.
        edge: index of the edge it is about.
        walked: whether the walk has taken that edge with this step.
    """

    kind: StepKind
    tokens: Range
    caption: str
    pattern: str = ""
    found: Range | None = None
    record: Range | None = None
    vertices: tuple[str, ...] = ()
    edge: int | None = None
    walked: bool = False


@final
@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example with its drawing and its steps."""

    example: Example
    drawing: Drawing
    steps: tuple[Step, ...]

    @property
    def steps_as_data(self) -> list[dict[str, Any]]:
        """The steps in plain values, for the page's script."""
        return [asdict(step) for step in self.steps]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each token of the context is: control, retrieved, answer, or nothing in particular."""
        offset, generated = len(self.example.prompt), self.example.generated
        flags = self.example.retrieved + (False,) * (len(generated) - len(self.example.retrieved))
        kinds = [
            "retrieved" if flag else "control" if token in CONTROL_TOKENS else ""
            for token, flag in zip(generated, flags, strict=False)
        ]
        answers = {step.tokens[0] - offset for step in self.steps if step.kind == "answer"}
        return ("",) * offset + tuple("answer" if i in answers else kind for i, kind in enumerate(kinds))

    @property
    def prompt_pieces(self) -> list[Range]:
        """The prompt cut into edges and single tokens."""
        return list(_pieces(self.example.prompt, EDGE_SIGN, (0, len(self.example.prompt))))


def show(example: Example, *, n_nodes: int = 0) -> ShownExample:
    """The example, ready to be drawn; `n_nodes` adds vertices that no edge names."""
    return ShownExample(example, draw_graph(example.edges, n_nodes=n_nodes), tuple(_Reader(example).steps()))


class _Reader:
    """Reads one trace from left to right; remembers the vertex of the tour that was met last."""

    def __init__(self, example: Example) -> None:
        self.example = example
        self.context = example.context
        self.edge_of = {frozenset(map(str, edge)): i for i, edge in reversed(list(enumerate(example.edges)))}
        self.names = {name for edge in self.edge_of for name in edge}
        self.last_vertex: str | None = None

    def steps(self) -> Iterator[Step]:
        """All steps, in order; every generated token is in exactly one."""
        num_searches = 0
        for stretch, search in _stretches(self.example):
            if search is None:
                yield from map(self._written, _pieces(self.context, RECORD_SIGN, stretch))
            else:
                num_searches += 1
                yield self._search(search, stretch, num_searches)

    def _search(self, search: Search, tokens: Range, number: int) -> Step:
        record = _record_around(self.context, search.span)
        found = " ".join(search.result) if search.span else f"nothing ({search.status})"
        query = search.query.split()
        return Step(
            kind="search",
            tokens=tokens,
            caption=f"Search {number} of {len(self.example.searches)}, {_meaning(query)}: found {found}.",
            pattern=search.pattern or "",
            found=search.span,
            record=record,
            vertices=tuple(name for name in (*query, *search.result) if name in self.names),
            edge=self._edge(self.context[record[0]], self.context[record[1] - 1]) if record else None,
        )

    def _written(self, tokens: Range) -> Step:
        first, last = self.context[tokens[0]], self.context[tokens[1] - 1]
        if tokens[1] - tokens[0] > 1:
            edge = self._edge(first, last)
            caption = (
                f"Records that {first} is the parent of {last}{'' if edge is not None else '; there is no such edge'}."
            )
            return Step(
                kind="record",
                tokens=tokens,
                caption=caption,
                vertices=(first, last),
                edge=edge,
                walked=edge is not None,
            )
        if first in self.names:
            return self._vertex(first, tokens)
        if first in (YES, NO) and tokens[1] == len(self.context):
            verdict = "right" if self.example.right else f"wrong, for the answer is {self.example.truth}"
            return Step(kind="answer", tokens=tokens, caption=f"Answers {first}: {verdict}.")
        return Step(kind="other", tokens=tokens, caption=f"Writes {first}.")

    def _vertex(self, name: str, tokens: Range) -> Step:
        previous, self.last_vertex = self.last_vertex, name
        if previous is None:
            return Step(kind="vertex", tokens=tokens, caption=f"Starts at {name}.", vertices=(name,))
        edge = self._edge(previous, name)
        caption = f"Goes from {previous} to {name}{'' if edge is not None else ', though no edge joins them'}."
        return Step(kind="vertex", tokens=tokens, caption=caption, vertices=(name,), edge=edge, walked=edge is not None)

    def _edge(self, u: str, v: str) -> int | None:
        return self.edge_of.get(frozenset((u, v)))


def _stretches(example: Example) -> Iterator[tuple[Range, Search | None]]:
    """The trace cut at its searches: those with their results, and what was written between them."""
    offset, generated = len(example.prompt), example.generated
    cursor = 0
    for search in sorted(example.searches, key=lambda search: search.position):
        if not cursor <= search.position < len(generated):
            continue
        starts = [t for t in range(cursor, search.position) if generated[t] == START_SEARCH]
        start, stop = (starts or [search.position])[-1], search.position + 1
        while stop < len(example.retrieved) and example.retrieved[stop]:
            stop += 1
        if start > cursor:
            yield (offset + cursor, offset + start), None
        yield (offset + start, offset + stop), search
        cursor = stop
    if cursor < len(generated):
        yield (offset + cursor, offset + len(generated)), None


def _pieces(tokens: Sequence[str], sign: str, stretch: Range) -> Iterator[Range]:
    """Triples around `sign`, and single tokens."""
    start, stop = stretch
    while start < stop:
        width = 3 if start + 2 < stop and tokens[start + 1] == sign else 1
        yield start, start + width
        start += width


def _record_around(context: Sequence[str], span: Range | None) -> Range | None:
    """The edge `u ~ v` or record `u - v` whose end stands at `span`."""
    if span is None or not 0 <= span[0] < len(context):
        return None
    place, signs = span[0], (EDGE_SIGN, RECORD_SIGN)
    if place + 2 < len(context) and context[place + 1] in signs:
        return place, place + 3
    if place >= 2 and context[place - 1] in signs:
        return place - 2, place + 1
    return None


def _meaning(query: Sequence[str]) -> str:
    """What a query asks for, in words.

    >>> _meaning(["3", "~", "5"])
    'next edge at 3 after the one to 5'
    """
    match query:
        case [vertex, "-"]:
            return f"parent of {vertex}"
        case [vertex, "~"]:
            return f"first edge at {vertex}"
        case [vertex, "~", after]:
            return f"next edge at {vertex} after the one to {after}"
        case _:
            return f"query {' '.join(query)}"
