import json
import os
import signal

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.cli.train import interrupted

runner = CliRunner()
SMALL = (
    "--n",
    "6",
    "--protocol",
    "direct",
    "--device",
    "cpu",
    "--set",
    "plans.0.num_steps=2",
    "--set",
    "plans.0.batch_size=4",
)
QUICK = ("--set", "evaluation.num_samples=8", "--set", "evaluation.num_validation=4")


def test_a_run_is_trained_and_measured_again(tmp_path):
    trained = runner.invoke(app, ["train", "--out", str(tmp_path / "run"), *SMALL, *QUICK])
    assert trained.exit_code == 0, trained.output
    assert "accuracy by generation" in trained.output
    measured = runner.invoke(app, ["eval", "--run", str(tmp_path / "run"), "--num", "8", "--n", "5", "--device", "cpu"])
    assert measured.exit_code == 0, measured.output
    record = json.loads(measured.stdout)
    assert (record["n_nodes"], record["num_samples"], record["measured_by"]) == (5, 8, "generation")


def test_a_stored_configuration_can_be_run_again_with_changes(tmp_path):
    shown = runner.invoke(app, ["train", "--out", str(tmp_path / "a"), *SMALL, "--dry-run"])
    assert shown.exit_code == 0
    (tmp_path / "config.json").write_text(shown.stdout)
    again = [
        "train",
        "--out",
        str(tmp_path / "b"),
        "--config",
        str(tmp_path / "config.json"),
        "--set",
        "seed=7",
        "--dry-run",
    ]
    values = json.loads(runner.invoke(app, again).stdout)
    assert (values["seed"], values["plans"][0]["num_steps"]) == (7, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--architecture", "mambo"), "did you mean mamba"),
        (("--protocol", "cott"), "did you mean cot"),
        (("--n", "3"), "at least 4 vertices"),
        (("--set", "plans.0.numsteps=3"), "did you mean 'num_steps'"),
        (("--config", "nowhere.json"), "There is no run configuration nowhere.json"),
    ],
)
def test_bad_input_is_refused_with_the_way_out(arguments, message, tmp_path):
    refused = runner.invoke(app, ["train", "--out", str(tmp_path / "run"), "--device", "cpu", *arguments])
    assert refused.exit_code == 2
    assert message in " ".join(refused.output.split())
    assert not (tmp_path / "run").exists()


def test_eval_of_nothing_says_how_to_get_a_run(tmp_path):
    refused = runner.invoke(app, ["eval", "--run", str(tmp_path), "--device", "cpu"])
    assert refused.exit_code == 2
    assert "train one with" in " ".join(refused.output.split())


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_the_first_interrupt_is_noted_and_the_second_is_real():
    with interrupted() as received:
        os.kill(os.getpid(), signal.SIGINT)
        assert received == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
