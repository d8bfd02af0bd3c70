"""`bench text_search`: searches of texts of 10^5 to 10^7 characters, beside Python's `re`, RE2 itself, and ripgrep.

Keys are new in every query. The references search the text as it is; ripgrep searches it as a file, and pays for its
start each time, as an agent's tool does. `python -m benchmarks.text_search` also writes the table of docs/retrieval.md.
"""

import itertools
import json
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import re2

from benchmarks.harness import Line, compare
from benchmarks.search import DOCS
from recherche.retrieval import TEXT_LIMITS, After, Retriever, Status, TextContext
from recherche.retrieval.text_index import TextIndex
from recherche.text_queries import Line as LineWith
from recherche.text_queries import TextQuery, Which

SIZES = (100_000, 1_000_000, 10_000_000)
OURS_PER_TURN = 50
REFERENCE_WORK = 10_000_000
RIPGREP = "rg"
BEGIN_TABLE, END_TABLE = "<!-- bench text_search -->\n", "<!-- end of bench text_search -->"

quiet = re2.Options()
quiet.log_errors = False


@dataclass(frozen=True)
class Book:
    """Lines of words in which, every so often, the line of a phone book stands."""

    text: str
    names: list[str]
    random: Random

    def name(self) -> str:
        return self.random.choice(self.names)


def book(n: int) -> Book:
    """About n characters."""
    random = Random(n)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(random.choices(letters, range(26, 0, -1), k=random.randint(2, 9))) for _ in range(20_000)]
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(vocabulary))))
    names, lines, size = list[str](), list[str](), 0
    while size < n:
        lines.append(" ".join(random.choices(vocabulary, cum_weights=weights, k=12)) + ".")
        if len(lines) % 10 == 0:
            names.append(f"{random.choice(vocabulary).title()} {random.choice(vocabulary).title()}")
            lines.append(f"{names[-1]}: 555-{random.randrange(10_000):04}")
        size += len(lines[-1]) + 1
    return Book("\n".join(lines), names, random)


@dataclass(frozen=True)
class Asked:
    """One question: what ours does, and the pattern that the references search for."""

    ours: Callable[[TextContext], Any]
    pattern: str


def by_query(query: TextQuery, pattern: str) -> Asked:
    return Asked(lambda context: context.query(query), pattern)


def by_literal(text: str, which: Which = 1) -> Asked:
    last = re.escape(text)
    return Asked(lambda context: context.literal(text, which), rf"(?s:.*){last}" if which == "last" else last)


def by_pattern(pattern: str) -> Asked:
    return Asked(lambda context: context.search(pattern), pattern)


def after(drawn: Book) -> Asked:
    name = drawn.name()
    return by_query(After(f"{name}:"), rf"(?m){re.escape(name)}:[ ]*(.*)$")


def line_with(drawn: Book) -> Asked:
    name = drawn.name()
    return by_query(LineWith(name), rf"(?m)^.*{re.escape(name)}.*$")


ROWS: dict[str, Callable[[Book], Asked]] = {
    "what follows a key": after,
    "the line with a key": line_with,
    "characters": lambda drawn: by_literal(drawn.name()),
    "characters, the last": lambda drawn: by_literal(drawn.name(), "last"),
    "characters that are absent": lambda drawn: by_literal(f"{drawn.name()}!"),
    "pattern of a line": lambda drawn: by_pattern(rf"(?m)^{drawn.name()}: (\d+-\d+)$"),
    "pattern without a fixed part": lambda drawn: by_pattern(rf"\b[A-Z]\w+ [A-Z]\w+: 55{drawn.random.randint(6, 9)}\b"),
    "pattern in any case": lambda drawn: by_pattern(f"(?i){drawn.name()}"),
}
WITHOUT_AN_INDEX = ("pattern of a line", "pattern without a fixed part", "pattern in any case")


def search_with_re(text: str, data: bytes, asked: Asked) -> Any:
    return re.search(asked.pattern, text)


def search_with_re2(text: str, data: bytes, asked: Asked) -> Any:
    return re2.compile(asked.pattern, quiet).search(data)


def search_with_ripgrep(file: Path, asked: Asked) -> Any:
    command = [RIPGREP, "--no-config", "--max-count=1", "--only-matching", asked.pattern.removeprefix("(?s:.*)"), file]
    return subprocess.run(command, capture_output=True, check=False)


