"""Cells side by side: one process a lane, one thread each, longest cells first.

On few cores two processes of one thread do more work than one process of two. Lanes ignore Ctrl-C; the parent turns it
into a request to stop, which a lane answers by saving its cell. A lane also stops when its parent is gone.
"""

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from recherche.errors import RechercheError
from recherche.experiments.cell import Stopped, Watch, run_cell

Work = Callable[..., dict[str, Any]]
"""`work(cell, folder, watch=, device=)`: the numbers of a cell; it asks `watch.stop` and raises `Stopped`."""

_POLL_SECONDS = 0.2


class _Lane(NamedTuple):
    """What a lane process knows of its parent."""

    messages: Any
    stop: Any
    parent: int
    device: str
    busy: threading.Lock


_lane: _Lane


class Failure(NamedTuple):
    """A cell that did not reach its end.

    Attributes:
        cell: its name.
        error: what went wrong, in one line.
    """

    cell: str
    error: str


class Outcome(NamedTuple):
    """What became of the cells that were run.

    Attributes:
        results: the numbers of each finished cell, by name.
        failures: cells that failed.
        stopped: names of cells that were interrupted or never begun; running again goes on with them.
    """

    results: dict[str, dict[str, Any]]
    failures: list[Failure]
    stopped: list[str]


def run_in_lanes(
    cells: Mapping[str, Any],
    folder_of: Callable[[str], Path],
    *,
    jobs: int,
    device: str,
    on_message: Callable[[str, Any], None],
    work: Work = run_cell,
) -> Outcome:
    """Run cells in the order given, `jobs` at a time.

    Args:
        cells: what `work` takes, by name.
        folder_of: folder of a cell, by name.
        on_message: told (cell, Progress) while cells run and (cell, result or Failure) when one ends, in this process.
        work: brings one cell to its end in its folder; a function of a module, for it is named to other processes.
    """
    context = multiprocessing.get_context("spawn")
    messages, stop = context.Queue(), context.Event()
    outcome = Outcome({}, [], [])
    pool = ProcessPoolExecutor(
        min(jobs, len(cells)) or 1,
        mp_context=context,
        initializer=_open_lane,
        initargs=(messages, stop, os.getpid(), device),
    )
    with pool:
        waiting = {name: pool.submit(_run, work, name, cell, folder_of(name)) for name, cell in cells.items()}
        while waiting:
            try:
                _relay(messages, on_message)
                for name in [name for name, future in waiting.items() if future.done()]:
                    _collect(name, waiting.pop(name), outcome, on_message)
            except KeyboardInterrupt:
                stop.set()
    return outcome


def _open_lane(messages: Any, stop: Any, parent: int, device: str) -> None:
    global _lane
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if device == "cpu":
        torch.set_num_threads(1)
    _lane = _Lane(messages, stop, parent, device, threading.Lock())
    threading.Thread(target=_leave_with_the_parent, args=(_lane,), daemon=True).start()


def _leave_with_the_parent(lane: _Lane) -> None:
    """End this process once its parent is gone and its cell has been saved."""
    while os.getppid() == lane.parent:
        time.sleep(_POLL_SECONDS)
    with lane.busy:
        os._exit(1)


def _run(work: Work, name: str, cell: Any, folder: Path) -> dict[str, Any]:
    lane = _lane

    def stopping() -> bool:
        return lane.stop.is_set() or os.getppid() != lane.parent

    if stopping():
        raise Stopped
    watch = Watch(stop=stopping, report=lambda progress: lane.messages.put((name, progress)))
    with lane.busy:
        return work(cell, folder, watch=watch, device=lane.device)


def _relay(messages: Any, on_message: Callable[[str, Any], None]) -> None:
    try:
        message = messages.get(timeout=_POLL_SECONDS)
        while True:
            on_message(*message)
            message = messages.get_nowait()
    except queue.Empty:
        return


def _collect(
    name: str, future: "Future[dict[str, Any]]", outcome: Outcome, on_message: Callable[[str, Any], None]
) -> None:
    error = future.exception()
    if error is None:
        outcome.results[name] = future.result()
        on_message(name, future.result())
    elif isinstance(error, Stopped):
        outcome.stopped.append(name)
    else:
        kind = "" if isinstance(error, RechercheError) else f"{type(error).__name__}: "
        failure = Failure(name, f"{kind}{error}")
        outcome.failures.append(failure)
        on_message(name, failure)
