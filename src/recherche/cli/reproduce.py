"""`recherche reproduce`: the paper's main figure, or a part of it, on this machine."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from recherche.experiments.lanes import Outcome


def reproduce(
    preset: Annotated[str, typer.Option(help="smoke, quick, laptop, paper-16 or paper.")] = "quick",
    out: Annotated[Path | None, typer.Option(help="Folder of the run; runs/PRESET if not given.")] = None,
    only: Annotated[str | None, typer.Option(help="Run the cells whose name holds this (wildcards allowed).")] = None,
    jobs: Annotated[int, typer.Option(help="Cells side by side; 0 means one a core (one in all on a GPU).")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many seeds, counted up from --seed.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cells and stop.")] = False,
) -> None:
    """Train and measure {Transformer, Mamba, hybrid} x {direct, cot, retrieval} on IsTree, and draw the figure.

    Running it again goes on where it stopped and skips what is done; Ctrl-C saves first.

    [bold]Examples[/bold]

      recherche reproduce --preset smoke              nine small cells, to see that all works
      recherche reproduce --preset quick              the paper's first column on two cores
      recherche reproduce --preset quick --only mamba the three Mamba cells
      recherche reproduce --preset laptop --dry-run   what would run
    """
    from recherche.cli.board import Board, duration
    from recherche.experiments.reproduce import cells_left, expected_seconds, expected_work, make_grid
    from recherche.experiments.reproduce import reproduce as run_grid
    from recherche.report import write_report

    grid = make_grid(preset, tuple(range(seed, seed + seeds)))
    out = out or Path("runs") / preset
    console = Console()
    device = choose_device(device)
    jobs = choose_jobs(jobs, device)
    if dry_run:
        console.print(_plan(grid, out, only))
    left = cells_left(grid, out, only)
    eta = f", about {duration(expected_seconds(left.values(), jobs=jobs))}" if left and device == "cpu" else ""
    console.print(f"{len(left)} cells of [bold]{preset}[/bold] to run in {out}, {jobs} at a time on {device}{eta}")
    if dry_run:
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    board = Board({name: expected_work(config) for name, config in left.items()}, console=console)
    with board:
        outcome = run_grid(grid, out, only=only, jobs=jobs, device=device, on_message=board.tell)
    report = write_report(out)
    console.print(_results(out))
    conclude(outcome, report, console, what="cells")


def conclude(outcome: "Outcome", report: Path, console: Console, *, what: str) -> None:
    """Name what has failed, the page, and what is left; leave with 130 if interrupted, with 1 if something failed."""
    for failure in outcome.failures:
        console.print(f"[bold red]failed[/bold red] {failure.cell}: {failure.error}", soft_wrap=True)
    console.print(f"report: {report}", soft_wrap=True)
    if outcome.stopped:
        console.print(f"Interrupted; {len(outcome.stopped)} {what} are left. The same command goes on from here.")
        raise typer.Exit(130)
    if outcome.failures:
        raise typer.Exit(1)


def choose_jobs(jobs: int, device: str) -> int:
    """How many run side by side; 0 means one a core, one in all on a GPU."""
    return jobs or (1 if device != "cpu" else os.cpu_count() or 1)


def choose_device(name: str) -> str:
    """The device meant by `name`; auto is the GPU if there is one.

    Raises:
        ConfigError: the device is unknown or absent.
    """
    import torch

    from recherche.errors import ConfigError

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"The device {name!r} cannot be used here ({error}); choose cpu, cuda or auto.") from error
    return name


def _plan(grid: Any, out: Path, only: str | None) -> Table:
    from recherche.experiments.reproduce import cell_folder

    table = Table("cell", "samples", "layers", "d_model", "done", title=f"{grid.preset} in {out}")
    for name, config in grid.matching(only).items():
        samples = ", then ".join(f"{plan.num_steps * plan.batch_size:,}" for plan in config.plans)
        done = "yes" if (cell_folder(out, name) / "result.json").exists() else ""
        table.add_row(name, samples, str(len(config.model.layers)), str(config.model.d_model), done)
    return table


def _results(out: Path) -> Table:
    from recherche.experiments.files import read_json_lines

    table = Table(
        "cell", "accuracy, 95 %", "samples", "state bits", "s", box=SIMPLE, padding=(0, 1), collapse_padding=True
    )
    for row in read_json_lines(out / "results.jsonl"):
        table.add_row(
            row["cell"],
            Text(f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]"),
            f"{row['train_samples']:,}",
            f"{row['state_bits']:,}",
            f"{row['train_seconds']:.0f}",
        )
    return table
