"""`recherche language`: from nothing to language models that search, on this machine."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from recherche.experiments.lanes import Outcome


def language(
    preset: Annotated[str, typer.Option(help="demo, or smoke: tiny, to see that all works.")] = "demo",
    out: Annotated[Path | None, typer.Option(help="Folder of all that is made; runs/language if not given.")] = None,
    jobs: Annotated[int, typer.Option(help="Models side by side; 0 means one a core (one in all on a GPU).")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
) -> None:
    """Train a tokenizer and two small language models on prose, teach them to search, and measure them.

    In half an hour on two cores: a Mamba and a Transformer learn to search their own context on texts of a few lines,
    and are then asked about texts up to a hundred times as long, direct and searching. Running it again goes on where
    it stopped; Ctrl-C saves first. The models are folders of transformers in OUT/models. docs/language_demo.md tells
    what is to be seen.

    [bold]Examples[/bold]

      recherche language --out runs/language
      recherche language --preset smoke --out runs/smoke
      recherche lm ask runs/language/models/mamba/mamba --text book.txt --question "What is the number of Ada Berg?"
    """
    from recherche.cli.board import Board
    from recherche.cli.lm_eval import results_table
    from recherche.cli.reproduce import choose_jobs, conclude
    from recherche.experiments.demo.stages import Demo
    from recherche.report import write_text_report

    console = Console()
    demo = Demo.open(preset, out or Path("runs/language"), seed=seed)
    jobs = choose_jobs(jobs, "cpu")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console.print(f"[bold]1[/bold] a tokenizer of {demo.preset.vocab_size:,} tokens, in {demo.tokenizer}")
    demo.make_tokenizer()
    console.print(f"[bold]2[/bold] {' and '.join(demo.preset.students)}, {jobs} at a time, in {demo.out / 'models'}")
    with Board({name: x.work for name, x in demo.enrolments().items()}, console=console, what="models") as board:
        trained = demo.train(jobs=jobs, on_message=board.tell)
    _leave_unless_done(trained, console)
    console.print(f"[bold]3[/bold] what they can do, {demo.preset.num} texts at each point, in {demo.eval}")
    with Board({name: x.work for name, x in demo.examinations().items()}, console=console, what="models") as board:
        measured = demo.measure(jobs=jobs, on_message=board.tell)
    _leave_unless_done(measured, console)
    console.print(results_table(demo.eval))
    conclude(measured, write_text_report(demo.eval), console, what="models")


def _leave_unless_done(outcome: "Outcome", console: Console) -> None:
    """Name what has failed or was interrupted, and leave."""
    for failure in outcome.failures:
        console.print(f"[bold red]failed[/bold red] {failure.cell}: {failure.error}", soft_wrap=True)
    if outcome.stopped:
        console.print("Interrupted; nothing is lost. The same command goes on from here.")
        raise typer.Exit(130)
    if outcome.failures:
        raise typer.Exit(1)
