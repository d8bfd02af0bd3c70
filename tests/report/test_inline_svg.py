from xml.etree import ElementTree

import pytest

from recherche.report.figures import draw_bars, single_panel
from recherche.report.inline_svg import inline_svg
from recherche.report.panels import Bar, BarPanel, Series

HOSTILE = "</svg><script>alert(1)</script> & $x^2$"


@pytest.fixture(scope="module")
def svg() -> str:
    bars = (Bar(group=0, series=0, value=0.75, low=0.7, high=0.8, paper=0.84),)
    panel = BarPanel(title=HOSTILE, groups=("n = 16",), series=(Series("Mamba", "#d55e00"),), bars=bars)
    figure = single_panel(lambda axes: draw_bars(axes, panel))
    return str(inline_svg(figure, prefix="p1", label=HOSTILE, titles={"bar-0-0": f"75 % {HOSTILE}"}))


def test_colours_are_roles_and_type_is_the_pages(svg: str):
    assert "var(--mamba)" in svg
    assert "var(--sans)" in svg
    assert not any(word in svg for word in ("#d55e00", "#22262b", "DejaVu"))


def test_nothing_points_out_of_the_page(svg: str):
    assert "http" not in svg


def test_ids_are_prefixed_and_references_follow(svg: str):
    root = ElementTree.fromstring(svg)
    ids = {element.get("id") for element in root.iter()} - {None}
    assert all(name and name.startswith("p1-") for name in ids)
    references = {element.get("href") for element in root.iter("use")}
    assert {reference.removeprefix("#") for reference in references if reference} <= ids


def test_a_named_bar_has_a_title(svg: str):
    bar = next(e for e in ElementTree.fromstring(svg).iter() if e.get("id") == "p1-bar-0-0")
    assert bar.findtext("title") == f"75 % {HOSTILE}"


def test_text_is_escaped_and_no_formula(svg: str):
    assert "<script>" not in svg
    root = ElementTree.fromstring(svg)
    assert HOSTILE in [element.text for element in root.iter("text")]
    assert root.get("aria-label") == HOSTILE
