"""`recherche lm teach`: a model learns to search its own context."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from recherche.cli.train import allow_each
from recherche.errors import ConfigError


def teach(
    folder: Annotated[Path, typer.Argument(help="Local folder of a model of transformers, with its tokenizer.")],
    out: Annotated[Path, typer.Option(help="Where the taught model is written, and saved on the way.")],
    task: Annotated[
        str, typer.Option(callback=allow_each, help="Tasks with commas between them: `recherche list text-tasks`.")
    ] = "phonebook,keyvalue",
    n: Annotated[str, typer.Option("--n", help="Sizes of the texts, such as 10,30 or 10-100.")] = "10-30",
    protocol: Annotated[str, typer.Option(help="search, direct, or both with a comma.")] = "direct,search",
    held_out_task: Annotated[
        str, typer.Option(callback=allow_each, help="Tasks that are only measured, with commas between them.")
    ] = "",
    held_out_n: Annotated[str, typer.Option(help="Sizes that are only measured, such as 100,300.")] = "",
    steps: Annotated[int, typer.Option(help="Steps of the optimiser.")] = 2000,
    batch_size: Annotated[int, typer.Option(help="Texts of one pass.")] = 16,
    accumulation: Annotated[int, typer.Option(help="Passes of one step.")] = 1,
    lr: Annotated[float | None, typer.Option(help="Highest learning rate; 0.0005 if left out.")] = None,
    lora: Annotated[
        str, typer.Option(help="Rank of adapters; none trains all weights; auto: none below 300M parameters, else 16.")
    ] = "auto",
    prose: Annotated[
        Path | None, typer.Option(help="Text to keep the old ability with; novels that ship if left out.")
    ] = None,
    prose_share: Annotated[float, typer.Option(help="Share of the lessons that is prose.")] = 0.2,
    prose_tokens: Annotated[int, typer.Option(help="Tokens of a piece of prose.")] = 256,
    num: Annotated[int, typer.Option(help="Texts of each kind in an evaluation.")] = 32,
    evaluate_every: Annotated[int, typer.Option(help="Steps between evaluations; 0: a quarter of all.")] = 0,
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    report_to: Annotated[str, typer.Option(help="tensorboard, wandb, trackio, with commas; none.")] = "none",
    seed: Annotated[int, typer.Option(help="Seed of everything.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
) -> None:
    """Teach a model to search, and to answer at once, on texts that are drawn as it learns.

    It has a loss only on what it writes itself. A share of prose keeps what it could before. On the way real searches
    are made and answers graded, on held-out tasks and sizes too. Ctrl-C saves, and the same command goes on, as it does
    after a crash. The result is an ordinary folder of transformers, adapters merged.

    [bold]Examples[/bold]

      recherche lm teach ./my-mamba --out ./taught
      recherche lm teach ./my-mamba --task phonebook,keyvalue --n 10-30 --held-out-task variables --held-out-n 100
          --steps 1000 --batch-size 8 --out ./taught
      recherche lm teach ./my-llama --lora 16 --precision bfloat16 --report-to tensorboard --out ./taught
    """
    from recherche.cli.reproduce import choose_device
    from recherche.cli.train import interrupted
    from recherche.experiments.cell import Stopped
    from recherche.experiments.teach import teach as teach_folder
    from recherche.lm.teacher import Surroundings
    from recherche.lm.teaching import Teaching

    teaching = Teaching.of(
        tasks=_names(task),
        sizes=tuple(map(_range, _names(n))),
        search_share=_share(_names(protocol)),
        prose_share=prose_share,
        prose=None if prose is None else str(prose),
        prose_tokens=prose_tokens,
        held_out_tasks=_names(held_out_task),
        held_out_sizes=tuple(map(_whole, _names(held_out_n))),
        num_evaluated=num,
        evaluate_every=evaluate_every,
        steps=steps,
        batch_size=batch_size,
        accumulation=accumulation,
        rate=lr,
        lora=lora if lora in ("auto", "none") else _whole(lora),
        precision=precision,
        seed=seed,
    )
    trackers = () if report_to == "none" else _names(report_to)
    console = Console()
    with interrupted() as stopping:
        surroundings = Surroundings(choose_device(device), trackers, lambda: bool(stopping))
        try:
            record = teach_folder(folder, out, teaching, surroundings=surroundings)
        except Stopped:
            console.print(f"Interrupted and saved in {out}; the same command goes on from here.", soft_wrap=True)
            raise typer.Exit(130) from None
    _show(console, record, out)


def _show(console: Console, record: dict[str, Any], out: Path) -> None:
    last = record["evaluations"][-1]
    table = Table("measured", "right", box=None)
    for name, value in last.items():
        if name not in ("step", "prose_loss"):
            table.add_row(name, f"{value:.3f}")
    console.print(table)
    before, after = record["prose_loss"]["before"], record["prose_loss"]["after"]
    console.print(
        f"loss of prose {before:.3f} before, {after:.3f} after; {record['way']}, {record['num_trained']:,} of "
        f"{record['num_parameters']:,} parameters, {record['seconds']:.0f} s; {out}/teaching.json has all of it",
        soft_wrap=True,
        highlight=False,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise ConfigError(f"A whole number is asked for, got {text!r}; give one such as 16.")
    return int(text)


def _range(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    return _whole(low), _whole(high if dash else low)


def _share(protocols: tuple[str, ...]) -> float:
    shares = {("search",): 1.0, ("direct",): 0.0, ("direct", "search"): 0.5}
    chosen = tuple(sorted(set(protocols)))
    if chosen not in shares:
        raise ConfigError(f"Protocols are search and direct, got {', '.join(protocols) or 'none'}; choose of these.")
    return shares[chosen]
