"""The demonstration as values: what is trained, on what, for how long, and what is measured.

Both models are taught short texts: at most 8 people, 3 pairs of UUIDs, 8 assignments, in rows of 256 tokens.

    mamba         2 layers of width 128; rows begin in the states in which others have ended
    transformer   2 layers of width 128, RoPE, QK-norm; when it is used, every layer sees the last 256 tokens

A Transformer has never seen a distance longer than a row, and rotations of longer ones mean nothing to it. So it is
saved with a window as wide as a row, which within a row is the same function.

Reference: Beltagy, Peters & Cohan (2020), Longformer (sliding windows), https://arxiv.org/abs/2004.05150
"""

from types import MappingProxyType
from typing import final

from pydantic import BaseModel, ConfigDict, Field

from recherche.experiments.demo.rows import Mixture, TaughtTask
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.base import LayerConfig
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import LearnedEmbedding, TiedHead
from recherche.training.optimizers import MuonAdamW
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import WarmupStableDecay


@final
class Lesson(BaseModel):
    """A part of a course: what is read, and how weights move.

    Attributes:
        fresh_every: batches until a row of a recurrent model begins in an empty state again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    mixture: Mixture
    plan: TrainingPlan
    fresh_every: int = Field(default=16, ge=1)


@final
class Student(BaseModel):
    """A model and what it is taught.

    Attributes:
        window: tokens that attention sees when the model is used; None: all that there are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: LanguageModelConfig
    lessons: tuple[Lesson, ...] = Field(min_length=1)
    window: int | None = Field(default=None, ge=1)


@final
class Measured(BaseModel):
    """A task, and the n at which it is measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    task: str
    sizes: tuple[int, ...] = Field(min_length=1)


@final
class DemoPreset(BaseModel):
    """A demonstration.

    Attributes:
        vocab_size: tokens of the tokenizer.
        students: the models by name.
        measured: what they are asked in the end.
        num: texts at each point.
        batch_size: texts that are written side by side.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    vocab_size: int = Field(ge=300)
    students: dict[str, Student] = Field(min_length=1)
    measured: tuple[Measured, ...] = Field(min_length=1)
    num: int = Field(ge=1)
    batch_size: int = Field(ge=1)


def _model(layer: LayerConfig, *, d_model: int, vocab_size: int) -> LanguageModelConfig:
    return LanguageModelConfig(
        d_model=d_model, vocab_size=vocab_size, layers=(layer,) * 2, embedding=LearnedEmbedding(), head=TiedHead()
    )


def _plan(num_steps: int, batch_size: int, *, decay_fraction: float) -> TrainingPlan:
    return TrainingPlan(
        num_steps=num_steps,
        batch_size=batch_size,
        optimizer=MuonAdamW(),
        schedule=WarmupStableDecay(decay_fraction=decay_fraction),
    )


def _tasks(phonebook: int, keyvalue: int, variables: int) -> tuple[TaughtTask, ...]:
    return (
        TaughtTask(name="phonebook", least=1, most=phonebook),
        TaughtTask(name="keyvalue", least=1, most=keyvalue, weight=1.2),
        TaughtTask(name="variables", least=3, most=variables, weight=0.6),
    )


_WIDTH, _ROW = 128, 256
_COPY = Mixture(tasks=_tasks(3, 1, 3), tokens=160, search_share=1.0, filler_share=0.1)
_SEARCH = Mixture(tasks=_tasks(8, 3, 8), tokens=_ROW, search_share=0.5, filler_share=0.2, lines_share=0.5)
_DEMO_LESSONS = (
    Lesson(mixture=_COPY, plan=_plan(1200, 12, decay_fraction=0.0)),
    Lesson(mixture=_SEARCH, plan=_plan(3000, 8, decay_fraction=0.4)),
)
_DEMO = DemoPreset(
    vocab_size=1536,
    students={
        "mamba": Student(model=_model(MambaLayer(), d_model=_WIDTH, vocab_size=1536), lessons=_DEMO_LESSONS),
        "transformer": Student(
            model=_model(AttentionLayer(d_ffn=2 * _WIDTH, qk_norm=True), d_model=_WIDTH, vocab_size=1536),
            lessons=_DEMO_LESSONS,
            window=_ROW,
        ),
    },
    measured=(
        Measured(task="phonebook", sizes=(3, 8, 24, 80, 240, 800)),
        Measured(task="keyvalue", sizes=(1, 3, 9, 30, 90, 300)),
        Measured(task="variables", sizes=(3, 8, 24, 80, 240, 800)),
    ),
    num=64,
    batch_size=16,
)

_SMOKE_LESSONS = (Lesson(mixture=_COPY, plan=_plan(6, 2, decay_fraction=0.5).model_copy(update={"log_every": 2})),)
_SMOKE = DemoPreset(
    vocab_size=600,
    students={
        "mamba": Student(model=_model(MambaLayer(d_state=4), d_model=32, vocab_size=600), lessons=_SMOKE_LESSONS),
        "transformer": Student(
            model=_model(AttentionLayer(d_ffn=64, qk_norm=True), d_model=32, vocab_size=600),
            lessons=_SMOKE_LESSONS,
            window=160,
        ),
    },
    measured=(Measured(task="phonebook", sizes=(2, 4)), Measured(task="variables", sizes=(3,))),
    num=2,
    batch_size=2,
)

PRESETS: MappingProxyType[str, DemoPreset] = MappingProxyType({"demo": _DEMO, "smoke": _SMOKE})
"""Every demonstration that has a name: the real one, and a tiny one that shows that all works."""
