from collections.abc import Callable
from pathlib import Path

from recherche.report.results import read_results
from recherche.report.summaries import Key, key_of, summarise


def test_seeds_are_taken_together_and_their_spread_is_kept(make_run: Callable[..., Path], tmp_path: Path):
    results = read_results(make_run(tmp_path / "run", seeds=(0, 1, 2)))
    summaries = summarise(results)
    assert len(summaries) == 9
    summary = summaries[Key("mamba", "cot", 16, "quick-cot")]
    accuracies = [cell.accuracy for cell in results if key_of(cell) == summary.key]
    assert summary.accuracy == sum(accuracies) / 3
    assert summary.low <= min(accuracies) <= summary.accuracy <= max(accuracies) <= summary.high


def test_groups_come_in_the_papers_order(quick_run: Path):
    results = read_results(quick_run)
    protocols = [key.protocol for key in summarise(reversed(results))]
    assert protocols == ["direct"] * 3 + ["cot"] * 3 + ["retrieval"] * 3


def test_one_unfinished_seed_leaves_the_group_unfinished(quick_run: Path):
    result = read_results(quick_run)[0]
    late = result.model_copy(update={"seed": 1, "level_reached": 9})
    (summary,) = summarise([result, late]).values()
    assert not summary.finished_curriculum
