"""docs/theorems.md and docs/certificates.md as they are written, and that the committed ones are what is written."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from recherche.constructions import catalogue
from recherche.constructions.certificates import Certificate, certify
from recherche.constructions.document import example_text, write_certificates, write_theorems
from recherche.constructions.proof import Proof
from recherche.errors import CertificateError

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_theorem_has_its_argument_its_figures_and_its_numbers(tmp_path, monkeypatch):
    kept = {name: catalogue.CONSTRUCTIONS[name] for name in ("ar-transformer", "index-hybrid")}
    monkeypatch.setattr(catalogue, "CONSTRUCTIONS", kept)
    proof = Proof(
        theorem="4.6", program="ar-transformer", architecture="transformer", exhaustive=True, cases=641, n_max=4
    )
    write_theorems(tmp_path, [proof])
    text = (tmp_path / "theorems.md").read_text()
    assert "## Theorem 4.6" in text
    assert "**Theorem 5.6: a linear RNN with one Transformer layer" in text
    assert "because \\<s> stands first" in text
    assert "| ar-transformer | 641 (all, n <= 4) | 0 |" in text
    assert (tmp_path / "figures" / "index-hybrid.svg").is_file()


def test_certificates_are_a_table_and_a_figure(tmp_path):
    certificate = Certificate(
        program="ar-hybrid",
        nonzeros={64: 36, 1024: 36, 16384: 36},
        max_abs_weight={64: 2.0**22, 1024: 2.0**26, 16384: 2.0**30},
        smallest_bits={2: 21, 4: 27},
        bits_per_doubling=6.0,
    )
    write_certificates(tmp_path, [certificate])
    text = (tmp_path / "certificates.md").read_text()
    assert "| ar-hybrid | 36 | 2^22 | 2^26 | 2^30 | 21 at 2, 27 at 4 | 6.0 |" in text
    assert (tmp_path / "figures" / "precision.svg").is_file()


def rows_of(text: str) -> list[list[str]]:
    """The cells of every row of a table that starts with a program's name."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if row[0] in catalogue.NAMES]


def without_rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if not (line.startswith("|") and line.split()[1] in catalogue.NAMES)]


def drawn_text(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_committed_theorems_are_what_the_code_says(tmp_path):
    """Arguments, programs, examples, weights and figures are written anew; the tables' numbers come from a full run."""
    write_theorems(tmp_path, [])
    committed = (DOCS / "theorems.md").read_text(encoding="utf-8")
    assert without_rows(committed) == without_rows((tmp_path / "theorems.md").read_text(encoding="utf-8"))
    for figure in (tmp_path / "figures").iterdir():
        assert drawn_text(DOCS / "figures" / figure.name) == drawn_text(figure), figure.name


def test_the_committed_tables_have_every_program_and_no_failure():
    rows = rows_of((DOCS / "theorems.md").read_text(encoding="utf-8"))
    assert {row[0] for row in rows} == set(catalogue.NAMES)
    assert {row[2] for row in rows} == {"0"}


@pytest.mark.parametrize("name", catalogue.CONSTRUCTIONS)
def test_the_committed_certificate_has_the_size_of_the_program(name, tmp_path):
    write_certificates(tmp_path, [certify(catalogue.CONSTRUCTIONS[name], sizes=())])
    (fresh,) = rows_of((tmp_path / "certificates.md").read_text(encoding="utf-8"))
    committed = rows_of((DOCS / "certificates.md").read_text(encoding="utf-8"))
    assert [row[:5] for row in committed if row[0] == name] == [fresh[:5]]


def test_an_example_that_goes_wrong_is_not_printed():
    ar, index = (catalogue.CONSTRUCTIONS[name] for name in ("ar-hybrid", "index-hybrid"))

    def suites(sizes):
        for suite, other in zip(ar.suites(sizes), index.suites(sizes), strict=True):
            yield replace(suite, program=other.program)

    with pytest.raises(CertificateError, match="fails on its example"):
        example_text(replace(ar, suites=suites))
