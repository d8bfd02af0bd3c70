"""`recherche lm eval`: language models on texts of growing length, direct beside searching, and one page about them."""

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from recherche.experiments.language_points import LanguagePoint
    from recherche.report.text_results import TextPoint

Item = TypeVar("Item")


def measure(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Models with their tokenizers.")],
    task: Annotated[str, typer.Option(help="Tasks, commas between them.")] = "phonebook,keyvalue",
    n: Annotated[str, typer.Option("--n", help="Sizes of the texts, commas between them.")] = "10,30,100,300,1000",
    protocol: Annotated[str, typer.Option(help="direct, search, or both.")] = "direct,search",
    num: Annotated[int, typer.Option(help="Texts at each point.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the texts.")] = 0,
    batch_size: Annotated[int, typer.Option(help="Texts written side by side.")] = 8,
    out: Annotated[Path, typer.Option(help="Folder of the numbers and the page.")] = Path("runs/lm"),
    only: Annotated[str | None, typer.Option(help="Run the points whose name holds this (wildcards allowed).")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    dtype: Annotated[str, typer.Option(help="Number type: auto (as saved), float32, bfloat16 or float16.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the points and stop.")] = False,
) -> None:
    """Ask language models about texts of growing length, and draw accuracy against n, direct beside searching.

    Running it again goes on where it stopped and skips what is done, within a point too. Another command may add
    models, tasks or sizes to the same folder. `recherche report DIR` draws the page again from the files alone.

    [bold]Examples[/bold]

      recherche lm eval ./taught --task phonebook --n 10,100,1000 --out runs/x
      recherche lm eval ./my-mamba ./my-llama --task phonebook,keyvalue,variables --num 200 --out runs/y
      recherche lm eval ./taught --only "phonebook-search-*" --dry-run
    """
    from recherche._lookup import allow_own
    from recherche.cli.board import Board
    from recherche.cli.reproduce import choose_device, conclude
    from recherche.experiments.language_models import Machine, measure_points, points_left
    from recherche.experiments.language_points import Sampling, expected_work, make_points, matching_points
    from recherche.report import write_text_report

    console = Console()
    asked = make_points(
        folders,
        tasks=[allow_own(name) for name in split(task, str, what="--task")],
        sizes=split(n, int, what="--n"),
        protocols=split(protocol, str, what="--protocol"),
        sampling=Sampling(num=num, seed=seed, dtype=dtype),
    )
    chosen = matching_points(asked, only)
    machine = Machine(device=choose_device(device), batch_size=batch_size)
    left = points_left(chosen, out)
    if dry_run:
        console.print(_plan(chosen, left, out))
    console.print(f"{len(left)} of {len(chosen)} points to measure in {out}, {num} texts each, on {machine.device}")
    if dry_run:
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Board({name: expected_work(point) for name, point in left.items()}, console=console, what="points") as board:
        outcome = measure_points(chosen, out, machine=machine, on_message=board.tell)
    console.print(results_table(out))
    conclude(outcome, write_text_report(out), console, what="points")


def split(listed: str, kind: Callable[[str], Item], *, what: str) -> list[Item]:
    """The values of an option with commas between them.

    >>> split("10, 30", int, what="--n")
    [10, 30]

    Raises:
        ConfigError: one of them is no such value.
    """
    from recherche.errors import ConfigError

    parts = [part.strip() for part in listed.split(",") if part.strip()]
    try:
        return [kind(part) for part in parts]
    except ValueError as error:
        raise ConfigError(f"{what} takes whole numbers with commas between them, got {listed!r}.") from error


def _plan(chosen: "Mapping[str, LanguagePoint]", left: "Mapping[str, LanguagePoint]", out: Path) -> Table:
    table = Table(title=f"lm eval in {out}", box=SIMPLE, padding=(0, 1))
    table.add_column("point", no_wrap=True)
    for heading in ("texts", "done"):
        table.add_column(heading)
    for name, point in chosen.items():
        table.add_row(name, str(point.sampling.num), "" if name in left else "yes")
    return table


def results_table(out: Path) -> Table:
    """Accuracy by both protocols, a line for each model, task and n of the folder."""
    from recherche.report.text_results import read_text_run

    table = Table("model", "task", "n", "direct", "searching", box=SIMPLE, padding=(0, 1))
    cells: dict[tuple[str, str, int], dict[str, str]] = {}
    for point in read_text_run(out).points:
        cells.setdefault((point.folder, point.task, point.n), {})[point.protocol] = _accuracy(point)
    for (model, task, n), by_protocol in cells.items():
        texts = (Text(by_protocol.get(protocol, ""), no_wrap=True) for protocol in ("direct", "search"))
        table.add_row(model, task, f"{n:,}", *texts)
    return table


def _accuracy(point: "TextPoint") -> str:
    from recherche.report.numerals import decimal

    if point.accuracy is None or point.accuracy_low is None or point.accuracy_high is None:
        return "refused"
    return f"{decimal(point.accuracy)} [{decimal(point.accuracy_low)}, {decimal(point.accuracy_high)}]"
