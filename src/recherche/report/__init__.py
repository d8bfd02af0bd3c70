"""What a run folder holds, as a page: tables, figures and examples drawn from files alone; no model is loaded."""

from recherche.report.page import write_comparison, write_report
from recherche.report.results import CellResult, read_results

__all__ = ["CellResult", "read_results", "write_comparison", "write_report"]
