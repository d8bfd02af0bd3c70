import pytest

from recherche.errors import ConfigError
from recherche.experiments.config import TaskConfig
from recherche.experiments.own import D_FFN, layers_of, own_config
from recherche.experiments.presets import default_config
from recherche.mixers import MIXERS

RECALL = TaskConfig(name="recall", n=8, protocol="direct")


def test_is_tree_keeps_the_quick_recipe():
    task = TaskConfig(name="istree", n=8, protocol="cot")
    assert own_config(task, architecture="mamba", seed=3) == default_config("mamba", "cot", 8, seed=3)


def test_another_task_gets_the_quick_model_in_its_own_vocabulary():
    config = own_config(RECALL, architecture="hybrid")
    assert config.model.vocab_size == len(RECALL.build().vocab)
    assert [layer.mixer for layer in config.model.layers][-1] == "attention"


def test_one_name_is_every_layer_and_several_are_each_their_own():
    assert {layer.mixer for layer in own_config(RECALL, mixers="gla").model.layers} == {"gla"}
    assert [layer.mixer for layer in own_config(RECALL, mixers="mamba,attention").model.layers] == [
        "mamba",
        "attention",
    ]
    assert len(layers_of("gla", num_layers=3)) == 3


def test_layers_have_a_channel_mixer_unless_they_stand_alone():
    for name, kind in MIXERS.items():
        assert layers_of(name, num_layers=1)[0].d_ffn == (None if kind.stands_alone else D_FFN)


def test_an_unknown_mixer_is_refused():
    with pytest.raises(ConfigError, match="did you mean mamba"):
        own_config(RECALL, mixers="mambo")
