"""`recherche report`: draw the page of a run folder again, or set several runs side by side."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of a run or a sweep.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where the page of several runs goes.")] = None,
) -> None:
    """Write DIR/report.html and its figures from the files of a run; with several runs, a page that compares them.

    A run is what `reproduce`, `sweep`, `lm eval` or `hotpot` has written.

    [bold]Examples[/bold]

      recherche report runs/quick                                 redraw
      recherche report runs/recall-quick                          redraw a sweep
      recherche report runs/lm                                    redraw a measurement of language models
      recherche report runs/quick runs/other --out compare.html   side by side

    Reads files only: no model is loaded.
    """
    from recherche.report import redraw, write_comparison

    alone = len(folders) == 1 and out is None
    path = redraw(folders[0]) if alone else write_comparison(folders, out or Path("comparison.html"))
    Console(soft_wrap=True, highlight=False).print(str(path), markup=False)
