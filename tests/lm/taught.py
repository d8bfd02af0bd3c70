"""A tiny teaching and what it needs, for the tests of its parts."""

from types import SimpleNamespace
from typing import Any

from recherche.lm.lessons import LessonWriter
from recherche.lm.markers import add_search_tokens
from recherche.lm.teaching import Teaching
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import tiny_tokenizer

TINY = {
    "tasks": ("phonebook",),
    "sizes": ((1, 3),),
    "prose_tokens": 24,
    "steps": 6,
    "batch_size": 4,
    "num_evaluated": 2,
    "evaluate_every": 4,
}


def tiny_teaching(**fields: Any) -> Teaching:
    """A teaching of a few short texts."""
    return Teaching.of(**TINY | fields)


def tiny_pupil(family: str, kind: str = "byte-level", **settings: Any) -> SimpleNamespace:
    """A random model with search tokens, its tokenizer, and a writer of lessons."""
    tokenizer = tiny_tokenizer(kind)
    model = tiny_model(family, tokenizer, **settings)
    add_search_tokens(model, tokenizer)
    return SimpleNamespace(model=model, tokenizer=tokenizer, writer=LessonWriter(tokenizer))


def tiny_writer(kind: str = "byte-level") -> LessonWriter:
    """A writer of lessons in the tokens of a tiny tokenizer."""
    return tiny_pupil("llama", kind).writer
