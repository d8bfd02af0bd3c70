"""A demonstration that is done in seconds."""

from pathlib import Path

from recherche.experiments.demo.course import Enrolment
from recherche.experiments.demo.presets import PRESETS, DemoPreset, Student
from recherche.experiments.demo.tokenizer import train_tokenizer
from recherche.texts.prose import book

SMOKE: DemoPreset = PRESETS["smoke"]


def short_prose() -> str:
    """A few pages, which are cut into tokens at once."""
    return book("persuasion")[:40_000]


def save_tokenizer(folder: Path) -> Path:
    """A tokenizer of the smoke preset, from little text."""
    train_tokenizer([short_prose()], vocab_size=SMOKE.vocab_size).save_pretrained(folder)
    return folder


def enrolment(name: str, tokenizer: Path, *, student: Student | None = None, seed: int = 0) -> Enrolment:
    """A student of the smoke preset."""
    return Enrolment(name, student or SMOKE.students[name], tokenizer, seed)
