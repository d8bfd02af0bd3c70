"""`recherche game`: the streaming game, played with trained runs, programs and pretrained models."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recherche._files import replacing, write_bytes
from recherche.errors import ConfigError

game = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="How many bits does a state really carry?")

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
    run: Annotated[
        list[Path] | None, typer.Option(help="Folder of a trained cell, or of a sweep; may be given more than once.")
    ] = None,
    program: Annotated[
        list[str] | None, typer.Option(help="A theorem's program, such as index-hybrid; see `recherche list theorems`.")
    ] = None,
    hf: Annotated[
        list[str] | None, typer.Option(help="A local folder of transformers; it plays with a phone book.")
    ] = None,
    quantise: Annotated[
        str, typer.Option(help="float64, float32, bfloat16, int8, int4, or r3 .. r53 (R_p); several with commas.")
    ] = "float32",
    n: Annotated[str | None, typer.Option(help="Sizes, such as 8,16,32; the run's own if left out.")] = None,
    num: Annotated[int, typer.Option(min=1, help="Texts at each n; every question is asked about each.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the texts.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="A figure (.png or .svg), or a folder for figure and numbers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line of the table.")] = False,
) -> None:
    """Measure how many bits about its text a model's state really carries.

    Alice reads a text and sends her state; Bob answers every question about the text from the state alone. His errors
    say how many bits the state must have carried, with 95 % confidence.

    [bold]Examples[/bold]

      recherche game capacity --run runs/game-quick --n 4,8,16,32 --out runs/game-quick/capacity
      recherche game capacity --run runs/t --run runs/m --run runs/h --quantise float32,int8,int4 --out capacity.svg
      recherche game capacity --program index-hybrid --n 8,16,32 --num 200
      recherche game capacity --hf models/mamba-130m --n 8,16 --num 50
    """
    from recherche.cli.players import Game, players_of, rows_of

    check_target(out)
    players = players_of(run or (), program or (), hf or ())
    rows = []
    for row in rows_of(players, sizes_of(n) or (), quantise.split(","), Game(seed, num)):
        rows.append(row)
        if as_json:
            print(json.dumps(row), flush=True)
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
    from recherche.tasks.base import affordable

    trained = load_run(run)
    task = trained.task if n is None else affordable(trained.task.at_size(n))
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


def _show(rows: Sequence[dict[str, Any]]) -> None:
    table = Table(
        title=f"{rows[0]['task']}: bits of the state, and bits that got through",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in ("model", "n", "sent as", "accuracy [95 %]", "sent", "through", "estimate", "needed"):
        table.add_column(heading, no_wrap=True, justify="left" if heading in ("model", "sent as") else "right")
    for row in rows:
        names = ("message_bits", "bits_recovered", "bits_estimated", "bits_needed")
        numbers = [f"{row[name]:,.1f}".removesuffix(".0") for name in names]
        accuracy = f"{row['accuracy']:.3f} [{row['accuracy_low']:.3f}, {row['accuracy_high']:.3f}]"
        table.add_row(row["label"], str(row["n"]), row["quantiser"], accuracy, *numbers)
    Console().print(table)
    print("\n".join(verdicts(rows)))


def verdicts(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """For each model and quantiser the longest text it holds, and from where on it holds too few bits to do so."""
    from recherche.games.capacity import SOLVED, longest_solved

    for label, quantiser in dict.fromkeys((row["label"], row["quantiser"]) for row in rows):
        own = [row for row in rows if (row["label"], row["quantiser"]) == (label, quantiser)]
        solved = longest_solved((row["n"], row["accuracy"]) for row in own) or "none of these"
        short = min((row["n"] for row in own if row["bits_needed"] > row["message_bits"]), default=None)
        bound = "" if short is None else f"; at n = {short} it needs more bits than it sends and must fail"
        yield f"{label}, {quantiser}: longest n with accuracy at least {SOLVED}: {solved}{bound}"


def check_target(out: Path | None) -> None:
    """Refuse a figure of an unknown kind before anything is measured.

    Raises:
        ConfigError: the name ends in something that is neither .png nor .svg.
    """
    if out is not None and out.suffix not in ("", ".png", ".svg"):
        raise ConfigError(f"The figure is written as .png or .svg, got {out.name}; rename it, or name a folder.")


def _draw(rows: Sequence[dict[str, Any]], out: Path) -> None:
    from recherche.experiments.files import write_json_lines
    from recherche.report.capacity import draw_capacity

    figure, targets = draw_capacity(rows), [out]
    if not out.suffix:
        out.mkdir(parents=True, exist_ok=True)
        write_json_lines(out / "capacity.jsonl", rows)
        targets = [out / "capacity.png", out / "capacity.svg"]
    for target in targets:
        with replacing(target) as draft:
            figure.savefig(draft, format=target.suffix[1:], dpi=200)
        print(f"figure: {target}")
