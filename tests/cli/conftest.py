from collections.abc import Callable
from pathlib import Path

import pytest

from recherche.experiments.config import RunConfig
from recherche.experiments.files import write_json
from recherche.experiments.presets import default_config
from recherche.models.language_model import LanguageModel
from recherche.training.checkpoint import save_weights


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Folders of untrained models of Index with n = 8, by architecture and options of the task."""
    folder, made = tmp_path_factory.mktemp("untrained"), {}

    def run_of(architecture: str, **options: int) -> Path:
        name = "-".join([architecture, *(f"{key}{value}" for key, value in options.items())])
        if name not in made:
            values = default_config(architecture, "direct", 6).model_dump(mode="json")
            values["task"] = {"name": "index", "n": 8, "protocol": "direct", "options": options}
            values["model"]["vocab_size"] += options.get("n_numbers", 8) - 6
            config = RunConfig.model_validate(values)
            made[name] = folder / name
            made[name].mkdir()
            write_json(made[name] / "config.json", config.model_dump(mode="json"))
            save_weights(made[name] / "model.safetensors", LanguageModel(config.model), config_hash=config.hash)
        return made[name]

    return run_of
