"""`recherche prove`: run the theorems' programs, on their own problems or on yours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.constructions.certificates import Certificate
    from recherche.constructions.construction import Construction, Sizes
    from recherche.constructions.proof import Proof

COLUMNS = {
    "theorem": "<7",
    "program": "<20",
    "layers": ">6",
    "d_model": ">7",
    "heads": ">5",
    "nonzeros": ">8",
    "cases": ">25",
    "failures": ">8",
    "longest": ">7",
    "margin": ">6",
    "s": ">7",
}
"""Columns of the table, and how a cell is set."""

SHOWN_MESSAGES = 3
SHOWN_CAPACITY = 64


def prove(
    names: Annotated[list[str] | None, typer.Argument(help="Programs, theorem numbers, or all.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Only a few problems of this size.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Everything that is claimed; about ten minutes.")] = False,
    precision: Annotated[int | None, typer.Option(help="Run in R_p, rounding every result to p bits.")] = None,
    certificates: Annotated[
        bool, typer.Option("--certificates", help="Size and largest weight against N; smallest exact p against n.")
    ] = False,
    graph: Annotated[Path | None, typer.Option(help="A graph file to run one istree program on.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the programs instead of running them.")] = False,
    weights: Annotated[bool, typer.Option("--weights", help="Print the weights, row by row, by register.")] = False,
    example: Annotated[bool, typer.Option("--example", help="Print one text that the model writes.")] = False,
    export: Annotated[Path | None, typer.Option(help="Folder for the weights of each program.")] = None,
    docs: Annotated[
        Path | None, typer.Option(help="Folder for theorems.md, certificates.md and their figures.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """Build each theorem's weights, let the model generate, compare every token with an oracle.

    Exit code 1 if any case fails.

    [bold]Examples[/bold]

      recherche prove all                              about a minute
      recherche prove 4.7 istree-hybrid --n 32         two programs at one size
      recherche prove istree-transformer --graph my.edgelist
      recherche prove ar-transformer --show            registers and layers
      recherche prove ar-transformer --weights         the matrices, in their names
      recherche prove 5.4 --example                    a text that the model writes
      recherche prove index-transformer --certificates
      recherche prove all --full --docs docs           writes the pages, less than an hour
    """
    from recherche.constructions.catalogue import CONSTRUCTIONS, NAMES, named

    chosen = named(names or ["all"])
    programs = [CONSTRUCTIONS[name] for name in chosen if name in CONSTRUCTIONS]
    console = Console(soft_wrap=True, markup=False, highlight=False)
    if docs is not None and set(chosen) != set(NAMES):
        raise ConfigError(f"--docs writes about every theorem, got {', '.join(chosen)}; say `recherche prove all`.")
    if not programs and (show or weights or example or export is not None or certificates):
        raise ConfigError(f"{', '.join(chosen)} has no program of its own, it plays against an oracle; choose another.")
    if show or weights or example:
        _print(programs, console, show=show, weights=weights, example=example)
    elif export is not None:
        _export(programs, export, n or 64, console)
    elif graph is not None:
        raise typer.Exit(_run_graph(chosen, graph, console))
    elif certificates:
        _certify(programs, as_json=as_json)
    else:
        proofs = _prove_all(chosen, sizes_of=_sizes(n, full=full), bits=precision, as_json=as_json)
        if docs is not None:
            _write_docs(docs, proofs, _certify(programs, as_json=as_json))
        raise typer.Exit(int(any(proof.failures for proof in proofs)))


def _print(programs: "list[Construction]", console: Console, *, show: bool, weights: bool, example: bool) -> None:
    """What a reader may want to see of each program before it is run."""
    from recherche.constructions.compiler import compile_program
    from recherche.constructions.document import example_text
    from recherche.constructions.listing import weights_in_words

    for construction in programs:
        program = construction.program(SHOWN_CAPACITY)
        if show:
            console.print(str(program))
        if weights:
            console.print("\n".join(weights_in_words(program, compile_program(program))))
        if example:
            console.print("\n".join(example_text(construction)))


def _sizes(n: int | None, *, full: bool) -> "Callable[[str], Sizes]":
    """Which problems of a program to try."""
    from recherche.constructions.catalogue import CONSTRUCTIONS, ORACLE_RECALL
    from recherche.constructions.construction import Sizes
    from recherche.constructions.theorem_5_1 import FULL_SIZES, SIZES

    def sizes_of(name: str) -> "Sizes":
        if name == ORACLE_RECALL:
            return (FULL_SIZES if full else SIZES) if n is None else Sizes(n, ())
        sizes = CONSTRUCTIONS[name].full_sizes if full else CONSTRUCTIONS[name].sizes
        return sizes if n is None else sizes.only(n)

    return sizes_of


def _prove_all(
    chosen: list[str], *, sizes_of: "Callable[[str], Sizes]", bits: int | None, as_json: bool
) -> "list[Proof]":
    """Run the chosen programs with a progress bar, and print the lines of each as soon as it is done."""
    proofs: list[Proof] = []
    console = Console(soft_wrap=True, markup=False, highlight=False)
    if not as_json:
        console.print(_row(tuple(COLUMNS)))
    with _progress() as progress:
        task = progress.add_task("", total=len(chosen))
        for name in chosen:
            progress.update(task, description=name)
            found = _prove_one(name, sizes_of(name), bits)
            progress.advance(task)
            proofs += found
            for proof in found:
                for line in [json.dumps(proof.as_json())] if as_json else _lines(proof):
                    console.print(line)
    return proofs


def _prove_one(name: str, sizes: "Sizes", bits: int | None) -> "list[Proof]":
    from recherche.constructions.catalogue import CONSTRUCTIONS, ORACLE_RECALL
    from recherche.constructions.proof import prove as prove_construction
    from recherche.constructions.rounded import prove_in_precision
    from recherche.constructions.theorem_5_1 import prove_recall

    if name == ORACLE_RECALL:
        return prove_recall(sizes)
    if bits is not None:
        return prove_in_precision(CONSTRUCTIONS[name], sizes, bits=bits)
    return prove_construction(CONSTRUCTIONS[name], sizes)


def _progress() -> Progress:
    columns = (TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _lines(proof: "Proof") -> list[str]:
    """A proof's row of the table, and the first of its failures."""
    kind = f"all n <= {proof.n_max:,}" if proof.exhaustive else f"random n <= {proof.n_max:,}"
    row = _row(
        (
            proof.theorem,
            proof.program,
            str(proof.num_layers),
            str(proof.d_model),
            str(proof.n_heads),
            f"{proof.nonzeros:,}",
            f"{proof.cases:,} ({kind})",
            str(proof.failures),
            f"{proof.longest_trace:,}",
            "" if proof.margin is None else f"{proof.margin:.2g}",
            f"{proof.seconds:.1f}",
        )
    )
    return [row, *(f"  {proof.program}: {message}" for message in proof.messages[:SHOWN_MESSAGES])]


