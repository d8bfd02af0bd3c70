"""`recherche list`: what there is to choose from, in one place."""

import inspect
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recherche._lookup import lookup


def list_members(
    family: Annotated[
        str, typer.Argument(help="tasks, mixers, theorems, machines, presets or sweeps; all if left out.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line: family, name, summary.")] = False,
) -> None:
    """List the tasks, mixers, theorems, machines, presets and sweeps that other commands accept.

    [bold]Examples[/bold]

      recherche list
      recherche list presets
      recherche list machines --json
    """
    families = [family] if family else list(FAMILIES)
    for name in families:
        members = lookup(FAMILIES, name, what="family")()
        if as_json:
            for member, summary in members.items():
                print(json.dumps({"family": name, "name": member, "summary": summary}))
        else:
            Console().print(table_of(name, members))


def table_of(family: str, members: Mapping[str, str]) -> Table:
    """One family as a table for the terminal."""
    table = Table(title=family, title_justify="left", title_style="bold", show_header=False, box=None, pad_edge=False)
    for name, summary in members.items():
        table.add_row(name, summary)
    return table


def first_line(member: Any) -> str:
    """The first line of the docstring of a class or function."""
    return (inspect.getdoc(member) or "").partition("\n")[0]


def tasks() -> dict[str, str]:
    """Tasks by the name that `--task` and `recherche sample` take."""
    from recherche.tasks import TASKS

    return {name: first_line(task) for name, task in TASKS.items()}


def mixers() -> dict[str, str]:
    """Layers by the name that a model's configuration takes."""
    from recherche.mixers import MIXERS

    return {name: first_line(layer) for name, layer in MIXERS.items()}


def theorems() -> dict[str, str]:
    """Programs that `recherche prove` runs."""
    from recherche.constructions import theorem_5_1
    from recherche.constructions.catalogue import CONSTRUCTIONS, ORACLE_RECALL

    programs = {
        name: f"Theorem {construction.theorem}, {construction.architecture}: {construction.statement}"
        for name, construction in CONSTRUCTIONS.items()
    }
    return {**programs, ORACLE_RECALL: (theorem_5_1.__doc__ or "").partition("\n")[0]}


def machines() -> dict[str, str]:
    """Turing machines that ship with the package."""
    from recherche.machines import shipped_machines

    return {name: machine.description for name, machine in shipped_machines().items()}


def presets() -> dict[str, str]:
    """Grids of `recherche reproduce`."""
    from recherche.experiments.presets import PRESETS

    return {name: preset.summary for name, preset in PRESETS.items()}


def sweeps() -> dict[str, str]:
    """Grids of `recherche sweep`, by NAME-PRESET."""
    from recherche.experiments.sweep_grid import parse_sweep, shipped_sweeps

    return {name: parse_sweep(text, source=name).summary for name, text in shipped_sweeps().items()}


FAMILIES: Mapping[str, Callable[[], dict[str, str]]] = MappingProxyType(
    {"tasks": tasks, "mixers": mixers, "theorems": theorems, "machines": machines, "presets": presets, "sweeps": sweeps}
)
