"""A trained model at several n: accuracy over every question, beside the best that so many bits of state allow.

A direct answer is scored on all questions of a text, the right answers to the earlier ones being given, as zoology
does; with a worked-out trace the model generates, and the last answer counts. For MQAR only the former can be held
against the bound, and only the former says whether keys are looked up: a state that holds nothing but the sum of all
values answers the last question perfectly once the others have been answered (small models do learn to answer what is
left over). Questions of one text are not independent; the interval counts texts, which is wide enough
for any dependence between them.

FOLDER/curve.json    one line of numbers for each n, beside what `experiments.cell` writes

Reference: Arora et al. (2023), Zoology, https://arxiv.org/abs/2312.04927
"""

from pathlib import Path
from typing import Any

from recherche._rng import numpy_generator
from recherche.evaluation import evaluate_generated, evaluate_teacher_forced, wilson_interval
from recherche.experiments.cell import UNWATCHED, Watch, run_cell, state_bits_after_prompt
from recherche.experiments.files import read_json, write_json
from recherche.experiments.runs import Run, load_run
from recherche.experiments.sweep_grid import SweepCell
from recherche.games.information import best_accuracy
from recherche.tasks import MQAR, Index
from recherche.tasks.base import AbstractTask, draw_keys

INDEPENDENT_SYMBOLS = (Index, MQAR)
"""Tasks whose bound is (questions) x log2(values): each question asks for one value, independent of the others."""


def run_sweep_cell(cell: SweepCell, folder: Path, *, watch: Watch = UNWATCHED, device: str = "cpu") -> dict[str, Any]:
    """Train a point of a sweep, from wherever it stands, and measure it at each of its sizes.

    Returns:
        The result of the run with the accuracy at the largest n and its `curve`, a list of rows for results.jsonl.

    Raises:
        ConfigError: the folder belongs to another configuration.
        CheckpointError: a stored state is damaged.
        Stopped: `watch.stop` said so; everything is saved.
    """
    result = run_cell(cell.config, folder, watch=watch, device=device)
    if not is_measured(cell, folder):
        run = load_run(folder, device=device)
        write_json(folder / "curve.json", [_row(run, n, result) for n in cell.sizes])
    curve = read_json(folder / "curve.json")
    return result | {name: curve[-1][name] for name in ("accuracy", "accuracy_low", "accuracy_high")} | {"curve": curve}


def is_measured(cell: SweepCell, folder: Path) -> bool:
    """Whether the folder holds the cell's numbers at all its sizes."""
    path = folder / "curve.json"
    return path.exists() and [row["n"] for row in read_json(path)] == list(cell.sizes)


def best_accuracy_of(task: AbstractTask, state_bits: int) -> float | None:
    """The best mean accuracy that a state of so many bits allows; None where no such bound is known."""
    if not isinstance(task, INDEPENDENT_SYMBOLS):
        return None
    return best_accuracy(state_bits, needed_bits=task.lower_bound_bits, num_symbols=round(1 / task.chance))


def _row(run: Run, n: int, result: dict[str, Any]) -> dict[str, Any]:
    task, config = run.task.at_size(n), run.config
    keys = draw_keys(numpy_generator(config.seed, f"curve-{n}"), config.evaluation.num_samples)
    if config.task.protocol == "direct":
        forced = evaluate_teacher_forced(run.model, task, keys=keys, batch_size=config.evaluation.batch_size)
        accuracy, num_answers, measured_by = forced.per_token, forced.num_tokens, "every question"
    else:
        generated = evaluate_generated(run.model, task, keys=keys, batch_size=config.evaluation.batch_size)
        accuracy, num_answers, measured_by = generated.accuracy, len(keys), "generation"
    low, high = wilson_interval(accuracy * len(keys), len(keys))
    state_bits = state_bits_after_prompt(run.model, task)
    attempt = result["attempts"][-1]
    return {
        "mixer": config.architecture,
        "size": config.size,
        "layers": [layer.mixer for layer in config.model.layers],
        "task": config.task.name,
        "protocol": config.task.protocol,
        "n": n,
        "trained_n": config.task.n,
        "num_parameters": run.model.num_parameters,
        "state_bits": state_bits,
        "state_grows": any(layer.state_grows for layer in config.model.layers),
        "accuracy": accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "num_samples": len(keys),
        "num_answers": num_answers,
        "measured_by": measured_by,
        "chance": task.chance,
        "needed_bits": task.lower_bound_bits,
        "bound_accuracy": best_accuracy_of(task, state_bits),
        "solved": attempt["solved"],
        "validation_accuracy": attempt["validation_accuracy"],
        "train_steps": result["train_steps"],
        "max_steps": config.plans[-1].num_steps,
        "train_samples": result["train_samples"],
        "train_seconds": result["train_seconds"],
    } | {name: result[name] for name in ("seed", "config_hash", "versions", "device")}
