"""Prompts of Mamba read by compiled loops: what follows is what follows the library's own reading."""

from typing import Any

import pytest
import torch

from recherche.games.contract_checks import TOLERANCE, relative_error
from recherche.games.hf_subjects import tiny_subject
from recherche.lm import compiled_reading
from recherche.lm.compiled_reading import CompiledReading
from recherche.lm.compiled_reading import compiled_reading as reading_of
from recherche.lm.generation import generate_plain
from tests.lm.scripted import Scripted, padded, random_rows
from tests.lm.test_custom_generate import finished, generate
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import tiny_tokenizer

LENGTHS = (70, 31, 56)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_reading, "SHORTEST", 20)
    monkeypatch.setattr(compiled_reading, "CHUNK", 16)


def outputs_of(model: Any, rows: Any) -> Any:
    tokens, mask = padded(rows)
    way = reading_of(model, tokens.shape[1])
    assert isinstance(way, CompiledReading)
    return way.read_prompt(model, tokens, {"attention_mask": mask})


def test_the_state_of_every_row_is_that_of_the_library(short: None) -> None:
    model, rows = tiny_subject("mamba").model, random_rows(LENGTHS)
    found = outputs_of(model, rows)
    for number, row in enumerate(rows):
        with torch.no_grad():
            alone = model(row[None], use_cache=True)
        assert relative_error(found.logits[number, 0], alone.logits[0, -1]) <= TOLERANCE
        for ours, theirs in zip(found.cache.layers, alone.cache.layers, strict=True):
            assert relative_error(ours.recurrent_states[0][number], theirs.recurrent_states[0][0]) <= TOLERANCE
            assert relative_error(ours.conv_states[0][number, :, 1:], theirs.conv_states[0][0, :, 1:]) <= TOLERANCE


def test_what_is_written_after_it_is_what_one_full_pass_says(short: None) -> None:
    model, rows = tiny_subject("mamba").model, random_rows(LENGTHS)
    scripts = [{2: [5, 6, 7]}, {}, {4: [8] * 6}]
    output = generate(model, rows, [Scripted(script) for script in scripts], output_logits=True)
    for number, row in enumerate(rows):
        text = finished(row, output, number)
        with torch.no_grad():
            whole = model(text[None], use_cache=False).logits[0]
        for step, logits in enumerate(output.logits):
            assert relative_error(logits[number], whole[len(row) + step - 1]) <= TOLERANCE


def test_long_prompts_of_unequal_length_stay_side_by_side(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recherche.lm.custom_generate.CHUNK", 16)
    tokenizer = tiny_tokenizer("byte-level")
    model = tiny_model("mamba", tokenizer)
    prompts = ["Ada Berg: 555-1234\n" * 4, "Cleo Lund: 12 Main St.\n" * 2]
    several = generate_plain(model, tokenizer, prompts, max_new_tokens=8, eos_token_id=None)  # a warning is an error
    alone = [generate_plain(model, tokenizer, [one], max_new_tokens=8, eos_token_id=None)[0] for one in prompts]
    assert [row.tokens for row in several] == [row.tokens for row in alone]


def test_changed_weights_are_read_anew(short: None) -> None:
    model, [row] = tiny_subject("mamba").model, random_rows([40])
    outputs_of(model, [row])
    with torch.no_grad():
        model.lm_head.weight.add_(0.3)
        expected = model(row[None], use_cache=False).logits[0, -1]
    assert relative_error(outputs_of(model, [row]).logits[0, 0], expected) <= TOLERANCE


def test_a_copy_that_is_not_the_same_function_is_not_used(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_subject("mamba").model
    other = tiny_subject("mamba").model
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.2)
    made = compiled_reading.from_transformers
    monkeypatch.setattr(compiled_reading, "from_transformers", lambda _: made(other))
    assert reading_of(model, 40) is None


@pytest.mark.parametrize(
    ("family", "dtype", "length"),
    [
        pytest.param("mamba2", torch.float32, 40, id="another family"),
        pytest.param("mamba", torch.bfloat16, 40, id="another number type"),
        pytest.param("mamba", torch.float32, 10, id="a short prompt"),
    ],
)
def test_elsewhere_the_library_reads_by_itself(short: None, family: str, dtype: torch.dtype, length: int) -> None:
    assert reading_of(tiny_subject(family).model.to(dtype), length) is None


def test_progress_is_told(short: None) -> None:
    model, rows = tiny_subject("mamba").model, random_rows([40])
    told: list[tuple[int, int]] = []
    way = reading_of(model, 40, tell=lambda done, total: told.append((done, total)))
    assert way is not None
    way.read_prompt(model, rows[0][None], {})
    assert told == [(16, 40), (32, 40), (40, 40)]
