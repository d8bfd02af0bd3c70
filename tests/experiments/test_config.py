import hashlib
import json

import pytest

from recherche.errors import ConfigError
from recherche.experiments.config import RunConfig
from recherche.experiments.presets import default_config

CONFIG = default_config("hybrid", "cot", 8)


def test_a_configuration_survives_its_file(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG.model_dump(mode="json")))
    assert RunConfig.load(tmp_path / "config.json") == CONFIG
    assert RunConfig.load(tmp_path / "config.json").hash == CONFIG.hash


@pytest.mark.parametrize(
    ("assignment", "read"),
    [
        ("seed=3", lambda config: config.seed == 3),
        ("plans.0.num_steps=7", lambda config: config.plans[0].num_steps == 7),
        ("plans.0.optimizer.muon_lr=0.01", lambda config: config.plans[0].optimizer.muon_lr == 0.01),
        ("architecture=mine", lambda config: config.architecture == "mine"),
        ('task.options.naming="first"', lambda config: config.task.build().naming.__class__.__name__ == "FirstNames"),
    ],
)
def test_an_override_sets_one_field_and_changes_the_hash(assignment, read):
    changed = CONFIG.replace((assignment,))
    assert read(changed)
    if changed != CONFIG:
        assert changed.hash != CONFIG.hash


def test_a_field_that_came_later_changes_the_hash_only_when_it_is_used():
    before = CONFIG.model_dump(mode="json")
    del before["evaluation"]["validate_on"]
    assert RunConfig.parse(before, source="an old file") == CONFIG
    old = hashlib.sha256(json.dumps(before, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:12]
    assert CONFIG.hash == old
    assert CONFIG.replace(("evaluation.validate_on=questions",)).hash != old


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("seeds=3", "did you mean 'seed'"),
        ("plans.0.optimizer.mun_lr=1", "did you mean 'muon_lr'"),
        ("plans.4.num_steps=1", "Choose from: 0"),
        ("seed", "An override is path.to.field=value, got 'seed'"),
        ("seed=abc", "seed: Input should be a valid integer"),
        ("plans.0.num_steps=0", "greater than or equal to 1"),
        ("task.protocol=cott", "did you mean cot"),
        ("task.name=istre", "did you mean istree"),
        ("task.n=2", "4"),
    ],
)
def test_a_wrong_override_says_what_to_do(assignment, message):
    with pytest.raises(ConfigError, match=message):
        CONFIG.replace((assignment,))


@pytest.mark.parametrize(
    ("place", "key", "near"),
    [
        ((), "evalution", "evaluation"),
        (("plans", 0), "batchsize", "batch_size"),
        (("plans", 0, "optimizer"), "muonlr", "muon_lr"),
        (("model",), "dmodel", "d_model"),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest_one(place, key, near):
    values = CONFIG.model_dump(mode="json")
    inner = values
    for part in place:
        inner = inner[part]
    inner[key] = 1
    with pytest.raises(ConfigError, match=f"'{key}' is unknown; did you mean '{near}'"):
        RunConfig.parse(values, source="a file")


def test_another_version_is_refused():
    with pytest.raises(ConfigError, match="a configuration of version 2, this is version 1"):
        RunConfig.parse(CONFIG.model_dump(mode="json") | {"version": 2}, source="old.json")


def test_a_vocabulary_that_does_not_fit_is_refused():
    with pytest.raises(ConfigError, match=r"set model.vocab_size=17"):
        CONFIG.replace(("model.vocab_size=40",))


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_a_file_that_is_not_json_is_named(tmp_path, content):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigError, match=r"config.json is not JSON"):
        RunConfig.load(tmp_path / "config.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="There is no run configuration"):
        RunConfig.load(tmp_path / "config.json")
