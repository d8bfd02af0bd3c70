"""`recherche contract`: is this cache a state?"""

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
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
    scripts: Annotated[
        Path | None, typer.Option(help="Write a short script for each failure into this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each model and check.")] = False,
) -> None:
    """Hold the caches of models to the contract of a state. Exit code 1: some check has failed.

    Full forward = token by token = chunks from a carried cache = padded batch = resumed in a new process = forked;
    how the cache grows; whether a cache under a wrong name is refused.

    [bold]Examples[/bold]

      recherche contract --family mamba,jamba,qwen3_next
      recherche contract --run runs/quick/cells/hybrid-cot-n16
      recherche contract --hf ./my-model --scripts failures/
    """
    from recherche.games.contract import findings

    subjects = list(subjects_of(run or (), hf or (), family))
    if not subjects:
        raise ConfigError(
            "Nothing to hold to the contract; give --run, --hf or --family mamba,jamba (or --family all)."
        )
    results: dict[str, list[Finding]] = {}
    for subject in subjects:
        results[subject.name] = []
        for finding in findings(subject):
            results[subject.name].append(finding)
            if as_json:
                print(json.dumps(record_of(subject.name, finding)), flush=True)
    if not as_json:
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
    try:
        from transformers.utils import logging
    except ImportError as error:
        raise ConfigError(f"--hf and --family need transformers: {error}; pip install 'recherche[hf]'.") from error
    logging.set_verbosity_error()


def record_of(name: str, finding: "Finding") -> dict[str, Any]:
    """One outcome as JSON data; no error where none was measured."""
    facts = asdict(finding)
    return {"model": name} | facts | {"error": facts["error"] if isfinite(facts["error"]) else None}


def table_of(results: "dict[str, list[Finding]]") -> Table:
    """Models down, checks across."""
    checks = [finding.check for finding in next(iter(results.values()))]
    table = Table("model", *(check for check in checks if check != "growth"), "growth")
    for name, outcomes in results.items():
        cells = {finding.check: cell_of(finding) for finding in outcomes}
        growth = cells.pop("growth", Text())
        table.add_row(name, *cells.values(), growth)
    return table


def cell_of(finding: "Finding") -> Text:
    """ok, the relative error of a failure, or what does not apply."""
    if finding.check == "growth":
        return Text(finding.note.partition(",")[0])
    if finding.passed is None:
        return Text("-", style="dim")
    if finding.passed:
        return Text("ok", style="green")
    return Text(f"{finding.error:.0e}" if isfinite(finding.error) else "fails", style="bold red")


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
    """For each model that fails token by token or in chunks, the shortest program that shows it."""
    folder.mkdir(parents=True, exist_ok=True)
    for subject in subjects:
        sizes = [
            1 if finding.check == "token by token" else int(finding.check.rpartition(" ")[2])
            for finding in results[subject.name]
            if finding.passed is False and finding.position is not None and finding.check != "generate"
        ]
        if sizes:
            path = folder / f"{Path(subject.name).name}.py"
            write_bytes(path, subject.script(sizes[0]).encode())
            print(f"script: {path}")
