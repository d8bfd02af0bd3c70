"""What mixers and tasks refuse, each with one clear error: what was asked, what was found, what to do."""

import re

import pytest
import torch
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.errors import ConfigError, StateError
from recherche.mixers import MIXERS
from recherche.models.config import LanguageModelConfig
from recherche.models.language_model import LanguageModel

runner = CliRunner()
WITH_HEADS = {name: layer for name, layer in MIXERS.items() if "n_heads" in layer.model_fields}

COMMANDS = {
    "unknown mixer": ("check-mixer sliding-windw", "There is no mixer 'sliding-windw'; did you mean sliding-window"),
    "no window": ("check-mixer sliding-window --option window=0", "window: Input should be greater than or equal to 1"),
    "window of a half": ("check-mixer sliding-window --option window=2.5", "window: Input should be a valid integer"),
    "negative sinks": ("check-mixer sliding-window --option n_sinks=-1", "n_sinks: Input should be greater"),
    "unknown option": ("check-mixer sliding-window --option windw=4", "windw"),
    "unknown task": ("sample mqra", "There is no task 'mqra'; did you mean mqar"),
    "negative gaps": ("sample mqar --option exponent_percent=-5", "gap exponent lies in 1..100 percent, got -5"),
    "more than memory": ("sample istree --n 99999999", "may have 299,999,997 tokens.*choose a smaller size, or set"),
    "a bound that takes for ever": ("bounds counting --n 1000000000", "at most 5,000,000 are drawn"),
    "a sweep of one": ("train --n 1000000000 --out nowhere", "at most 5,000,000 are drawn"),
    "odd text": ("sample mqar --n 17", "needs an even number of tokens, got n = 17"),
    "no filler that is no key": ("sample mqar --option n_fillers=0", "a filler that is none of them.*n_fillers = 0"),
    "too few keys": ("sample mqar --n 64 --option n_keys=3", "a key for each of its 8 pairs.*n_keys = 3"),
    "unknown machine": (
        "sample machine-step --option machine=incremet",
        "no machine 'incremet'; did you mean increment",
    ),
    "no chain of thought": ("sample index --protocol cot", "no protocol of index 'cot'; .*direct, retrieval"),
}


@pytest.mark.parametrize(("command", "message"), COMMANDS.values(), ids=COMMANDS)
def test_commands_say_what_is_wrong_in_one_error(command, message):
    done = runner.invoke(app, command.split())
    assert done.exit_code == 2
    assert done.stdout == ""
    assert re.search(message, " ".join(done.stderr.split()))
    assert done.stderr.lower().count("error") == 1


@pytest.mark.parametrize("name", WITH_HEADS)
def test_heads_must_divide_the_width(name):
    with pytest.raises(ConfigError, match=r"n_heads.*(got|=)\s?5.*choose|got .*n_heads=5"):
        WITH_HEADS[name](n_heads=5).build(16)


@pytest.mark.parametrize("name", MIXERS)
def test_the_state_of_another_model_or_batch_is_refused(name):
    ours, other = (_model(MIXERS[mixer]()) for mixer in (name, "gru" if name != "gru" else "lstm"))
    tokens = torch.zeros(2, 3, dtype=torch.int64)
    _, state = ours.prefill(tokens)
    with pytest.raises(StateError, match=r"Layer 0 has a state of .*; use a state that"):
        other.step(tokens[:, 0], state)
    with pytest.raises(StateError, match="The state holds 2 rows, got tokens of 1; take rows"):
        ours.step(tokens[:1, 0], state)
    assert ours.step(tokens[:, 0], state)[0].shape == (2, 5)


def _model(layer):
    return LanguageModel(LanguageModelConfig(d_model=16, vocab_size=5, layers=(layer,)))
