"""Writes the page of a sweep: the figure, what it was trained on, what holds, every number; one self-contained file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from recherche.report.appearance import ROLE_OF_COLOUR
from recherche.report.figures import save_figure, single_panel
from recherche.report.inline_svg import inline_svg
from recherche.report.numerals import NONE, decimal, duration, short_number
from recherche.report.page import environment, pretty, write_page
from recherche.report.sections import Plot, PlotSection
from recherche.report.sweep_figures import (
    draw_against_n,
    draw_against_state,
    panels_of,
    smallest_fixed_state,
    sweep_figure,
    task_label,
    titles_of,
)
from recherche.report.sweep_findings import sweep_caption, sweep_findings, sweep_headline
from recherche.report.sweep_marks import Mark, marks_of_models
from recherche.report.sweep_results import SweepPoint, SweepRun, read_sweep
from recherche.report.tables import Column, Row

_STATE_WIDTH, _N_WIDTH, _HEIGHT = 8.9, 2.95, 3.1
COLUMNS = (
    Column("Model", "its name in the grid", numeric=False),
    Column("Size", "the values on its axes", numeric=False),
    Column("Task", "what is asked", numeric=False),
    Column("n", "size of the texts that are measured"),
    Column("State", "bits that the model carries from the prompt on"),
    Column("Needed", "bits without which no reader is always right"),
    Column("Accuracy", "share of right answers on fresh texts"),
    Column("95 % interval", "Wilson's, counting texts"),
    Column("Bound", "the best accuracy that the state allows"),
    Column("Guess", "accuracy without knowing the text"),
    Column("Parameters", "trained and frozen numbers of the model"),
    Column("Steps", "training steps until solved, or all of them"),
    Column("Samples", "training texts"),
    Column("Training", "time in training"),
    Column("Validation", "whether it was solved before the steps were used up", numeric=False),
)


def write_sweep_report(folder: Path) -> Path:
    """Write report.html, figure.png and figure.svg into the folder of a sweep, and return the path of the page.

    Raises:
        InputError: the folder is not one of a sweep, or a file of it is damaged.
    """
    run = read_sweep(folder)
    marks = marks_of_models(run.points)
    largest = [point for task in run.tasks for point in run.at_largest_n(task)]
    page = (
        environment()
        .get_template("sweep.html")
        .render(
            run=run,
            headline=sweep_headline(run),
            facts=_facts(run),
            marks=marks,
            bounded=any(point.bound_accuracy is not None for point in run.points),
            tightest=smallest_fixed_state(run.points),
            keyless="mqar" in run.tasks,
            sections=[_section(run, task, marks, prefix=f"task-{i}") for i, task in enumerate(run.tasks)],
            caption=sweep_caption(run),
            findings=sweep_findings(run),
            columns=COLUMNS,
            rows=[*map(_row, largest), *(_absent(failure.cell, failure.error) for failure in run.absent)],
            all_rows=[*map(_row, run.points)],
            roles={model: ROLE_OF_COLOUR[mark.colour] for model, mark in marks.items()},
            environment=pretty(run.record.model_dump(mode="json", include={"versions", "device", "jobs", "seeds"})),
        )
    )
    if run.points:
        save_figure(sweep_figure(run, marks), folder)
    return write_page(folder / "report.html", page)


def _section(run: SweepRun, task: str, marks: Mapping[str, Mark], *, prefix: str) -> PlotSection:
    points = [point for point in run.points if point.task == task]
    largest, titles = run.at_largest_n(task), titles_of(points)
    tightest = smallest_fixed_state(points)
    figure = single_panel(
        lambda axes: draw_against_state(axes, largest, marks), width=_STATE_WIDTH, height=_HEIGHT, foot=0.5
    )
    label = f"{task_label(task)}: accuracy against state bits"
    plots = [Plot(inline_svg(figure, prefix=f"{prefix}-state", label=label, titles=titles), _STATE_WIDTH)]
    for i, (title, shown) in enumerate(panels_of(points, marks)):
        plots.append(_plot_against_n(shown, marks, title=title, tightest=tightest, prefix=f"{prefix}-n{i}"))
    return PlotSection(f"{task_label(task)}", tuple(plots))


def _plot_against_n(
    points: Sequence[SweepPoint], marks: Mapping[str, Mark], *, title: str, tightest: int | None, prefix: str
) -> Plot:
    figure = single_panel(
        lambda axes: draw_against_n(axes, points, marks, title=title, tightest=tightest),
        width=_N_WIDTH,
        height=_HEIGHT,
        foot=0.5,
    )
    label = f"{task_label(points[0].task)}: accuracy against n, {title}"
    return Plot(inline_svg(figure, prefix=prefix, label=label, titles=titles_of(points)), _N_WIDTH)


def _facts(run: SweepRun) -> list[tuple[str, str]]:
    record = run.record
    facts = [
        ("sweep", record.preset),
        ("what", record.summary),
        ("seed", ", ".join(map(str, record.seeds))),
        (
            "points",
            f"{len({p.cell for p in run.points})} measured" + (f", {len(run.absent)} absent" if run.absent else ""),
        ),
        ("took", duration(record.wall_seconds) if record.wall_seconds else ""),
        ("device", ", ".join(dict.fromkeys(point.device for point in run.points if point.device)) or record.device),
        ("recherche", str(record.versions.get("recherche", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def _row(point: SweepPoint) -> Row:
    texts = (
        point.mixer,
        point.size or NONE,
        task_label(point.task),
        str(point.n),
        short_number(point.state_bits),
        f"{point.needed_bits:.0f}",
        decimal(point.accuracy),
        f"{decimal(point.accuracy_low)} – {decimal(point.accuracy_high)}",
        NONE if point.bound_accuracy is None else decimal(point.bound_accuracy),
        decimal(point.chance),
        short_number(point.num_parameters),
        f"{point.train_steps:,}",
        short_number(point.train_samples),
        duration(point.train_seconds),
        "solved" if point.solved else "unsolved",
    )
    return Row(point.cell, point.mixer, texts)


def _absent(cell: str, error: str) -> Row:
    return Row(cell, "", (cell, "", "", "", f"failed: {error}" if error else "not run"), failed=True)
