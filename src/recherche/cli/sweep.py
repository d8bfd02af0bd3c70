"""`recherche sweep`: many small models over a grid of tasks, mixers and sizes, and one page about all of them."""

import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text


def sweep(
    grid: Annotated[str, typer.Argument(metavar="NAME|FILE.yaml", help="A shipped sweep, or your own grid.")],
    preset: Annotated[str, typer.Option(help="quick or zoology, for a shipped sweep.")] = "quick",
    out: Annotated[Path | None, typer.Option(help="Folder of the sweep; runs/NAME if not given.")] = None,
    only: Annotated[str | None, typer.Option(help="Run the points whose name holds this (wildcards allowed).")] = None,
    jobs: Annotated[int, typer.Option(help="Points side by side; 0 means one a core (one in all on a GPU).")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the points and stop.")] = False,
) -> None:
    """Train every point of a grid, measure it at several n, and draw accuracy against state bits and against n.

    Running it again goes on where it stopped and skips what is done; Ctrl-C saves first. docs/sweeps.md shows how a
    grid of your own is written.

    [bold]Examples[/bold]

      recherche sweep recall --preset quick             fourteen models on MQAR and Index
      recherche sweep recall --only mqar-n64-mamba      some points of it
      recherche sweep recall --preset zoology --dry-run what would run on a GPU
      recherche sweep mine.yaml --out runs/mine         your own grid
    """
    from recherche.cli.board import Board
    from recherche.cli.reproduce import choose_device, choose_jobs, conclude
    from recherche.experiments.reproduce import expected_work
    from recherche.experiments.sweep import make_sweep, points_left, run_sweep
    from recherche.report import write_sweep_report

    asked = make_sweep(grid, preset, seed=seed)
    out = out or Path("runs") / asked.name
    console = Console()
    device = choose_device(device)
    jobs = choose_jobs(jobs, device)
    if dry_run:
        console.print(_plan(asked, out, only))
    left = points_left(asked, out, only)
    console.print(
        f"{len(left)} points of [bold]{asked.name}[/bold] to run in {out}, {jobs} at a time on {device}; "
        f"{asked.summary}"
    )
    if dry_run:
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Board({name: expected_work(cell.config) for name, cell in left.items()}, console=console) as board:
        outcome = run_sweep(asked, out, only=only, jobs=jobs, device=device, on_message=board.tell)
    console.print(_results(out))
    conclude(outcome, write_sweep_report(out), console, what="points")


def _plan(asked: Any, out: Path, only: str | None) -> Table:
    from recherche.experiments.recall_curve import is_measured
    from recherche.experiments.reproduce import cell_folder

    table = Table(title=f"{asked.name} in {out}", box=SIMPLE, padding=(0, 1))
    table.add_column("point", no_wrap=True)
    for heading in ("texts, at most", "n", "done"):
        table.add_column(heading)
    for name, cell in asked.matching(only).items():
        plan = cell.config.plans[-1]
        table.add_row(
            name,
            f"{plan.num_steps * plan.batch_size:,}",
            " ".join(map(str, cell.sizes)),
            "yes" if is_measured(cell, cell_folder(out, name)) else "",
        )
    return table


def _results(out: Path) -> Table:
    """The largest n of each point."""
    from recherche.experiments.files import read_json_lines

    table = Table("task", "model", "n", "state bits", "accuracy, 95 %", "steps", box=SIMPLE, padding=(0, 1))
    last = {row["cell"]: row for row in read_json_lines(out / "results.jsonl")}
    for row in last.values():
        table.add_row(
            row["task"],
            f"{row['mixer']} {row['size']}".strip(),
            str(row["n"]),
            f"{row['state_bits']:,}",
            Text(f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]"),
            f"{row['train_steps']:,}" + ("" if row["solved"] else " (unsolved)"),
        )
    return table
