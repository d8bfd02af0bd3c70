"""`recherche bounds` and `recherche verify`: what any model needs, and refutations that can be checked."""

import inspect
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from recherche.cli.tasks import Task
from recherche.errors import InputError

MOST = 1024
"""The largest n at which a run is measured."""

SAMPLES = tuple(sorted({m * 2**k for k in range(2, 21) for m in (2, 3)}))


def bounds(
    task: Task,
    n: Annotated[int, typer.Option("--n", "--n-nodes", help="The task's size.")] = 64,
    run: Annotated[Path | None, typer.Option(help="A trained cell of the task: from which n on must it fail?")] = None,
    quantise: Annotated[str, typer.Option(help="How the run's state is sent.")] = "float32",
    num: Annotated[int, typer.Option(help="Texts of the measured game.")] = 300,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Say how many bits any model must hold to solve a task, and why.

    With a run: the bits of its state at that n, the n from which on they cannot suffice, and its measured failure.

    [bold]Examples[/bold]

      recherche bounds index --n 1000
      recherche bounds istree --n 64 --run runs/quick/cells/mamba-cot-n16
    """
    from recherche._lookup import lookup
    from recherche.tasks import TASKS

    kind = lookup(TASKS, task, what="task")
    built = kind.configured(n=n, protocol="direct")
    record: dict[str, Any] = {"task": task, "n": n, "bits": built.lower_bound_bits, "argument": argument_of(built)}
    if run is not None:
        record |= _of_run(run, task, n, quantise=quantise, num=num)
    if as_json:
        print(json.dumps(record))
        return
    console = Console(highlight=False)
    console.print(
        f"[bold]{task}, n = {n}: any model that is always right holds at least {record['bits']:,.1f} bits[/bold]"
    )
    console.print(record["argument"], markup=False)
    if run is not None:
        console.print(_sentence(record), markup=False)


def argument_of(task: Any) -> str:
    """The proof that stands at the task's bound."""
    proof = inspect.getdoc(inspect.getattr_static(type(task), "lower_bound_bits")) or ""
    graphs = getattr(task, "graphs", None)
    return (inspect.getdoc(type(graphs).lower_bound_bits) or proof) if graphs is not None else proof


def _of_run(run: Path, task: str, n: int, *, quantise: str, num: int) -> dict[str, Any]:
    """State bits of a run, the n from which on it must fail, and what the game measures there, at n and at its own."""
    from recherche.errors import ConfigError
    from recherche.experiments.runs import load_run

    trained = load_run(run)
    if trained.config.task.name != task:
        raise ConfigError(f"The bound of {task} was asked for, but {run} was trained on {trained.config.task.name}.")
    own = trained.config.task.n
    measured, half = (_measured(trained, size, quantise, num) for size in (own, max(2, own // 2)))
    grows = measured["message_bits"] != half["message_bits"]
    fails = None if grows else first_failure(trained.config.task, measured["message_bits"])
    more = sorted(
        {size for size in (n, fails) if size is not None and own != size <= MOST and _can_be_asked(trained, size)}
    )
    return {
        "bits": _bits_at(trained.config.task, n),
        "run": str(run),
        "state_bits": measured["message_bits"],
        "state_grows": grows,
        "fails_from_n": fails,
        "measured": [measured, *(_measured(trained, size, quantise, num) for size in more)],
    }


def _measured(trained: Any, n: int, quantise: str, num: int) -> dict[str, Any]:
    """The game at n, with the accuracy that no model can pass whose message has so many bits."""
    from recherche._rng import numpy_generator
    from recherche.evaluation import wilson_interval
    from recherche.games.capacity import measure_capacity
    from recherche.games.information import best_accuracy
    from recherche.games.quantisers import quantiser_of
    from recherche.tasks.base import affordable

    found = measure_capacity(
        trained.model,
        affordable(trained.task.at_size(n)),
        quantiser=quantiser_of(quantise),
        generator=numpy_generator(1, f"bounds-{n}"),
        num_texts=num,
    )
    low, high = wilson_interval(found.accuracy * num, num)
    num_symbols = round(2 ** (found.bits_dealt / len(found.errors)))
    return {
        "n": n,
        "message_bits": found.message_bits,
        "bits_needed": found.bits_needed,
        "accuracy": found.accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "bound_accuracy": best_accuracy(found.message_bits, needed_bits=found.bits_dealt, num_symbols=num_symbols),
        "bits_recovered": found.bits_recovered,
    }


def _can_be_asked(trained: Any, n: int) -> bool:
    """Whether the run has words for the task at n."""
    from recherche._rng import numpy_generator
    from recherche.errors import ConfigError
    from recherche.games.deals import deal
    from recherche.tasks.base import affordable

    try:
        return deal(affordable(trained.task.at_size(n)), numpy_generator(1, "bounds"), 1).length > 0
    except ConfigError:
        return False


def first_failure(config: Any, state_bits: int) -> int | None:
    """The smallest n, in a growing series refined by bisection, at which the task needs more bits than the state has.

    Lists keep their alphabet; names are added where larger problems need them.
    """
    low = config.n
    step = 2 if config.name == "mqar" else 1  # its texts are made of slots of two tokens
    for high in (n for n in SAMPLES if n > config.n):
        if _bits_at(config, high) > state_bits:
            while high - low > step:
                middle = (low + high) // (2 * step) * step
                low, high = (middle, high) if _bits_at(config, middle) <= state_bits else (low, middle)
            return high
        low = high
    return None


def _bits_at(config: Any, n: int) -> float:
    from recherche.cli.game import vocabulary_of
    from recherche.errors import ConfigError

    options = dict(config.options) | vocabulary_of(config.build())
    try:
        return config.model_copy(update={"n": n, "options": options}).build().lower_bound_bits
    except ConfigError:
        growing = ("n_numbers", "n_names", "n_keys", "n_fillers")
        fewer = {name: value for name, value in options.items() if name not in growing}
        return config.model_copy(update={"n": n, "options": fewer}).build().lower_bound_bits


def _sentence(record: dict[str, Any]) -> str:
    if record["state_grows"]:
        fate = "its state grows with the text, so that this argument never catches it"
    elif record["fails_from_n"] is None:
        fate = "its state suffices for every n that was looked at"
    else:
        fate = f"so from n = {record['fails_from_n']:,} on it must fail"
    lines = [f"{record['run']}: state of {record['state_bits']:,} bits, {fate}."]
    lines += [
        f"Measured at n = {found['n']}: accuracy {found['accuracy']:.3f} "
        f"[{found['accuracy_low']:.3f}, {found['accuracy_high']:.3f}], "
        f"at least {found['bits_recovered']:,.1f} of {found['bits_needed']:,.1f} bits recovered; "
        f"no model that sends {found['message_bits']:,} bits is better than {found['bound_accuracy']:.3f}."
        for found in record["measured"]
    ]
    return "\n".join(lines)


def verify(
    certificate: Annotated[Path, typer.Argument(help="A file that `recherche game collision` has written.")],
    run: Annotated[Path | None, typer.Option(help="The run it is about; the one that it names if left out.")] = None,
) -> None:
    """Run a certificate again, statement by statement, and say which claim it refutes.

    [bold]Example[/bold]

      recherche verify certificate.json
    """
    from recherche.experiments.runs import load_run
    from recherche.games.certificates import Certificate
    from recherche.games.certificates import verify as check

    try:
        text = certificate.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the certificate {certificate}: {error}.") from error
    found = Certificate.from_json(text)
    said = check(found, load_run(run or Path(found.step.source)).model)
    question = " ".join(found.query)
    print(
        f"Holds. Both texts end in state {found.state[:16]}..., and the model goes on with {said!r} after {question!r};"
    )
    print(f"right is {found.answers[0]!r} for one and {found.answers[1]!r} for the other. Refuted: {found.claim}.")