def query_lines(n: int, file: Path) -> Iterator[Line]:
    """Every way of asking, at one size, beside each reference."""
    drawn = book(n)
    data = drawn.text.encode()
    file.write_bytes(data)
    context = Retriever(limits=TEXT_LIMITS).text(drawn.text)
    references: dict[str, Callable[[Asked], Any]] = {
        "re": lambda asked: search_with_re(drawn.text, data, asked),
        "RE2": lambda asked: search_with_re2(drawn.text, data, asked),
    }
    if shutil.which(RIPGREP):
        references["ripgrep on the file"] = lambda asked: search_with_ripgrep(file, asked)
    for row, draw in ROWS.items():
        for name, refer in references.items():
            pair = rates(row, [draw(drawn) for _ in range(6 * OURS_PER_TURN)], context, refer, n=n)
            yield Line.from_rates(row, pair, reference_name=name, unit="searches/s", n=n)
    if not shutil.which(RIPGREP):
        yield Line(
            "ripgrep", 0.0, 0.0, "ripgrep, which is not installed (apt-get install ripgrep)", 0.0, "searches/s", n
        )


def rates(
    row: str, asked: list[Asked], context: TextContext, refer: Callable[[Asked], Any], *, n: int
) -> tuple[float, float]:
    """Searches per second of ours and of the reference."""
    n_reference = min(OURS_PER_TURN, max(1, REFERENCE_WORK // (4 * n)))
    n_ours = n_reference if row in WITHOUT_AN_INDEX else OURS_PER_TURN
    ours, theirs = itertools.cycle(asked), itertools.cycle(asked)

    def ask() -> float:
        for one in itertools.islice(ours, n_ours):
            found = one.ours(context)
            assert found.status in (Status.OK, Status.NO_MATCH), found
        return float(n_ours)

    def compare_with() -> float:
        for one in itertools.islice(theirs, n_reference):
            refer(one)
        return float(n_reference)

    return compare(ask, compare_with, repeats=3)


def index_lines() -> Iterator[Line]:
    """Making the index of a text, beside a table of its words in plain Python; growing a text line by line."""
    for n in SIZES:
        text = book(n).text
        data = bytearray(text.encode())

        def make(data: bytearray = data) -> float:
            TextIndex().grow(data, len(data))
            return len(data) / 1e6

        def make_table(text: str = text) -> float:
            table: dict[str, list[int]] = {}
            for word in re.finditer(r"\w+", text):
                table.setdefault(word[0], []).append(word.start())
            return len(text) / 1e6

        pair = compare(make, make_table, repeats=3)
        yield Line.from_rates("index", pair, reference_name="words and their places in Python", unit="MB/s", n=n)


def lines() -> Iterator[Line]:
    """All measurements."""
    yield from index_lines()
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            yield from query_lines(n, Path(folder) / "book.txt")


def table(measured: list[Line]) -> str:
    """The measurements as a Markdown table, a row for each question and size."""
    rows = ["| asked | characters | ours | re | RE2 | ripgrep on the file |", "|---|---|---|---|---|---|"]
    for name, n in dict.fromkeys((line.name, line.n) for line in measured if line.unit == "searches/s" and line.ours):
        group = [line for line in measured if (line.name, line.n) == (name, n)]
        ours = milliseconds(max(line.ours for line in group))
        theirs = {line.reference_name: milliseconds(line.reference) for line in group}
        others = " | ".join(theirs.get(reference, "") for reference in ("re", "RE2", "ripgrep on the file"))
        rows.append(f"| {name} | {n:,} | **{ours}** | {others} |")
    return "\n".join(rows)


def milliseconds(rate: float) -> str:
    cost = 1000 / rate if rate else math.inf
    return f"{cost:.2f} ms" if cost < 10 else f"{cost:.0f} ms"


def write_docs(measured: list[Line]) -> None:
    """Put the table into docs/retrieval.md."""
    page = DOCS / "retrieval.md"
    head, rest = page.read_text(encoding="utf-8").split(BEGIN_TABLE)
    _, tail = rest.split(END_TABLE)
    rate = next(line.ours for line in measured if line.name == "index" and line.n == max(SIZES))
    said = f"The index of {max(SIZES):,} characters is made at {rate:.0f} MB/s.\n"
    page.write_text(f"{head}{BEGIN_TABLE}{said}\n{table(measured)}\n{END_TABLE}{tail}", encoding="utf-8")


if __name__ == "__main__":
    every_line = []
    for one in lines():
        every_line.append(one)
        print(json.dumps(one.as_json()), flush=True)  # noqa: T201
    write_docs(every_line)
