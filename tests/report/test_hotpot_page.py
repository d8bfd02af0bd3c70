import re
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report.hotpot_page import write_hotpot_report
from tests.report.browser import browse, needs_chromium
from tests.report.made_up_hotpot_run import write_hotpot_run

PROBE = """
window.addEventListener("load", () => {
  const boxes = [...document.querySelectorAll("#figure svg.plot")].map((plot) => plot.getBoundingClientRect());
  document.body.dataset.plots = boxes.filter((box) => box.width > 150 && box.height > 80).length;
  document.body.dataset.tabs = document.querySelectorAll(".tabs button").length;
  document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth ? "yes" : "no";
});
"""
HOSTILE = "<script>document.title='pwned'</script>"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    failed = [{"cell": "mamba-direct-last-n10", "error": HOSTILE}]
    folder = write_hotpot_run(tmp_path_factory.mktemp("hotpot"), found=HOSTILE, failed=failed)
    return write_hotpot_report(folder).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        "350 questions of HotpotQA among distractors, asked of 3 models",
        "(a) random order",
        "(b) facts last",
        "accuracy / accuracy with two paragraphs",
        "accuracy (exact match)",
        "350 kept of 1,234 asked",
        "at 1.00 there by design",
        "facts anywhere cost more than facts last",
        "NO_MATCH 5.0 %",
        "mamba-direct-last-n10",
        "searching, 8 paragraphs, (a) random order",
        "So the answer is: Altvik",
        "Figure 6",
        "hotpot_dev_distractor_v1.json",
    ],
)
def test_the_page_shows(text: str, words: str):
    assert words in text


def test_the_page_is_self_contained_and_escapes_what_files_say(text: str):
    assert re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"', text) == []
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


def test_figures_stand_beside_the_page(tmp_path: Path):
    folder = write_hotpot_run(tmp_path / "out")
    assert write_hotpot_report(folder) == folder / "report.html"
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "figure.png", "figure.svg", "results.jsonl", "hotpot.json", "points"}


def test_a_measurement_of_one_order_or_of_nothing_has_a_page(tmp_path: Path):
    folder = write_hotpot_run(tmp_path / "one")
    lines = (folder / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "results.jsonl").write_text("".join(line for line in lines if '"order": "last"' in line))
    assert "(a) random order</text>" not in write_hotpot_report(folder).read_text(encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "hotpot.json").write_text('{"cells": ["a-direct-last-n2"]}')
    page = write_hotpot_report(empty).read_text(encoding="utf-8")
    assert "Nothing is measured yet" in page
    assert "not run" in page


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds no hotpot"):
        write_hotpot_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser_every_plot_is_visible_and_nothing_overflows(text: str, tmp_path: Path, width: int):
    seen = browse(text, tmp_path, probe=PROBE, width=width)
    assert seen == {"plots": "4", "tabs": "3", "overflow": "no", "log": ""}
