"""Folders of models: what can be used, what is said of those that cannot, and what is saved."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
)

from recherche.errors import ConfigError
from recherche.lm.folder import load_language_model, save_searching
from recherche.lm.markers import add_search_tokens, markers_of
from tests.lm.tiny_models import tiny_folder
from tests.lm.tokenizers import tiny_tokenizer


def encoder_decoder(folder: Path) -> None:
    settings = {"vocab_size": 400, "d_model": 16, "d_ff": 16, "d_kv": 4, "num_layers": 1, "num_heads": 2}
    T5ForConditionalGeneration(T5Config(**settings)).save_pretrained(folder)
    tiny_tokenizer("byte-level").save_pretrained(folder)


def no_cache(folder: Path) -> None:
    settings = {"vocab_size": 400, "n_embd": 16, "n_layer": 1, "n_head": 2}
    OpenAIGPTLMHeadModel(OpenAIGPTConfig(**settings)).save_pretrained(folder)
    tiny_tokenizer("byte-level").save_pretrained(folder)


def no_tokenizer(folder: Path) -> None:
    tiny_folder(folder)
    for path in folder.glob("*token*"):
        path.unlink()


def no_weights(folder: Path) -> None:
    tiny_folder(folder)
    (folder / "model.safetensors").unlink()


def damaged_config(folder: Path) -> None:
    tiny_folder(folder)
    (folder / "config.json").write_text("{")


def empty(folder: Path) -> None:
    folder.mkdir()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda folder: None, "There is no folder", id="nothing"),
        pytest.param(empty, "no configuration of a model", id="empty"),
        pytest.param(damaged_config, "no configuration of a model", id="damaged"),
        pytest.param(encoder_decoder, "encoder-decoder", id="encoder-decoder"),
        pytest.param(no_cache, "takes no cache", id="no cache"),
        pytest.param(no_tokenizer, "no tokenizer", id="no tokenizer"),
        pytest.param(no_weights, "no causal language model", id="no weights"),
    ],
)
def test_what_is_missing_is_said(make, said: str, tmp_path: Path) -> None:
    make(tmp_path / "model")
    with pytest.raises(ConfigError, match=said):
        load_language_model(tmp_path / "model")


def test_a_folder_is_loaded_ready_for_use(tmp_path: Path) -> None:
    model, tokenizer = load_language_model(tiny_folder(tmp_path / "model"), dtype=torch.float64)
    assert not model.training
    assert model.dtype == torch.float64
    assert tokenizer.encode("a")


def test_a_saved_folder_loads_with_transformers_alone_and_searches_by_its_own_code(tmp_path: Path) -> None:
    model, tokenizer = load_language_model(tiny_folder(tmp_path / "model"))
    add_search_tokens(model, tokenizer)
    save_searching(model, tokenizer, tmp_path / "out")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    words = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert markers_of(words) == markers_of(tokenizer)
    inputs = words("Ada", return_tensors="pt")
    made = again.generate(
        **inputs,
        custom_generate=str(tmp_path / "out"),
        trust_remote_code=True,
        tokenizer=words,
        max_new_tokens=4,
        return_dict_in_generate=True,
    )
    assert made.rows.listeners[0].searches == []
    shutil.rmtree(tmp_path / "out")
