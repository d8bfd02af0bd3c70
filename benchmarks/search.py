"""`bench search`: queries on contexts of 10^4 to 10^6 tokens, beside `re` and RE2 on the re-joined text.

Every query is new, so that no compiled pattern is ever used twice. The references do what is done without an index:
join the tokens, compile, search. `python -m benchmarks.search` also writes the table and the figure of
docs/retrieval.md.
"""

import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import re2

from benchmarks.harness import Line, compare
from recherche.queries import AR, Index, LastWrite, NextEdge, Parent, Query
from recherche.retrieval import BatchRetriever, Context, Limits, Retriever, Status, batch_tables
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.templates import render
from recherche.retrieval.translate import translate
from recherche.vocab import Vocab

SIZES = (10_000, 100_000, 1_000_000)
OURS_PER_TURN = 300
REFERENCE_WORK = 2_000_000
BATCH_ROWS, BATCH_TOKENS, BATCH_NAMES = 256, 10_000, 1_020
DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN_TABLE, END_TABLE = "<!-- bench search -->\n", "<!-- end of bench search -->"

re2_options = re2.Options()
re2_options.max_mem = 64 << 20
re2_options.log_errors = False


@dataclass(frozen=True)
class Text:
    """A mixed text of numbers, edges and writes, and the endless queries that can be asked of it."""

    tokens: list[str]
    random: Random

    def key(self) -> str:
        return self.random.choice(self.tokens)

    def number(self) -> str:
        return next(key for key in iter(self.key, "") if key.isdigit())

    def after(self, sign: str, offset: int) -> list[str]:
        """The record around a random occurrence of a sign."""
        place = self.random.choice(self._places(sign))
        return self.tokens[place + offset : place + offset + 3]

    def _places(self, sign: str) -> range:
        return range({"~": 11, "=": 15}[sign], len(self.tokens) - 10, 20)


