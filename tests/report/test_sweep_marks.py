from recherche.mixers import MIXERS
from recherche.report.sweep_marks import FAMILIES, OWN, PANELS, family_of, marks_of_models
from tests.report.made_up_sweep import points


def test_every_mixer_of_the_package_has_a_family():
    assert [name for name in MIXERS if family_of([name]) == OWN] == []


def test_a_mixer_of_ones_own_is_told_apart():
    assert family_of(["mine", "mine"]) == OWN


def test_every_family_has_a_panel():
    assert sorted(family for panel in PANELS for family in panel) == sorted(FAMILIES)


def test_members_of_a_family_share_the_colour_and_not_the_sign():
    marks = marks_of_models(points())
    assert list(marks) == ["attention", "gla", "mamba", "hybrid"]
    assert len({mark.colour for mark in marks.values()}) == 4
    both = [point for point in points() if point.mixer == "mamba"]
    other = [point.model_copy(update={"mixer": "mamba2", "layers": ("mamba2",)}) for point in both]
    first, second = marks_of_models([*both, *other]).values()
    assert first.colour == second.colour
    assert first.sign != second.sign
    assert first.marker != second.marker
