"""Writes the page of HotpotQA: Figure 6, what holds, every number, answers to walk through; one self-contained file."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from recherche.report.appearance import ROLE_OF_COLOUR
from recherche.report.figures import save_figure, single_panel
from recherche.report.hotpot_figures import (
    ABSOLUTE,
    HEIGHT,
    ORDER_LABELS,
    RELATIVE,
    WIDTH,
    Height,
    draw_order,
    hotpot_figure,
    relative,
    titles_of,
)
from recherche.report.hotpot_findings import hotpot_caption, hotpot_findings, hotpot_headline
from recherche.report.hotpot_results import HotpotPoint, HotpotRun, read_hotpot_run
from recherche.report.inline_svg import inline_svg
from recherche.report.numerals import NONE, decimal, duration, percent, short_number
from recherche.report.page import environment, pretty, write_page
from recherche.report.results import Failure
from recherche.report.sections import Plot, PlotSection
from recherche.report.tables import Column, Row
from recherche.report.text_figures import PROTOCOL_NAMES, colours_of_models
from recherche.report.text_results import TextPoint
from recherche.report.text_samples import telling
from recherche.report.text_steps import ShownGroup, show_text

COLUMNS = (
    Column("Model", "name of its folder", numeric=False),
    Column("Protocol", "whether it may search", numeric=False),
    Column("Order", "where the facts stand", numeric=False),
    Column("n", "paragraphs that are shown, two of which hold the facts"),
    Column("Accuracy", "share of exact matches by the official rules"),
    Column("95 % interval", "Wilson's"),
    Column("Relative", "accuracy beside that with two paragraphs by the same protocol"),
    Column("F1", "of the words of answer and right answer, by the official rules"),
    Column("95 % interval", "Wilson's, which is wide enough for F1"),
    Column("Questions", "that every model answers directly with two paragraphs"),
    Column("Undecided", "answers without a conclusion within the budget"),
    Column("Searches", "searches for each answer, on average"),
    Column("Outcomes", "what came of the searches", numeric=False),
    Column("Prompt", "tokens of a prompt with its examples, on average"),
    Column("Parameters", "numbers of the model"),
    Column("Took", "time for all answers of the point"),
    Column("Type", "number type of weights and state", numeric=False),
)


def write_hotpot_report(folder: Path) -> Path:
    """Write report.html, figure.png and figure.svg into a folder of `recherche hotpot`, and return the page's path.

    Raises:
        InputError: the folder is none of `recherche hotpot`, or a file of it is damaged.
    """
    run = read_hotpot_run(folder)
    colours = colours_of_models(map(_text_point, run.points))
    rows = [(_row(run, point), point) for point in run.points]
    page = (
        environment()
        .get_template("hotpot.html")
        .render(
            run=run,
            headline=hotpot_headline(run),
            facts=_facts(run),
            colours=colours,
            protocols=[protocol for protocol in PROTOCOL_NAMES if any(p.protocol == protocol for p in run.points)],
            bounded=False,
            refused=False,
            sections=[_section(run, colours, height) for height in (RELATIVE, ABSOLUTE)] if run.points else [],
            caption=hotpot_caption(run),
            findings=hotpot_findings(run),
            columns=COLUMNS,
            rows=[*(row for row, point in rows if point.n == run.sizes[-1]), *map(_absent, run.absent)],
            all_rows=[row for row, _ in rows],
            roles={model: ROLE_OF_COLOUR[colour] for model, colour in colours.items()},
            groups=[group for model in run.models if (group := _group(run, model)).shown],
            environment=pretty(
                run.record.model_dump(mode="json", include={"versions", "device", "seeds"})
                | run.choice.model_dump(mode="json", exclude={"kept"})
            ),
        )
    )
    if run.points:
        save_figure(hotpot_figure(run, colours), folder)
    return write_page(folder / "report.html", page)


def _text_point(point: HotpotPoint) -> TextPoint:
    return TextPoint(
        point=point.point,
        folder=point.folder,
        model_type=point.model_type,
        task="hotpotqa",
        protocol=point.protocol,
        n=point.n,
    )


def _section(run: HotpotRun, colours: Mapping[str, str], height: Height) -> PlotSection:
    plots = []
    for order in run.orders:
        draw = partial(draw_order, run=run, order=order, colours=colours, height=height)
        figure = single_panel(draw, width=WIDTH, height=HEIGHT, foot=0.5)
        label = f"HotpotQA, {ORDER_LABELS.get(order, order)}: {height.label} against paragraphs"
        svg = inline_svg(figure, prefix=f"{height.name}-{order}", label=label, titles=titles_of(run, height))
        plots.append(Plot(svg, WIDTH))
    return PlotSection(height.label, tuple(plots))


def _group(run: HotpotRun, model: str) -> ShownGroup:
    """For each protocol a right and a wrong answer, among the most paragraphs in the first order."""
    shown = []
    for protocol in reversed(PROTOCOL_NAMES):
        for point in run.line(model, protocol, run.orders[0])[-1:]:
            name = f"{PROTOCOL_NAMES[protocol]}, {point.n} paragraphs, {ORDER_LABELS.get(point.order, point.order)}"
            shown += [(name, show_text(sample)) for sample in telling(run.samples(point))]
    return ShownGroup(model, tuple(shown))


def _facts(run: HotpotRun) -> list[tuple[str, str]]:
    record, choice = run.record, run.choice
    facts = [
        ("models", ", ".join(run.models)),
        ("questions", f"{len(choice.kept):,} kept of {choice.num_asked:,} asked" if choice.kept else ""),
        ("examples", str(choice.num_shots)),
        ("seed", ", ".join(map(str, record.seeds))),
        ("points", f"{len(run.points)} measured" + (f", {len(run.absent)} absent" if run.absent else "")),
        ("took", duration(record.wall_seconds) if record.wall_seconds else ""),
        ("device", ", ".join(dict.fromkeys(point.device for point in run.points if point.device)) or record.device),
        ("recherche", str(record.versions.get("recherche", ""))),
        ("transformers", str(record.versions.get("transformers", ""))),
    ]
    return [(name, value) for name, value in facts if value]


def _row(run: HotpotRun, point: HotpotPoint) -> Row:
    share = relative(run, point)
    outcomes = ", ".join(f"{status} {percent(part)}" for status, part in point.search_outcomes.items())
    texts = (
        point.folder,
        PROTOCOL_NAMES.get(point.protocol, point.protocol),
        ORDER_LABELS.get(point.order, point.order),
        str(point.n),
        decimal(point.accuracy),
        f"{decimal(point.accuracy_low)} – {decimal(point.accuracy_high)}",
        NONE if share is None else f"{share:.3f}",
        decimal(point.f1),
        f"{decimal(point.f1_low)} – {decimal(point.f1_high)}",
        f"{point.num_samples:,}",
        f"{point.num_undecided:,}",
        NONE if point.protocol == "direct" else f"{point.searches_per_answer:.2f}",
        outcomes or NONE,
        short_number(point.prompt_tokens),
        short_number(point.num_parameters),
        duration(point.seconds),
        point.dtype,
    )
    return Row(point.point, point.folder, texts)


def _absent(failure: Failure) -> Row:
    reason = f"failed: {failure.error}" if failure.error else "not run"
    return Row(failure.cell, "", (failure.cell, "", "", "", reason), failed=True)
