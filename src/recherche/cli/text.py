"""`recherche text`: questions about natural text, for models made by anything."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from recherche._lookup import allow_own, lookup
from recherche.cli.tasks import read_predictions, settings_of
from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.texts import AbstractTextTask, TextExample

text = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Questions about natural text: phone book, needles, variables and more. docs/texts.md describes each.",
)

Task = Annotated[
    str, typer.Argument(callback=allow_own, help="A text task, such as phonebook, or your own package.module:Class.")
]
Size = Annotated[
    int | None, typer.Option("--n", help="Size of the text: people, pairs, words; the task's own if left out.")
]
Tokens = Annotated[int | None, typer.Option(help="Length of each text in tokens, instead of --n.")]
Tokenizer = Annotated[Path | None, typer.Option(help="Folder of the tokenizer that counts --tokens.")]
Count = Annotated[int, typer.Option(help="How many examples.")]
Seed = Annotated[int, typer.Option(help="Seed of the examples.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="NAME=VALUE, a setting of the task, such as hops=4.")
]
Prose = Annotated[Path | None, typer.Option(help="A file of prose of your own, for tasks that need some.")]


class Sample(NamedTuple):
    """One example: its number, the task at its size, and the text."""

    number: int
    task: "AbstractTextTask"
    example: "TextExample"


@text.command()
def sample(
    task: Task,
    n: Size = None,
    tokens: Tokens = None,
    tokenizer: Tokenizer = None,
    protocol: Annotated[str, typer.Option(help="direct, or search: the worked-out searches.")] = "direct",
    num: Count = 5,
    seed: Seed = 0,
    form: Annotated[str, typer.Option("--format", help="text or jsonl.")] = "text",
    options: Options = None,
    prose: Prose = None,
) -> None:
    """Print examples: a text, a question about it, and the answer.

    [bold]text[/bold] prints what a model reads and writes, with a blank line behind each; [bold]jsonl[/bold] has id,
    task, n, prompt, target and answers, and for search the trace.

    [bold]Examples[/bold]

      recherche text sample phonebook --n 5 --num 1 --protocol search
      recherche text sample needle --tokens 4096 --tokenizer ./my-mamba --num 100 --format jsonl > needles.jsonl
      recherche text sample variables --n 30 --option hops=4
    """
    render = lookup(FORMATS, form, what="format")
    target = lookup(PROTOCOLS, protocol, what="protocol")
    chosen = configured_text_task(task, n, settings=text_settings(options, prose))
    for drawn in samples(chosen, num, seed=seed, fit=fitter(n, tokens, tokenizer)):
        print(render(drawn, target))


@text.command()
def harness(
    tasks: Annotated[list[str] | None, typer.Argument(help="Text tasks; all if left out.")] = None,
) -> None:
    """Print what lm-evaluation-harness takes as --tasks: files that hold these tasks and know the model `recherche`.

    [bold]Example[/bold]

      recherche text harness phonebook
      lm_eval --model recherche --model_args pretrained=./taught,search=True --tasks $(recherche text harness phonebook)
    """
    from recherche.lm.harness_documents import task_file
    from recherche.texts import TEXT_TASKS

    print(",".join(str(task_file(name)) for name in tasks or TEXT_TASKS))


@text.command()
def score(
    task: Task,
    predictions: Annotated[Path, typer.Argument(help='A file of lines {"id": 0, "answer": "555-1234"}.')],
    n: Size = None,
    tokens: Tokens = None,
    tokenizer: Tokenizer = None,
    num: Count = 5,
    seed: Seed = 0,
    options: Options = None,
    prose: Prose = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Grade answers to the examples that `recherche text sample` prints for the same size, number, seed and options.

    An answer ends at its first line break; white space, upper and lower case and a full stop at its end do not count.
    Several answers are separated by commas, in any order. An example without an answer is wrong. The interval is
    Wilson's, at 95 %.

    [bold]Examples[/bold]

      recherche text sample phonebook --n 100 --num 50 --format jsonl > books.jsonl
      recherche text score phonebook answers.jsonl --n 100 --num 50
    """
    from recherche.evaluation import wilson_interval
    from recherche.texts import grade

    chosen = configured_text_task(task, n, settings=text_settings(options, prose))
    given = read_predictions(predictions, num)
    drawn = samples(chosen, num, seed=seed, fit=fitter(n, tokens, tokenizer))
    right = sum(grade(one.example, given[one.number]) for one in drawn if one.number in given)
    low, high = wilson_interval(right, num)
    size = {"n": chosen.n} if tokens is None else {"tokens": tokens}
    result = {"task": task, **size, "accuracy": right / num, "accuracy_low": low, "accuracy_high": high}
    counts = {"num_samples": num, "num_missing": num - len(given)}
    if as_json:
        print(json.dumps(result | counts))
        return
    missing = f", {num - len(given)} without an answer (wrong)" if len(given) < num else ""
    print(f"accuracy {right / num:.4f} [{low:.4f}, {high:.4f}] on {num} examples{missing}")


