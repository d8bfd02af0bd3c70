"""Both sides of `bench train` are models of the same shape."""

import pytest

from benchmarks.train import PEERS, VOCAB, _transformers, language_model
from recherche.mixers import MIXERS


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_has_about_as_many_parameters_and_layers(name):
    model, shape = PEERS[name]
    ours, theirs = language_model(name), _transformers(model, **shape)
    num_theirs = sum(weight.numel() for weight in theirs.parameters())
    assert 0.65 < num_theirs / (ours.num_parameters + 64 * VOCAB) < 1.35
    assert theirs.config.num_hidden_layers == len(ours.layers)


@pytest.mark.parametrize("name", MIXERS)
def test_every_mixer_has_a_model_of_the_shape(name):
    model = language_model(name)
    assert len(model.layers) == (16 if MIXERS[name].stands_alone else 8)
    assert 250_000 < model.num_parameters < 750_000
