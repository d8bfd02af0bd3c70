"""What `recherche lm eval` is asked: folders x tasks x protocols x n, each point a value with a name and a hash.

The hash covers all that changes numbers: the files of the model and its tokenizer, the task at its size, the protocol,
the seed, how many texts, the number type. It does not cover the device or how many texts are written side by side.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple, final

from recherche._lookup import lookup
from recherche._rng import numpy_generator
from recherche.errors import ConfigError, InputError
from recherche.experiments.reproduce import matching_names
from recherche.tasks.base import draw_keys
from recherche.texts import TEXT_TASKS, AbstractTextTask

PROTOCOLS = ("direct", "search")
MODEL_FILES = (".safetensors", ".bin", ".json", ".model", ".txt", ".jinja", ".py")
"""Files of a folder that say what the model and its tokenizer are, by how their names end."""

STEP_WORK = 20.0
"""What a written token costs, in tokens of a prompt: they are read many at once, it is written alone."""

_CHARACTERS_PER_TOKEN = 4


class Sampling(NamedTuple):
    """What all points of a grid have in common.

    Attributes:
        num: texts at each point.
        seed: of the texts.
        dtype: number type of weights and state; auto is the one that the weights were saved in.
    """

    num: int = 100
    seed: int = 0
    dtype: str = "auto"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagePoint:
    """A model asked by one protocol about texts of one task and size.

    Attributes:
        folder: where the model is.
        label: what it is called in results.
        fingerprint: hash of its files.
        task: name in `TEXT_TASKS`.
        protocol: direct, or search.
    """

    folder: Path
    label: str
    fingerprint: str
    task: str
    protocol: str
    n: int
    sampling: Sampling = field(default_factory=Sampling)

    @property
    def name(self) -> str:
        """What the point is called: nothing else of a grid has the same name."""
        return f"{self.label}-{self.task.replace(':', '.')}-{self.protocol}-n{self.n}"

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that change with all that changes numbers."""
        values = {name: value for name, value in asdict(self).items() if name not in ("folder", "label", "sampling")}
        canonical = json.dumps(values | self.sampling._asdict(), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def build(self) -> AbstractTextTask:
        """The task at its size.

        Raises:
            ConfigError: the task cannot be so large or so small.
        """
        return lookup(TEXT_TASKS, self.task, what="text task").configured(n=self.n)

    @property
    def text_keys(self) -> list[int]:
        """A key for each text: the same for all models and protocols, so that they are asked the same things."""
        generator = numpy_generator(self.sampling.seed, f"lm-eval-{self.task}-{self.n}")
        return draw_keys(generator, self.sampling.num).tolist()


def make_points(
    folders: Sequence[Path], *, tasks: Sequence[str], sizes: Sequence[int], protocols: Sequence[str], sampling: Sampling
) -> dict[str, LanguagePoint]:
    """All points by name: folder by folder, task by task, both protocols of the shortest texts first.

    Raises:
        ConfigError: an unknown task or protocol, no n or one below 1, or no text.
        InputError: a folder is not there.
    """
    for task in tasks:
        lookup(TEXT_TASKS, task, what="text task")
    for protocol in protocols:
        lookup(dict.fromkeys(PROTOCOLS), protocol, what="protocol")
    if not (folders and tasks and protocols and sizes) or min(sizes) < 1 or sampling.num < 1:
        raise ConfigError(
            "A measurement needs a folder, a task, a protocol, every n >= 1 and a text at least, "
            f"got {len(folders)} folders, tasks {list(tasks)}, protocols {list(protocols)}, n = {list(sizes)} and "
            f"{sampling.num} texts; name what is missing."
        )
    points = {}
    for folder, label in zip(folders, distinct_labels(folders), strict=True):
        fingerprint = fingerprint_of(folder)
        for task, n, protocol in product(dict.fromkeys(tasks), sorted(set(sizes)), dict.fromkeys(protocols)):
            point = LanguagePoint(
                folder=folder,
                label=label,
                fingerprint=fingerprint,
                task=task,
                protocol=protocol,
                n=n,
                sampling=sampling,
            )
            points[point.name] = point
    return points


def matching_points(points: Mapping[str, LanguagePoint], only: str | None) -> dict[str, LanguagePoint]:
    """The points whose name holds `only`, or matches it if it has wildcards; all of them if it is None.

    Raises:
        ConfigError: none does.
    """
    return {name: points[name] for name in matching_names(points, only, of="lm eval")}


def distinct_labels(folders: Sequence[Path]) -> list[str]:
    """The name of each folder, with as many of its parents as tell them all apart.

    >>> distinct_labels([Path("/a/mamba"), Path("/b/mamba")])
    ['a-mamba', 'b-mamba']

    Raises:
        ConfigError: a folder is named twice.
    """
    paths = [folder.resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise ConfigError(f"Each folder is measured once, got {', '.join(map(str, folders))}; name each of them once.")
    for depth in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        labels = ["-".join(part.strip("/\\") for part in path.parts[-depth:]) for path in paths]
        if len(set(labels)) == len(labels):
            return labels
    return list(map(str, paths))


def fingerprint_of(folder: Path) -> str:
    """Twelve hexadecimal digits that change with the weights, the configuration and the tokenizer in a folder.

    Raises:
        InputError: there is no such folder, or it holds no configuration.
    """
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} holds no config.json; name a local folder with a model of transformers and its tokenizer."
        )
    digest = hashlib.sha256()
    for path in sorted(_model_files(folder)):
        with path.open("rb") as file:
            digest.update(f"{path.name}\0".encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _model_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.suffix in MODEL_FILES and path.is_file())


def expected_work(point: LanguagePoint) -> float:
    """Work of a point in arbitrary units, good enough to weigh a progress bar: (tokens) x (bytes of weights)."""
    weights = sum(path.stat().st_size for path in _model_files(point.folder) if path.suffix in (".safetensors", ".bin"))
    prompt, written = _characters(point.task, point.n)
    tokens = (prompt + STEP_WORK * written) / _CHARACTERS_PER_TOKEN
    return tokens * point.sampling.num * max(weights, 1)


@cache
def _characters(task: str, n: int) -> tuple[int, int]:
    """Characters of a prompt and of what is to be written; of next to none where the task cannot be so large."""
    try:
        example = lookup(TEXT_TASKS, task, what="text task").configured(n=n).example(0)
    except ConfigError:
        return 1, 1
    return len(example.prompt), len(example.target)
