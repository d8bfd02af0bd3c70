"""`recherche check-mixer`: the whole contract of a sequence mixer, held to one of ours or of yours."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recherche._lookup import allow_own, lookup
from recherche.cli.tasks import settings_of
from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.mixers.base import LayerConfig
    from recherche.mixers.contract import Finding


def check_mixer(
    mixer: Annotated[
        str,
        typer.Argument(callback=allow_own, help="One of `recherche list mixers`, or your own package.module:Class."),
    ],
    d_model: Annotated[int, typer.Option(help="Width of the residual stream.")] = 16,
    options: Annotated[list[str] | None, typer.Option("--option", help="NAME=VALUE, a field of the layer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each check.")] = False,
) -> None:
    """Hold a mixer to every part of the contract, values and gradients. Exit code 1: some check has failed.

    All tokens at once = one by one = in pieces from a carried state = rows of other lengths = after a new process; no
    look ahead, no hidden memory, a state of the declared size, weights from the given generator alone.

    [bold]Examples[/bold]

      recherche check-mixer mamba --option d_state=4
      recherche check-mixer mine.decay:DecayLayer
    """
    from recherche.mixers import MIXERS
    from recherche.mixers.contract import check_mixer as findings_of

    layer = layer_of(lookup(MIXERS, mixer, what="mixer"), settings_of(None, options))
    findings = []
    for finding in findings_of(layer, d_model=d_model):
        findings.append(finding)
        if as_json:
            record = {"mixer": layer.mixer, "check": finding.check, "passed": not finding.problem}
            print(json.dumps(record | ({"problem": finding.problem} if finding.problem else {})), flush=True)
    if not as_json:
        Console().print(table_of(findings))
    if any(finding.problem for finding in findings):
        raise typer.Exit(1)


def layer_of(kind: "type[LayerConfig]", settings: dict[str, Any]) -> "LayerConfig":
    """The layer with these fields.

    Raises:
        ConfigError: a field that it does not have, or a value that it cannot have.
    """
    from pydantic import ValidationError

    from recherche.experiments.config import explain

    try:
        return kind(**settings)
    except ValidationError as error:
        raise ConfigError(f"{kind.__name__} cannot be built: {explain(error, kind)}") from error


def table_of(findings: "Iterable[Finding]") -> Table:
    """One check a line: ok, or what differs first."""
    table = Table("check", "result")
    for finding in findings:
        result = Text(finding.problem, style="bold red") if finding.problem else Text("ok", style="green")
        table.add_row(finding.check.replace("_", " "), result)
    return table
