import re
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report import write_sweep_report
from tests.report.browser import browse, needs_chromium
from tests.report.made_up_sweep import write_sweep

PROBE = """
window.addEventListener("load", () => {
  const boxes = [...document.querySelectorAll("#figure svg.plot")].map((plot) => plot.getBoundingClientRect());
  document.body.dataset.plots = boxes.filter((box) => box.width > 150 && box.height > 80).length;
  document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth ? "yes" : "no";
});
"""
HOSTILE = "<script>document.title='pwned'</script>"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_sweep(tmp_path_factory.mktemp("sweep"), failed=[{"cell": "mqar-n32-gru", "error": HOSTILE}])
    return write_sweep_report(folder).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        "MQAR and Index: 4 models",
        "MQAR, n = 32: against state bits",
        "linear attention",
        "no state of so few bits gets here",
        "the best that 32 bits allow",
        "read “lower at equal training”, not “cannot”",
        "Nobody is above what the bits of the state allow",
        "d_state 16",
        "20 min 34 s",
        "Every n",
        "mqar-n32-gru",
    ],
)
def test_the_page_shows(text: str, words: str):
    assert words in text


def test_the_page_is_self_contained_and_escapes_what_files_say(text: str):
    assert re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"', text) == []
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


def test_figures_stand_beside_the_page(tmp_path: Path):
    folder = write_sweep(tmp_path / "out")
    assert write_sweep_report(folder) == folder / "report.html"
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "figure.png", "figure.svg", "results.jsonl", "sweep.json"}


def test_a_sweep_where_everything_failed_has_a_page(tmp_path: Path):
    (tmp_path / "sweep.json").write_text('{"preset": "mine", "failed": [{"cell": "a", "error": "boom"}]}')
    text = write_sweep_report(tmp_path).read_text(encoding="utf-8")
    assert "Nothing is measured yet" in text
    assert "failed: boom" in text


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds no sweep"):
        write_sweep_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser_every_plot_is_visible_and_nothing_overflows(text: str, tmp_path: Path, width: int):
    seen = browse(text, tmp_path, probe=PROBE, width=width)
    assert seen == {"plots": "8", "overflow": "no", "log": ""}
