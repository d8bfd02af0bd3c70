"""`recherche contract`: is this cache a state?"""

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recherche._files import write_bytes
from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.games.contract import AbstractSubject, Finding


def contract(
    run: Annotated[
        list[Path] | None, typer.Option(help="Folder of a trained cell; may be given more than once.")
    ] = None,
    hf: Annotated[list[str] | None, typer.Option("--hf", help="Local folder of a transformers model.")] = None,
    family: Annotated[str, typer.Option(help="Families of transformers with commas between them, or all.")] = "",
    tokens: Annotated[
        int, typer.Option(min=2, help="Length of the texts that are read in chunks; some faults need long ones.")
    ] = 131,
    scripts: Annotated[
        Path | None, typer.Option(help="Write a short script for each failure into this folder.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table of docs/contract.md.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each model and check.")] = False,
) -> None:
    """Hold the caches of models to the contract of a state. Exit code 1: some check has failed.

    Full forward = token by token = chunks from a carried cache = padded batch = resumed in a new process = forked;
    how the cache grows; whether a cache under a wrong name is refused. docs/contract.md explains every check.

    [bold]Examples[/bold]

      recherche contract --family mamba,jamba,qwen3_next
      recherche contract --run runs/quick/cells/hybrid-cot-n16
      recherche contract --hf ./my-model --scripts failures/
      recherche contract --family mamba2,rwkv --tokens 70000

    A family is a tiny random model of the installed transformers. --scripts writes programs that need nothing but torch
    and transformers, made for pasting into a bug report.
    """
    from recherche.games.contract_checks import findings

    subjects = list(subjects_of(run or (), hf or (), family))
    if not subjects:
        raise ConfigError(
            "Nothing to hold to the contract; give --run, --hf or --family mamba,jamba (or --family all)."
        )
    results: dict[str, list[Finding]] = {}
    for subject in subjects:
        results[subject.name] = []
        for finding in findings(subject, length=tokens):
            results[subject.name].append(finding)
            if as_json:
                print(json.dumps(record_of(subject.name, finding)), flush=True)
    if markdown:
        print("\n".join(markdown_of(results)))
    elif not as_json:
        Console().print(table_of(results))
        for line in details_of(results):
            print(line)
    if scripts is not None:
        write_scripts(scripts, subjects, results)
    if any(finding.passed is False for outcomes in results.values() for finding in outcomes):
        raise typer.Exit(1)


def subjects_of(runs: Sequence[Path], folders: Sequence[str], family: str) -> "Iterator[AbstractSubject]":
    """The models that were named.

    Raises:
        ConfigError: one of them does not exist.
    """
    from recherche.experiments.runs import load_run
    from recherche.games.hf_subjects import folder_subject, tiny_subject
    from recherche.games.subjects import OwnSubject
    from recherche.games.tiny_families import TINY_FAMILIES

    for run in runs:
        trained = load_run(run)
        recipe = f"from recherche.experiments.runs import load_run\nmodel = load_run({str(run)!r}).model\n"
        yield OwnSubject(model=trained.model, label=run.name, vocab=len(trained.task.vocab), recipe=recipe)
    names = list(TINY_FAMILIES) if family == "all" else [name for name in family.split(",") if name]
    if folders or names:
        _quiet_transformers()
    yield from map(folder_subject, folders)
    yield from map(tiny_subject, names)


def _quiet_transformers() -> None:
    """Keep advice about missing kernels out of the report; what a model gets wrong is what is measured."""
    warnings.filterwarnings("ignore", module="transformers")
    warnings.filterwarnings("ignore", message=".* is deprecated and will be removed", category=FutureWarning)
    try:
        from transformers.utils import logging
    except ImportError as error:
        raise ConfigError(f"--hf and --family need transformers: {error}; pip install 'recherche[hf]'.") from error
    logging.set_verbosity_error()


def record_of(name: str, finding: "Finding") -> dict[str, Any]:
    """One outcome as JSON data; no error where none was measured."""
    facts = asdict(finding)
    return {"model": name} | facts | {"error": facts["error"] if isfinite(facts["error"]) else None}


