"""The demonstration, stage by stage: a tokenizer, two models side by side, what they can do, one folder of numbers.

OUT/demo.json        which preset and seed the folder belongs to
OUT/tokenizer/       stage 1
OUT/models/NAME/     stage 2: training (`course`); the folder of transformers is OUT/models/NAME/NAME
OUT/measured/NAME/   stage 3: answers of one model (`measure`)
OUT/eval/            stage 4: all of them, as `recherche lm eval` would have left them

A stage that is done is skipped, and one that was interrupted goes on where it was.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recherche._files import replacing_folder
from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.experiments.demo.course import Enrolment, run_course
from recherche.experiments.demo.measure import Examination, examine, gather
from recherche.experiments.demo.presets import PRESETS, DemoPreset
from recherche.experiments.demo.tokenizer import train_tokenizer
from recherche.experiments.files import read_json, write_json
from recherche.experiments.lanes import Outcome, run_in_lanes
from recherche.texts import TEXT_TASKS, examples
from recherche.texts.prose import prose

SAMPLES = 500
"""Texts of each task that the tokenizer sees."""

_SAMPLE_SIZE = 5

OnMessage = Callable[[str, Any], None]


class Demo(NamedTuple):
    """A demonstration in its folder.

    Attributes:
        name: of the preset.
        out: the folder.
    """

    name: str
    preset: DemoPreset
    out: Path
    seed: int

    @classmethod
    def open(cls, name: str, out: Path, *, seed: int) -> "Demo":
        """Make `out` the folder of a preset and a seed.

        Raises:
            ConfigError: there is no such preset, or the folder belongs to something else.
        """
        preset, path, mine = lookup(PRESETS, name, what="preset"), out / "demo.json", {"preset": name, "seed": seed}
        if not path.exists():
            if out.exists() and any(out.iterdir()):
                raise ConfigError(
                    f"{out} is not empty and was not made by `recherche language`; choose another --out, or empty it."
                )
            out.mkdir(parents=True, exist_ok=True)
            write_json(path, mine)
        elif (owner := read_json(path)) != mine:
            raise ConfigError(
                f"{out} belongs to preset {owner['preset']!r} with seed {owner['seed']}, but {name!r} with seed {seed} "
                "was asked for; choose another --out."
            )
        return cls(name, preset, out, seed)

    @property
    def tokenizer(self) -> Path:
        """Folder of the tokenizer."""
        return self.out / "tokenizer"

    @property
    def eval(self) -> Path:
        """Folder of all numbers."""
        return self.out / "eval"

    def make_tokenizer(self) -> None:
        """Stage 1."""
        if (self.tokenizer / "tokenizer.json").exists():
            return
        tokenizer = train_tokenizer(_texts(self.preset), vocab_size=self.preset.vocab_size)
        with replacing_folder(self.tokenizer) as draft:
            tokenizer.save_pretrained(draft)

    def enrolments(self) -> dict[str, Enrolment]:
        """Who is trained in stage 2."""
        return {
            name: Enrolment(name, student, self.tokenizer, self.seed) for name, student in self.preset.students.items()
        }

    def train(self, *, jobs: int, on_message: OnMessage) -> Outcome:
        """Stage 2: the models side by side."""
        return run_in_lanes(
            self.enrolments(),
            lambda name: self.out / "models" / name,
            jobs=jobs,
            device="cpu",
            on_message=on_message,
            work=run_course,
        )

    def examinations(self) -> dict[str, Examination]:
        """Who is measured in stage 3."""
        return {
            name: Examination(self.out / "models" / name / name, self.preset, self.seed)
            for name in self.preset.students
        }

    def measure(self, *, jobs: int, on_message: OnMessage) -> Outcome:
        """Stages 3 and 4: the models side by side; then all numbers in one folder."""
        outcome = run_in_lanes(
            self.examinations(),
            self._measured,
            jobs=jobs,
            device="cpu",
            on_message=on_message,
            work=examine,
        )
        if not outcome.stopped and not outcome.failures:
            gather(map(self._measured, self.preset.students), self.eval)
        return outcome

    def _measured(self, name: str) -> Path:
        return self.out / "measured" / name


def _texts(preset: DemoPreset) -> Iterator[str]:
    """What the tokenizer is trained on: the prose, and texts of all measured tasks with their answers."""
    yield prose()
    for measured in preset.measured:
        task = lookup(TEXT_TASKS, measured.task, what="text task")(n=_SAMPLE_SIZE)
        for example in examples(task, SAMPLES, seed=0):
            yield example.prompt + example.target
