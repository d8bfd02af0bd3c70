"""What is measured of a family is what docs/contract.md says of it; and it is measured once."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from recherche.games.hf_subjects import tiny_subject
from recherche.lm import capabilities
from recherche.lm.capabilities import capabilities_of


@pytest.mark.parametrize(
    ("family", "steps", "rows", "chunks", "padding"),
    [
        pytest.param("llama", True, True, True, True, id="attention"),
        pytest.param("mamba", True, True, False, True, id="a chunk forgets the recurrent state"),
        pytest.param("mamba2", True, True, True, True, id="mamba2"),
        pytest.param("rwkv", True, False, True, False, id="single steps mix the rows"),
        pytest.param("xlstm", True, True, True, False, id="no mask is taken"),
        pytest.param("deepseek_v4", True, True, True, False, id="padding is read"),
        pytest.param("moshi", False, False, False, False, id="wrong beyond its window"),
        pytest.param("recurrent_gemma", True, True, False, False, id="half of the state in the model"),
    ],
)
def test_what_holds_for_a_family_is_found(family: str, steps: bool, rows: bool, chunks: bool, padding: bool) -> None:
    found = capabilities_of(tiny_subject(family).model)
    assert (found.steps, found.rows, found.chunks, found.padding) == (steps, rows, chunks, padding)


def test_the_same_class_and_configuration_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_subject("llama").model
    found = capabilities_of(model)
    monkeypatch.setattr(capabilities, "_measure", lambda model: pytest.fail("measured again"))
    assert capabilities_of(tiny_subject("llama").model) is found


def test_another_configuration_of_a_class_is_measured_by_itself() -> None:
    linear_first = tiny_subject("minimax").model
    assert not capabilities_of(linear_first).chunks
    config = type(linear_first.config)(
        **linear_first.config.to_dict() | {"layer_types": ["full_attention", "linear_attention"]}
    )
    assert capabilities_of(type(linear_first)(config).eval()).chunks


def test_rounding_of_short_numbers_is_no_fault() -> None:
    settings = {
        "vocab_size": 50,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 64,
        "num_attention_heads": 4,
    }
    model = LlamaForCausalLM(LlamaConfig(**settings)).to(torch.bfloat16).eval()
    assert capabilities_of(model).chunks


def test_a_model_in_training_mode_is_left_there() -> None:
    model = tiny_subject("gpt_neox").model.train()
    capabilities_of(model)
    assert model.training
