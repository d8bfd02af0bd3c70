import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.mixers.state import tensors_of
from recherche.models.config import LanguageModelConfig
from recherche.models.language_model import LanguageModel
from recherche.training.optimizers import MuonAdamW
from recherche.training.state_passing import StatePassing

V, ROWS, FRESH = 7, 3, 3


def model(layer=None):
    layers = (layer or MambaLayer(d_state=4),) * 2
    config = LanguageModelConfig(d_model=16, vocab_size=V, layers=layers)
    return LanguageModel(config, torch_generator(0, "model")).double()


def passing(lm):
    return StatePassing(lm, batch_size=ROWS, fresh_every=FRESH).double()


def batches(count, t=5):
    generator = torch_generator(0, "tokens")
    return [torch.randint(V, (ROWS, t), generator=generator) for _ in range(count)]


def test_a_row_goes_on_where_it_ended_until_its_turn_to_begin_anew():
    lm, read = model(), batches(5)
    trained = passing(lm)
    since = [[] for _ in range(ROWS)]
    for number, tokens in enumerate(read, start=1):
        logits = trained(tokens)
        for row in range(ROWS):
            since[row].append(tokens[row])
            alone = lm(torch.cat(since[row])[None])[0, -tokens.shape[1] :]
            torch.testing.assert_close(logits[row], alone, rtol=1e-9, atol=1e-9)
            if (row + number) % FRESH == 0:
                since[row] = []


def test_without_passing_the_second_batch_would_be_read_otherwise():
    lm, (first, second) = model(), batches(2)
    trained = passing(lm)
    trained(first)
    assert not torch.allclose(trained(second), lm(second))


def test_no_gradient_reaches_the_batch_before():
    trained = passing(model())
    for tokens in batches(3):
        trained(tokens).square().mean().backward()
    assert all(weight.grad is not None for weight in trained.model.layers.parameters())


def test_a_copy_from_the_stored_tensors_goes_on_alike():
    trained, other = passing(model()), passing(model())
    first, second = batches(2)
    trained(first)
    other.load_state_dict(trained.state_dict())
    assert torch.equal(trained(second), other(second))


def test_all_weights_of_the_model_are_moved_and_no_state_is():
    trained = passing(model())
    moved = {
        id(weight) for rule in MuonAdamW().build(trained) for group in rule.param_groups for weight in group["params"]
    }
    assert moved == {id(weight) for weight in trained.model.parameters()}
    names = {name for name, _ in trained.named_buffers() if name.startswith("state_")}
    assert len(names) == len(list(tensors_of(trained.model.init_state(1))))


def test_a_state_that_grows_is_refused():
    with pytest.raises(ConfigError, match="that of attention grows with the text"):
        passing(model(AttentionLayer(n_heads=2, d_ffn=32)))
