"""A prompt read once: asked many times, saved, read back by another process, and refused where it cannot be."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from recherche.errors import StateError
from recherche.games.hf_subjects import tiny_subject
from recherche.lm.generation import generate_plain
from recherche.lm.prompt_state import PromptState, load_prompt_state, read_prompt
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import tiny_tokenizer

TEXT = "Ada Berg: 555-1234\nCleo Lund: 555-9876\n" * 3
FAMILIES = [
    "llama",
    "mistral",
    "gemma3_text",
    "mamba",
    "mamba2",
    "jamba",
    "falcon_h1",
    "qwen3_next",
    "rwkv",
    "lfm2",
    "xlstm",
]


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer("byte-level")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_written_from_a_saved_state_is_what_is_written_from_the_text(
    family: str, tokenizer, tmp_path: Path
) -> None:
    model = tiny_model(family, tokenizer, initializer_range=0.6)
    questions = ["Who is Ada Berg?", "And Cleo?"]
    read_prompt(model, tokenizer, TEXT).save(tmp_path / "state")
    state = load_prompt_state(tmp_path / "state", model)
    assert state.text == TEXT
    for question in questions:
        [expected] = generate_plain(model, tokenizer, [TEXT + question], max_new_tokens=12, eos_token_id=None)
        for _ in range(2):  # asking does not change it
            [found] = generate_plain(model, tokenizer, [question], state=state, max_new_tokens=12, eos_token_id=None)
            assert (found.text, found.prompt) == (expected.text, TEXT + question)


def test_questions_of_equal_length_go_on_side_by_side_and_others_one_by_one(tokenizer) -> None:
    model = tiny_model("mamba", tokenizer)
    state = read_prompt(model, tokenizer, TEXT)
    same = generate_plain(model, tokenizer, ["12", "34"], state=state, max_new_tokens=8, eos_token_id=None)
    alone = [
        generate_plain(model, tokenizer, [ask], state=state, max_new_tokens=8, eos_token_id=None)[0]
        for ask in ("12", "34")
    ]
    assert [row.tokens for row in same] == [row.tokens for row in alone]
    with pytest.warns(UserWarning, match="unequal length go on from one state"):
        generate_plain(model, tokenizer, ["12", "Ada Berg?"], state=state, max_new_tokens=8)


def test_the_bits_are_those_of_the_tensors(tokenizer) -> None:
    model = tiny_model("llama", tokenizer)
    one, two = (read_prompt(model, tokenizer, text) for text in ("Ada", "Ada Berg: 555"))
    a_token = 2 * 2 * 2 * 8 * 32  # keys and values, two layers, two heads of 8 float32 numbers
    assert [state.bits for state in (one, two)] == [a_token * state.num_tokens for state in (one, two)]
    fixed = tiny_model("mamba2", tokenizer)
    assert read_prompt(fixed, tokenizer, "Ada").bits == read_prompt(fixed, tokenizer, TEXT).bits


def test_a_family_whose_cache_is_not_its_state_is_refused(tokenizer) -> None:
    with pytest.raises(StateError, match="not all of its state"):
        read_prompt(tiny_subject("recurrent_gemma").model, tokenizer, TEXT)


def test_a_state_of_other_weights_is_refused(tokenizer, tmp_path: Path) -> None:
    model = tiny_model("mamba", tokenizer)
    read_prompt(model, tokenizer, TEXT).save(tmp_path / "state")
    with torch.no_grad():
        model.lm_head.weight.mul_(1.5)
    with pytest.raises(StateError, match="other weights"):
        load_prompt_state(tmp_path / "state", model)


def test_a_damaged_file_and_one_of_something_else_are_refused(tokenizer, tmp_path: Path) -> None:
    model = tiny_model("mamba", tokenizer)
    path = tmp_path / "state"
    read_prompt(model, tokenizer, TEXT).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StateError, match="Cannot read the state"):
        load_prompt_state(path, model)
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(StateError, match="no state of a prompt"):
        load_prompt_state(path, model)


def test_a_file_without_a_tensor_of_the_cache_is_refused(tokenizer, tmp_path: Path) -> None:
    model = tiny_model("mamba2", tokenizer)
    path = tmp_path / "state"
    state = read_prompt(model, tokenizer, TEXT)
    state.save(path)
    tensors = load_file(path)
    tensors.pop(next(iter(tensors)))
    header = {"format": "recherche prompt state 1", "model": state.model, "cache_name": state.cache_name, "text": TEXT}
    save_file(tensors, path, metadata=header | {"ids": json.dumps(state.ids), "numbers": "{}"})
    with pytest.raises(StateError, match="other tensors"):
        load_prompt_state(path, model)


def test_an_empty_text_is_refused(tokenizer) -> None:
    with pytest.raises(StateError, match="at least one token"):
        read_prompt(tiny_model("mamba", tokenizer), tokenizer, "")


def test_a_state_is_a_value() -> None:
    state = PromptState(text="a", ids=(1,), cache=None, cache_name="cache", model="x")
    assert state.num_tokens == 1
