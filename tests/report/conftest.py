"""A run folder as `recherche reproduce` leaves it, made up: real graphs, real depth-first tours, invented numbers."""

import json
from collections.abc import Callable
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ARCHITECTURES = ("transformer", "mamba", "hybrid")
PROTOCOLS = ("direct", "cot", "retrieval")
COT_ACCURACY = {"transformer": 0.998, "mamba": 0.861, "hybrid": 0.993}
SAMPLES = {"direct": 16_000, "cot": 102_400, "retrieval": 9_600}
PARAMETERS = {"transformer": 166_208, "mamba": 114_304, "hybrid": 127_344}
VERSIONS = {"recherche": "0.1.0", "python": "3.11.7", "torch": "2.13.0", "numpy": "2.3.4"}
Edges = list[list[int]]


def hard_graph(rng: np.random.Generator, n: int) -> tuple[Edges, bool]:
    """Two stars and one more edge, which bridges them (a tree) or closes a triangle; names, order, sides shuffled."""
    names = rng.permutation(n) + 1
    bits = rng.integers(0, 2, size=n - 2)
    k = int(rng.integers(0, n - 3))
    pairs = [(names[a], names[n - 2 + bits[a]]) for a in range(n - 2)] + [(names[k], names[k + 1])]
    edges = [[int(x) for x in rng.permutation(pairs[i])] for i in rng.permutation(len(pairs))]
    return edges, bool(bits[k] != bits[k + 1])


def tour_of(edges: Edges) -> list[int]:
    """Euler tour from vertex 1 in the order of the edges; ends at a visited vertex other than the parent."""
    parents, tour = {1: 0}, [1]

    def visit(v: int) -> bool:
        for w in [a + b - v for a, b in edges if v in (a, b)]:
            if w == parents[v]:
                continue
            if w in parents:
                return False
            parents[w] = v
            tour.append(w)
            if not visit(w):
                return False
            tour.append(v)
        return True

    visit(1)
    return tour


class TraceWriter:
    """Writes a trace token by token, with the searches it makes of its own context."""

    def __init__(self, prompt: list[str]) -> None:
        self.context = list(prompt)
        self.start = len(prompt)
        self.retrieved: list[int] = []
        self.searches: list[dict[str, Any]] = []

    def write(self, *tokens: str) -> None:
        self.context += tokens
        self.retrieved += [0] * len(tokens)

    def search(self, query: str, pattern: str, found: int | None) -> str:
        self.write("<StartSearch>", *query.split(), "<EndSearch>")
        result = self.context[found] if found is not None else "FAILED"
        self.searches.append(
            {
                "query": query,
                "pattern": pattern,
                "status": "OK" if found is not None else "NO_MATCH",
                "result": [result],
                "span": None if found is None else [found, found + 1],
                "position": len(self.context) - self.start - 1,
            }
        )
        self.context.append(result)
        self.retrieved.append(1)
        return result


def write_retrieval_trace(edges: Edges, prompt: list[str]) -> TraceWriter:
    """Walk the tour of the graph, asking for every next edge and whether its other end was visited."""
    writer = TraceWriter(prompt)
    place = {(a, b): 1 + 3 * i for i, (a, b) in enumerate(map(tuple, edges))}

    def end_of(v: int, w: int) -> int:
        return place[v, w] + 2 if (v, w) in place else place[w, v]

    def record_of(v: int) -> int | None:
        starts = range(writer.start, len(writer.context) - 2)
        return next((t for t in starts if writer.context[t + 1 : t + 3] == ["-", str(v)] and t not in inside), None)

    inside: set[int] = set()
    last: dict[int, int] = {}
    for v, w in pairwise(tour_of(edges)):
        query, pattern = f"{v} ~", rf"(?:^| )(?:([^ ]+) ~ {v}|{v} ~ ([^ ]+))(?: |$)"
        if v in last:
            query, pattern = f"{v} ~ {last[v]}", rf"(?s)(?:^| )(?:{last[v]} ~ {v}|{v} ~ {last[v]}) (?:.*? )??..."
        inside |= {len(writer.context) + 1}
        writer.search(query, pattern, end_of(v, w))
        inside |= {len(writer.context) + 1}
        writer.search(f"{w} -", rf"(?:^| )([^ ]+) - {w}(?: |$)", record_of(w))
        if record_of(w) is None and w != 1:
            writer.write(str(v), "-", str(w))
        last[v], last[w] = w, v
    return writer


