import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report import write_comparison, write_report
from tests.report.browser import browse, needs_chromium

HOSTILE = "</script><script>document.title='pwned'</script><img src=x onerror=alert(1)>"
PROBE = """
window.addEventListener("load", () => {
  const box = document.querySelector("#figure svg.plot").getBoundingClientRect();
  document.body.dataset.figure = box.width > 200 && box.height > 100 && box.top < 1600 ? "visible" : "hidden";
  document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth ? "yes" : "no";
  const example = document.querySelector(".example");
  const found = () => [...example.querySelectorAll(".token.found")].map((token) => token.textContent).join(" ");
  const before = found();
  for (let i = 0; i < 2; i++) example.querySelector(".forward").click();
  document.body.dataset.position = example.querySelector("output").textContent;
  document.body.dataset.found = before;
  document.body.dataset.edges = example.querySelectorAll("line.about").length;
  document.body.dataset.walked = example.querySelectorAll("line.walked").length;
  document.querySelectorAll("[role=tab]")[1].click();
  document.body.dataset.panel = [...document.querySelectorAll("[role=tabpanel]")].map((p) => Number(p.hidden)).join("");
});
"""


class Resources(HTMLParser):
    """Everything that a page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "data", "action", "srcset")]


def foreign(text: str) -> list[str]:
    """What the page would load that is not inside it."""
    return [link for link in Resources(text).loads if not link.startswith(("#", "data:,"))]


@pytest.fixture(scope="module")
def page(make_run: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(make_run(tmp_path_factory.mktemp("page") / "quick"))


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_page_loads_nothing_from_anywhere(text: str):
    assert foreign(text) == []
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text


def test_a_foreign_resource_would_be_noticed():
    assert foreign('<a href="#here"></a><img src="https://example.org/x.png">') == ["https://example.org/x.png"]


@pytest.mark.parametrize(
    "words",
    [
        "retrieval closes the gap",
        "Departures from the paper’s recipe",
        "Muon and AdamW",
        "Read “lower at equal training”, not “cannot”",
        "best guess from hub degrees",
        "the paper’s value",
        "All numbers",
        "curriculum: n",
        "What the models wrote",
        "Search 1 of",
        "Configurations",
        "mamba-retrieval-n16",
        "11 min 45 s",
    ],
)
def test_the_page_shows(text: str, words: str):
    assert words in text


def test_figures_stand_beside_the_page_and_no_draft_is_left(page: Path):
    assert {path.name for path in page.parent.iterdir() if path.is_file()} == {
        "report.html",
        "figure.png",
        "figure.svg",
        "results.jsonl",
        "reproduce.json",
    }


def test_what_models_and_files_say_is_escaped(make_run: Callable[..., Path], tmp_path: Path):
    folder = make_run(tmp_path / "run")
    cell = folder / "cells" / "mamba-retrieval-n16"
    row = json.loads((cell / "examples.jsonl").read_text().splitlines()[0])
    row["generated"][-1] = row["answer"] = HOSTILE
    row["searches"][0] |= {"query": HOSTILE, "pattern": HOSTILE, "status": HOSTILE, "result": [HOSTILE]}
    (cell / "examples.jsonl").write_text(json.dumps(row) + "\n")
    (cell / "config.json").write_text(HOSTILE)
    record = json.loads((folder / "reproduce.json").read_text()) | {"preset": HOSTILE}
    record |= {"failed": [{"cell": "mamba-cot-n99", "error": HOSTILE}], "versions": {HOSTILE: HOSTILE}}
    (folder / "reproduce.json").write_text(json.dumps(record))
    text = write_report(folder).read_text(encoding="utf-8")
    assert "<script>document" not in text
    assert "<img" not in text
    assert "&lt;script&gt;document" in text


def test_a_folder_without_results_is_refused_and_left_alone(tmp_path: Path):
    with pytest.raises(InputError, match=r"no results\.jsonl"):
        write_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_where_everything_failed_has_a_page(tmp_path: Path):
    failed = [{"cell": "mamba-cot-n16", "error": "boom"}, {"cell": "odd name", "error": "bang"}]
    (tmp_path / "reproduce.json").write_text(json.dumps({"preset": "quick", "failed": failed}))
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "0 of 2 cells have a result" in text
    assert "failed: boom" in text
    assert "failed: bang" in text


def test_runs_are_compared_side_by_side(page: Path, make_run: Callable[..., Path], tmp_path: Path):
    other = make_run(tmp_path / "other", ns=(16, 32))
    text = write_comparison([page.parent, other], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "quick beside other" in text
    assert "Departures of quick and other from the paper" in text
    assert "Chain of thought, n = 32" in text
    assert foreign(text) == []


def test_runs_of_one_name_are_told_apart_by_their_path(page: Path, make_run: Callable[..., Path], tmp_path: Path):
    other = make_run(tmp_path / "quick")
    text = write_comparison([page.parent, other], tmp_path / "both.html").read_text(encoding="utf-8")
    assert str(page.parent) in text
    assert str(other) in text


def test_a_comparison_of_one_run_is_refused(page: Path, tmp_path: Path):
    with pytest.raises(InputError, match="two or more run folders, got 1"):
        write_comparison([page.parent], tmp_path / "both.html")


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser_the_figure_is_visible_and_the_traces_can_be_walked(page: Path, tmp_path: Path, width: int):
    seen = browse(page.read_text(encoding="utf-8"), tmp_path, probe=PROBE, width=width)
    assert seen["log"] == ""
    assert "errors" not in seen
    assert (seen["figure"], seen["overflow"]) == ("visible", "no")
    assert seen["found"].isdigit()
    assert seen["position"].startswith("3 of ")
    assert seen["walked"] == "1"
    assert seen["panel"] == "101"


@pytest.mark.slow
@needs_chromium
def test_an_error_in_the_page_would_be_noticed(page: Path, tmp_path: Path):
    broken = page.read_text(encoding="utf-8").replace("const goTo =", "nothing.at.all; const goTo =")
    seen = browse(broken, tmp_path, probe=PROBE, width=1280)
    assert seen["log"]
    assert "errors" in seen
