import pytest

from recherche.games.tiny_families import SHARED, TINY_FAMILIES

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_every_family_is_a_configuration_of_the_installed_library(family: str) -> None:
    config = transformers.AutoConfig.for_model(family, **(dict(SHARED) | TINY_FAMILIES[family]))
    assert config.vocab_size == 50
    assert type(config) in transformers.AutoModelForCausalLM._model_mapping
