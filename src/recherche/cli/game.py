"""`recherche game`: the streaming game, played with trained runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recherche._files import replacing, write_bytes
from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.experiments.runs import Run

game = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="How many bits does a state really carry?")

Runs = Annotated[list[Path], typer.Option("--run", help="Folder of a trained cell; may be given more than once.")]
Quantise = Annotated[str, typer.Option(help="float64, float32, bfloat16, int8, int4, or r3 .. r53 (R_p).")]


def sizes_of(text: str | None) -> list[int] | None:
    """The numbers of a list such as `8,16,32`.

    Raises:
        ConfigError: an entry is no number.
    """
    if text is None:
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"--n takes numbers with commas between them, got {text!r}; write 8,16,32.") from error


@game.command()
def capacity(
    run: Runs,
    quantise: Quantise = "float32",
    n: Annotated[str | None, typer.Option(help="Sizes, such as 8,16,32; the run's own if left out.")] = None,
    num: Annotated[int, typer.Option(help="Texts at each n; every question is asked about each.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the texts.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the figure here (.png or .svg).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each run and n.")] = False,
) -> None:
    """Measure how many bits about its text a model's state really carries.

    Alice reads a text and sends her state; Bob answers every question about the text from the state alone. His errors
    say how many bits the state must have carried, with 95 % confidence.

    [bold]Examples[/bold]

      recherche game capacity --run runs/mamba-index --n 8,16,32,64
      recherche game capacity --run runs/t --run runs/m --run runs/h --quantise int8 --out capacity.svg
    """
    from recherche._rng import numpy_generator
    from recherche.experiments.runs import load_run
    from recherche.games.capacity import measure_capacity
    from recherche.games.quantisers import quantiser_of

    quantiser = quantiser_of(quantise)
    rows = []
    for folder in run:
        trained = load_run(folder)
        for size in sizes_of(n) or [trained.task.size]:
            found = measure_capacity(
                trained.model,
                trained.task.at_size(size),
                quantiser=quantiser,
                generator=numpy_generator(seed, f"capacity-{size}"),
                num_texts=num,
            )
            rows.append(label_of(trained) | found.as_json())
            if as_json:
                print(json.dumps(rows[-1]), flush=True)
    if not as_json:
        _show(rows)
    if out is not None:
        _draw(rows, out)


@game.command()
def collision(
    run: Annotated[Path, typer.Option(help="Folder of a trained cell.")],
    out: Annotated[Path, typer.Option(help="Where the certificate is written.")] = Path("certificate.json"),
    quantise: Quantise = "int4",
    n: Annotated[int | None, typer.Option(help="Size of the texts; the run's own if left out.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 1,
    rests: Annotated[int, typer.Option(help="How many common rests are tried.")] = 8,
) -> None:
    """Find two texts in one state that a question tells apart, and write the certificate. Exit code 1: none found.

    [bold]Examples[/bold]

      recherche game collision --run runs/mamba-index --quantise int4 --n 64
      recherche verify certificate.json --run runs/mamba-index
    """
    from recherche._rng import numpy_generator
    from recherche.experiments.runs import load_run
    from recherche.games.automaton import Automaton
    from recherche.games.certificates import NamedTask, certify
    from recherche.games.collisions import find_collision, is_exhaustive
    from recherche.games.families import family_of
    from recherche.games.quantisers import quantiser_of

    trained = load_run(run)
    task = trained.task if n is None else trained.task.at_size(n)
    automaton, family = Automaton(trained.model, quantiser_of(quantise)), family_of(task)
    pair = find_collision(automaton, family, generator=numpy_generator(seed, "collision"), num_rests=rests)
    if pair is None:
        every = (
            "among all its texts: the state tells them apart" if is_exhaustive(family) else "where the search looked"
        )
        print(f"No two texts end in the same state {every}.")
        raise typer.Exit(1)
    chosen = trained.config.task
    options = dict(chosen.options) | vocabulary_of(task)
    named = NamedTask(name=chosen.name, protocol=chosen.protocol, options=options)
    certificate = certify(automaton, pair, task=named, n=task.size, source=str(run))
    write_bytes(out, certificate.to_json().encode())
    print(f"{out}: two texts in one state of {certificate.step.state_bits} bits; refuted: {certificate.claim}.")


def vocabulary_of(task: Any) -> dict[str, int]:
    """The options that keep the alphabet and the vocabulary of a task at another size."""
    known = {"n_names": "num_names", "n_symbols": "num_symbols", "n_numbers": "num_numbers"}
    sizes = {option: getattr(task, name) for option, name in known.items() if hasattr(task, option)}
    ranges = zip(("n_keys", "n_values", "n_fillers"), getattr(task, "ranges", ()), strict=False)
    return sizes | dict(ranges)


def label_of(run: "Run") -> dict[str, Any]:
    """What says which run a line is about."""
    config = run.config
    return {
        "label": run.folder.name,
        "architecture": config.architecture,
        "task": config.task.name,
        "run": str(run.folder),
    }


def _show(rows: Sequence[dict[str, Any]]) -> None:
    table = Table(
        "run", "n", "accuracy", "sent", "recovered", "per bit", "dealt", "needed", title="bits", title_justify="left"
    )
    for row in rows:
        numbers = (row["message_bits"], row["bits_recovered"], row["bits_dealt"], row["bits_needed"])
        sent, recovered, dealt, needed = (f"{number:,.1f}".removesuffix(".0") for number in numbers)
        share = f"{row['bits_per_state_bit']:.4f}"
        table.add_row(row["label"], str(row["n"]), f"{row['accuracy']:.3f}", sent, recovered, share, dealt, needed)
    Console().print(table)
    for label in dict.fromkeys(row["label"] for row in rows):
        solved = [row["n"] for row in rows if row["label"] == label and row["accuracy"] >= 0.95]
        print(f"{label}: longest n with accuracy at least 0.95: {max(solved, default='none of these')}")


def _draw(rows: Sequence[dict[str, Any]], out: Path) -> None:

    from recherche.report.capacity import draw_capacity

    if out.suffix not in (".png", ".svg"):
        raise ConfigError(f"The figure is written as .png or .svg, got {out.name}; rename it.")
    with replacing(out) as draft:
        draw_capacity(rows).savefig(draft, format=out.suffix[1:], dpi=200)
    print(f"figure: {out}")
