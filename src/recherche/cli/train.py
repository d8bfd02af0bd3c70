"""`recherche train` and `recherche eval`: one run, from a few words to its numbers."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from recherche._lookup import allow_own
from recherche.cli.tasks import settings_of

ISTREE = "istree"


def allow_each(names: str) -> str:
    """Let the modules of all paths in a list with commas be imported; returns the list."""
    return ",".join(map(allow_own, names.split(",")))


def train(
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    architecture: Annotated[str, typer.Option(help="transformer, mamba or hybrid.")] = "transformer",
    task: Annotated[
        str, typer.Option(callback=allow_own, help="One of `recherche list tasks`, or your own package.module:Class.")
    ] = ISTREE,
    mixer: Annotated[
        str,
        typer.Option(
            callback=allow_each,
            help="Mixers instead of an architecture: one for all layers, or each layer's with commas between them; "
            "names of `recherche list mixers`, or your own package.module:Class.",
        ),
    ] = "",
    protocol: Annotated[
        str | None, typer.Option(help="direct, cot or retrieval; cot for istree and direct for others if left out.")
    ] = None,
    n: Annotated[int, typer.Option("--n", "--n-nodes", help="The task's size.")] = 16,
    options: Annotated[list[str] | None, typer.Option("--option", help="NAME=VALUE, a setting of the task.")] = None,
    config: Annotated[Path | None, typer.Option(help="A config.json to start from instead.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    until_solved: Annotated[bool, typer.Option("--until-solved", help="Stop once validation is solved.")] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="path.to.field=value, such as plans.0.num_steps=1000.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the configuration and stop.")] = False,
) -> None:
    """Train one model by the quick recipe, or by any configuration, and measure it by generation.

    Ctrl-C saves; the same command goes on. Everything is recorded in the folder.

    [bold]Examples[/bold]

      recherche train --out runs/t8 --n 8 --until-solved
      recherche train --out runs/m8 --architecture mamba --protocol retrieval --n 8 --set plans.0.num_steps=800
      recherche train --out runs/recall --task recall --mixer gated-deltanet --n 32
      recherche train --out runs/hybrid --task index --mixer mamba,mamba,mamba,attention
      recherche train --out runs/again --config runs/t8/config.json --set seed=7
    """
    from recherche.cli.reproduce import choose_device
    from recherche.experiments.cell import Stopped, Watch, run_cell
    from recherche.experiments.config import RunConfig, TaskConfig
    from recherche.experiments.own import own_config

    named = TaskConfig(
        name=task,
        n=n,
        protocol=protocol or ("cot" if task == ISTREE else "direct"),
        options=settings_of(None, options),
    )
    chosen = RunConfig.load(config) if config else own_config(named, architecture=architecture, mixers=mixer, seed=seed)
    early = ("evaluation.validate_every=200", "evaluation.stop_when_solved=true") if until_solved else ()
    chosen = chosen.replace((*early, *(settings or ())))
    console = Console()
    if dry_run:
        console.print_json(data=chosen.model_dump(mode="json"))
        return
    with interrupted() as stopping, _progress(console) as show:
        watch = Watch(stop=lambda: bool(stopping), report=show)
        try:
            result = run_cell(chosen, out, watch=watch, device=choose_device(device))
        except Stopped:
            console.print(f"Interrupted and saved in {out}; the same command goes on from here.", soft_wrap=True)
            raise typer.Exit(130) from None
    console.print(_summary(result), soft_wrap=True, markup=False, highlight=False)
    if chosen.task.name == ISTREE:
        console.print(f"ask it: recherche ask GRAPH --run {out}", soft_wrap=True)


def evaluate(
    run: Annotated[Path, typer.Option(help="Folder of a cell, or of a grid with --cell.")],
    cell: Annotated[str | None, typer.Option(help="Name of a cell of the grid.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", "--n-nodes", help="Size of the graphs; the run's own if not given.")
    ] = None,
    num: Annotated[int, typer.Option(help="Number of fresh graphs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the graphs.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
) -> None:
    """Measure a trained run again, by generation on fresh graphs; prints one JSON object.

    [bold]Examples[/bold]

      recherche eval --run runs/t8 --num 5000
      recherche eval --run runs/quick --cell mamba-cot-n16 --n 12
    """
    from recherche._rng import numpy_generator
    from recherche.cli.reproduce import choose_device
    from recherche.evaluation import evaluate_generated
    from recherche.experiments.runs import load_run
    from recherche.tasks.base import affordable, draw_keys

    trained = load_run(run, cell=cell, device=choose_device(device))
    task = trained.task if n is None else affordable(trained.task.at_size(n))
    found = evaluate_generated(trained.model, task, keys=draw_keys(numpy_generator(seed, "eval"), num))
    record: dict[str, Any] = {
        "run": str(trained.folder),
        "n_nodes": task.size,
        "accuracy": found.accuracy,
        "accuracy_low": found.low,
        "accuracy_high": found.high,
        "num_samples": found.num_samples,
        "num_undecided": found.num_undecided,
        "num_exact": found.num_exact,
        "num_searches": found.num_searches,
        "measured_by": "generation",
        "seed": seed,
        "config_hash": trained.config.hash,
    }
    print(json.dumps(record))


def _summary(result: dict[str, Any]) -> str:
    interval = f"[{result['accuracy_low']:.3f}, {result['accuracy_high']:.3f}]"
    return (
        f"accuracy by generation {result['accuracy']:.3f} {interval} on {result['num_samples']} fresh problems, "
        f"{result['num_undecided']} undecided, after {result['train_samples']:,} samples "
        f"in {result['train_seconds']:.0f} s"
    )


@contextmanager
def interrupted() -> Iterator[list[int]]:
    """A list that is empty until Ctrl-C (or a polite kill) is received; the second one is not caught."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: object) -> None:
        received.append(number)
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(console: Console) -> Iterator[Any]:
    bar = Progress(
        TextColumn("{task.description:<9}"),
        BarColumn(),
        TextColumn("{task.completed:>6.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )
    with bar:
        line = bar.add_task("train", total=1, note="")

        def show(progress: Any) -> None:
            if bar.tasks[0].description != progress.phase:
                bar.reset(line, description=progress.phase)
            bar.update(
                line, description=progress.phase, total=progress.total, completed=progress.done, note=progress.note
            )

        yield show
