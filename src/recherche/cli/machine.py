"""`recherche machine`: Turing machines from files, run by the simulator or by a neural network."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from recherche.errors import CertificateError

if TYPE_CHECKING:
    from recherche.machines import Machine

machine = typer.Typer(no_args_is_help=True, help="Turing machines: list and show the shipped ones, run any.")


class Runner(StrEnum):
    """What carries out the steps."""

    SIMULATOR = "simulator"
    HYBRID = "hybrid"
    RAG = "rag"
    COT = "cot"


@machine.command("list")
def list_machines() -> None:
    """The machines that ship with the package.

    [bold]Example[/bold]

      recherche machine list
    """
    from recherche.machines import shipped_machines

    console = Console()
    for name, shipped in shipped_machines().items():
        console.print(f"{name:<16}{shipped.description}", soft_wrap=True, markup=False, highlight=False)


@machine.command("show")
def show(name: Annotated[str, typer.Argument(help="A shipped machine.")]) -> None:
    """Print the file of a shipped machine: the format, and something to start your own from.

    [bold]Example[/bold]

      recherche machine show increment > my-machine.yaml
    """
    from recherche._lookup import lookup
    from recherche.machines import shipped_files

    print(lookup(shipped_files(), name, what="machine"), end="")


@machine.command("run")
def run(
    name: Annotated[str, typer.Argument(help="A shipped machine, or a YAML file.")],
    word: Annotated[str, typer.Argument(help="The input word; '' for the empty one.")],
    by: Annotated[
        Runner, typer.Option(help="The simulator, or the network of Theorem 5.8, 5.4 or 4.1.")
    ] = Runner.SIMULATOR,
    show_trace: Annotated[bool, typer.Option("--show-trace", help="Print every step, or every token.")] = False,
    max_steps: Annotated[int, typer.Option(help="Steps after which a machine counts as not halting.")] = 10_000,
) -> None:
    """Run a machine on a word; exit code 0 if it accepts, 1 if it rejects.

    A network's whole text is compared with the simulator's run. The format of a machine file is that of
    `recherche machine show NAME`; the module `recherche.machines.machine` explains it.

    [bold]Examples[/bold]

      recherche machine run increment 1011
      recherche machine run palindrome abba --by hybrid --show-trace
      recherche machine run my-machine.yaml 0110 --by rag
    """
    from recherche.machines import find_machine, run_machine

    chosen = find_machine(name)
    result = run_machine(chosen, word, max_steps=max_steps)
    console = Console()

    def say(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False, highlight=False)

    if by is Runner.SIMULATOR:
        for step in result.steps if show_trace else ():
            say(
                f"cell {step.head}: {step.state} reads {step.read}, writes {step.write}, {step.move}, {step.next_state}"
            )
    else:
        text = _text_by_network(chosen, word, by=by, max_steps=max_steps)
        if show_trace:
            say(" ".join(text))
    verdict = "accepts" if result.accepted else "rejects"
    say(f"{chosen.name} {verdict} {word!r} after {len(result.steps)} steps; tape: {result.tape or '(blank)'}")
    raise typer.Exit(int(not result.accepted))


def _text_by_network(chosen: "Machine", word: str, *, by: Runner, max_steps: int) -> tuple[str, ...]:
    """Prompt and completion of the network, whose every token has been compared with the simulator's."""
    from recherche.constructions.catalogue import CONSTRUCTIONS, SIMULATIONS
    from recherche.constructions.compiler import compile_program
    from recherche.constructions.proof import difference, write

    construction = CONSTRUCTIONS[f"machine-{by.value}"]
    suite = SIMULATIONS[by.value].suite(chosen, [word], exhaustive=False, max_steps=max_steps)
    (case,) = suite.cases
    (completion,) = write(construction, compile_program(suite.program), [case])
    if completion != case.completion:
        raise CertificateError(f"The network leaves the simulator's run: {difference(case, completion)}.")
    return (*case.prompt, *completion)
