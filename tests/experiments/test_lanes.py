import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from recherche.experiments.cell import Progress
from recherche.experiments.lanes import run_in_lanes
from recherche.experiments.presets import Recipe, quick_config
from recherche.training.curriculum import Fixed

pytestmark = pytest.mark.slow


def cells(num_steps):
    config = quick_config("transformer", "direct", 6, Recipe(num_steps, 4, Fixed(), 8))
    return {name: config.replace((f"seed={seed}",)) for seed, name in enumerate(("a", "b", "c"))}


def run(tmp_path, num_steps, on_message=lambda name, message: None):
    return run_in_lanes(cells(num_steps), lambda name: tmp_path / name, jobs=1, device="cpu", on_message=on_message)


def test_cells_run_in_the_order_given(tmp_path):
    begun = []
    outcome = run(tmp_path, 2, lambda name, message: begun.append(name) if isinstance(message, Progress) else None)
    assert list(dict.fromkeys(begun)) == ["a", "b", "c"]
    assert (len(outcome.results), outcome.failures, outcome.stopped) == (3, [], [])


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_an_interrupt_saves_the_running_cell_and_begins_no_other(tmp_path):
    interrupted = threading.Event()

    def interrupt_once(name, message):
        if not interrupted.is_set():
            interrupted.set()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)

    outcome = run(tmp_path, 20_000, interrupt_once)
    assert outcome.results == {}
    assert sorted(outcome.stopped) == ["a", "b", "c"]
    assert (tmp_path / "a" / "training.safetensors").exists()
    assert not (tmp_path / "c").exists()


ORPHAN = """
import sys, pathlib
from recherche.experiments.lanes import run_in_lanes
from recherche.experiments.presets import Recipe, quick_config
from recherche.training.curriculum import Fixed

if __name__ == "__main__":
    config = quick_config("transformer", "direct", 6, Recipe(20_000, 4, Fixed(), 8))
    folder = pathlib.Path(sys.argv[1])
    speak = lambda *_: print("on", flush=True)
    run_in_lanes({"a": config}, lambda name: folder, jobs=1, device="cpu", on_message=speak)
"""


def test_a_lane_whose_parent_is_killed_saves_its_cell_and_leaves(tmp_path):
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN)
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path / "a")], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "on\n"
    parent.kill()
    rest = parent.communicate()[0]  # ends only when the lane, which holds the other end, is gone
    assert parent.returncode == -signal.SIGKILL
    assert set(rest.split()) <= {"on"}
    assert (tmp_path / "a" / "training.safetensors").exists()
