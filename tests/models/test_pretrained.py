import warnings
from types import SimpleNamespace

import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.models.pretrained import FAMILIES, from_transformers

V, B, T = 19, 2, 23


def theirs(name, **fields):
    """A tiny model of transformers with random weights, all of them away from their initial constants."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        import transformers

    shared = {"vocab_size": V, "hidden_size": 32, "num_hidden_layers": 2}
    config = getattr(transformers, f"{name}Config")(**shared | fields)
    model = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    generator = torch_generator(0, "pretrained")
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.1)
    return model


LLAMA = {"num_attention_heads": 4, "intermediate_size": 48}
MODELS = {
    "llama": ("Llama", LLAMA),
    "llama, grouped heads": ("Llama", LLAMA | {"num_key_value_heads": 2, "rope_theta": 500.0}),
    "llama, tied": ("Llama", LLAMA | {"tie_word_embeddings": True, "rms_norm_eps": 1e-3}),
    "mamba": ("Mamba", {"state_size": 5, "conv_kernel": 3}),
    "mamba-2": ("Mamba2", {"state_size": 5, "num_heads": 4, "head_dim": 16, "n_groups": 2, "chunk_size": 8}),
    "mamba, head of its own": ("Mamba", {"tie_word_embeddings": False, "expand": 3}),
}


@pytest.mark.parametrize(("name", "fields"), MODELS.values(), ids=MODELS)
def test_copied_weights_give_the_same_logits(name, fields):
    model = theirs(name, **fields)
    tokens = torch.randint(V, (B, T), generator=torch_generator(0, "tokens"))
    with torch.no_grad():
        expected = model(tokens).logits
        ours = from_transformers(model)
        torch.testing.assert_close(ours(tokens), expected, rtol=1e-5, atol=1e-5)
        logits, state = ours.prefill(tokens[:, :-1])
        logits, _ = ours.step(tokens[:, -1], state)
        torch.testing.assert_close(logits, expected[:, -1], rtol=1e-5, atol=1e-5)


def test_other_weights_give_other_logits():
    model = theirs("Mamba")
    tokens = torch.zeros(1, 4, dtype=torch.long)
    ours = from_transformers(model)
    with torch.no_grad():
        model.backbone.layers[1].mixer.D[0] += 1
        assert not torch.allclose(ours(tokens), model(tokens).logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("Llama", LLAMA | {"attention_bias": True}, "attention_bias=True cannot be copied"),
        ("Llama", LLAMA | {"head_dim": 16}, "head_dim=16 cannot be copied"),
        ("Mamba", {"use_bias": True}, "use_bias=True cannot be copied"),
        ("Mamba2", {"num_heads": 4, "head_dim": 16, "time_step_limit": (0.0, 1.0)}, "time_step_limit="),
        ("Mamba", {"time_step_rank": 7}, "time_step_rank=7 cannot be copied"),
    ],
)
def test_parts_that_ours_has_not_are_refused(name, fields, message):
    with pytest.raises(ConfigError, match=message):
        from_transformers(theirs(name, **fields))


def test_an_unknown_family_is_answered_with_near_ones():
    with pytest.raises(ConfigError, match="no family of pretrained models 'lama'; did you mean llama"):
        from_transformers(SimpleNamespace(config=SimpleNamespace(model_type="lama")))
    assert set(FAMILIES) >= {"llama", "mamba", "mamba2"}
