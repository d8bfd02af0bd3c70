"""`recherche state`: read a text once, keep the state, ask about it later.

Alice saves, Bob asks: what passes between them is one file. Its bits are counted, not declared (`games.protocol`).
"""

from pathlib import Path
from typing import Annotated

import typer

from recherche._files import write_bytes
from recherche.cli.lm import load, read_text, reading_progress
from recherche.errors import ConfigError, InputError, StateError

HELP = """Read a text once, keep what the model knows of it, ask about it later: in another process, on another day.

A state is all that a recurrent model carries from one token to the next. For Mamba it has the same size for every text;
for attention it is the KV cache, and grows with the text. Alice saves it, Bob asks, and he has nothing but that file.

[bold]Example[/bold]

  recherche state save --run runs/m --text list.txt --out list.state --quantise int8
  recherche state ask --run runs/m --state list.state --query "7"

With --hf, the model is a language model in a folder of transformers. Its file holds the text too, so that it may be
searched: `recherche lm ask FOLDER --state STATE --question ...`.
"""

state = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=HELP)

RunFolder = Annotated[Path, typer.Option(help="Folder of a trained cell.")]


@state.command()
def save(
    text: Annotated[Path, typer.Option(help="The text: for a trained cell, tokens with white space between them.")],
    out: Annotated[Path, typer.Option(help="Where the state is written.")],
    run: Annotated[Path | None, typer.Option(help="Folder of a trained cell.")] = None,
    hf: Annotated[Path | None, typer.Option("--hf", help="Folder of a language model of transformers.")] = None,
    quantise: Annotated[
        str, typer.Option(help="Of a cell's state: float64, float32, bfloat16, int8, int4, or r3 .. r53.")
    ] = "float32",
    device: Annotated[str, typer.Option(help="Where a language model runs, such as cpu or cuda.")] = "cpu",
) -> None:
    """Let a model read a text, and write its state: all that it knows of the text.

    For a trained cell the text is the first part of what the task shows, without its question: `recherche sample TASK`
    prints some. The bits of the state are counted as they are sent; the header, which is the same for every text, is
    counted apart. For a language model the text is any text, and the file is a safetensors file.

    [bold]Examples[/bold]

      recherche state save --run runs/m --text list.txt --out list.state
      recherche state ask --run runs/m --state list.state --query "7"

      recherche state save --hf ./taught --text book.txt --out book.state
      recherche lm ask ./taught --state book.state --question "Who is Ishmael?"
    """
    if (run is None) == (hf is None):
        raise ConfigError("Name the model that shall read: either --run, a trained cell, or --hf, a language model.")
    if run is not None:
        print(_save_cell(run, text, out, quantise))
    elif hf is not None:
        print(_save_language_model(hf, text, out, device))


def _save_cell(run: Path, text: Path, out: Path, quantise: str) -> str:
    """Read tokens with a trained cell; a sentence about the file."""
    import torch

    from recherche.experiments.runs import load_run
    from recherche.games.protocol import send
    from recherche.games.quantisers import quantiser_of

    quantiser, trained = quantiser_of(quantise), load_run(run)
    tokens = read_text(text).split()
    if not tokens:
        raise InputError(f"A text needs at least one token, but {text} is empty.")
    message = send(trained.model, torch.from_numpy(trained.task.vocab.encode(tokens))[None], quantiser)
    write_bytes(out, message.data)
    size = f"{message.message_bits:,} bits ({quantiser.name}) and a header of {message.header_bits:,}"
    return f"{out}: {len(tokens)} tokens in {size}."


def _save_language_model(folder: Path, text: Path, out: Path, device: str) -> str:
    """Read a text with a language model; a sentence about the file."""
    from recherche.lm.prompt_state import read_prompt

    model, tokenizer = load(folder, device, "auto")
    with reading_progress() as tell:
        carried = read_prompt(model, tokenizer, read_text(text), tell=tell)
    carried.save(out)
    return f"{out}: {carried.num_tokens:,} tokens in {carried.bits:,} bits."


@state.command()
def ask(
    run: RunFolder,
    state: Annotated[Path, typer.Option(help="A state that `state save` has written with the same run.")],
    query: Annotated[str, typer.Option(help="Tokens that follow the text, such as a question.")],
    max_new_tokens: Annotated[int, typer.Option(help="Budget of the answer, in tokens.")] = 64,
) -> None:
    """Go on from a state with a query, and print what the model writes up to its answer.

    The same state may be asked many questions; none of them changes it. It belongs to the weights that wrote it.

    [bold]Example[/bold]

      recherche state ask --run runs/m --state list.state --query "7"
    """
    from recherche.decoding import generate
    from recherche.experiments.runs import load_run
    from recherche.games.protocol import receive
    from recherche.mixers.state import tensors_of

    trained = load_run(run)
    vocab = trained.task.vocab
    if trained.task.uses_search:
        raise StateError(
            f"{run} searches its text, but a state holds no text to search; use a run that answers without a search."
        )
    try:
        data = state.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read the state {state}: {error}; write one with `recherche state save`.") from error
    if not (question := query.split()):
        raise InputError("A query needs at least one token, got none; give what follows the text, such as a position.")
    carried = receive(trained.model, data)
    rows = next(tensors_of(carried)).shape[0]
    if rows != 1:
        raise StateError(f"One query goes on from one text, but {state} holds {rows} of them; save each by itself.")
    [written] = generate(
        trained.model,
        [vocab.encode(question)],
        stop_ids=vocab.encode(trained.task.answer_tokens).tolist(),
        max_new_tokens=max_new_tokens,
        state=carried,
    )
    print(" ".join(vocab.decode(written.tokens)))
