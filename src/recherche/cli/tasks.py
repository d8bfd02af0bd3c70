"""`recherche sample` and `recherche score`: tasks without our trainer, for models made by anything."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recherche._lookup import allow_own, lookup
from recherche.errors import ConfigError, InputError

if TYPE_CHECKING:
    from recherche.tasks import AbstractTask, Example

Task = Annotated[
    str, typer.Argument(callback=allow_own, help="A task of `recherche list tasks`, or your own package.module:Class.")
]
Size = Annotated[int, typer.Option("--n", "--n-nodes", help="The task's size.")]
Count = Annotated[int, typer.Option(help="How many examples.")]
Seed = Annotated[int, typer.Option(help="Seed of the examples.")]
Kind = Annotated[str | None, typer.Option(help="Graphs of istree: hard, trees or near.")]
Options = Annotated[list[str] | None, typer.Option("--option", help="NAME=VALUE, a setting of the task.")]


def sample(
    task: Task,
    n: Size = 16,
    protocol: Annotated[str, typer.Option(help="direct, cot or retrieval.")] = "direct",
    num: Count = 10,
    seed: Seed = 0,
    form: Annotated[str, typer.Option("--format", help="text, tokens (ids) or jsonl.")] = "text",
    kind: Kind = None,
    options: Options = None,
) -> None:
    """Print examples of a task as a model sees them, one a line.

    [bold]text[/bold] joins prompt and target by spaces; [bold]tokens[/bold] writes their ids; [bold]jsonl[/bold] has
    id, prompt, target, loss_mask (0 where a search returns the token), answer and what the prompt was written from.

    [bold]Examples[/bold]

      recherche sample istree --n-nodes 8 --protocol retrieval --num 5 --seed 1
      recherche sample istree --n 16 --kind near --num 1000 --format jsonl > graphs.jsonl
    """
    render = lookup(FORMATS, form, what="format")
    chosen = configured_task(task, n, protocol=protocol, settings=settings_of(kind, options))
    for number, example in enumerate(examples(chosen, num, seed=seed)):
        print(render(number, example, chosen))


def score(
    task: Task,
    predictions: Annotated[Path, typer.Argument(help='A file of lines {"id": 0, "answer": "YES"}.')],
    n: Size = 16,
    num: Count = 10,
    seed: Seed = 0,
    kind: Kind = None,
    options: Options = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Score answers to the examples that `recherche sample` prints for the same size, number, seed and options.

    An example without an answer counts half. The interval is Wilson's, at 95 %.

    [bold]Examples[/bold]

      recherche sample istree --n 16 --num 100 --format jsonl > graphs.jsonl
      recherche score istree answers.jsonl --n 16 --num 100
    """
    from recherche.evaluation import wilson_interval

    chosen = configured_task(task, n, protocol="direct", settings=settings_of(kind, options))
    given = read_predictions(predictions, num)
    right = [given[i] == example.answer for i, example in enumerate(examples(chosen, num, seed=seed)) if i in given]
    num_missing = num - len(given)
    successes = sum(right) + num_missing / 2
    low, high = wilson_interval(successes, num)
    result = {
        "task": task,
        "n": n,
        "accuracy": successes / num,
        "accuracy_low": low,
        "accuracy_high": high,
        "num_samples": num,
        "num_missing": num_missing,
    }
    if as_json:
        print(json.dumps(result))
        return
    print(
        f"accuracy {successes / num:.4f} [{low:.4f}, {high:.4f}] on {num} examples, {num_missing} missing (half each)"
    )


def configured_task(name: str, n: int, *, protocol: str, settings: dict[str, Any]) -> "AbstractTask":
    """The task that the command line describes.

    Raises:
        ConfigError: no such task, protocol or option, or a size that the task cannot have.
    """
    from recherche.tasks import TASKS
    from recherche.tasks.base import affordable

    return affordable(lookup(TASKS, name, what="task").configured(n=n, protocol=protocol, **settings))


def settings_of(kind: str | None, options: list[str] | None) -> dict[str, Any]:
    """Task options by name; numbers are read as numbers.

    Raises:
        ConfigError: an option is not written NAME=VALUE.

    >>> settings_of("near", ["num_pairs=4", "gaps=power"])
    {'graphs': 'near', 'num_pairs': 4, 'gaps': 'power'}
    """
    settings: dict[str, Any] = {} if kind is None else {"graphs": kind}
    for option in options or ():
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            raise ConfigError(f"A task option is written NAME=VALUE, got {option!r}.")
        settings[name] = int(value) if value.removeprefix("-").isdecimal() else value
    return settings


def examples(task: "AbstractTask", num: int, *, seed: int) -> "Iterator[Example]":
    """The first `num` examples of a seed.

    Raises:
        ConfigError: fewer than one was asked for.
    """
    from recherche._rng import numpy_generator
    from recherche.tasks import draw_keys

    if num < 1:
        raise ConfigError(f"Sampling needs at least one example, got --num {num}.")
    return (task.example(int(key)) for key in draw_keys(numpy_generator(seed, "sample"), num))


def as_text(number: int, example: "Example", task: "AbstractTask") -> str:
    """Prompt and target, joined by spaces."""
    return " ".join((*example.prompt, *example.target))


def as_tokens(number: int, example: "Example", task: "AbstractTask") -> str:
    """Ids of prompt and target, joined by spaces."""
    return " ".join(map(str, task.vocab.encode((*example.prompt, *example.target)).tolist()))


def as_jsonl(number: int, example: "Example", task: "AbstractTask") -> str:
    """All that is known of the example."""
    record = {
        "id": number,
        "prompt": example.prompt,
        "target": example.target,
        "loss_mask": example.loss_mask,
        **example.problem,
        "answer": example.answer,
    }
    return json.dumps(record)


FORMATS: MappingProxyType[str, Callable[[int, Any, Any], str]] = MappingProxyType(
    {"text": as_text, "tokens": as_tokens, "jsonl": as_jsonl}
)


def read_predictions(path: Path, num: int) -> dict[int, str]:
    """Answers by example.

    Raises:
        InputError: the file cannot be read or is empty, or a line is no prediction for one of the `num` examples.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the predictions {path}: {error}; give lines of JSON.") from error
    answers: dict[int, str] = {}
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        match record:
            case {"id": int(number), "answer": str(answer)} if 0 <= number < num and number not in answers:
                answers[number] = answer
            case {"id": int(number), "answer": str()} if number in answers:
                raise InputError(f"{path}, line {place}: id {number} is answered twice; keep one line for each id.")
            case {"id": int(number), "answer": str()}:
                raise InputError(
                    f"{path}, line {place}: ids run from 0 to {num - 1}, got {number}; "
                    "give --num and --seed as they were when the examples were sampled."
                )
            case _:
                raise InputError(
                    f'{path}, line {place}: expected {{"id": 0, "answer": "..."}}, got {line.strip()[:80]!r}.'
                )
    if not answers:
        raise InputError(
            f'{path} holds no answer, so there is nothing to score; give lines {{"id": 0, "answer": "YES"}}.'
        )
    return answers
