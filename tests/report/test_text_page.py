import re
import subprocess
import sys
from pathlib import Path

import pytest

from recherche.errors import InputError
from recherche.report import write_text_report
from tests.report.browser import browse, needs_chromium
from tests.report.made_up_texts import write_text_run

HOSTILE = "<script>document.title='pwned'</script>"
PROBE = """
window.addEventListener("load", () => {
  const boxes = [...document.querySelectorAll("#figure svg.plot")].map((plot) => plot.getBoundingClientRect());
  const data = document.body.dataset;
  data.plots = boxes.filter((box) => box.width > 150 && box.height > 80).length;
  data.overflow = document.documentElement.scrollWidth > innerWidth ? "yes" : "no";
  const example = document.querySelector(".example");
  const source = example.querySelector(".source"), found = source.querySelector(".found");
  data.found = found.textContent;
  data.line = [...source.querySelectorAll(".record")].map((part) => part.textContent).join("");
  const top = found.getBoundingClientRect().top, box = source.getBoundingClientRect();
  data.visible = box.top <= top && top < box.bottom ? "yes" : "no";
  example.querySelector(".forward").click();
  data.caption = example.querySelector(".caption").textContent;
});
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_text_run(
        tmp_path_factory.mktemp("texts"), failed=[{"cell": "gru-copying-direct-n8", "error": HOSTILE}]
    )
    return write_text_report(folder).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        "phonebook and variables: 2 models, direct beside searching",
        "phonebook: bits of state after the prompt",
        "bits that the task needs",
        "searching stays at 0.99 or above up to n = 1,000",
        "refused: a prompt of 9,520 tokens exceeds 2,048 positions",
        "NO_MATCH 3.0 %, OK 97.0 %",
        "23 measured, 1 refused, 1 absent",
        "20 min 34 s",
        "gru-copying-direct-n8",
        "phonebook, searching, n = 1,000",
        "Ada Berg-0150: ",
        "3,215 characters",
        "in 3,627 tokens. Question: What is the number of Ada Berg-0150?",
    ],
)
def test_the_page_shows(text: str, words: str):
    assert words in text


def test_the_page_is_self_contained_and_escapes_what_files_say(text: str):
    assert re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"', text) == []
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


def test_figures_stand_beside_the_page(tmp_path: Path):
    folder = write_text_run(tmp_path / "out")
    assert write_text_report(folder) == folder / "report.html"
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "figure.png", "figure.svg", "results.jsonl", "language.json", "points"}


def test_a_page_is_drawn_from_files_alone_without_torch(tmp_path: Path):
    folder = write_text_run(tmp_path / "out")
    script = (
        "import sys; from pathlib import Path; from recherche.report import write_text_report;"
        f"write_text_report(Path({str(folder)!r})); sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_folder_where_everything_failed_has_a_page(tmp_path: Path):
    (tmp_path / "language.json").write_text('{"preset": "lm eval", "failed": [{"cell": "a", "error": "boom"}]}')
    text = write_text_report(tmp_path).read_text(encoding="utf-8")
    assert "Nothing is measured yet" in text
    assert "failed: boom" in text


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"holds no language.json"):
        write_text_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_in_a_browser_what_was_found_is_in_sight_and_nothing_overflows(text: str, tmp_path: Path, width: int):
    seen = browse(text, tmp_path, probe=PROBE, width=width)
    expected = {"plots": "4", "overflow": "no", "log": "", "found": "555-0150", "visible": "yes"}
    assert seen == expected | {"line": "Ada Berg-0150: 555-0150", "caption": "Answers “555-0150”: right."}
