"""A folder as `recherche hotpot` leaves it, made up: three models that lose answers among distractors."""

import json
from itertools import product
from pathlib import Path
from typing import Any

from recherche.evaluation import wilson_interval

NUM = 350
LOSS = {"phi": 0.02, "mamba": 0.07, "hybrid": 0.03}
"""What each distractor costs in random order."""

TYPES = {"phi": "phi", "mamba": "mamba", "hybrid": "jamba"}


def accuracy_of(model: str, protocol: str, order: str, n: int) -> float:
    if protocol == "search":
        return 0.82 - 0.004 * (n - 2)
    return 1 - (n - 2) * (LOSS[model] if order == "random" else 0.004)


def points(num: int = NUM) -> list[dict[str, Any]]:
    """Lines of results.jsonl."""
    rows = []
    for model, n, protocol, order in product(LOSS, (2, 4, 6, 8), ("direct", "search"), ("random", "last")):
        right = round(accuracy_of(model, protocol, order, n) * num)
        low, high = wilson_interval(right, num)
        f1 = min(1.0, right / num + 0.05)
        f1_low, f1_high = wilson_interval(f1 * num, num)
        rows.append(
            {
                "point": f"{model}-{protocol}-{order}-n{n}",
                "folder": model,
                "model_type": TYPES[model],
                "num_parameters": 1_400_000_000,
                "protocol": protocol,
                "order": order,
                "n": n,
                "prompt_tokens": 900.0 + 130 * n,
                "accuracy": right / num,
                "accuracy_low": low,
                "accuracy_high": high,
                "f1": f1,
                "f1_low": f1_low,
                "f1_high": f1_high,
                "num_samples": num,
                "num_undecided": 3,
                "searches_per_answer": 2.1 if protocol == "search" else 0.0,
                "search_outcomes": {"NO_MATCH": 0.05, "OK": 0.95} if protocol == "search" else {},
                "seconds": 812.0,
                "answers": f"{model}-{protocol}-{order}-n{n}-0123456789ab",
                "device": "a GPU",
                "dtype": "bfloat16",
                "versions": {"recherche": "0.1.0"},
            }
        )
    return rows


def sample(*, right: bool, searches: bool, found: str = "Ada Berg was born in Altvik.") -> dict[str, Any]:
    """A line of samples.jsonl."""
    head, tail = "Answer each question from the paragraphs above it.\n\n", "Ada Berg: Ada Berg was born in Altvik.\n\n"
    end = "Question: Where was Ada Berg born?\nAnswer:"
    tail_at = 4000 - len(tail + end)
    answer = "Altvik" if right else "Bremso"
    query, inserted = "<search>sentence with Ada Berg</search>", f"<found>{found}</found>"
    own = f" So the answer is: {answer}\n"
    place = tail_at + len("Ada Berg: ")
    made = {
        "query": "sentence with Ada Berg",
        "asked": "sentence with Ada Berg",
        "pattern": None,
        "status": "OK",
        "span": [place, place + len("Ada Berg was born in Altvik.")],
        "found": found,
        "place": [4000, 4000 + len(query + inserted)],
        "inserted": [4000 + len(query), 4000 + len(query + inserted)],
        "reason": "",
    }
    return {
        "id": f"5a{right}",
        "question": "Where was Ada Berg born?",
        "answers": ["Altvik"],
        "answer": answer,
        "decided": True,
        "right": right,
        "f1": float(right),
        "reason": "stop string",
        "prompt": [[0, head], [tail_at, tail + end]],
        "prompt_characters": 4000,
        "prompt_tokens": 950,
        "text": query + inserted + own if searches else f" Ada Berg was born in Altvik.{own}",
        "searches": [made] if searches else [],
    }


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_hotpot_run(
    folder: Path, *, num: int = NUM, found: str = "Ada Berg was born in Altvik.", **record: Any
) -> Path:
    """The folder, and its path."""
    rows = points(num)
    write_lines(folder / "results.jsonl", rows)
    for row in rows:
        searches = row["protocol"] == "search"
        samples = [sample(right=right, searches=searches, found=found) for right in (True, False)]
        write_lines(folder / "points" / row["answers"] / "samples.jsonl", samples)
    values = {
        "preset": "hotpot",
        "seeds": [0],
        "cells": [row["point"] for row in rows],
        "data": "hotpot_dev_distractor_v1.json",
        "shots_file": "hotpot_dev_distractor_v1.json",
        "num_shots": 4,
        "max_new_tokens": 256,
        "num_wanted": NUM,
        "num_questions": 7405,
        "num_candidates": 7380,
        "num_asked": 1234,
        "kept": [f"q{i}" for i in range(num)],
        "versions": {"recherche": "0.1.0", "transformers": "5.24.0"},
        "wall_seconds": 7200.0,
        "device": "a GPU",
    }
    (folder / "hotpot.json").write_text(json.dumps(values | record))
    return folder
