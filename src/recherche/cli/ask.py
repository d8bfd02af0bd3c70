"""`recherche ask`: a trained model decides a graph of the user's own."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.experiments.runs import Answer, Run
    from recherche.tasks.edge_lists import EdgeList


def ask(
    graph: Annotated[Path, typer.Argument(help="A text file with one edge `u v` per line; - reads standard input.")],
    run: Annotated[Path, typer.Option(help="Folder of a trained cell, or of a grid with --cell.")],
    cell: Annotated[str | None, typer.Option(help="Name of a cell of the grid.")] = None,
    show_searches: Annotated[bool, typer.Option("--show-searches", help="List each search and what it found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead.")] = False,
) -> None:
    """Let a trained model say whether a graph is a tree, and show the right answer beside it.

    [bold]Examples[/bold]

      recherche ask graph.edgelist --run runs/quick --cell transformer-cot-n16
      printf 'a b\\nb c\\nc a\\n' | recherche ask - --run runs/quick --cell mamba-retrieval-n16 --show-searches

    Names are mapped to the vertices 1, 2, 3, ... in order of first use.
    """
    from recherche.experiments.runs import load_run
    from recherche.tasks.edge_lists import parse_edge_list, read_edge_list
    from recherche.tasks.is_tree import IsTree

    stdin = str(graph) == "-"
    edge_list = parse_edge_list(sys.stdin, source="standard input") if stdin else read_edge_list(graph)
    trained = load_run(run, cell=cell)
    if not isinstance(trained.task, IsTree):
        found = type(trained.task).__name__
        raise ConfigError(f"A graph can be asked of IsTree runs, but {trained.folder} is {found}; choose another run.")
    example = trained.task.example_of(edge_list.edges)
    answer = trained.generate(example.prompt)
    if as_json:
        print(json.dumps(record_of(edge_list, answer, example.answer)))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(*graph_lines(edge_list, trained), sep="\n")
    console.print(Text("trace    ", style="bold") + trace_of(answer))
    if show_searches:
        console.print(table_of(answer) if answer.searches else "The model made no search.")
    console.print(verdict(answer.answer, example.answer))


def record_of(edge_list: "EdgeList", answer: "Answer", truth: str) -> dict[str, Any]:
    """What was asked, written and searched, as JSON data."""
    return {
        "edges": [list(edge) for edge in edge_list.edges],
        "names": list(edge_list.names),
        "trace": list(answer.tokens),
        "retrieved": [int(retrieved) for retrieved in answer.retrieved],
        "searches": [
            {
                "query": " ".join(search.query),
                "pattern": search.pattern,
                "status": search.status.name,
                "result": list(search.tokens),
                "span": None if search.span is None else list(search.span),
            }
            for search in answer.searches
        ],
        "answer": answer.answer,
        "truth": truth,
    }


def graph_lines(edge_list: "EdgeList", run: "Run") -> list[Text]:
    """The graph as the model sees it, the user's own names, and whether it was trained on such sizes."""
    num_vertices = len(edge_list.names)
    edges = "  ".join(f"{u} ~ {v}" for u, v in edge_list.edges)
    lines = [Text.assemble(("graph    ", "bold"), f"{num_vertices} vertices, {len(edge_list.edges)} edges:  {edges}")]
    if any(name != str(vertex) for vertex, name in enumerate(edge_list.names, start=1)):
        names = "  ".join(f"{vertex} = {name}" for vertex, name in enumerate(edge_list.names, start=1))
        lines.append(Text.assemble(("names    ", "bold"), names))
    if num_vertices != run.task.size:
        lines.append(Text(f"         (the model was trained for graphs of {run.task.size} vertices)", style="dim"))
    return lines


def trace_of(answer: "Answer") -> Text:
    """The text that the model wrote; what searches have put there stands out, control tokens stand back."""
    text = Text()
    for token, retrieved in zip(answer.tokens, answer.retrieved, strict=True):
        style = "bold cyan" if retrieved else "dim" if token.startswith("<") else ""
        text.append(token, style=style).append(" ")
    return text


def table_of(answer: "Answer") -> Table:
    """The searches as a table for the terminal."""
    table = Table("", "query", "found", "at", "status", "pattern", title="searches", title_justify="left", box=None)
    for number, search in enumerate(answer.searches, start=1):
        place = "" if search.span is None else str(search.span[0])
        cells = (" ".join(search.query), " ".join(search.tokens), place, search.status.name, search.pattern or "")
        table.add_row(str(number), *map(Text, cells))
    return table


def verdict(answer: str | None, truth: str) -> Text:
    """The model's answer and the right one in one line."""
    said = "no answer within the budget" if answer is None else answer
    style = "bold green" if answer == truth else "bold red"
    return Text.assemble(("model    ", "bold"), (said, style), "    ", ("truth    ", "bold"), truth)
