"""A trained cell as a folder of the transformers library.

export_run("runs/quick", "my-model", cell="mamba-retrieval-n16")
AutoModelForCausalLM.from_pretrained("my-model"), AutoTokenizer.from_pretrained("my-model")
"""

from pathlib import Path

from recherche.experiments.runs import Run, load_run
from recherche.models.to_transformers import to_transformers


def export_run(path: str | Path, folder: str | Path, *, cell: str | None = None) -> Run:
    """Save a cell's model, with its vocabulary as a tokenizer; returns the cell.

    Args:
        path: folder of the cell, or of the grid that holds `cell`.
        folder: where to.

    Raises:
        ConfigError: there is no such cell, or transformers has no equal of its model.
        CheckpointError: the cell's weights are missing, damaged or of another configuration.
    """
    run = load_run(path, cell=cell)
    to_transformers(run.model, folder, vocab=run.task.vocab)
    return run
