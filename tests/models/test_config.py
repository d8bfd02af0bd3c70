import pytest
from pydantic import ValidationError

from recherche.errors import ConfigError
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer, layer_config
from recherche.models.embeddings import SinusoidalEmbedding, TiedHead

HYBRID = LanguageModelConfig(
    d_model=16,
    vocab_size=11,
    layers=(MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)),
    embedding=SinusoidalEmbedding(),
    head=TiedHead(),
)


def test_a_model_survives_json():
    assert LanguageModelConfig.model_validate_json(HYBRID.model_dump_json()) == HYBRID
    assert LanguageModelConfig.model_validate(HYBRID.model_dump()) == HYBRID


def test_a_layer_is_read_by_the_name_of_its_mixer():
    assert layer_config({"mixer": "mamba", "d_state": 2}) == MambaLayer(d_state=2)
    assert layer_config(MambaLayer()) == MambaLayer()


def test_an_unknown_mixer_is_answered_with_near_ones():
    with pytest.raises(ConfigError, match="no mixer 'mamab'; did you mean mamba"):
        LanguageModelConfig(d_model=4, vocab_size=3, layers=({"mixer": "mamab"},))


@pytest.mark.parametrize(
    "layer", [{"mixer": "mamba", "d_stat": 2}, {"d_state": 2}, "mamba"], ids=["misspelt key", "no mixer", "a string"]
)
def test_a_wrong_layer_is_refused(layer):
    with pytest.raises(ValidationError):
        LanguageModelConfig(d_model=4, vocab_size=3, layers=(layer,))


def test_a_model_without_layers_is_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        LanguageModelConfig(d_model=4, vocab_size=3, layers=())


def test_equal_configs_have_equal_hashes():
    assert hash(HYBRID) == hash(LanguageModelConfig.model_validate(HYBRID.model_dump()))
