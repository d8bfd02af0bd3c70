"""docs/theorems.md as it is written, and that every theorem is in the one of the clone."""

from recherche.constructions import catalogue
from recherche.constructions.certificates import Certificate
from recherche.constructions.document import write_certificates, write_theorems
from recherche.constructions.proof import Proof


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
