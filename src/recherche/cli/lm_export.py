"""`recherche lm export`: a trained cell as a folder of the transformers library."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Option(help="Folder of a trained cell, or of a grid with --cell.")],
    out: Annotated[Path, typer.Option(help="The folder that AutoModelForCausalLM shall load.")],
    cell: Annotated[str | None, typer.Option(help="Name of a cell of the grid.")] = None,
) -> None:
    """Save a model that was trained here as a transformers folder with a tokenizer.

    Its words are the task's tokens, with white space between them. Transformers become llama or qwen3, Mamba mamba or
    mamba2; hybrids have no equal there and are refused.

    [bold]Examples[/bold]

      recherche lm export --run runs/t8 --out my-transformer
      recherche lm export --run runs/quick --cell mamba-retrieval-n16 --out my-mamba
    """
    from recherche.experiments.export import export_run

    exported = export_run(run, out, cell=cell)
    print(f"{out}: {exported.model.num_parameters:,} parameters, {len(exported.task.vocab)} tokens")