def mixed_text(n: int) -> Text:
    """n tokens: 12 numbers, an edge and a write, and so on."""
    random = Random(n)
    names = [str(name) for name in range(1, max(200, n // 20))]
    tokens = random.choices(names, k=n)
    for place in range(10, n - 10, 20):
        tokens[place + 1], tokens[place + 5], tokens[place + 7] = "~", "=", ";"
    return Text(tokens, random)


def next_edge(text: Text) -> NextEdge:
    u, _, v = text.after("~", -1)
    return NextEdge(vertex=v, after=u)


def last_write(text: Text) -> LastWrite:
    return LastWrite(text.after("=", -1)[0])


Ask = Callable[[Context], Any]


@dataclass(frozen=True)
class Row:
    """One way of asking: what ours does, and the pattern that the references search for."""

    name: str
    draw: Callable[[Text], tuple[Ask, str]]
    against_re2: bool = True


def by_query(draw: Callable[[Text], Query]) -> Callable[[Text], tuple[Ask, str]]:
    def drawn(text: Text) -> tuple[Ask, str]:
        query = draw(text)
        return lambda context: context.query(query), render(query)

    return drawn


def by_pattern(draw: Callable[[Text], str]) -> Callable[[Text], tuple[Ask, str]]:
    def drawn(text: Text) -> tuple[Ask, str]:
        pattern = draw(text)
        return lambda context: context.search(pattern), pattern

    return drawn


ROWS = (
    Row("associative recall, query", by_query(lambda text: AR(text.number()))),
    Row("associative recall, template", by_pattern(lambda text: render(AR(text.number())))),
    Row("associative recall, other pattern", by_pattern(lambda text: rf"(?:^|\s){text.number()}\s(\S+)\s")),
    Row("next edge, query", by_query(next_edge)),
    Row("next edge, template", by_pattern(lambda text: render(next_edge(text)))),
    Row("last write, query", by_query(last_write)),
    Row("index, query", by_query(lambda text: Index(text.random.randrange(1, len(text.tokens)))), against_re2=False),
    Row("free pattern", by_pattern(lambda text: rf"(?:^| ){text.number()} (\d+) ")),
)


def search_with_re(tokens: list[str], pattern: str) -> Any:
    return re.search(pattern, " ".join(tokens))


def search_with_re2(tokens: list[str], pattern: str) -> Any:
    translated = translate(read_pattern(pattern, Limits()), "", Limits())
    return re2.compile(translated, re2_options).search(" ".join(tokens))


def rates(row: Row, text: Text, context: Context, reference: Callable[[list[str], str], Any]) -> tuple[float, float]:
    """Queries per second of ours and of the reference; all queries are drawn before the clock starts."""
    quick = row.name != "free pattern"
    n_ours = OURS_PER_TURN if quick else max(2, REFERENCE_WORK // len(text.tokens))
    n_reference = max(2, REFERENCE_WORK // (10 * len(text.tokens)))
    ours = iter([row.draw(text)[0] for _ in range(6 * n_ours)])
    patterns = iter([row.draw(text)[1] for _ in range(6 * n_reference)])

    def ask() -> float:
        for one in itertools.islice(ours, n_ours):
            found = one(context)
            assert found.status in (Status.OK, Status.NO_MATCH), found
        return float(n_ours)

    def refer() -> float:
        for pattern in itertools.islice(patterns, n_reference):
            reference(text.tokens, pattern)
        return float(n_reference)

    return compare(ask, refer)


def query_lines() -> Iterator[Line]:
    """Every way of asking, at every size, beside both references; growth is the cost beside the size before."""
    before: dict[str, float] = {}
    for n in SIZES:
        text = mixed_text(n)
        context = Retriever(limits=Limits(deadline_ms=30_000)).context(text.tokens)
        for row in ROWS:
            references = {"re on re-joined text": search_with_re}
            if row.against_re2:
                references["RE2 on re-joined text"] = search_with_re2
            for name, search in references.items():
                pair = rates(row, text, context, search)
                line = Line.from_rates(row.name, pair, reference_name=name, unit="queries/s", n=n)
                if "RE2" not in name:
                    line = dataclasses.replace(line, growth=before[row.name] / pair[0] if row.name in before else None)
                    before[row.name] = pair[0]
                yield line


def append_lines() -> Iterator[Line]:
    """Appending one token after the other with all indexes kept, beside growing a string that is searched."""
    before: float | None = None
    for n in SIZES:
        text = mixed_text(n)
        context, joined = Retriever().context(text.tokens), [" ".join(text.tokens)]
        more = itertools.cycle(text.tokens[:50_000])

        def ours(context: Context = context, more: Iterator[str] = more) -> float:
            for number, token in enumerate(itertools.islice(more, 20_000)):
                context.extend([token])
                if number % 100 == 0:
                    context.query(NextEdge("1", "2"))
            return 20_000.0

        def reference(joined: list[str] = joined, more: Iterator[str] = more) -> float:
            for token in itertools.islice(more, 50):
                joined[0] = joined[0] + " " + token
            return 50.0

        pair = compare(ours, reference)
        line = Line.from_rates("append", pair, reference_name="growing a string", unit="tokens/s", n=n)
        yield dataclasses.replace(line, growth=None if before is None else before / pair[0])
        before = pair[0]


def batch_lines() -> Iterator[Line]:
    """Mixed queries of 256 rows at once, beside RE2 on the grown bytes of each row."""
    names = [str(name) for name in range(1, BATCH_NAMES + 1)]
    vocab = Vocab((*names, "~", "-", "=", ";"))
    random = Random(1)
    batch = BatchRetriever(vocab, n_rows=BATCH_ROWS, max_length=BATCH_TOKENS)
    grown = []
    for row in range(BATCH_ROWS):
        tokens = mixed_text(BATCH_TOKENS).tokens
        tokens = [token if token in vocab else names[0] for token in tokens]
        batch.extend(row, vocab.encode(tokens))
        grown.append(" ".join(tokens).encode())

    def draw() -> Query:
        a, b = random.choice(names), random.choice(names)
        return random.choice((AR(a), Parent(a), NextEdge(a, b), LastWrite(a), Index(random.randint(1, BATCH_TOKENS))))

    def reference() -> float:
        for row in range(32):
            query = draw()
            while isinstance(query, Index):  # beyond RE2's limit on repeats
                query = draw()
            translated = translate(read_pattern(render(query), Limits()), "", Limits())
            re2.compile(translated, re2_options).search(grown[row])
        return 32.0

    asked = iter([[draw() for _ in range(BATCH_ROWS)] for _ in range(6)])
    objects = compare(lambda: float(len(batch.query(next(asked)))), reference)
    kinds = np.array([random.choice((batch_tables.AR_FIRST, batch_tables.NEXT_EDGE)) for _ in range(BATCH_ROWS)])
    keys = np.array([random.randrange(BATCH_NAMES) for _ in range(BATCH_ROWS)])
    arrays = compare(lambda: float(len(batch.find(kinds, keys, keys[::-1])[0])), reference)
    for name, pair in (("batch of 256, query objects", objects), ("batch of 256, arrays", arrays)):
        yield Line.from_rates(name, pair, reference_name="RE2 per row", unit="queries/s", n=BATCH_TOKENS)


def lines() -> Iterator[Line]:
    """All measurements."""
    yield from query_lines()
    yield from append_lines()
    yield from batch_lines()


def table(measured: list[Line]) -> str:
    """The measurements as a Markdown table."""
    rows = ["| asked | n | ours | reference | | ratio | growth |", "|---|---|---|---|---|---|---|"]
    for line in measured:
        growth = "" if line.growth is None else f"{line.growth:.1f}"
        ratio = f"{line.ratio:,.0f}" if line.ratio >= 10 else f"{line.ratio:.1f}"
        rows.append(
            f"| {line.name} | {line.n:,} | {line.ours:,.0f} {line.unit} | {line.reference:,.0f} | "
            f"{line.reference_name} | {ratio} | {growth} |"
        )
    return "\n".join(rows)


def draw_figure(measured: list[Line], path: Path) -> None:
    """Cost of one query against the length of the context, both on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for name in dict.fromkeys(line.name for line in measured if line.unit == "queries/s" and "batch" not in line.name):
        mine = [line for line in measured if line.name == name and line.reference_name.startswith("re ")]
        axes.loglog([line.n for line in mine], [1e6 / line.ours for line in mine], marker="o", label=name)
        if name == "associative recall, query":
            both = [line for line in measured if line.name == name]
            for reference, style in (("re on", "--"), ("RE2 on", ":")):
                theirs = [line for line in both if line.reference_name.startswith(reference)]
                sizes, costs = [line.n for line in theirs], [1e6 / line.reference for line in theirs]
                axes.loglog(sizes, costs, style, color="black", marker="s", label=f"recall, {reference} re-joined text")
    axes.set_xlabel("tokens in the context")
    axes.set_ylabel("microseconds a query")
    axes.legend(fontsize=7, loc="upper left", ncols=2)
    axes.set_ylim(top=axes.get_ylim()[1] * 30)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)


def write_docs(measured: list[Line]) -> None:
    """Put the table into docs/retrieval.md and the figure beside it."""
    draw_figure(measured, DOCS / "figures" / "search.svg")
    page = DOCS / "retrieval.md"
    head, rest = page.read_text(encoding="utf-8").split(BEGIN_TABLE)
    _, tail = rest.split(END_TABLE)
    page.write_text(f"{head}{BEGIN_TABLE}{table(measured)}\n{END_TABLE}{tail}", encoding="utf-8")


if __name__ == "__main__":
    every_line = []
    for one in lines():
        every_line.append(one)
        print(json.dumps(one.as_json()), flush=True)  # noqa: T201
    write_docs(every_line)
