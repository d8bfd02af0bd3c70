import json

import pytest

from recherche.errors import ConfigError
from recherche.experiments import reproduce as module
from recherche.experiments.files import read_json, read_json_lines
from recherche.experiments.lanes import Failure
from recherche.experiments.presets import Recipe, quick_config
from recherche.experiments.reproduce import Grid, cell_folder, expected_work, make_grid, reproduce
from recherche.training.curriculum import Fixed


def tiny_grid(*architectures, seed=0):
    recipe = Recipe(2, 4, Fixed(), 8)
    cells = {
        f"{architecture}-direct-n6": quick_config(architecture, "direct", 6, recipe, seed=seed).replace(
            ("evaluation.num_validation=4",)
        )
        for architecture in architectures
    }
    return Grid("tiny", (seed,), cells)


def run(grid, out, *, only=None, messages=None):
    def listen(name, message):
        if messages is not None:
            messages.append((name, message))

    return reproduce(grid, out, only=only, jobs=1, device="cpu", on_message=listen)


def test_names_carry_the_seed_only_when_there_are_several():
    assert "mamba-cot-n16" in make_grid("quick", (0,)).cells
    assert "mamba-cot-n16-seed1" in make_grid("quick", (0, 1)).cells
    assert len(make_grid("quick", (0, 1, 2)).cells) == 27


@pytest.mark.parametrize(("only", "count"), [(None, 9), ("mamba", 3), ("*-cot-*", 3), ("mamba-cot", 1)])
def test_a_filter_chooses_cells_by_name(only, count):
    assert len(make_grid("quick", (0,)).matching(only)) == count


def test_a_filter_that_matches_nothing_lists_the_cells():
    with pytest.raises(ConfigError, match="No cell of 'quick' matches 'mambo'; the cells are: transformer-direct-n16"):
        make_grid("quick", (0,)).matching("mambo")


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean quick"):
        make_grid("quik", (0,))


def test_longer_training_is_more_work():
    config = quick_config("mamba", "cot", 6, Recipe(2, 4, Fixed(), 8))
    assert expected_work(config.replace(("plans.0.num_steps=4",))) == 2 * expected_work(config)


@pytest.mark.slow
def test_a_grid_runs_in_lanes_and_skips_what_is_done(tmp_path):
    messages = []
    outcome = run(tiny_grid("transformer", "hybrid"), tmp_path / "out", messages=messages)
    assert sorted(outcome.results) == ["hybrid-direct-n6", "transformer-direct-n6"]
    rows = read_json_lines(tmp_path / "out" / "results.jsonl")
    assert [row["cell"] for row in rows] == ["transformer-direct-n6", "hybrid-direct-n6"]
    assert {"train", "evaluate"} <= {m.phase for _, m in messages if hasattr(m, "phase")}
    assert run(tiny_grid("transformer", "hybrid"), tmp_path / "out").results == {}
    assert read_json_lines(tmp_path / "out" / "results.jsonl") == rows
    assert read_json(tmp_path / "out" / "reproduce.json")["failed"] == []


@pytest.mark.slow
def test_a_failed_cell_is_named_and_the_others_finish(tmp_path):
    grid = tiny_grid("transformer", "hybrid")
    folder = cell_folder(tmp_path, "transformer-direct-n6")
    (tmp_path / "reproduce.json").write_text(json.dumps({"preset": "tiny", "seeds": [0]}))
    folder.mkdir(parents=True)
    (folder / "training.safetensors").write_bytes(b"not weights")
    outcome = run(grid, tmp_path)
    assert list(outcome.results) == ["hybrid-direct-n6"]
    assert [failure.cell for failure in outcome.failures] == ["transformer-direct-n6"]
    assert "is damaged" in outcome.failures[0].error
    assert read_json(tmp_path / "reproduce.json")["failed"] == [Failure(*outcome.failures[0])._asdict()]


def test_a_folder_of_another_grid_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "run_in_lanes", lambda *args, **kwargs: module.Outcome({}, [], []))
    run(tiny_grid("transformer"), tmp_path)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match=r"belongs to preset 'tiny' with seeds \[0\]"):
        run(tiny_grid("transformer", seed=1), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigError, match="is not empty and was not made by reproduce"):
        run(tiny_grid("transformer"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
