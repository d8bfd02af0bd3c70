import pytest

from recherche.errors import ConfigError
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import ARCHITECTURES, SIZES, model_config

PAPER = {
    ("transformer", "0.5M"): 525_312,
    ("transformer", "1M"): 1_050_624,
    ("transformer", "2M"): 1_969_152,
    ("mamba", "0.5M"): 523_264,
    ("mamba", "1M"): 1_166_080,
    ("mamba", "2M"): 2_098_944,
    ("hybrid", "0.5M"): 458_112,
    ("hybrid", "1M"): 980_352,
    ("hybrid", "2M"): 1_796_608,
}


@pytest.mark.parametrize(("name", "layers_only"), PAPER.items(), ids=map(" ".join, PAPER))
def test_the_papers_sizes_have_the_papers_parameters(name, layers_only):
    config = model_config(*name, vocab_size=40)
    assert LanguageModel(config).num_parameters == layers_only + config.d_model


@pytest.mark.parametrize(
    ("architecture", "size", "pattern"),
    [
        ("transformer", "quick-cot", "AAAA"),
        ("mamba", "quick-cot", "MMMM"),
        ("hybrid", "quick-cot", "MMMA"),
        ("transformer", "quick-retrieval", "AA"),
        ("mamba", "quick-retrieval", "MM"),
        ("hybrid", "quick-retrieval", "MA"),
    ],
)
def test_quick_sizes_have_their_pattern(architecture, size, pattern):
    config = model_config(architecture, size, vocab_size=40)
    assert "".join(layer.mixer[0].upper() for layer in config.layers) == pattern
    assert config.d_model == 64
    assert all(layer.d_state == 4 for layer in config.layers if layer.mixer == "mamba")
    assert all(layer.qk_norm and layer.d_ffn == 128 for layer in config.layers if layer.mixer == "attention")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_hybrid_ends_in_one_attention_layer(architecture, size):
    mixers = [layer.mixer for layer in model_config(architecture, size, vocab_size=40).layers]
    assert mixers.count("attention") == {"transformer": len(mixers), "mamba": 0, "hybrid": 1}[architecture]
    assert architecture != "hybrid" or mixers[-1] == "attention"


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(ConfigError, match="no architecture 'transfromer'; did you mean transformer"):
        model_config("transfromer", "1M", vocab_size=40)
    with pytest.raises(ConfigError, match="no size '3M'"):
        model_config("mamba", "3M", vocab_size=40)
