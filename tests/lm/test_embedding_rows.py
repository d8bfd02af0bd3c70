"""New rows are the mean of the old ones, in both embeddings and the bias; sizes and ties stay as they were."""

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

from recherche.errors import ConfigError
from recherche.lm.embedding_rows import EmbeddingRows, _padded_like

TINY = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 32, "num_attention_heads": 2}
FAMILIES = {
    "separate": ("llama", {"tie_word_embeddings": False, "num_key_value_heads": 2}),
    "tied": ("llama", {"tie_word_embeddings": True, "num_key_value_heads": 2}),
    "recurrent": ("mamba", {"state_size": 4}),
    "bias": ("phi", {"num_key_value_heads": 2}),
    "gpt2": ("gpt2", {"n_head": 2, "n_embd": 16, "n_layer": 1}),
}


def model_of(name: str, vocab_size: int):
    family, fields = FAMILIES[name]
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, vocab_size=vocab_size, **(TINY | fields)))
    bias = getattr(model.get_output_embeddings(), "bias", None)
    if bias is not None:
        bias.data.normal_()
    return model


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("padding", [0, 3, 30])
def test_new_rows_are_the_mean_of_the_rows_of_tokens(name, padding):
    """With some rows that no token uses, so that they are filled before the model grows."""
    model = model_of(name, 50 + padding)
    ends = (model.get_input_embeddings, model.get_output_embeddings)
    before = [end().weight.detach().clone() for end in ends]
    EmbeddingRows(model).add(new=range(50, 55), at_least=55, known=range(50))
    for end, old in zip(ends, before, strict=True):
        rows = end().weight
        assert torch.equal(rows[:50], old[:50])
        torch.testing.assert_close(rows[50:55], old[:50].mean(dim=0).expand(5, -1))
    assert model.config.vocab_size == len(ends[0]().weight) == max(55, 50 + padding)
    assert (ends[0]().weight is ends[1]().weight) == (name not in ("separate", "bias"))
    assert model(torch.tensor([[54]])).logits.shape[-1] == model.config.vocab_size


def test_a_bias_grows_by_its_mean():
    model = model_of("bias", 50)
    before = model.get_output_embeddings().bias.detach().clone()
    EmbeddingRows(model).add(new=range(50, 55), at_least=55, known=range(50))
    after = model.get_output_embeddings().bias
    assert torch.equal(after[:50], before)
    torch.testing.assert_close(after[50:], before.mean().expand(5))


def test_rows_that_were_trained_are_left_alone():
    model = model_of("separate", 50)
    before = model.get_input_embeddings().weight.detach().clone()
    EmbeddingRows(model).add(new=(), at_least=50, known=range(50))
    assert torch.equal(model.get_input_embeddings().weight, before)


@pytest.mark.parametrize(
    ("size", "at_least", "expected"),
    [(50257, 50262, 50262), (50280, 50282, 50288), (32000, 32005, 32064), (100, 105, 105), (128, 129, 192)],
)
def test_a_size_that_was_padded_stays_so(size, at_least, expected):
    assert _padded_like(size, at_least) == expected


def test_a_model_without_a_head_is_refused():
    family, fields = FAMILIES["separate"]
    model = AutoModel.from_config(AutoConfig.for_model(family, vocab_size=50, **(TINY | fields)))
    with pytest.raises(ConfigError, match=r"LlamaModel has embeddings of \[50\] rows; take a causal language model"):
        EmbeddingRows(model)


def test_a_model_with_two_sizes_is_refused():
    model = model_of("separate", 50)
    model.lm_head = torch.nn.Linear(16, 60, bias=False)
    with pytest.raises(ConfigError, match=r"has embeddings of \[50, 60\] rows"):
        EmbeddingRows(model)


def test_a_model_whose_ends_come_apart_is_refused(monkeypatch):
    model = model_of("tied", 50)

    def grow(size, **options):
        model.set_input_embeddings(torch.nn.Embedding(size, 16))

    monkeypatch.setattr(model, "resize_token_embeddings", grow)
    with pytest.raises(ConfigError, match="did not keep its two embeddings tied"):
        EmbeddingRows(model).add(new=range(50, 55), at_least=55, known=range(50))