HEADINGS: MappingProxyType[str, str] = MappingProxyType(
    {
        "token by token": "1",
        "chunks of 2": "2",
        "chunks of 3": "3",
        "chunks of 7": "7",
        "chunks of 64": "64",
        "positions by default": "pos",
        "left padding": "left",
        "right padding": "right",
        "on after left padding": "left+",
        "on after right padding": "right+",
        "fork": "fork",
        "new process": "file",
        "generate": "gen",
        "wrong name": "name",
        "growth": "growth",
    }
)
"""What the tables call each check."""

LEGEND = (
    "1 2 3 7 64: tokens read at once from a carried cache; pos: at positions that the model finds by itself; left, "
    "right: padding; left+, right+: three tokens on after it; file: in a new process; name: the cache under another "
    "name. - does not apply or is not promised."
)


def table_of(results: "dict[str, list[Finding]]") -> Table:
    """Models down, checks across."""
    table = Table("model", *HEADINGS.values(), caption=LEGEND, box=None, padding=(0, 1, 0, 0))
    for name, outcomes in results.items():
        table.add_row(Path(name).name, *(Text(words, style=style) for words, style in map(cell_of, outcomes)))
    return table


def markdown_of(results: "dict[str, list[Finding]]") -> Iterator[str]:
    """The same with the errors of passed checks too, for the page that explains it."""
    from recherche.experiments.versions import versions
    from recherche.games.contract_checks import TOLERANCE

    found = {name: number for name, number in versions().items() if name in ("transformers", "torch")}
    yield f"{', '.join(f'{name} {number}' for name, number in found.items())}; float32, tolerance {short(TOLERANCE)}."
    yield ""
    yield "| family | " + " | ".join(HEADINGS.values()) + " |"
    yield "|---" * (1 + len(HEADINGS)) + "|"
    for name, outcomes in results.items():
        cells = []
        for finding in outcomes:
            words, _ = cell_of(finding)
            cells.append(words if not finding.passed or not isfinite(finding.error) else short(finding.error))
            if finding.passed is False:
                cells[-1] = f"**{words}**"
            elif finding.check == "growth":
                cells[-1] = ", ".join(finding.note.split(", ")[:2])
        yield f"| {Path(name).name} | " + " | ".join(cells) + " |"


def cell_of(finding: "Finding") -> tuple[str, str]:
    """What a cell says, and its style: ok, the relative error of a failure, or a dash for what does not apply."""
    if finding.check == "growth":
        return finding.note.partition(" ")[0].rstrip(","), ""
    if finding.passed is None:
        return "-", "dim"
    if finding.passed:
        return "ok", "green"
    return short(finding.error) if isfinite(finding.error) else "fails", "bold red"


def short(error: float) -> str:
    """One digit of a number.

    >>> short(0.00012), short(1.7)
    ('1e-4', '2')
    """
    return f"{error:.0e}".replace("e-0", "e-").replace("e+00", "")


def details_of(results: "dict[str, list[Finding]]") -> Iterator[str]:
    """A line for each failure and each remark."""
    for name, outcomes in results.items():
        for finding in outcomes:
            parts = [
                f"relative error {finding.error:.1e}" if finding.passed is False and isfinite(finding.error) else "",
                "" if finding.position is None else f"first at position {finding.position}",
                "" if finding.layer is None else f"in layer {finding.layer}",
                finding.note,
            ]
            said = ", ".join(part for part in parts if part)
            if said:
                print_name = "" if finding.passed is not False else "FAILS "
                yield f"{name}: {print_name}{finding.check}: {said}"


def write_scripts(folder: Path, subjects: "Sequence[AbstractSubject]", results: "dict[str, list[Finding]]") -> None:
    """For each failed check of a model a program that shows it; of failures in chunks, the one with the shortest."""
    folder.mkdir(parents=True, exist_ok=True)
    for subject in subjects:
        failed = [finding.check for finding in results[subject.name] if finding.passed is False]
        in_chunks = [check for check in failed if check.startswith("chunks of")]
        for check in failed:
            if check not in in_chunks[1:]:
                path = folder / f"{Path(subject.name).name}-{check.replace(' ', '-')}.py"
                write_bytes(path, subject.script(check).encode())
                print(f"script: {path}")
