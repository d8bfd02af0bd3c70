"""A matplotlib figure as a piece of a page: roles instead of colours, the page's own type, a title for each bar.

colours   known colours become `var(--role)`, so that the style sheet decides for light and dark
type      text stays text, in the page's font
ids       get a prefix, for several figures share one page
titles    an element whose gid is named gets a <title>, which a browser shows under the pointer
"""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib.figure import Figure

from recherche.report.appearance import ROLE_OF_COLOUR
from recherche.report.figures import svg_text

_COLOUR = re.compile("|".join(map(re.escape, ROLE_OF_COLOUR)))
_FAMILY = re.compile(r"'DejaVu Sans'(?:, sans-serif)?")
_REFERENCE = re.compile(r"#(?=[A-Za-z_])")


def inline_svg(figure: Figure, *, prefix: str, label: str, titles: Mapping[str, str] = {}) -> Markup:
    """The figure as an <svg> element.

    Args:
        prefix: put before every id; each figure of a page needs its own.
        label: what the figure shows, for those who cannot see it.
        titles: text to show for elements, by their gid.
    """
    root = ElementTree.fromstring(svg_text(figure))
    for element in list(root.iter()):
        _localise(element)
        _style(element)
        title = titles.get(element.get("id", ""))
        _rename(element, prefix)
        if title:
            child = ElementTree.Element("title")
            child.text = title
            element.insert(0, child)
    for element in root.findall("metadata"):
        root.remove(element)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.attrib |= {"class": "plot", "role": "img", "aria-label": label}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _localise(element: ElementTree.Element) -> None:
    """Drop XML namespaces, which a page's parser supplies itself."""
    element.tag = element.tag.rpartition("}")[2]
    for name in list(element.attrib):
        element.set(name.rpartition("}")[2], element.attrib.pop(name))


def _style(element: ElementTree.Element) -> None:
    style = element.get("style")
    if style:
        style = _COLOUR.sub(lambda colour: f"var(--{ROLE_OF_COLOUR[colour[0]]})", style)
        element.set("style", _FAMILY.sub("var(--sans)", style).replace("#ffffff", "var(--paper)"))


def _rename(element: ElementTree.Element, prefix: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{prefix}-{element.get('id')}")
    for name in ("href", "clip-path"):
        value = element.get(name)
        if value:
            element.set(name, _REFERENCE.sub(f"#{prefix}-", value))
