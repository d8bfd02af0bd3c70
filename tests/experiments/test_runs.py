import pytest

from recherche.errors import CheckpointError, ConfigError, VocabError
from recherche.experiments.cell import run_cell
from recherche.experiments.presets import Recipe, quick_config
from recherche.experiments.runs import find_cell, load_run
from recherche.training.curriculum import Fixed

PROMPT = "<s> 1 ~ 2 2 ~ 3 3 ~ 4 4 ~ 5 5 ~ 6 <d>"


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    for protocol in ("cot", "retrieval"):
        config = quick_config("hybrid", protocol, 6, Recipe(4, 4, Fixed(), 4)).replace(("evaluation.num_validation=4",))
        run_cell(config, folder / "cells" / f"hybrid-{protocol}-n6")
    return folder


@pytest.mark.parametrize("prompt", [PROMPT, PROMPT.split()], ids=["text", "tokens"])
def test_a_run_goes_on_after_a_prompt(grid, prompt):
    answer = load_run(grid, cell="hybrid-cot-n6").generate(prompt, max_new_tokens=5)
    assert len(answer.tokens) <= 5
    assert answer.text.split() == list(answer.tokens)
    assert answer.answer in (None, "YES", "NO")
    assert answer.searches == ()


def test_retrieved_tokens_come_from_searches(grid):
    answer = load_run(grid, cell="hybrid-retrieval-n6").generate(PROMPT, max_new_tokens=40)
    assert len(answer.retrieved) == len(answer.tokens)
    assert any(answer.retrieved) == bool(answer.searches)


def test_an_unknown_token_is_named(grid):
    with pytest.raises(VocabError, match="does not hold '99'"):
        load_run(grid, cell="hybrid-cot-n6").generate("<s> 99 ~ 1 <d>")


def test_a_cell_is_found_by_folder_or_by_name(grid):
    folder = grid / "cells" / "hybrid-cot-n6"
    assert find_cell(folder, None) == find_cell(grid, "hybrid-cot-n6") == folder


def test_a_grid_without_a_name_lists_its_cells(grid):
    with pytest.raises(ConfigError, match="choose one by --cell: hybrid-cot-n6, hybrid-retrieval-n6"):
        find_cell(grid, None)


def test_a_misspelt_cell_is_answered_with_the_nearest(grid):
    with pytest.raises(ConfigError, match="did you mean hybrid-cot-n6"):
        find_cell(grid, "hybrid-cot-n5")


def test_another_folder_is_no_run(tmp_path):
    with pytest.raises(ConfigError, match="is not a run"):
        load_run(tmp_path)


def test_a_cell_without_weights_says_so(grid, tmp_path):
    (tmp_path / "config.json").write_text((grid / "cells" / "hybrid-cot-n6" / "config.json").read_text())
    with pytest.raises(CheckpointError, match="train the run first"):
        load_run(tmp_path)
