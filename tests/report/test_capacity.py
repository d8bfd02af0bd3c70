from io import BytesIO
from typing import Any

import numpy as np
import pytest

from recherche.report.capacity import draw_capacity


def row(label: str, architecture: str, n: int, **changes: Any) -> dict[str, Any]:
    facts = {"message_bits": 2000, "bits_recovered": 0.4 * n, "bits_estimated": 0.5 * n, "bits_needed": 3.0 * n}
    return {"label": label, "architecture": architecture, "n": n, "errors": [0.1] * n} | facts | changes


ROWS = [
    *(row("m", "mamba", n) for n in (8, 16)),
    *(row("t", "transformer", n, message_bits=4096 * n, bits_recovered=3.0 * n) for n in (16, 8)),
]


def test_every_model_has_its_line_and_its_map_of_errors() -> None:
    figure = draw_capacity(ROWS)
    plane, *maps = figure.axes
    assert plane.get_legend_handles_labels()[1] == ["m", "t"]
    assert [axes.get_title(loc="left") for axes in maps] == ["Errors: m", "Errors: t"]
    assert [label.get_text() for label in maps[1].get_yticklabels()] == ["n=8", "n=16"]


def test_questions_beyond_a_shorter_text_are_left_empty() -> None:
    grid = draw_capacity(ROWS).axes[1].images[0].get_array()
    assert grid.shape == (2, 16)
    assert np.ma.getmaskarray(grid)[0, 8:].all()
    assert not np.ma.getmaskarray(grid)[1].any()


@pytest.mark.parametrize("recovered", [0.0, 1e-9])
def test_a_model_that_recovers_nothing_can_be_drawn(recovered: float) -> None:
    figure = draw_capacity([row("m", "mamba", 8, bits_recovered=recovered, bits_estimated=recovered)])
    picture = BytesIO()
    figure.savefig(picture, format="png")
    assert picture.getvalue()[:4] == b"\x89PNG"
