from pathlib import Path
from typing import Any

import pytest

from recherche.cli.players import Game, cells_of, players_of, rows_of, task_of
from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.errors import ConfigError


def test_a_folder_of_cells_plays_with_all_of_them(tmp_path: Path, untrained: Any) -> None:
    for architecture in ("mamba", "transformer"):
        (tmp_path / "cells").mkdir(exist_ok=True)
        (tmp_path / "cells" / architecture).symlink_to(untrained(architecture), target_is_directory=True)
    players = players_of([tmp_path], [], [])
    assert [player.facts["label"] for player in players] == ["mamba", "transformer"]
    assert {player.facts["task"] for player in players} == {"index"}
    assert cells_of(tmp_path / "cells" / "mamba") == [tmp_path / "cells" / "mamba"]


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, untrained: Any) -> None:
    for seed in ("a", "b"):
        (tmp_path / seed / "cells").mkdir(parents=True)
        (tmp_path / seed / "cells" / "mamba").symlink_to(untrained("mamba"), target_is_directory=True)
    players = players_of([tmp_path / "a", tmp_path / "b"], [], [])
    assert [player.facts["label"] for player in players] == [str(tmp_path / seed / "cells" / "mamba") for seed in "ab"]


def test_every_quantiser_meets_the_same_texts(untrained: Any) -> None:
    rows = list(rows_of(players_of([untrained("mamba")], [], []), [4, 8], ["float32", "float64"], Game(1, 20)))
    assert [(row["quantiser"], row["n"]) for row in rows] == [
        ("float32", 4),
        ("float32", 8),
        ("float64", 4),
        ("float64", 8),
    ]
    assert rows[0]["errors"] == rows[2]["errors"]
    assert rows[0]["message_bits"] * 2 == rows[2]["message_bits"]
    assert all(row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"] for row in rows)


@pytest.mark.parametrize("kind", ["index", "ar", "3gram", "counting"])
@pytest.mark.parametrize("architecture", ["transformer", "hybrid"])
def test_a_theorems_program_carries_all_that_was_dealt(kind: str, architecture: str) -> None:
    [player] = players_of([], [f"{kind}-{architecture}"], [])
    [row] = rows_of([player], [9], ["float64"], Game(1, 60))
    assert row["accuracy"] == 1
    assert row["bits_estimated"] == pytest.approx(row["bits_dealt"])
    assert 0.5 * row["bits_dealt"] < row["bits_recovered"] <= row["bits_dealt"] <= row["message_bits"]


@pytest.mark.slow
def test_a_program_of_istree_thinks_before_it_answers() -> None:
    [row] = rows_of(players_of([], ["istree-transformer"], []), [5], ["float64"], Game(1, 20))
    assert row["accuracy"] == 1


@pytest.mark.parametrize(
    "name", [name for name in CONSTRUCTIONS if "rag" in name or name.startswith(("machine", "rnn"))]
)
def test_a_program_that_searches_or_solves_another_problem_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="plays no game"):
        players_of([], [name], [])


@pytest.mark.parametrize(
    ("programs", "message"),
    [([], "Nobody plays"), (["index-hybrid", "ar-hybrid"], "index and recall"), (["index-hybird"], "index-hybrid")],
    ids=["nobody", "two tasks", "a slip"],
)
def test_players_that_make_no_game_are_refused(programs: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        players_of([], programs, [])


def test_a_program_of_istree_answers_by_chain_of_thought() -> None:
    assert task_of("istree", 6).size == 6
    assert task_of("index", 6).lower_bound_bits > 6
