import math

from recherche.games.contract import AbstractSubject, Finding, Reading


def test_a_finding_measures_nothing_unless_it_says_so() -> None:
    finding = Finding(check="fork", passed=None)
    assert math.isnan(finding.error)
    assert (finding.position, finding.layer, finding.note) == (None, None, "")


def test_a_reading_need_not_show_its_layers() -> None:
    assert Reading(logits=None).layers == ()  # type: ignore[arg-type]


def test_all_is_promised_unless_a_subject_says_otherwise() -> None:
    assert AbstractSubject.unpromised.fget(None) == {}  # type: ignore[attr-defined]
