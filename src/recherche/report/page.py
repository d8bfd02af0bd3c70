"""Writes the pages: one self-contained HTML file for a run, one for several runs side by side.

A page asks nothing of the network: style, script and figures are inside it, and its content security policy forbids
everything else. All text that comes from files, and so from models, is escaped by the template engine.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recherche._files import write_text
from recherche.errors import InputError
from recherche.report.appearance import ARCHITECTURE_LABELS, ROLE_OF_COLOUR, colours_of, in_order
from recherche.report.deviations import Deviation, deviations_of, training_of
from recherche.report.figures import accuracy_figure, save_figure
from recherche.report.findings import findings_of, headline
from recherche.report.panels import accuracy_panels, comparison_panels, legend_of
from recherche.report.results import Run, read_run
from recherche.report.sections import bar_plots, configs_of, example_groups, facts_of, learning_sections, marks_of
from recherche.report.tables import RESULT_COLUMNS, Column, comparison_rows, result_rows


def write_report(folder: Path) -> Path:
    """Write report.html, figure.png and figure.svg into a run folder, and return the path of the page.

    Raises:
        InputError: the folder holds no results, or a file of it is damaged.
    """
    run = read_run(folder)
    panels = accuracy_panels(run)
    page = (
        environment()
        .get_template("report.html")
        .render(
            run=run,
            headline=headline(run),
            facts=facts_of(run),
            series=legend_of(panels),
            marks=marks_of(panels, [result.size for result in run.results]),
            bars=bar_plots(panels),
            deviations=deviations_of(run.record.preset),
            training=training_of(run.record.preset),
            findings=findings_of(run),
            columns=RESULT_COLUMNS,
            rows=result_rows(run),
            roles=_roles([run]),
            learning=learning_sections(run),
            examples=example_groups(run),
            configs=configs_of(run),
            environment=pretty(
                run.record.model_dump(mode="json", include={"versions", "machine", "device", "jobs", "seeds"})
            ),
        )
    )
    if panels:
        save_figure(accuracy_figure(panels), folder)
    return write_page(folder / "report.html", page)


def write_comparison(folders: Sequence[Path], path: Path) -> Path:
    """Write a page with the cells of several runs side by side to `path`, and return it.

    Raises:
        InputError: there are fewer than two folders, or one holds no results.
    """
    if len(folders) < 2:
        raise InputError(f"A comparison needs two or more run folders, got {len(folders)}; name another one.")
    runs = [read_run(folder) for folder in folders]
    labels = _distinct_labels(folders)
    panels = comparison_panels(runs, labels)
    head = ("Architecture", "Protocol", "n", "Size")
    columns = [Column(name, "", numeric=name == "n") for name in head]
    columns += [Column(label, "accuracy and 95 % interval") for label in labels]
    columns.append(Column("Difference", "accuracy of the last run less that of the first, in points"))
    page = (
        environment()
        .get_template("comparison.html")
        .render(
            labels=labels,
            headlines=list(zip(labels, map(headline, runs), strict=True)),
            series=legend_of(panels),
            marks=marks_of(panels, [result.size for run in runs for result in run.results]),
            bars=bar_plots(panels),
            deviations=_shared_deviations(runs, labels),
            columns=columns,
            rows=comparison_rows(runs),
            roles=_roles(runs),
        )
    )
    return write_page(path, page)


@cache
def environment() -> Environment:
    """The template engine: everything is escaped, an unknown name is an error."""
    engine = Environment(
        loader=PackageLoader("recherche.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=False
    )
    templates = files("recherche.report") / "templates"
    engine.globals |= {
        "style": Markup((templates / "style.css").read_text(encoding="utf-8")),
        "script": Markup((templates / "script.js").read_text(encoding="utf-8")),
    }
    engine.filters["role"] = ROLE_OF_COLOUR.__getitem__
    return engine


def _roles(runs: Sequence[Run]) -> dict[str, str]:
    """The colour of each architecture, by the name that the style sheet knows it by."""
    architectures = in_order((result.architecture for run in runs for result in run.results), ARCHITECTURE_LABELS)
    return {name: ROLE_OF_COLOUR[colour] for name, colour in colours_of(architectures).items()}


def _shared_deviations(runs: Sequence[Run], labels: Sequence[str]) -> list[tuple[str, tuple[Deviation, ...]]]:
    """Departures from the paper's recipe, once for all runs that have the same ones."""
    sharing: dict[tuple[Deviation, ...], list[str]] = {}
    for run, label in zip(runs, labels, strict=True):
        sharing.setdefault(deviations_of(run.record.preset), []).append(label)
    return [(" and ".join(names), rows) for rows, names in sharing.items()]


def _distinct_labels(folders: Sequence[Path]) -> list[str]:
    """Folder names; whole paths if two folders have the same name."""
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def pretty(values: Any) -> str:
    """Plain values as text for people."""
    return json.dumps(values, indent=2, ensure_ascii=False)


def write_page(path: Path, text: str) -> Path:
    """Replace a page, all of it or nothing, and return its path."""
    write_text(path, text)
    return path
