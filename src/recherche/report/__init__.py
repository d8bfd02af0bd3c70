"""What a run folder holds, as a page: tables, figures and examples drawn from files alone; no model is loaded."""

from pathlib import Path

from recherche.report.hotpot_page import write_hotpot_report
from recherche.report.hotpot_results import is_hotpot
from recherche.report.page import write_comparison, write_report
from recherche.report.results import CellResult, read_results
from recherche.report.sweep_page import write_sweep_report
from recherche.report.sweep_results import is_sweep
from recherche.report.text_page import write_text_report
from recherche.report.text_results import is_text_run

__all__ = [
    "CellResult",
    "is_hotpot",
    "is_sweep",
    "is_text_run",
    "read_results",
    "redraw",
    "write_comparison",
    "write_hotpot_report",
    "write_report",
    "write_sweep_report",
    "write_text_report",
]

_KINDS = ((is_text_run, write_text_report), (is_hotpot, write_hotpot_report), (is_sweep, write_sweep_report))


def redraw(folder: Path) -> Path:
    """Write the page of a run folder, whichever command has filled it; the path of the page."""
    return next((write for is_kind, write in _KINDS if is_kind(folder)), write_report)(folder)
