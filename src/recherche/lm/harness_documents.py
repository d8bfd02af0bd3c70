"""Tasks of natural text as tasks of lm-evaluation-harness: documents that are drawn, never downloaded, and their grade.

    lm_eval --model recherche --model_args pretrained=FOLDER,search=True --tasks $(recherche text harness phonebook)

The files in harness_tasks/ name `documents` and `graded`. `--metadata` sets n or tokens (counted by the tokenizer of
`pretrained`), num, seed and options.

Reference: Gao et al. (2024), The Language Model Evaluation Harness, https://doi.org/10.5281/zenodo.12608602
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.lm.token_length import length_in
from recherche.texts import TEXT_TASKS, AbstractTextTask, example_keys
from recherche.texts.fitting import fitted
from recherche.texts.grading import matches

FOLDER = Path(__file__).parent / "harness_tasks"
"""One YAML file for each task, `recherche_NAME.yaml`."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Which documents are drawn.

    Attributes:
        text_task: the task's name in TEXT_TASKS.
        n: size of the texts; None for the task's own.
        tokens: length of the texts in tokens instead.
        tokenizer: folder of the tokenizer that counts them.
        num: how many documents; lm-eval's --limit takes the first of them.
        seed: of the documents; the same as those of `recherche text sample`.
        options: the task's own settings by name.
    """

    text_task: str
    n: int | None = None
    tokens: int | None = None
    tokenizer: str | None = None
    num: int = 100
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """The documents.

        Raises:
            ConfigError: no such task, size or option, or a length in tokens without a tokenizer.
        """
        kind = lookup(TEXT_TASKS, self.text_task, what="text task")
        task = kind.configured(n=kind.n if self.n is None else self.n, **self.options)
        return [self._record(task, key) for key in example_keys(self.seed, self.num)]

    def _record(self, task: AbstractTextTask, key: int) -> dict[str, Any]:
        if self.tokens is not None:
            if self.tokenizer is None or self.n is not None:
                raise ConfigError(
                    f"A length of {self.tokens} tokens needs a tokenizer and no n, got the tokenizer {self.tokenizer} "
                    f"and n = {self.n}; give tokenizer=FOLDER, and one of tokens and n."
                )
            task = fitted(task, key, tokens=self.tokens, length=length_in(Path(self.tokenizer)))
        example = task.example(key)
        return {"prompt": example.prompt, "target": example.target, "answers": list(example.answers), "n": task.n}


def task_file(name: str) -> Path:
    """The YAML file of a text task.

    Raises:
        ConfigError: no such task, or one of one's own, which has no such file.
    """
    files = {task: FOLDER / f"recherche_{task}.yaml" for task in TEXT_TASKS}
    return lookup(files, name, what="text task")


def documents(**settings: Any) -> dict[str, Any]:
    """The data set of a task; what lm-eval calls `custom_dataset`.

    Args:
        settings: the metadata of the task's file and of the command line, and the arguments of the model.

    Raises:
        ConfigError: they describe no data set.
    """
    from datasets import Dataset  # type: ignore[import-untyped]

    known = {name: settings[name] for name in Draw.__slots__ if settings.get(name) is not None}
    return {"test": Dataset.from_list(Draw(**{"tokenizer": settings.get("pretrained"), **known}).records())}


def graded(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The metrics of one document; what lm-eval calls `process_results`."""
    return {"exact_match": float(matches(document["answers"], results[0]))}
