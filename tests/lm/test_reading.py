"""A prompt read in pieces leaves what one pass over it leaves."""

from typing import Any

import pytest
import torch

from recherche.games.contract_checks import TOLERANCE, relative_error
from recherche.games.hf_subjects import tiny_subject
from recherche.lm import reading
from recherche.lm.capabilities import capabilities_of
from recherche.lm.reading import CachedReading, WholeReading
from tests.lm.scripted import random_rows


def prepared(model: Any, ids: torch.Tensor, method: Any) -> None:
    """Call a decoding method with what `generate` prepares for it."""

    def decoding_method(
        model: Any, input_ids: Any, logits_processor: Any, stopping_criteria: Any, **kwargs: Any
    ) -> Any:
        for name in ("generation_config", "synced_gpus"):
            kwargs.pop(name, None)
        method(input_ids, kwargs)
        return input_ids

    model.generate(ids, attention_mask=torch.ones_like(ids), custom_generate=decoding_method, max_new_tokens=1)


@pytest.mark.parametrize("family", ["llama", "mistral", "mamba", "mamba2", "jamba", "falcon_h1", "qwen3_next", "rwkv"])
def test_pieces_of_a_prompt_are_read_as_one_pass_reads_them(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK", 10)
    model, [row] = tiny_subject(family).model, random_rows([37])
    told: list[tuple[int, int]] = []
    found: list[torch.Tensor] = []

    def read(ids: torch.Tensor, kwargs: dict[str, Any]) -> None:
        way = CachedReading(chunks=capabilities_of(model).chunks, tell=lambda done, total: told.append((done, total)))
        found.append(way.read_prompt(model, ids, kwargs).logits[:, -1])

    prepared(model, row[None], read)
    with torch.no_grad():
        expected = model(row[None], use_cache=False).logits[:, -1]
    assert relative_error(found[0], expected) <= TOLERANCE
    steps = [10, 20, 30, 37] if capabilities_of(model).chunks else [10, *range(11, 38)]
    assert told == [(step, 37) for step in steps]


def test_chunks_where_they_are_wrong_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK", 10)
    model, [row] = tiny_subject("mamba").model, random_rows([37])
    found: list[torch.Tensor] = []
    prepared(
        model,
        row[None],
        lambda ids, kwargs: found.append(CachedReading(chunks=True).read_prompt(model, ids, kwargs).logits[:, -1]),
    )
    with torch.no_grad():
        expected = model(row[None], use_cache=False).logits[:, -1]
    assert relative_error(found[0], expected) > TOLERANCE


@pytest.mark.parametrize("family", ["llama", "moshi", "zamba2"])
def test_reading_everything_anew_is_one_pass(family: str) -> None:
    model, [row] = tiny_subject(family).model, random_rows([21])
    found: list[torch.Tensor] = []

    def read(ids: torch.Tensor, kwargs: dict[str, Any]) -> None:
        way = WholeReading()
        way.read_prompt(model, ids[:, :20], {name: _until(value, 20) for name, value in kwargs.items()})
        found.append(way.read_on(model, ids, kwargs, 1).logits[:, -1])

    prepared(model, row[None], read)
    with torch.no_grad():
        assert relative_error(found[0], model(row[None], use_cache=False).logits[:, -1]) <= TOLERANCE


def _until(value: Any, end: int) -> Any:
    return value[..., :end] if isinstance(value, torch.Tensor) and value.dim() == 2 else value
