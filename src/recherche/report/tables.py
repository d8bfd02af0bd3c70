"""The numbers of a run as rows of text, for tables."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

from recherche.report.appearance import architecture_label, protocol_short_label
from recherche.report.numerals import NONE, decimal, duration, percent, short_number
from recherche.report.results import CellName, CellResult, Failure, Run
from recherche.report.summaries import Key, Summary, key_of, summarise


@final
class Column(NamedTuple):
    """A column: its heading, and what the heading means."""

    heading: str
    meaning: str
    numeric: bool = True


@final
class Row(NamedTuple):
    """A measured or absent cell; `architecture` and `protocol` are keys, `texts` one text for each column."""

    cell: str
    architecture: str
    texts: tuple[str, ...]
    failed: bool = False


RESULT_COLUMNS = (
    Column("Architecture", "the sequence mixers of the model", numeric=False),
    Column("Protocol", "how the answer may be worked out", numeric=False),
    Column("n", "vertices of the graphs"),
    Column("Size", "label of the model's size", numeric=False),
    Column("Parameters", "trained and frozen numbers of the model"),
    Column("State", "bits that the model carries from the prompt to its first token"),
    Column("Accuracy", "share of right answers by generation on fresh graphs; an undecided one counts half"),
    Column("95 % interval", "Wilson's interval"),
    Column("Graphs", "fresh graphs answered"),
    Column("Undecided", "graphs without an answer within the budget"),
    Column("Exact trace", "share of generated traces equal to the reference trace"),
    Column("Teacher-forced", "share of graphs whose every token is right when the reference trace is fed"),
    Column("Samples", "training samples"),
    Column("Level", "n at which the curriculum stood at the end of training"),
    Column("Training", "time in training"),
    Column("Tokens/s", "training speed"),
    Column("Seed", "seed of weights and data"),
)


def result_rows(run: Run) -> list[Row]:
    """A row for each cell: the measured ones in the paper's order, then the absent ones."""
    measured = [_row(cell) for summary in summarise(run.results).values() for cell in summary.cells]
    return measured + [_absent_row(failure) for failure in run.absent]


def comparison_rows(runs: Sequence[Run]) -> list[Row]:
    """A row for each kind of cell: accuracy and interval in every run, then the last run's gain over the first."""
    tables = [summarise(run.results) for run in runs]
    rows = []
    for key in summarise([result for run in runs for result in run.results]):
        texts = [
            architecture_label(key.architecture),
            protocol_short_label(key.protocol),
            str(key.n_nodes),
            key.size or NONE,
        ]
        for table in tables:
            texts.append(_accuracy(table, key))
        first, last = tables[0].get(key), tables[-1].get(key)
        texts.append(f"{100 * (last.accuracy - first.accuracy):+.1f}" if first and last else NONE)
        rows.append(Row("", key.architecture, tuple(texts)))
    return rows


def _accuracy(table: Mapping[Key, Summary], key: Key) -> str:
    if key not in table:
        return NONE
    summary = table[key]
    return f"{decimal(summary.accuracy)} [{decimal(summary.low)}, {decimal(summary.high)}]"


def _share(value: float | None) -> str:
    return NONE if value is None else percent(value)


def _row(cell: CellResult) -> Row:
    key = key_of(cell)
    level = NONE if cell.level_reached is None else str(cell.level_reached)
    texts = (
        architecture_label(key.architecture),
        protocol_short_label(key.protocol),
        str(cell.n_nodes),
        cell.size or NONE,
        short_number(cell.num_parameters),
        short_number(cell.state_bits),
        decimal(cell.accuracy),
        f"{decimal(cell.accuracy_low)} – {decimal(cell.accuracy_high)}",
        f"{cell.num_samples:,}",
        f"{cell.num_undecided:,}",
        _share(cell.exact_trace_rate),
        _share(cell.teacher_forced_accuracy),
        short_number(cell.train_samples),
        level if cell.finished_curriculum else f"{level} < {cell.n_nodes}",
        duration(cell.train_seconds),
        short_number(cell.tokens_per_second),
        str(cell.seed),
    )
    return Row(cell.cell, cell.architecture, texts)


def _absent_row(failure: Failure) -> Row:
    name = CellName.parse(failure.cell)
    texts = [failure.cell, "", ""]
    if name:
        texts = [architecture_label(name.architecture), protocol_short_label(name.protocol), str(name.n_nodes)]
    reason = f"failed: {failure.error}" if failure.error else "not run"
    return Row(failure.cell, name.architecture if name else "", (*texts, reason), failed=True)
