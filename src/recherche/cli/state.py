"""`recherche state`: read a text once, keep the state, ask about it later.

Alice saves, Bob asks: what passes between them is one file. Its bits are counted, not declared (`games.protocol`).
"""

from pathlib import Path
from typing import Annotated

import typer

from recherche._files import write_bytes
from recherche.errors import InputError, StateError

HELP = """Read a text once, keep what the model knows of it, ask about it later: in another process, on another day.

A state is all that a recurrent model carries from one token to the next. For Mamba it has the same size for every text;
for attention it is the KV cache, and grows with the text. Alice saves it, Bob asks, and he has nothing but that file.

[bold]Example[/bold]

  recherche state save --run runs/m --text list.txt --out list.state --quantise int8
  recherche state ask --run runs/m --state list.state --query "7"
"""

state = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=HELP)

RunFolder = Annotated[Path, typer.Option(help="Folder of a trained cell.")]


@state.command()
def save(
    run: RunFolder,
    text: Annotated[Path, typer.Option(help="The text: tokens with white space between them.")],
    out: Annotated[Path, typer.Option(help="Where the state is written.")],
    quantise: Annotated[str, typer.Option(help="float64, float32, bfloat16, int8, int4, or r3 .. r53.")] = "float32",
) -> None:
    """Let a model read a text, and write its state: all that it knows of the text.

    The text is the first part of what the task shows, without its question: `recherche sample TASK` prints some. The
    bits of the state are counted as they are sent; the header, which is the same for every text, is counted apart.

    [bold]Examples[/bold]

      recherche state save --run runs/m --text list.txt --out list.state
      recherche state ask --run runs/m --state list.state --query "7"
    """
    import torch

    from recherche.experiments.runs import load_run
    from recherche.games.protocol import send
    from recherche.games.quantisers import quantiser_of

    quantiser, trained = quantiser_of(quantise), load_run(run)
    try:
        tokens = text.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the text {text}: {error}; give a text file of tokens.") from error
    if not tokens:
        raise InputError(f"A text needs at least one token, but {text} is empty.")
    message = send(trained.model, torch.from_numpy(trained.task.vocab.encode(tokens))[None], quantiser)
    write_bytes(out, message.data)
    size = f"{message.message_bits:,} bits ({quantiser.name}) and a header of {message.header_bits:,}"
    print(f"{out}: {len(tokens)} tokens in {size}.")


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
