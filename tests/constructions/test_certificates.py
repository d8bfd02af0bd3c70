"""Certificates of constant size, growth and precision."""

from dataclasses import replace

import pytest

from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.certificates import certify, draw_precision
from recherche.errors import CertificateError


@pytest.mark.parametrize("name", ["counting-transformer", "istree-rag", "machine-cot"])
def test_the_number_of_weights_does_not_depend_on_the_capacity(name):
    certificate = certify(CONSTRUCTIONS[name], sizes=())
    assert len(set(certificate.nonzeros.values())) == 1
    assert list(certificate.nonzeros) == [64, 1024, 16384]


def test_precision_is_measured_fitted_and_drawn(tmp_path):
    certificate = certify(CONSTRUCTIONS["index-hybrid"], sizes=(2, 4))
    assert certificate.smallest_bits[2] < certificate.smallest_bits[4] <= 53
    assert certificate.bits_per_doubling == certificate.smallest_bits[4] - certificate.smallest_bits[2]
    assert "smallest exact p" in str(certificate)
    draw_precision([certificate], tmp_path / "precision.svg")
    assert "bits per doubling" in (tmp_path / "precision.svg").read_text()


def test_a_program_that_grows_is_refused():
    def program(capacity):
        return CONSTRUCTIONS["ar-hybrid" if capacity > 100 else "index-hybrid"].program(capacity)

    with pytest.raises(CertificateError, match="claimed to have constant size"):
        certify(replace(CONSTRUCTIONS["ar-hybrid"], program=program), sizes=())