def configured_text_task(name: str, n: int | None, *, settings: dict[str, Any]) -> "AbstractTextTask":
    """The task that the command line describes, at its own size if n is None.

    Raises:
        ConfigError: no such task or option, or a size that the task cannot have.
    """
    from recherche.texts import TEXT_TASKS

    kind = lookup(TEXT_TASKS, name, what="text task")
    return kind.configured(n=kind.n if n is None else n, **settings)


def text_settings(options: list[str] | None, prose: Path | None) -> dict[str, Any]:
    """Settings of a task by name.

    Raises:
        ConfigError: an option is not written NAME=VALUE.
    """
    return settings_of(None, options) | ({} if prose is None else {"prose": str(prose)})


def fitter(
    n: int | None, tokens: int | None, tokenizer: Path | None
) -> "Callable[[AbstractTextTask, int], AbstractTextTask]":
    """What gives the task of a key its size: nothing to do for `--n`, the greatest that fits for `--tokens`.

    Raises:
        ConfigError: --tokens with --n or without a tokenizer, or a tokenizer that cannot be read.
    """
    if tokens is None:
        if tokenizer is not None:
            raise ConfigError(f"--tokenizer {tokenizer} counts tokens, but no --tokens was given; add --tokens 4096.")
        return lambda task, key: task
    if n is not None:
        raise ConfigError(f"A text has one length, got --n {n} and --tokens {tokens}; leave out one of them.")
    if tokenizer is None:
        raise ConfigError(f"--tokens {tokens} are tokens of a tokenizer; name its folder by --tokenizer.")
    from recherche.lm.token_length import length_in
    from recherche.texts.fitting import fitted

    length = length_in(tokenizer)
    return lambda task, key: fitted(task, key, tokens=tokens, length=length)


def samples(
    task: "AbstractTextTask", num: int, *, seed: int, fit: "Callable[[AbstractTextTask, int], AbstractTextTask]"
) -> Iterator[Sample]:
    """The first `num` examples of a seed, each at its size.

    Raises:
        ConfigError: fewer than one was asked for, or one that does not fit.
    """
    from recherche.texts import example_keys

    for number, key in enumerate(example_keys(seed, num)):
        sized = fit(task, key)
        yield Sample(number, sized, sized.example(key))


def direct_target(example: "TextExample") -> str:
    """The answers."""
    return example.target


def search_target(example: "TextExample") -> str:
    """The searches, what they find, and the answers, with the default markers."""
    from recherche.lm.markers import Markers
    from recherche.text_queries import write
    from recherche.texts import Ask

    signs = Markers()
    return "".join(
        f"{signs.start}{write(part.query)}{signs.end}"
        + (signs.nothing if part.found is None else f"{signs.found}{part.found}{signs.close}")
        if isinstance(part, Ask)
        else part.text
        for part in example.trace
    )


PROTOCOLS: MappingProxyType[str, "Callable[[TextExample], str]"] = MappingProxyType(
    {"direct": direct_target, "search": search_target}
)


def as_text(drawn: Sample, target: "Callable[[TextExample], str]") -> str:
    """Prompt and target; the target ends with a line break."""
    return drawn.example.prompt + target(drawn.example)


def as_jsonl(drawn: Sample, target: "Callable[[TextExample], str]") -> str:
    """All that is known of the example."""
    from recherche.text_queries import write
    from recherche.texts import Ask

    record = {
        "id": drawn.number,
        "task": drawn.task.name,
        "n": drawn.task.n,
        "prompt": drawn.example.prompt,
        "target": target(drawn.example),
        "answers": drawn.example.answers,
    }
    if target is search_target:
        record["trace"] = [
            {"ask": write(part.query), "found": part.found} if isinstance(part, Ask) else {"say": part.text}
            for part in drawn.example.trace
        ]
    return json.dumps(record, ensure_ascii=False)


FORMATS: MappingProxyType[str, Callable[[Sample, Any], str]] = MappingProxyType({"text": as_text, "jsonl": as_jsonl})
