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

    A run is what `reproduce`, `sweep` or `lm eval` has written.

    [bold]Examples[/bold]

      recherche report runs/quick                                 redraw
      recherche report runs/recall-quick                          redraw a sweep
      recherche report runs/lm                                    redraw a measurement of language models
      recherche report runs/quick runs/other --out compare.html   side by side

    Reads files only: no model is loaded.
    """
    from recherche.report import (
        is_sweep,
        is_text_run,
        write_comparison,
        write_report,
        write_sweep_report,
        write_text_report,
    )

    if len(folders) == 1 and out is None and is_text_run(folders[0]):
        path = write_text_report(folders[0])
    elif len(folders) == 1 and out is None and is_sweep(folders[0]):
        path = write_sweep_report(folders[0])
    elif len(folders) == 1 and out is None:
        path = write_report(folders[0])
    else:
        path = write_comparison(folders, out or Path("comparison.html"))
    Console(soft_wrap=True, highlight=False).print(str(path), markup=False)
