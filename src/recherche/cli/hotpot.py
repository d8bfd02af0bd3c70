"""`recherche hotpot`: language models on questions of HotpotQA among distractors, as in Figure 6 of the paper."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from recherche.experiments.hotpot_plan import Material


def hotpot(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Models with their tokenizers.")],
    data: Annotated[Path, typer.Option(help="The official hotpot_dev_distractor_v1.json.")],
    paragraphs: Annotated[str, typer.Option(help="How many are shown, 2 to 10, commas between them.")] = "2,4,6,8",
    order: Annotated[str, typer.Option(help="random, last, or both: where the facts stand.")] = "random,last",
    protocol: Annotated[str, typer.Option(help="direct, search, or both.")] = "direct,search",
    shots: Annotated[int, typer.Option(help="Worked-out examples before each question.")] = 4,
    shots_file: Annotated[Path | None, typer.Option(help="File of the examples, if not --data.")] = None,
    num: Annotated[int, typer.Option(help="Questions to keep, that all models answer with two paragraphs.")] = 350,
    max_new_tokens: Annotated[int, typer.Option(help="Budget of an answer, insertions included.")] = 256,
    seed: Annotated[int, typer.Option(help="Draws examples, questions, distractors and orders.")] = 0,
    batch_size: Annotated[int, typer.Option(help="Questions answered side by side.")] = 8,
    out: Annotated[Path, typer.Option(help="Folder of the numbers and the page.")] = Path("runs/hotpot"),
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    dtype: Annotated[str, typer.Option(help="Number type: auto (as saved), float32, bfloat16 or float16.")] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and a prompt, and stop.")] = False,
) -> None:
    """Ask language models questions of HotpotQA among growing numbers of paragraphs that do not help.

    Questions are kept that every model answers directly with the two paragraphs that hold the facts; then distractors
    are added. Running it again goes on where it stopped. `recherche report DIR` draws the page again from files alone.

    [bold]Examples[/bold]

      recherche hotpot ./phi ./mamba ./hybrid --data hotpot_dev_distractor_v1.json --out runs/h
      recherche hotpot ./mamba --data dev.json --shots-file hotpot_train_v1.1.json --protocol search --num 100
      recherche hotpot ./mamba --data dev.json --dry-run
    """
    from recherche.cli.board import Board
    from recherche.cli.lm_eval import split
    from recherche.cli.reproduce import choose_device, conclude
    from recherche.experiments.hotpot import expected_work, measure_hotpot
    from recherche.experiments.hotpot_plan import Answering, HotpotPlan, gather
    from recherche.experiments.language_models import Machine
    from recherche.report.hotpot_page import write_hotpot_report

    console = Console()
    machine = Machine(device=choose_device(device), batch_size=batch_size)
    plan = HotpotPlan(
        folders=tuple(folders),
        data=data,
        shots_file=shots_file,
        paragraphs=tuple(split(paragraphs, int, what="--paragraphs")),
        orders=tuple(split(order, str, what="--order")),
        protocols=tuple(split(protocol, str, what="--protocol")),
        num=num,
        answering=Answering(seed=seed, dtype=dtype, shots=shots, max_new_tokens=max_new_tokens),
    )
    material = gather(plan)
    console.print(
        f"{len(material.points())} points of {len(material.labels)} models to measure in {out} on {machine.device}: "
        f"{num} questions to keep of {len(material.candidates):,} in {data.name}, {shots} examples",
        soft_wrap=True,
    )
    if dry_run:
        _show(material, console)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Board(expected_work(material), console=console, what="points") as board:
        outcome = measure_hotpot(material, out, machine=machine, on_message=board.tell)
    console.print(_results(out))
    conclude(outcome, write_hotpot_report(out), console, what="points")


def _show(material: "Material", console: Console) -> None:
    """The points, and the longest prompt of the first question."""
    for point in material.points():
        console.print(f"  {point.name}", markup=False, highlight=False)
    prompt = material.prompt(material.points()[-1], material.candidates[0])
    console.print(f"A prompt, {len(prompt):,} characters:\n", highlight=False)
    console.print(prompt, markup=False, highlight=False, soft_wrap=True)


def _results(out: Path) -> Table:
    from recherche.report.hotpot_figures import relative
    from recherche.report.hotpot_results import read_hotpot_run
    from recherche.report.numerals import NONE, decimal

    columns = ("model", "protocol", "order", "paragraphs", "exact match, 95 %", "relative", "F1", "questions")
    table = Table(*columns, box=SIMPLE, padding=(0, 1))
    run = read_hotpot_run(out)
    for point in run.points:
        share = relative(run, point)
        table.add_row(
            point.folder,
            point.protocol,
            point.order,
            str(point.n),
            Text(f"{decimal(point.accuracy)} [{decimal(point.accuracy_low)}, {decimal(point.accuracy_high)}]"),
            NONE if share is None else f"{share:.3f}",
            decimal(point.f1),
            str(point.num_samples),
        )
    return table