def example_of(rng: np.random.Generator, *, n: int, protocol: str, right: bool) -> dict[str, Any]:
    """One row of examples.jsonl."""
    edges, is_tree = hard_graph(rng, n)
    prompt = ["<s>", *(token for u, v in edges for token in (str(u), "~", str(v))), "<d>"]
    writer = write_retrieval_trace(edges, prompt) if protocol == "retrieval" else TraceWriter(prompt)
    if protocol == "cot":
        tour = tour_of(edges)
        writer.write(*map(str, tour if right else tour[: len(tour) // 2]))
    answer = "YES" if is_tree == right else "NO"
    writer.write(answer)
    return {
        "edges": edges,
        "prompt": prompt,
        "generated": writer.context[writer.start :],
        "retrieved": writer.retrieved,
        "searches": writer.searches,
        "answer": answer,
        "truth": "YES" if is_tree else "NO",
    }


def metrics_of(rng: np.random.Generator, *, n: int, protocol: str, accuracy: float) -> list[dict[str, Any]]:
    """Rows of metrics.jsonl: a falling loss, a rising level, a validation now and then."""
    rows: list[dict[str, Any]] = []
    steps = SAMPLES[protocol] // 32
    for step in range(20, steps + 1, 20):
        part = step / steps
        level = n if protocol == "direct" else min(n, 6 + int(part * 1.6 * (n - 6)))
        floor = 0.69 if protocol == "direct" else 0.02 + 1.9 * float(np.exp(-5 * part)) + (1 - accuracy) * 0.6
        loss = floor * float(rng.normal(1, 0.06))
        row = {"step": step, "samples": 32 * step, "n": level, "loss": loss, "tokens_per_second": 24e3}
        rows.append(row | {"seconds": step * 0.06, "attempt": 0})
        if step % 200 == 0:
            reached = 0.5 + (accuracy - 0.5) * part**0.7
            rows.append({"step": step, "validation_accuracy": reached, "attempt": 0})
    return rows


def wilson(accuracy: float, num: int) -> tuple[float, float]:
    z = 1.96
    centre = (accuracy + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * sqrt(accuracy * (1 - accuracy) / num + z * z / (4 * num * num))
    return centre - half, centre + half


def cell_name(*, architecture: str, protocol: str, n: int, size: str, seed: int) -> str:
    name = f"{architecture}-{protocol}-n{n}"
    return name + ("" if size.startswith("quick") else f"-{size}") + (f"-seed{seed}" if seed else "")


def size_label(size: str, protocol: str) -> str:
    return size if size != "quick" else "quick-retrieval" if protocol == "retrieval" else "quick-cot"


def result_of(accuracy: float, **cell: Any) -> dict[str, Any]:
    """One line of results.jsonl."""
    protocol, n, architecture = cell["protocol"], cell["n"], cell["architecture"]
    num = {"direct": 5000, "cot": 2000, "retrieval": 1000}[protocol]
    low, high = wilson(accuracy, num)
    return {
        "cell": cell_name(**cell),
        "architecture": architecture,
        "protocol": protocol,
        "n_nodes": n,
        "size": size_label(cell["size"], protocol),
        "num_parameters": PARAMETERS[architecture],
        "state_bits": {"transformer": 32 * 512 * 4 * n * 3, "mamba": 73_728, "hybrid": 55_296 + 4096 * n * 3}[
            architecture
        ],
        "accuracy": accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "num_samples": num,
        "num_undecided": 3 if protocol == "retrieval" else 0,
        "exact_trace_rate": None if protocol == "direct" else max(0.0, accuracy - 0.03),
        "measured_by": "generation",
        "teacher_forced_accuracy": max(0.0, accuracy - 0.02),
        "train_samples": SAMPLES[protocol],
        "train_steps": SAMPLES[protocol] // 32,
        "level_reached": n,
        "train_seconds": SAMPLES[protocol] * 0.0021,
        "tokens_per_second": 24_000.0,
        "seed": cell["seed"],
        "config_hash": "8c2f19ab30de",
        "versions": VERSIONS,
        "device": "cpu",
    }


def accuracy_of(rng: np.random.Generator, *, architecture: str, protocol: str, n: int) -> float:
    if protocol == "direct":
        return float(rng.normal(0.498, 0.006))
    if protocol == "retrieval":
        return float(rng.uniform(0.991, 0.999))
    fall = {"transformer": 0.0005, "mamba": 0.02, "hybrid": 0.0008}[architecture]
    return float(np.clip(COT_ACCURACY[architecture] - fall * (n - 16) + rng.normal(0, 0.004), 0.5, 0.999))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_cell(folder: Path, rng: np.random.Generator, *, accuracy: float, cell: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    protocol, n = cell["protocol"], cell["n"]
    model = {"layers": [{"mixer": cell["architecture"], "d_model": 64}], "embedding": {"name": "orthogonal"}}
    config = {"version": 1, **cell, "model": model, "plans": [{"optimizer": "muon", "batch_size": 32}]}
    (folder / "config.json").write_text(json.dumps(config))
    write_lines(folder / "metrics.jsonl", metrics_of(rng, n=n, protocol=protocol, accuracy=accuracy))
    rights = (True, True, protocol == "retrieval", True)
    write_lines(folder / "examples.jsonl", [example_of(rng, n=n, protocol=protocol, right=right) for right in rights])


def write_run(
    folder: Path, *, sizes: tuple[str, ...] = ("quick",), ns: tuple[int, ...] = (16,), seeds: tuple[int, ...] = (0,)
) -> Path:
    """A whole run folder: every architecture and protocol at each size, n and seed."""
    rng = np.random.default_rng(7)
    results = []
    for size in sizes:
        for n in ns:
            for seed in seeds:
                for protocol in PROTOCOLS:
                    for architecture in ARCHITECTURES:
                        cell = dict(architecture=architecture, protocol=protocol, n=n, size=size, seed=seed)
                        accuracy = accuracy_of(rng, architecture=architecture, protocol=protocol, n=n)
                        results.append(result_of(accuracy, **cell))
                        write_cell(folder / "cells" / cell_name(**cell), rng, accuracy=accuracy, cell=cell)
    write_lines(folder / "results.jsonl", results)
    record = {
        "preset": "quick",
        "seeds": list(seeds),
        "versions": VERSIONS,
        "device": "x86_64 CPU, 1 thread(s)",
        "jobs": 2,
        "started": "2026-03-01T10:00:00+00:00",
        "finished": "2026-03-01T10:11:45+00:00",
        "cells": [result["cell"] for result in results],
        "failed": [],
    }
    (folder / "reproduce.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Path]:
    """`make_run(folder, sizes=..., ns=..., seeds=...)` writes a run folder."""
    return write_run


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The nine cells of the quick preset; not to be changed by a test."""
    return write_run(tmp_path_factory.mktemp("runs") / "quick")
