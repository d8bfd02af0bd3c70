import pytest
import torch
from torch.nn.functional import cross_entropy

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.lm import adapters
from recherche.lm.adapters import called_layers, merged, with_adapters
from tests.lm.taught import tiny_pupil

FAMILIES = {
    "llama": {},
    "llama, tied": {"tie_word_embeddings": True},
    "mamba": {},
    "mamba, head of its own": {"tie_word_embeddings": False},
    "mamba2": {},
    "jamba": {},
    "gpt2": {},
    "recurrent_gemma": {},
}


def sample(model, length=9):
    vocab = model.config.get_text_config().vocab_size
    return torch.randint(vocab, (2, length), generator=torch_generator(0, "tokens"))


def adapted(name, steps=3):
    """A model with adapters that have learnt for some steps, and what its weights were."""
    pupil = tiny_pupil(name.partition(",")[0], **FAMILIES[name])
    before = {key: weight.clone() for key, weight in pupil.model.state_dict().items()}
    model = with_adapters(pupil.model, rank=2, tokens=pupil.writer.markers, generator=torch_generator(0, "adapters"))
    optimizer = torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=1e-2)
    tokens = torch.cat([torch.tensor([[*pupil.writer.markers]] * 2), sample(pupil.model)], dim=1)
    for _ in range(steps):
        logits = model(input_ids=tokens, use_cache=False).logits
        cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, tokens, before, pupil


@pytest.mark.parametrize("name", FAMILIES)
def test_merged_the_model_says_what_it_said_with_adapters(name):
    model, tokens, before, pupil = adapted(name)
    with torch.no_grad():
        expected = model.eval()(input_ids=tokens, use_cache=False).logits
        plain = merged(model, tokens)
        torch.testing.assert_close(plain(input_ids=tokens, use_cache=False).logits, expected, rtol=1e-4, atol=1e-4)
    assert type(plain) is type(pupil.model)
    assert set(plain.state_dict()) == set(before)


@pytest.mark.parametrize("name", FAMILIES)
def test_of_the_embeddings_only_rows_of_search_tokens_learn(name):
    model, tokens, before, pupil = adapted(name)
    plain = merged(model, tokens)
    rows = [*pupil.writer.markers]
    tables = [plain.get_input_embeddings().weight, plain.get_output_embeddings().weight]
    found = plain.state_dict()
    names = [key for key, weight in found.items() if any(weight.data_ptr() == table.data_ptr() for table in tables)]
    assert names
    for key in names:
        moved = (found[key] != before[key]).any(dim=1)
        assert moved[rows].all()
        assert not moved[[i for i in range(len(moved)) if i not in rows]].any()


def test_adapters_are_drawn_from_their_generator_alone():
    models = []
    for _ in range(2):
        pupil, before = tiny_pupil("llama"), torch.get_rng_state()
        generator = torch_generator(0, "adapters")
        models.append(with_adapters(pupil.model, rank=2, tokens=pupil.writer.markers, generator=generator))
        assert torch.equal(torch.get_rng_state(), before)
        torch.rand(1)
    first, second = (model.state_dict() for model in models)
    assert all(torch.equal(second[name], weight) for name, weight in first.items())
    drawn = torch.cat([weight.flatten() for name, weight in first.items() if "lora_A" in name])
    assert drawn.std() == pytest.approx(32**-0.5 / 3**0.5, rel=0.2)


def test_layers_whose_weight_is_used_without_a_call_get_no_adapter():
    layers = called_layers(tiny_pupil("mamba").model)
    assert {name.rpartition(".")[2] for name in layers} == {"in_proj", "x_proj"}


def test_an_adapter_that_the_model_does_not_use_is_noticed(monkeypatch):
    monkeypatch.setattr(adapters, "called_layers", lambda model: ["backbone.layers.0.mixer.dt_proj"])
    model, tokens, _, _ = adapted("mamba", steps=0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.add_(1.0)
    with pytest.raises(ConfigError, match="MambaForCausalLM cannot be merged"):
        merged(model, tokens)


def test_a_model_without_layers_is_refused(monkeypatch):
    monkeypatch.setattr(adapters, "called_layers", lambda model: [])
    pupil = tiny_pupil("mamba")
    with pytest.raises(ConfigError, match="can have an adapter; train all weights"):
        with_adapters(pupil.model, rank=2, tokens=pupil.writer.markers, generator=torch_generator(0, "adapters"))
