from pathlib import Path
from typing import Any

import pytest

from recherche.report.findings import findings_of, headline
from recherche.report.results import CellResult, Run, RunRecord

GOOD = {
    "direct": {"transformer": 0.50, "mamba": 0.49, "hybrid": 0.51},
    "cot": {"transformer": 0.99, "mamba": 0.85, "hybrid": 0.98},
    "retrieval": {"transformer": 0.99, "mamba": 0.99, "hybrid": 0.99},
}


def cell(architecture: str, protocol: str, accuracy: float, **changes: Any) -> CellResult:
    values: dict[str, Any] = {
        "cell": f"{architecture}-{protocol}-n16",
        "architecture": architecture,
        "protocol": protocol,
        "n_nodes": 16,
        "size": "quick-retrieval" if protocol == "retrieval" else "quick-cot",
        "accuracy": accuracy,
        "accuracy_low": max(0.0, accuracy - 0.01),
        "accuracy_high": min(1.0, accuracy + 0.01),
        "num_samples": 1000,
    }
    return CellResult(**(values | changes))


def run_of(*replacements: CellResult, without: tuple[str, ...] = ()) -> Run:
    cells = {f"{a}-{p}-n16": cell(a, p, accuracy) for p, row in GOOD.items() for a, accuracy in row.items()}
    cells |= {replacement.cell: replacement for replacement in replacements}
    results = tuple(result for name, result in cells.items() if name not in without)
    return Run(folder=Path("run"), record=RunRecord(cells=tuple(cells)), results=results)


def test_the_papers_picture_holds_where_the_intervals_say_so():
    found = findings_of(run_of())
    assert [finding.verdict for finding in found] == ["holds", "holds", "holds"]
    assert headline(run_of()).title.endswith("retrieval closes the gap")


def test_the_headline_gives_the_numbers_and_admits_a_single_seed():
    sentence = headline(run_of()).sentence
    assert [
        part for part in ("85.0 %", "99.0 %", "98.0 %", "at equal training", "one seed") if part not in sentence
    ] == []


@pytest.mark.parametrize(
    ("replacement", "claim", "verdict", "words"),
    [
        pytest.param(cell("mamba", "direct", 0.60), 0, "does not hold", "Mamba beat", id="direct above the guess"),
        pytest.param(cell("mamba", "direct", 0.54), 0, "holds", "nobody beats", id="direct within the interval"),
        pytest.param(cell("mamba", "cot", 0.975), 1, "does not hold", "not below both", id="intervals overlap"),
        pytest.param(cell("hybrid", "cot", 0.95), 1, "does not hold", "Hybrid did not reach", id="hybrid unsolved"),
        pytest.param(
            cell("transformer", "cot", 0.99, level_reached=12),
            1,
            "cannot be told",
            "Transformer stood at n = 12",
            id="curriculum unfinished",
        ),
        pytest.param(
            cell("mamba", "retrieval", 0.9), 2, "does not hold", "Mamba did not reach", id="retrieval unsolved"
        ),
    ],
)
def test_a_claim_follows_the_numbers(replacement: CellResult, claim: int, verdict: str, words: str):
    finding = findings_of(run_of(replacement))[claim]
    assert finding.verdict == verdict
    assert words in finding.sentence


@pytest.mark.parametrize(
    ("run", "title"),
    [
        pytest.param(run_of(cell("mamba", "cot", 0.975)), "no clear gap", id="no gap"),
        pytest.param(run_of(cell("mamba", "retrieval", 0.9)), "does not close the gap", id="retrieval fails"),
        pytest.param(run_of(without=("mamba-cot-n16",)), "Too little is measured", id="a cell is missing"),
        pytest.param(run_of(cell("mamba", "cot", 0.85, level_reached=9)), "Too little is measured", id="not at its n"),
    ],
)
def test_the_headline_promises_no_more_than_was_found(run: Run, title: str):
    assert title in headline(run).title


def test_missing_cells_are_counted():
    assert "8 of 9 cells" in headline(run_of(without=("mamba-cot-n16",))).sentence


def test_incomplete_protocols_cannot_be_told():
    verdicts = [finding.verdict for finding in findings_of(run_of(without=("mamba-cot-n16", "hybrid-retrieval-n16")))]
    assert verdicts == ["holds", "cannot be told", "cannot be told"]


def test_the_papers_sizes_are_judged_one_by_one():
    sized = [cell(a, "retrieval", 0.99, size=size, cell=f"{a}-{size}") for a in GOOD["cot"] for size in ("0.5M", "1M")]
    run = Run(folder=Path("run"), record=RunRecord(), results=tuple(sized))
    assert [finding.sentence[:4] for finding in findings_of(run)] == ["0.5M", "1M, "]
