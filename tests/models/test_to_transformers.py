import json
import warnings

import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.mamba2 import Mamba2Layer
from recherche.mixers.retention import RetentionLayer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import LearnedEmbedding, LearnedHead, OrthogonalEmbedding, TiedHead
from recherche.models.language_model import LanguageModel
from recherche.models.pretrained import FAMILIES, from_transformers
from recherche.models.to_transformers import EXPORTS, to_transformers, transformers_model
from recherche.models.word_tokenizer import word_tokenizer
from recherche.vocab import Vocab

V, B, T = 19, 2, 23
ATTENTION = AttentionLayer(n_heads=4, d_ffn=48)
LEARNED = {"embedding": LearnedEmbedding(), "head": TiedHead()}
MODELS = {
    "llama": ((ATTENTION,) * 2, LEARNED),
    "llama, grouped heads, other base": ((ATTENTION.model_copy(update={"n_kv_heads": 2, "rope_base": 500.0}),), {}),
    "llama, norms of its own": ((ATTENTION,), {"norm_eps": 1e-3, "head": LearnedHead()}),
    "qwen3": ((ATTENTION.model_copy(update={"qk_norm": True}),) * 2, LEARNED),
    "qwen3, grouped heads, large epsilon": (
        (ATTENTION.model_copy(update={"qk_norm": True, "n_kv_heads": 1}),),
        {"norm_eps": 0.5},
    ),
    "mamba": ((MambaLayer(d_state=5, d_conv=3),) * 2, LEARNED),
    "mamba, frozen embedding, wide": ((MambaLayer(d_state=4, expand=3),), {"embedding": OrthogonalEmbedding()}),
    "mamba2": ((Mamba2Layer(d_state=5, n_heads=4, n_groups=2),) * 2, LEARNED),
    "mamba2, epsilon": ((Mamba2Layer(d_state=5, norm_eps=1e-2),), {"norm_eps": 1e-2}),
}


def ours(layers, fields=None) -> LanguageModel:
    """A model with all weights away from their initial constants."""
    model = LanguageModel(LanguageModelConfig(d_model=32, vocab_size=V, layers=layers, **(fields or {})))
    generator = torch_generator(0, "noise")
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.1)
    return model


def loaded(folder):
    """The folder as anybody reads it, with nothing that is said about its weights."""
    import transformers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info
    return model.eval()


@pytest.mark.parametrize(("layers", "fields"), MODELS.values(), ids=MODELS)
def test_the_folder_loads_by_itself_and_gives_the_same_logits(layers, fields, tmp_path):
    model = ours(layers, fields)
    to_transformers(model, tmp_path / "new" / "folder")
    theirs = loaded(tmp_path / "new" / "folder")
    tokens = torch.randint(V, (B, T), generator=torch_generator(0, "tokens"))
    with torch.no_grad():
        torch.testing.assert_close(theirs(tokens).logits, model(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("layers", "fields"), MODELS.values(), ids=MODELS)
def test_there_and_back_the_weights_are_the_same(layers, fields, tmp_path):
    model = ours(layers, fields)
    to_transformers(model, tmp_path)
    back = from_transformers(loaded(tmp_path))
    assert back.config.model_copy(update={"embedding": model.config.embedding}) == resolved(model.config)
    weights, expected = back.state_dict(), model.state_dict()
    assert set(weights) == set(expected)
    for name, weight in expected.items():
        # Only W_q and W_k beside a norm of queries and keys are scaled there and back.
        rounding = 3e-7 if name.endswith("qkv_proj.weight") and getattr(layers[0], "qk_norm", False) else 0
        torch.testing.assert_close(weights[name], weight, rtol=rounding, atol=0, msg=name)


def resolved(config: LanguageModelConfig) -> LanguageModelConfig:
    """With the number of key/value heads written out, as folders have it."""
    layers = tuple(
        layer.model_copy(update={"n_kv_heads": layer.n_kv_heads or layer.n_heads})
        if isinstance(layer, AttentionLayer)
        else layer
        for layer in config.layers
    )
    return config.model_copy(update={"layers": layers})


def test_weights_that_differ_are_noticed(tmp_path):
    model = ours((MambaLayer(),))
    to_transformers(model, tmp_path)
    tokens = torch.zeros(1, 4, dtype=torch.long)
    with torch.no_grad():
        model.layers[0].mixer.D[0] += 1
        assert not torch.allclose(loaded(tmp_path)(tokens).logits, model(tokens), rtol=1e-5, atol=1e-5)


def test_what_is_written_can_be_read_and_the_other_way_round():
    assert set(EXPORTS) == set(FAMILIES)


def test_the_number_type_of_the_weights_is_kept(tmp_path):
    to_transformers(ours((MambaLayer(),)).to(torch.bfloat16), tmp_path)
    assert loaded(tmp_path).dtype == torch.bfloat16


def test_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    transformers_model(ours((MambaLayer(),)))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_vocabulary_is_saved_as_a_tokenizer(tmp_path):
    import transformers

    vocab = Vocab(tuple(f"w{i}" for i in range(V)))
    to_transformers(ours((MambaLayer(),)), tmp_path, vocab=vocab)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer("w3 w0 w18").input_ids == [3, 0, 18]


def test_the_end_of_a_text_is_the_tokenizers(tmp_path):
    tokenizer = word_tokenizer(Vocab(("a", "</s>", "b")))
    tokenizer.add_special_tokens({"eos_token": "</s>", "pad_token": "</s>"})
    to_transformers(ours((MambaLayer(),)), tmp_path, tokenizer=tokenizer)
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["eos_token_id"], config["pad_token_id"], config["bos_token_id"]) == (1, 1, None)


REFUSED = {
    "hybrid": ((MambaLayer(), ATTENTION), "layers are all alike.*got mamba, attention"),
    "other mixer": ((RetentionLayer(n_heads=4),), "no model of retention layers"),
    "attention alone": ((AttentionLayer(n_heads=4),), "d_ffn is None"),
    "mamba with feed-forward": ((MambaLayer(d_ffn=8),), "d_ffn=8"),
    "two epsilons": ((Mamba2Layer(norm_eps=1e-2),), "norm_eps=0.01 of its layers"),
}


@pytest.mark.parametrize(("layers", "message"), REFUSED.values(), ids=REFUSED)
def test_models_without_an_equal_are_refused(layers, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        to_transformers(ours(layers), tmp_path / "out")
    assert not [*tmp_path.iterdir()]


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="20 tokens, but the model has vectors for 19"):
        to_transformers(ours((MambaLayer(),)), tmp_path, vocab=Vocab(tuple(map(str, range(20)))))


def test_two_tokenizers_are_refused(tmp_path):
    vocab = Vocab(("a",))
    with pytest.raises(ConfigError, match="one tokenizer"):
        to_transformers(ours((MambaLayer(),)), tmp_path, vocab=vocab, tokenizer=word_tokenizer(vocab))
