"""Writes the page of language models: accuracy and state over n, what holds, every number, answers to walk through."""

from collections.abc import Mapping
from pathlib import Path

from recherche.report.appearance import ROLE_OF_COLOUR
from recherche.report.figures import save_figure, single_panel
from recherche.report.inline_svg import inline_svg
from recherche.report.numerals import NONE, decimal, duration, percent, short_number
from recherche.report.page import environment, pretty, write_page
from recherche.report.sections import Plot, PlotSection
from recherche.report.tables import Column, Row
from recherche.report.text_figures import (
    PROTOCOL_NAMES,
    colours_of_models,
    draw_accuracy,
    draw_bits,
    text_figure,
    titles_of,
)
from recherche.report.text_findings import text_caption, text_findings, text_headline
from recherche.report.text_results import PROTOCOLS, TextPoint, TextRun, read_text_run
from recherche.report.text_samples import read_samples, telling
from recherche.report.text_steps import ShownGroup, show_text

_WIDTH, _HEIGHT = 4.8, 2.9
COLUMNS = (
    Column("Model", "name of its folder", numeric=False),
    Column("Task", "what is asked", numeric=False),
    Column("Protocol", "whether it may search", numeric=False),
    Column("n", "size of the texts"),
    Column("Prompt", "tokens of a text with its question, on average"),
    Column("Accuracy", "share of right answers; one without an end within the budget is wrong"),
    Column("95 % interval", "Wilson's"),
    Column("Texts", "fresh texts answered"),
    Column("Undecided", "answers without an end within the budget"),
    Column("Searches", "searches for each answer, on average"),
    Column("Outcomes", "what came of the searches", numeric=False),
    Column("State", "bits of the live cache of one row after the prompt"),
    Column("Needed", "bits without which no reader of the text is always right"),
    Column("Parameters", "numbers of the model"),
    Column("Took", "time for all texts of the point"),
    Column("Tokens/s", "tokens read and written in a second"),
    Column("Type", "number type of weights and state", numeric=False),
)


def write_text_report(folder: Path) -> Path:
    """Write report.html, figure.png and figure.svg into a folder of `lm eval`, and return the path of the page.

    Raises:
        InputError: the folder is none of `lm eval`, or a file of it is damaged.
    """
    run = read_text_run(folder)
    colours = colours_of_models(run.points)
    by_size = sorted(run.points, key=lambda point: (point.accuracy is not None, point.n))
    largest = {(point.folder, point.task, point.protocol): point for point in by_size}
    page = (
        environment()
        .get_template("text.html")
        .render(
            run=run,
            headline=text_headline(run),
            facts=_facts(run),
            colours=colours,
            protocols=[protocol for protocol in PROTOCOLS if any(point.protocol == protocol for point in run.points)],
            bounded=any(point.required_bits for point in run.points),
            refused=any(point.refused is not None for point in run.points),
            sections=[_section(run, task, colours, prefix=f"task-{i}") for i, task in enumerate(run.tasks)],
            caption=text_caption(run),
            findings=text_findings(run),
            columns=COLUMNS,
            rows=[
                *(_row(point) for point in run.points if point in largest.values()),
                *(_absent(failure.cell, failure.error) for failure in run.absent),
            ],
            all_rows=[*map(_row, run.points)],
            roles={model: ROLE_OF_COLOUR[colour] for model, colour in colours.items()},
            groups=[group for model in run.models if (group := _group(run, model)).shown],
            environment=pretty(run.record.model_dump(mode="json", include={"versions", "device", "seeds"})),
        )
    )
    if run.points:
        save_figure(text_figure(run, colours), folder)
    return write_page(folder / "report.html", page)


def _section(run: TextRun, task: str, colours: Mapping[str, str], *, prefix: str) -> PlotSection:
    points, plots = [point for point in run.points if point.task == task], []
    for name, draw in (("accuracy", draw_accuracy), ("bits", draw_bits)):
        figure = single_panel(
            lambda axes, draw=draw: draw(axes, points, colours),
            width=_WIDTH,
            height=_HEIGHT,
            foot=0.5,
        )
        label = f"{task}: {name} against n"
        svg = inline_svg(figure, prefix=f"{prefix}-{name}", label=label, titles=titles_of(points))
        plots.append(Plot(svg, _WIDTH))
    return PlotSection(task, tuple(plots))


def _group(run: TextRun, model: str) -> ShownGroup:
    """For each task and protocol a right and a wrong answer, from the largest n that has any."""
    shown = []
    for task in run.tasks:
        for protocol in reversed(PROTOCOLS):
            for measured in reversed(run.line(model, task, protocol)):
                samples = telling(read_samples(run.samples_path(measured.point)))
                if samples:
                    name = f"{task}, {PROTOCOL_NAMES[protocol]}, n = {measured.point.n:,}"
                    shown += [(name, show_text(sample)) for sample in samples]
                    break
    return ShownGroup(model, tuple(shown))


def _facts(run: TextRun) -> list[tuple[str, str]]:
    record, measured = run.record, [point for point in run.points if point.accuracy is not None]
    refused = len(run.points) - len(measured)
    counts = [(len(measured), "measured"), (refused, "refused"), (len(run.absent), "absent")]
    facts = [
        ("models", ", ".join(run.models)),
        ("seed", ", ".join(str(seed) for seed in sorted({point.seed for point in run.points}))),
        ("points", ", ".join(f"{count} {what}" for count, what in counts if count)),
        ("took", duration(record.wall_seconds) if record.wall_seconds else ""),
        ("device", ", ".join(dict.fromkeys(point.device for point in run.points if point.device)) or record.device),
        ("recherche", str(record.versions.get("recherche", ""))),
        ("transformers", str(record.versions.get("transformers", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def _row(point: TextPoint) -> Row:
    head = (point.folder, point.task, PROTOCOL_NAMES.get(point.protocol, point.protocol), f"{point.n:,}")
    if point.accuracy is None:
        return Row(point.point, point.folder, (*head, f"refused: {point.refused}"), failed=True)
    outcomes = ", ".join(f"{status} {percent(share)}" for status, share in point.search_outcomes.items())
    searches = point.searches_per_answer
    texts = (
        *head,
        short_number(point.prompt_tokens),
        decimal(point.accuracy),
        f"{decimal(point.accuracy_low or 0.0)} – {decimal(point.accuracy_high or 0.0)}",
        f"{point.num_samples:,}",
        f"{point.num_undecided:,}",
        NONE if searches is None or point.protocol == "direct" else f"{searches:.2f}",
        outcomes or NONE,
        short_number(point.state_bits),
        short_number(point.required_bits),
        short_number(point.num_parameters),
        duration(point.seconds),
        short_number(point.tokens_per_second),
        point.dtype,
    )
    return Row(point.point, point.folder, texts)


def _absent(name: str, error: str) -> Row:
    return Row(name, "", (name, "", "", "", f"failed: {error}" if error else "not run"), failed=True)
