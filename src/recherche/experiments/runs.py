"""A trained cell, ready to use: its configuration, its task, its model.

run = recherche.load_run("runs/quick", cell="mamba-retrieval-n16")
answer = run.generate("<s> 1 ~ 2 2 ~ 3 <d>")
answer.text, answer.searches
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from recherche._lookup import lookup
from recherche.decoding import generate
from recherche.errors import ConfigError
from recherche.evaluation import BUDGET_FACTOR, open_sessions
from recherche.experiments.config import RunConfig
from recherche.models.language_model import LanguageModel
from recherche.retrieval.session import Search
from recherche.tasks.base import AbstractTask
from recherche.training.checkpoint import load_weights


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a run wrote after one prompt.

    Attributes:
        tokens: everything after the prompt, retrieved tokens included.
        retrieved: for each token, whether a search put it there.
        answer: the token that ended the text, or None if the budget ran out first.
        searches: the searches made, in order.
    """

    tokens: tuple[str, ...]
    retrieved: tuple[bool, ...]
    answer: str | None
    searches: tuple[Search, ...]

    @property
    def text(self) -> str:
        """The tokens joined by spaces."""
        return " ".join(self.tokens)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A trained cell.

    Attributes:
        folder: where it lives.
    """

    folder: Path
    config: RunConfig
    task: AbstractTask
    model: LanguageModel

    def generate(self, prompt: str | Sequence[str], *, max_new_tokens: int | None = None) -> Answer:
        """Let the model go on after a prompt, with its searches really made.

        Args:
            prompt: tokens, or one string that is split at white space.
            max_new_tokens: budget; twice the longest text of the task if None.

        Raises:
            VocabError: the prompt has a token that the model does not know.
        """
        vocab = self.task.vocab
        ids = vocab.encode(prompt.split() if isinstance(prompt, str) else prompt)
        sessions = open_sessions(self.task, [ids]) if self.task.uses_search else None
        [written] = generate(
            self.model,
            [ids],
            sessions=sessions,
            stop_ids=vocab.encode(self.task.answer_tokens).tolist(),
            max_new_tokens=BUDGET_FACTOR * self.task.max_length if max_new_tokens is None else max_new_tokens,
        )
        return Answer(
            tokens=vocab.decode(written.tokens),
            retrieved=tuple(np.logical_not(written.generated).tolist()),
            answer=None if written.answer is None else vocab.tokens[written.answer],
            searches=tuple(sessions[0].searches) if sessions else (),
        )


def load_run(path: str | Path, *, cell: str | None = None, device: str = "cpu") -> Run:
    """A trained cell from its folder, or from the folder of a grid and the cell's name.

    Raises:
        ConfigError: there is no such cell.
        CheckpointError: its weights are missing, damaged or of another configuration.
    """
    folder = find_cell(Path(path), cell)
    config = RunConfig.load(folder / "config.json")
    model = LanguageModel(config.model)
    load_weights(folder / "model.safetensors", model, config_hash=config.hash)
    return Run(folder=folder, config=config, task=config.task.build(), model=model.to(device).eval())


def find_cell(path: Path, cell: str | None) -> Path:
    """The folder of a cell: `path` itself, or the one called `cell` in the grid at `path`.

    Raises:
        ConfigError: neither is a cell.
    """
    cells = {folder.parent.name: folder.parent for folder in sorted((path / "cells").glob("*/config.json"))}
    if cell is not None:
        return lookup(cells, cell, what=f"cell in {path}")
    if (path / "config.json").is_file():
        return path
    if cells:
        raise ConfigError(f"{path} holds several cells; choose one by --cell: {', '.join(cells)}.")
    raise ConfigError(f"{path} is not a run: it holds neither config.json nor cells; train one with `recherche train`.")
