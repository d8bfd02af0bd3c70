import pytest

from recherche.games.tiny_families import AUTO_CLASSES, SHARED, TINY_FAMILIES

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_every_family_is_a_configuration_of_the_installed_library(family: str) -> None:
    config = transformers.AutoConfig.for_model(family, **(dict(SHARED) | TINY_FAMILIES[family]))
    assert config.get_text_config().vocab_size == 50
    auto_class = getattr(transformers, AUTO_CLASSES.get(family, "AutoModelForCausalLM"))
    assert type(config) in auto_class._model_mapping
