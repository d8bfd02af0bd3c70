"""A sweep folder as `recherche sweep` leaves it, with invented numbers."""

import json
from pathlib import Path
from typing import Any

from recherche.report.sweep_results import SweepPoint

MODELS = {
    "attention": (("attention", "attention"), ("",)),
    "mamba": (("mamba", "mamba"), ("d_state 2", "d_state 16")),
    "gla": (("gla", "gla"), ("",)),
    "hybrid": (("mamba", "attention"), ("",)),
}
STATE_BITS = {"": 4096, "d_state 2": 32, "d_state 16": 8192}


def line(mixer: str, size: str, *, task: str = "mqar", n: int = 16, **changes: Any) -> dict[str, Any]:
    """A line of results.jsonl."""
    grows = mixer in ("attention", "hybrid")
    accuracy = 0.99 if grows else 0.9 - 0.02 * n + (0.1 if size == "d_state 16" else 0.0)
    return {
        "cell": f"{task}-n32-{mixer}-{size.replace('_', '').replace(' ', '')}-0123456789ab",
        **{"mixer": mixer, "size": size, "layers": MODELS[mixer][0], "task": task, "n": n, "trained_n": 32},
        **{"num_parameters": 12345, "state_bits": 500 * n if grows else STATE_BITS[size], "state_grows": grows},
        **{"accuracy": accuracy, "accuracy_low": accuracy - 0.02, "accuracy_high": min(1.0, accuracy + 0.02)},
        **{"num_samples": 1000, "num_answers": 4000, "measured_by": "every question", "chance": 1 / 16},
        **{"needed_bits": 4.0 * n, "bound_accuracy": 1.0 if n < 16 or grows or size != "d_state 2" else 0.8},
        **{"solved": accuracy > 0.97, "train_steps": 600 if grows else 2000, "max_steps": 2000},
        **{"train_samples": 38_400, "train_seconds": 31.5, "seed": 0, "config_hash": "0123456789ab", "device": "CPU"},
        **changes,
    }


def lines(**changes: Any) -> list[dict[str, Any]]:
    """Every model, size, task and n."""
    kinds = [(mixer, size) for mixer, (_, sizes) in MODELS.items() for size in sizes]
    return [
        line(mixer, size, task=task, n=n, **changes)
        for task in ("mqar", "index")
        for mixer, size in kinds
        for n in (8, 16, 32)
    ]


def points(**changes: Any) -> tuple[SweepPoint, ...]:
    """The lines, read."""
    return tuple(SweepPoint.model_validate(values) for values in lines(**changes))


def write_sweep(folder: Path, **record: Any) -> Path:
    """A whole folder; `record` replaces parts of sweep.json."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = lines()
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = {"preset": "recall-quick", "summary": "four models", "seeds": [0], "wall_seconds": 1234.0, "device": "CPU"}
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    (folder / "sweep.json").write_text(json.dumps({**told, "cells": cells, **record}))
    return folder
