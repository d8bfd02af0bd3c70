"""The `recherche` command: a table of commands, each loaded when it is called for.

A command is a plain function with typer annotations (or a `typer.Typer` that groups several) in a file of this package;
one line of `COMMANDS` adds it. Command files import only typer, rich and the standard library at the top; whatever is
heavy (torch, numba, matplotlib) is imported inside the function, so that `recherche --help` answers at once.

Exit codes: 0 done, 1 done and the answer is "no" or "failed", 2 refused (bad input), 130 interrupted.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, final

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command, get_group

from recherche._lookup import import_allowed, lookup
from recherche.errors import RechercheError

REFUSED = 2
DEBUG_VARIABLE = "RECHERCHE_DEBUG"
WAIT_POLICY = "OMP_WAIT_POLICY"
"""torch's threads read it once, when torch is loaded."""

FIGURES = "Reproduce the paper"
LOOK = "Tasks and searches"
LANGUAGE = "Language models"
PROVE = "Theorems that run"
GAMES = "Communication games"
WORKSHOP = "Workshop"


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, `file:attribute` within `recherche.cli`, and the panel of the help that shows it."""

    home: str
    panel: str

    def load(self) -> Any:
        """The function or `typer.Typer` itself."""
        file, _, attribute = self.home.partition(":")
        return getattr(import_module(f"recherche.cli.{file}"), attribute)


COMMANDS = MappingProxyType(
    {
        "reproduce": Entry("reproduce:reproduce", FIGURES),
        "sweep": Entry("sweep:sweep", FIGURES),
        "report": Entry("report:report", FIGURES),
        "train": Entry("train:train", FIGURES),
        "eval": Entry("train:evaluate", FIGURES),
        "ask": Entry("ask:ask", FIGURES),
        "sample": Entry("tasks:sample", LOOK),
        "score": Entry("tasks:score", LOOK),
        "search": Entry("search:search", LOOK),
        "language": Entry("language:language", LANGUAGE),
        "lm": Entry("lm:lm", LANGUAGE),
        "text": Entry("text:text", LANGUAGE),
        "hotpot": Entry("hotpot:hotpot", LANGUAGE),
        "prove": Entry("prove:prove", PROVE),
        "machine": Entry("machine:machine", PROVE),
        "game": Entry("game:game", GAMES),
        "state": Entry("state:state", GAMES),
        "bounds": Entry("bounds:bounds", GAMES),
        "verify": Entry("bounds:verify", GAMES),
        "contract": Entry("contract:contract", GAMES),
        "list": Entry("list:list_members", WORKSHOP),
        "check-mixer": Entry("check_mixer:check_mixer", WORKSHOP),
        "bench": Entry("bench:bench", WORKSHOP),
    }
)


def build_command(name: str, entry: Entry) -> Any:
    """The click command for one entry of the table."""
    loaded = entry.load()
    command: Any
    if isinstance(loaded, typer.Typer):
        command = get_group(loaded)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name)(loaded)
        command = get_command(alone)
    command.name = name
    command.rich_help_panel = entry.panel
    return command


class LazyGroup(TyperGroup):
    """A group whose members come from `COMMANDS`, and whose refusals are one clear line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands of the table, in its order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command called `cmd_name`, loaded now; None if there is none."""
        if cmd_name not in self.commands:
            if cmd_name not in COMMANDS:
                return None
            self.commands[cmd_name] = build_command(cmd_name, COMMANDS[cmd_name])
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` starts with; an unknown one is answered with the nearest names.

        Raises:
            ConfigError: there is no such command.
        """
        if not ctx.resilient_parsing:
            lookup(COMMANDS, args[0], what="command")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn errors that the package raises on purpose into a line on stderr and exit code 2."""
        return refuse_politely(super().invoke, ctx)


def refuse_politely(run: Callable[[Any], Any], ctx: Any) -> Any:
    """`run(ctx)`; a RechercheError becomes its message and exit code 2, unless the traceback was asked for."""
    try:
        return run(ctx)
    except RechercheError as error:
        if ctx.params.get("debug") or os.environ.get(DEBUG_VARIABLE):
            raise
        console = Console(stderr=True, soft_wrap=True, highlight=False)
        console.print("error:", style="bold red", end=" ")
        console.print(str(error), markup=False)
        raise typer.Exit(REFUSED) from None


def show_version(asked: bool) -> bool:
    """Print the version and stop, if it was asked for."""
    if asked:
        import recherche

        print(f"recherche {recherche.__version__}")
        raise typer.Exit
    return asked


app = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show the traceback of a refusal (or set {DEBUG_VARIABLE}).")
    ] = False,
    imports: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="Import a module of yours, whose tasks or mixers a run names."),
    ] = None,
) -> None:
    """RNNs in search of lost context: measure, prove and close the in-context retrieval gap.

    [bold]First steps[/bold]

      recherche reproduce --preset quick     the paper's main figure
      recherche sample istree --n-nodes 8    what a model sees
      recherche prove all                    theorems, as hand-set weights

    Each command has its own examples: [bold]recherche COMMAND --help[/bold].
    """
    # Threads of torch that wait by spinning keep the cores from the compiled loops: a training step of Mamba on two
    # threads took 513 ms with them and 407 ms without, one of the Transformer 307 and 281 ms.
    os.environ.setdefault(WAIT_POLICY, "PASSIVE")
    for module in imports or ():
        import_allowed(module)


def main() -> None:
    """Entry point of the `recherche` script."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="recherche")
