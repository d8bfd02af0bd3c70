"""The progress of a grid of cells: bars on a terminal, a line now and then in a log."""

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_LOG_SECONDS = 30.0
_FIRST_ETA_SECONDS = 5.0


class Board:
    """One bar for all cells, weighted by their work, and a bar for each cell that runs.

    Args:
        work: of each cell, in any unit.
        what: cells, in the plural of what they are called.
    """

    def __init__(self, work: Mapping[str, float], *, console: Console, what: str = "cells") -> None:
        self._work = dict(work)
        self._done = dict.fromkeys(work, 0.0)
        self._running: dict[str, TaskID] = {}
        self._first: tuple[float, float] | None = None
        self._logged = time.monotonic()
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description:<28}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._all = self._bars.add_task(f"all {what}", total=sum(self._work.values()) or 1.0, note="")

    def __enter__(self) -> "Board":
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def tell(self, cell: str, message: Any) -> None:
        """Take a message of a lane: the progress, the result or the failure of a cell."""
        from recherche.experiments.cell import Progress as CellProgress

        if isinstance(message, CellProgress):
            self._move(cell, message)
        else:
            self._end(cell, message)
        finished = sum(self._done.values())
        eta = self._eta(finished)
        self._bars.update(self._all, completed=finished, note=eta)
        if not self._console.is_terminal and time.monotonic() - self._logged >= _LOG_SECONDS:
            self._logged = time.monotonic()
            share = finished / (sum(self._work.values()) or 1.0)
            self._console.print(f"  {share:4.0%} {eta}  ({', '.join(self._running)})", highlight=False, soft_wrap=True)

    def _move(self, cell: str, message: Any) -> None:
        if cell not in self._running:
            self._running[cell] = self._bars.add_task(cell, total=message.total, note="")
        note = f"{message.phase} {message.note}"
        self._bars.update(self._running[cell], total=message.total, completed=message.done, note=note)
        if message.phase != "evaluate":  # what follows a training is not counted
            self._done[cell] = self._work[cell] * message.done / message.total

    def _end(self, cell: str, message: Any) -> None:
        if cell in self._running:
            self._bars.remove_task(self._running.pop(cell))
        self._done[cell] = self._work[cell]
        if isinstance(message, dict):
            self._console.print(f"  {cell:<28} {_outcome(message)}", markup=False, highlight=False, soft_wrap=True)

    def _eta(self, finished: float) -> str:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, finished)
        started, before = self._first
        if finished <= before or now - started < _FIRST_ETA_SECONDS:
            return ""
        left = (sum(self._work.values()) - finished) * (now - started) / (finished - before)
        return f"about {duration(left)} left"


def _outcome(result: Mapping[str, Any]) -> str:
    """What a result says of itself, or an accuracy with its interval, or why there is none."""
    if "summary" in result:
        return str(result["summary"])
    if result.get("refused"):
        return f"refused: {result['refused']}"
    return f"{result['accuracy']:.3f} [{result['accuracy_low']:.3f}, {result['accuracy_high']:.3f}]"


def duration(seconds: float) -> str:
    """A time span in the two units that matter.

    >>> duration(42.0), duration(700.0), duration(9000.0)
    ('42 s', '12 min', '2 h 30 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
