from io import BytesIO
from typing import Any

import numpy as np
import pytest

from recherche.report.capacity import draw_capacity


def row(label: str, architecture: str, n: int, **changes: Any) -> dict[str, Any]:
    facts = {
        "message_bits": 2000,
        "bits_recovered": 0.4 * n,
        "bits_estimated": 0.5 * n,
        "bits_needed": 3.0 * n,
        "quantiser": "float32",
    }
    return {"label": label, "architecture": architecture, "n": n, "errors": [0.1] * n} | facts | changes


ROWS = [
    *(row("m", "mamba", n) for n in (8, 16)),
    *(row("t", "transformer", n, message_bits=4096 * n, bits_recovered=3.0 * n) for n in (16, 8)),
]


def test_every_model_has_its_line_and_its_map_of_errors() -> None:
    figure = draw_capacity(ROWS)
    plane, growth, *maps = figure.axes
    assert plane.get_legend_handles_labels()[1] == ["m", "t"]
    assert growth.get_legend_handles_labels()[1] == ["the task needs"]
    assert [axes.get_title(loc="left") for axes in maps] == ["Errors: m", "Errors: t"]
    assert [label.get_text() for label in maps[1].get_yticklabels()] == ["n=8", "n=16"]


def test_questions_beyond_a_shorter_text_are_left_empty() -> None:
    grid = draw_capacity(ROWS).axes[2].images[0].get_array()
    assert grid.shape == (2, 16)
    assert np.ma.getmaskarray(grid)[0, 8:].all()
    assert not np.ma.getmaskarray(grid)[1].any()


@pytest.mark.parametrize("recovered", [0.0, 1e-9])
def test_a_model_that_recovers_nothing_can_be_drawn(recovered: float) -> None:
    figure = draw_capacity([row("m", "mamba", 8, bits_recovered=recovered, bits_estimated=recovered)])
    picture = BytesIO()
    figure.savefig(picture, format="png")
    assert picture.getvalue()[:4] == b"\x89PNG"


def test_no_point_lies_above_the_diagonal_and_fewer_bits_move_it_to_the_left() -> None:
    fewer = row("m", "mamba", 16, quantiser="int8", message_bits=500, bits_recovered=6.0)
    plane = draw_capacity([*ROWS, fewer]).axes[0]
    assert "int8" in [text.get_text() for text in plane.texts]
    points = np.concatenate([np.column_stack(line.get_data()) for line in plane.lines])
    assert (points[:, 1] <= points[:, 0]).all()
    assert [500, 6.0] in points.tolist()


def test_models_of_one_architecture_have_colours_of_their_own() -> None:
    rows = [row("small", "mamba", 8), row("large", "mamba", 8), row("t", "transformer", 8)]
    handles, _ = draw_capacity(rows).axes[0].get_legend_handles_labels()
    assert len({handle[0].get_color() for handle in handles}) == 3
