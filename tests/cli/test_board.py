import io

import pytest
from rich.console import Console

from recherche.cli import board as module
from recherche.cli.board import Board, duration
from recherche.experiments.cell import Progress

WORK = {"a": 80.0}
RESULT = {"accuracy": 0.5, "accuracy_low": 0.25, "accuracy_high": 0.75}


def told(*messages, terminal=False):
    output = io.StringIO()
    with Board(WORK, console=Console(file=output, force_terminal=terminal, width=120)) as board:
        for message in messages:
            board.tell("a", message)
    return output.getvalue()


def test_a_result_is_one_line():
    assert "a                            0.500 [0.250, 0.750]" in told(RESULT)


def test_a_refusal_is_one_line_too():
    assert "a                            refused: too long" in told({"accuracy": None, "refused": "too long"})


@pytest.mark.parametrize(("phase", "share"), [("train", " 50%"), ("answer", " 50%"), ("evaluate", " 0%")])
def test_what_follows_a_training_does_not_count(monkeypatch, phase, share):
    monkeypatch.setattr(module, "_LOG_SECONDS", 0.0)
    assert share in told(Progress(phase, 5, 10, ""))


def test_a_log_gets_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(module, "_LOG_SECONDS", 0.0)
    assert "50%" in told(Progress("train", 5, 10, "loss 0.1"))
    monkeypatch.setattr(module, "_LOG_SECONDS", 1e9)
    assert told(Progress("train", 5, 10, "loss 0.1")) == ""


def test_a_terminal_gets_bars_with_the_note_of_the_cell():
    shown = told(Progress("train", 5, 10, "loss 0.1"), terminal=True)
    assert "all cells" in shown
    assert "loss 0.1" in shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.0, "59 s"), (60.0, "1 min"), (3599.0, "1 h 0 min"), (7260.0, "2 h 1 min")]
)
def test_durations_are_readable(seconds, text):
    assert duration(seconds) == text
