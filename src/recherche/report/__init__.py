"""What a run folder holds, as a page: tables, figures and examples drawn from files alone; no model is loaded."""

from recherche.report.page import write_comparison, write_report
from recherche.report.results import CellResult, read_results
from recherche.report.sweep_page import write_sweep_report
from recherche.report.sweep_results import is_sweep
from recherche.report.text_page import write_text_report
from recherche.report.text_results import is_text_run

__all__ = [
    "CellResult",
    "is_sweep",
    "is_text_run",
    "read_results",
    "write_comparison",
    "write_report",
    "write_sweep_report",
    "write_text_report",
]
