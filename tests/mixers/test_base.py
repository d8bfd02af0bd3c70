import pytest
from pydantic import ValidationError

from recherche.mixers import MIXERS
from recherche.mixers.base import AbstractMixer, LayerConfig


def test_a_mixer_must_have_all_three_views():
    with pytest.raises(TypeError, match=r"abstract methods? '?forward'?, '?init_state'?, '?step'?"):
        AbstractMixer()


def test_a_layer_must_say_what_it_builds():
    with pytest.raises(TypeError, match="build"):
        LayerConfig(mixer="nothing")


@pytest.mark.parametrize("name", MIXERS)
def test_the_key_of_a_mixer_is_in_its_config(name):
    assert MIXERS[name]().mixer == name


@pytest.mark.parametrize("name", MIXERS)
def test_unknown_keys_and_changes_are_refused(name):
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        MIXERS[name](colour="red")
    with pytest.raises(ValidationError, match="frozen"):
        MIXERS[name]().d_ffn = 3