def _row(cells: tuple[str, ...]) -> str:
    return " ".join(f"{cell:{form}}" for cell, form in zip(cells, COLUMNS.values(), strict=True)).rstrip()


def _run_graph(chosen: list[str], path: Path, console: Console) -> int:
    """Run one istree program on a user's graph and print its trace; 1 if the graph is no tree."""
    from recherche.constructions.catalogue import CONSTRUCTIONS
    from recherche.constructions.compiler import compile_program
    from recherche.constructions.proof import complete
    from recherche.tasks import read_edge_list
    from recherche.tasks.symbols import EDGE
    from recherche.vocab import BEGIN, END_OF_DATA, YES

    if len(chosen) != 1 or not chosen[0].startswith("istree"):
        raise ConfigError(
            f"--graph runs one istree program, got {', '.join(chosen)}; choose istree-transformer, istree-rag or "
            "istree-hybrid."
        )
    graph = read_edge_list(path)
    edges = [token for u, v in graph.edges for token in (str(u), EDGE, str(v))]
    prompt = (BEGIN, *edges, END_OF_DATA)
    budget = 32 * (2 * len(graph.edges) + len(graph.names)) + 16
    model = compile_program(CONSTRUCTIONS[chosen[0]].program(len(prompt) + budget))
    (text,) = complete(CONSTRUCTIONS[chosen[0]], model, [prompt], [budget])
    console.print(" ".join((*prompt, *text)))
    if any(name != str(i) for i, name in enumerate(graph.names, start=1)):
        names = ", ".join(f"{i} = {name}" for i, name in enumerate(graph.names, start=1))
        console.print(f"vertices: {names}")
    return int(text[-1] != YES)


def _export(programs: "list[Construction]", folder: Path, capacity: int, console: Console) -> None:
    from recherche.constructions.compiler import compile_program
    from recherche.constructions.storage import save_model

    for construction in programs:
        save_model(compile_program(construction.program(capacity)), folder / construction.name)
        console.print(f"{folder / construction.name}: N = {capacity}")


def _certify(programs: "list[Construction]", *, as_json: bool) -> "list[Certificate]":
    from recherche.constructions.certificates import certify

    measured = []
    for construction in programs:
        measured.append(certify(construction))
        print(json.dumps(measured[-1].as_json()) if as_json else str(measured[-1]), flush=True)
    return measured


def _write_docs(folder: Path, proofs: "list[Proof]", certificates: "list[Certificate]") -> None:
    from recherche.constructions.document import write_certificates, write_theorems

    write_theorems(folder, proofs)
    write_certificates(folder, certificates)
