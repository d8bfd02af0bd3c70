"""`recherche lm`: language models of transformers that search their own context while they write."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from recherche.cli.lm_eval import measure
from recherche.cli.lm_export import export
from recherche.cli.lm_teach import teach
from recherche.errors import ConfigError, InputError

if TYPE_CHECKING:
    from recherche.lm.folder import LoadedModel
    from recherche.lm.generation import Written
    from recherche.lm.reading import Tell

HELP = """Language models in local folders, recurrent, hybrid or attention, that search while they write.

A model writes a query between two markers; it is run on the prompt and on what was written so far, and what it found is
inserted, to be read like anything else. docs/language_models.md is the guide.

[bold]First steps[/bold]

  recherche lm prepare ./my-mamba --out ./my-mamba-search     special tokens for the markers
  recherche lm teach ./my-mamba-search --out ./taught         teach it to search
  recherche lm ask ./taught --text book.txt --question "What is the number of Ada Berg?"
  recherche lm eval ./taught --task phonebook --n 10,100,1000 --out runs/x
"""

lm = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=HELP)

Folder = Annotated[Path, typer.Argument(help="Local folder of a model of transformers, with its tokenizer.")]
Device = Annotated[str, typer.Option(help="Where the model runs, such as cpu or cuda.")]
Dtype = Annotated[str, typer.Option(help="Number type: auto (as saved), float32, bfloat16, float16.")]

QUESTION = "\nQuestion: {question}\nAnswer:"
"""How a question follows a text, unless --raw is given."""


@lm.command()
def ask(
    folder: Folder,
    question: Annotated[str, typer.Option(help="What is asked about the text.")],
    text: Annotated[Path | None, typer.Option(help="The text, UTF-8; - is standard input. None with --state.")] = None,
    state: Annotated[Path | None, typer.Option(help="A text read before: `recherche state save --hf`.")] = None,
    protocol: Annotated[str, typer.Option(help="search, or direct: without searches.")] = "search",
    raw: Annotated[
        bool, typer.Option("--raw", help="Append the question as it is, without 'Question: ... Answer:'.")
    ] = False,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Budget of the answer, insertions included.")] = 256,
    stop: Annotated[str, typer.Option(help=r"A text that ends the answer; \n is a line break, nothing: none.")] = r"\n",
    show_searches: Annotated[bool, typer.Option("--show-searches", help="List each search and what it found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead.")] = False,
    device: Device = "cpu",
    dtype: Dtype = "auto",
) -> None:
    """Let a language model answer a question about a text, searching the text while it writes.

    [bold]Examples[/bold]

      recherche lm ask ./taught --text book.txt --question "What is the number of Ada Berg?" --show-searches
      recherche lm ask ./taught --text book.txt --question "Who is Ishmael?" --protocol direct

    A long text is read once and asked often:

      recherche state save --hf ./taught --text book.txt --out book.state
      recherche lm ask ./taught --state book.state --question "Who is Ishmael?"
    """
    from recherche._lookup import lookup
    from recherche.lm.generation import generate_plain, generate_with_search
    from recherche.lm.prompt_state import load_prompt_state

    generate = lookup({"search": generate_with_search, "direct": generate_plain}, protocol, what="protocol")
    if (text is None) == (state is None):
        raise ConfigError("Give either --text, which is read now, or --state, which was read before.")
    model, tokenizer = load(folder, device, dtype)
    carried = None if state is None else load_prompt_state(state, model)
    asked = question if raw else QUESTION.format(question=question)
    prompt = asked if text is None else read_text(text) + asked
    stops = [stop.encode().decode("unicode_escape")] if stop else []
    with reading_progress() as tell:
        [written] = generate(
            model, tokenizer, [prompt], stop_strings=stops, state=carried, tell=tell, max_new_tokens=max_new_tokens
        )
    if as_json:
        print(json.dumps(record_of(written), ensure_ascii=False))
        return
    print(written.answer_text.strip())
    if show_searches:
        show(written)


@lm.command()
def prepare(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Where the model with its new tokens is written.")],
) -> None:
    """Give a model special tokens for the markers of searches; they start as the mean of all tokens.

    The new folder loads with transformers alone, and `model.generate(..., custom_generate=FOLDER)` searches. What the
    tokens mean, the model does not know yet: `recherche lm teach`.

    [bold]Example[/bold]

      recherche lm prepare ./my-mamba --out ./my-mamba-search
    """
    from recherche.lm.folder import save_searching
    from recherche.lm.markers import add_search_tokens

    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is there already and not empty; give a new folder.")
    model, tokenizer = load(folder, "cpu", "auto")
    add_search_tokens(model, tokenizer)
    save_searching(model, tokenizer, out)
    print(f"{out}: {folder.name} with search tokens; teach it with `recherche lm teach {out} --out ...`.")


lm.command("teach")(teach)
lm.command("eval")(measure)
lm.command("export")(export)


def load(folder: Path, device: str, dtype: str) -> "LoadedModel":
    """The model and the tokenizer, on a device.

    Raises:
        ConfigError: they, the device or the number type are not there.
    """
    from recherche._lookup import lookup
    from recherche.cli.reproduce import choose_device
    from recherche.lm.folder import DTYPES, load_language_model

    with suppress(ImportError):  # told in one sentence when the model is loaded
        logging = import_module("transformers.utils.logging")
        logging.disable_progress_bar()  # a bar for each file of weights would stand among our own lines
    return load_language_model(folder, device=choose_device(device), dtype=lookup(DTYPES, dtype, what="number type"))


@contextmanager
def reading_progress() -> "Iterator[Tell]":
    """A bar for prompts that take long to read, on a terminal."""
    with Progress(
        TextColumn("reading"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,} tokens"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        task = bars.add_task("", total=1, visible=False)
        yield lambda done, total: bars.update(task, completed=done, total=total, visible=True)


def read_text(path: Path) -> str:
    """A UTF-8 text, line breaks as they are.

    Raises:
        InputError: it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"Cannot read the text {path}: {error}; give a UTF-8 file, or - for standard input."
        ) from error


def record_of(written: "Written") -> dict[str, Any]:
    """What was written and searched, as JSON data."""
    searches = [
        search._asdict()
        | {"status": search.status.name, "asked": type(search.asked).__name__ if search.asked else None}
        for search in written.searches
    ]
    kept = {name: value for name, value in asdict(written).items() if name not in ("prompt", "searches")}
    return kept | {"searches": searches}


def show(written: "Written") -> None:
    """Each search of an answer, for the terminal."""
    console = Console(highlight=False, soft_wrap=True)
    if not written.searches:
        console.print("The model made no search.")
    for search in written.searches:
        place = f"  characters {search.span[0]}..{search.span[1]}" if search.span else ""
        console.print(Text(f"{search.query}", style="bold"), Text(f"{search.status.name}{place}", style="dim"))
        if search.found is not None or search.reason:
            console.print(Text(f"    {search.found if search.found is not None else search.reason}"))
