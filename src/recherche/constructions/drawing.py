"""A program as a figure: one band for each layer, its mixer and its feed-forward, with what each computes.

Time runs upwards, as it does in drawings of residual networks: the embedding at the bottom, the readout at the top.

Reference: Lindner et al. (2023), Tracr: compiled Transformers, https://arxiv.org/abs/2301.05062
"""

from pathlib import Path

from recherche._files import replacing
from recherche.constructions.program import Program
from recherche.constructions.registers import in_words

MOST_ROWS = 9
MOST_LETTERS = 124
COLOURS = {"attention": "#dbe7f6", "linear": "#e3f1df", "feed-forward": "#f6f0df"}


def parts_of(program: Program) -> list[tuple[str, str, list[str]]]:
    """(layer, kind, lines) for each part that does something, from the bottom to the top."""
    parts: list[tuple[str, str, list[str]]] = []
    for stage in range(1, 2 * program.n_layers + 1):
        layer = (stage + 1) // 2
        kind = program.layout.mixer(layer) if stage % 2 else "feed-forward"
        rows = in_words([placed for placed in program.registers.placed if placed.stage == stage])
        if stage == 2 * program.n_layers:
            rows += [f"emit {row}" for row in program.emissions]
        if rows:
            parts.append((f"layer {layer}", kind, _shortened(rows)))
    return parts


def _shortened(rows: list[str]) -> list[str]:
    shown = [row if len(row) <= MOST_LETTERS else row[: MOST_LETTERS - 3] + "..." for row in rows]
    return shown if len(shown) <= MOST_ROWS else [*shown[: MOST_ROWS - 1], f"and {len(shown) - MOST_ROWS + 1} more"]


def draw_program(program: Program, path: Path) -> None:
    """Draw the parts of a program, the first layer at the bottom."""
    import matplotlib
    from matplotlib.figure import Figure

    parts = parts_of(program)
    heights = [0.19 * len(rows) + 0.12 for _, _, rows in parts]
    with matplotlib.rc_context({"svg.hashsalt": "recherche", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8.6, sum(heights) + 0.4))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, sum(heights) + 0.4)
        axes.axis("off")
        y = 0.1
        for (layer, kind, rows), height in zip(parts, heights, strict=True):
            axes.fill_between([0.02, 0.98], y, y + height - 0.05, color=COLOURS[kind], linewidth=0)
            axes.text(0.03, y + height / 2 - 0.02, f"{layer}\n{kind}", fontsize=7, va="center", weight="bold")
            for i, row in enumerate(rows):
                axes.text(
                    0.16,
                    y + height - 0.15 - 0.19 * i,
                    row,
                    fontsize=6.5,
                    va="center",
                    family="monospace",
                    parse_math=False,
                )
            y += height
        with replacing(path) as draft:
            figure.savefig(draft, format="svg", metadata={"Date": None})
