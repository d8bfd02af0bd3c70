import json
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from recherche.errors import CheckpointError, ConfigError
from recherche.experiments.cell import Stopped, Watch, claim, run_cell
from recherche.experiments.config import RunConfig, TaskConfig
from recherche.experiments.files import read_json_lines
from recherche.experiments.presets import Recipe, quick_config
from recherche.training.curriculum import Fixed, SelfPaced

RECIPE = Recipe(24, 8, SelfPaced(start_n=5, threshold=9.0), 20)
VICTIM = """
import sys, pathlib
from recherche.experiments.cell import Watch, run_cell
from recherche.experiments.config import RunConfig
folder = pathlib.Path(sys.argv[1])
run_cell(RunConfig.load(folder / "config.json"), folder, watch=Watch(save_every=0.0))
"""


def config(architecture="transformer", protocol="cot", *overrides):
    small = ("plans.0.log_every=4", "evaluation.num_validation=4", *overrides)
    return quick_config(architecture, protocol, 6, RECIPE).replace(small)


def weights(folder):
    return load_file(folder / "model.safetensors")


def same_weights(a, b):
    return all(torch.equal(tensor, weights(b)[name]) for name, tensor in weights(a).items())


class StopAfter:
    """A watch that asks to stop at its n-th question."""

    def __init__(self, questions: int) -> None:
        self.questions = questions

    def __call__(self) -> bool:
        self.questions -= 1
        return self.questions == 0


@pytest.mark.parametrize("protocol", ["direct", "cot", "retrieval"])
def test_a_cell_ends_with_all_its_numbers(tmp_path, protocol):
    result = run_cell(config("hybrid", protocol), tmp_path)
    assert result["architecture"] == "hybrid"
    assert result["protocol"] == protocol
    assert result["measured_by"] == "generation"
    assert result["accuracy_low"] <= result["accuracy"] <= result["accuracy_high"]
    assert result["train_samples"] == 24 * 8
    assert result["state_bits"] > 0
    assert result["versions"]["torch"] == torch.__version__
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert {example["truth"] for example in read_json_lines(tmp_path / "examples.jsonl")} <= {"YES", "NO"}


def test_a_cell_that_is_done_is_not_run_again(tmp_path):
    first = run_cell(config(), tmp_path)
    assert run_cell(config(), tmp_path, watch=Watch(stop=lambda: True)) == first


def test_a_stopped_cell_goes_on_to_the_same_weights(tmp_path):
    run_cell(config(), tmp_path / "straight")
    with pytest.raises(Stopped):
        run_cell(config(), tmp_path / "stopped", watch=Watch(stop=StopAfter(3)))
    assert not (tmp_path / "stopped" / "result.json").exists()
    run_cell(config(), tmp_path / "stopped")
    assert same_weights(tmp_path / "straight", tmp_path / "stopped")


def test_another_seed_gives_other_weights(tmp_path):
    run_cell(config(), tmp_path / "a")
    run_cell(config("transformer", "cot", "seed=1"), tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "b")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["transformer", "mamba"])
def test_a_killed_process_loses_nothing_that_was_saved(tmp_path, architecture):
    chosen = config(architecture, "cot", "plans.0.num_steps=120")
    run_cell(chosen, tmp_path / "straight")
    killed = tmp_path / "killed"
    claim(killed, chosen)
    process = subprocess.Popen([sys.executable, "-c", VICTIM, str(killed)])
    while not (killed / "training.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "result.json").exists()
    run_cell(chosen, killed)
    assert same_weights(tmp_path / "straight", killed)
    steps = [row["step"] for row in read_json_lines(killed / "metrics.jsonl") if "loss" in row]
    assert steps == [row["step"] for row in read_json_lines(tmp_path / "straight" / "metrics.jsonl") if "loss" in row]


def test_an_unsolved_task_is_tried_by_the_next_plan(tmp_path):
    twice = config().model_dump(mode="json")
    twice["plans"].append(twice["plans"][0] | {"num_steps": 8})
    twice["evaluation"]["solved_at"] = 1.0
    result = run_cell(type(config()).parse(twice, source="test"), tmp_path)
    assert [attempt["train_steps"] for attempt in result["attempts"]] == [24, 8]
    assert result["train_steps"] == 8


def test_validation_can_end_training(tmp_path):
    settings = ("evaluation.validate_every=8", "evaluation.solved_at=0.01", "evaluation.stop_when_solved=true")
    assert run_cell(config("transformer", "direct", *settings), tmp_path)["train_steps"] == 8


def test_validation_can_count_every_question_of_a_text(tmp_path):
    task = TaskConfig(name="mqar", n=16, protocol="direct")
    values = config().model_dump(mode="json")
    values |= {"task": task.model_dump(mode="json")}
    values["plans"][0] |= {"num_steps": 2, "curriculum": {"kind": "fixed"}}
    values["model"]["vocab_size"] = len(task.build().vocab)
    values["evaluation"] |= {"validate_on": "questions", "num_validation": 5}
    run_cell(RunConfig.parse(values, source="test"), tmp_path)
    [validation] = [row for row in read_json_lines(tmp_path / "metrics.jsonl") if "validation_accuracy" in row]
    assert (10 * validation["validation_accuracy"]).is_integer()  # two questions in each of five texts


def test_a_folder_belongs_to_one_configuration(tmp_path):
    claim(tmp_path, config())
    with pytest.raises(ConfigError, match="seed is 0 there and 1 here"):
        run_cell(config("transformer", "cot", "seed=1"), tmp_path)


def test_damaged_training_state_is_not_trained_on(tmp_path):
    with pytest.raises(Stopped):
        run_cell(config(), tmp_path, watch=Watch(stop=lambda: True))
    path = tmp_path / "training.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="is damaged"):
        run_cell(config(), tmp_path)


def test_the_curriculum_goes_on_where_it_was(tmp_path):
    with pytest.raises(Stopped):
        run_cell(config(), tmp_path, watch=Watch(stop=StopAfter(2)))
    assert run_cell(config(), tmp_path)["level_reached"] == 6


def test_a_fixed_curriculum_reaches_its_size_at_once(tmp_path):
    fixed = quick_config("transformer", "direct", 6, Recipe(2, 4, Fixed(), 4))
    assert run_cell(fixed, tmp_path)["level_reached"] == 6
