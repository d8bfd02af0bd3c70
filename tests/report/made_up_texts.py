"""A folder as `recherche lm eval` leaves it, with invented numbers and answers."""

import json
from pathlib import Path
from typing import Any

from recherche.report.text_results import TextPoint
from tests.report.conftest import wilson

SIZES = (10, 100, 1000)
MODELS = {"my-mamba": ("mamba", 3_000_000), "my-llama": ("llama", 3_100_000)}
DIRECT = {"my-mamba": (0.98, 0.41, 0.02), "my-llama": (0.99, 0.95, 0.60)}
BITS = {"phonebook": 23.25, "variables": None}


def line(
    folder: str, *, task: str = "phonebook", protocol: str = "direct", n: int = 10, **changes: Any
) -> dict[str, Any]:
    """A line of results.jsonl."""
    accuracy = 1.0 if protocol == "search" else DIRECT[folder][SIZES.index(n)]
    low, high = wilson(accuracy, 100)
    grows = folder == "my-llama"
    needed = BITS[task]
    return {
        "point": f"{folder}-{task}-{protocol}-n{n}",
        **{"folder": folder, "model_type": MODELS[folder][0], "num_parameters": MODELS[folder][1]},
        **{"task": task, "protocol": protocol, "n": n, "prompt_tokens": 9.5 * n + 20, "seed": 0},
        **{"accuracy": accuracy, "accuracy_low": low, "accuracy_high": min(high, 1.0), "num_samples": 100},
        **{"num_undecided": 2 if n == 1000 else 0, "measured_by": "generation"},
        **{"searches_per_answer": 1.0 if protocol == "search" else 0.0},
        **{"search_outcomes": {"NO_MATCH": 0.03, "OK": 0.97} if protocol == "search" else {}},
        **{"state_bits": 65_536 * n if grows else 9_000, "required_bits": None if needed is None else needed * n},
        **{"seconds": 12.5, "tokens_per_second": 3456.7, "config_hash": "0123456789ab", "device": "CPU"},
        **{"dtype": "float32", "refused": None, "versions": {}},
        **changes,
    }


def refused(folder: str, **where: Any) -> dict[str, Any]:
    """A line of a point that was refused."""
    whole = line(folder, **where)
    kept = ("point", "folder", "model_type", "num_parameters", "task", "protocol", "n", "seed", "config_hash", "device")
    return {name: whole[name] for name in kept} | {"refused": "a prompt of 9,520 tokens exceeds 2,048 positions"}


def lines() -> list[dict[str, Any]]:
    """Every model, task, protocol and n; one of them refused."""
    found = [
        line(folder, task=task, protocol=protocol, n=n)
        for folder in MODELS
        for task in BITS
        for n in SIZES
        for protocol in ("direct", "search")
    ]
    where = {"task": "variables", "protocol": "direct", "n": 1000}
    return [refused("my-llama", **where) if row["point"] == "my-llama-variables-direct-n1000" else row for row in found]


def points() -> tuple[TextPoint, ...]:
    """The lines, read."""
    return tuple(TextPoint.model_validate(values) for values in lines())


def sample(*, n: int = 300, wanted: int = 150, right: bool = True, searches: bool = True) -> dict[str, Any]:
    """A line of samples.jsonl: a phone book, and a search that finds a line in the middle of it."""
    book = "".join(f"Ada Berg-{i:04d}: 555-{i:04d}\n" for i in range(n))
    prompt = f"{book}\nQuestion: What is the number of Ada Berg-{wanted:04d}?\nAnswer:"
    begin = prompt.index(f"555-{wanted:04d}")
    number = prompt[begin : begin + 8]
    query, passage = f"<search>after Ada Berg-{wanted:04d}:</search>", f"<found>{number}</found>"
    answer = number if right else "555-9999"
    here = len(prompt)
    search = {
        **{"query": f"after Ada Berg-{wanted:04d}:", "asked": f"after Ada Berg-{wanted:04d}:", "pattern": None},
        **{"status": "OK", "span": [begin, begin + 8], "found": number, "reason": ""},
        **{"place": [here, here + len(query + passage)], "inserted": [here + len(query), here + len(query + passage)]},
    }
    pieces = [[0, prompt[:240]], [begin - 160, prompt[begin - 160 : begin + 168]], [here - 320, prompt[-320:]]]
    return {
        **{"question": f"Question: What is the number of Ada Berg-{wanted:04d}?\nAnswer:", "answers": [number]},
        **{"answer": answer, "decided": True, "right": right, "reason": "stop string", "prompt": pieces},
        **{"prompt_characters": here, "prompt_tokens": here // 2, "tokens": 40, "seconds": 0.1, "key": 1},
        "text": f"{query}{passage} {answer}\n" if searches else f" {answer}\n",
        "searches": [search] if searches else [],
    }


def write_text_run(folder: Path, **record: Any) -> Path:
    """A whole folder; `record` replaces parts of language.json."""
    rows = lines()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = {
        "preset": "lm eval",
        "seeds": [0],
        "wall_seconds": 1234.0,
        "device": "CPU",
        "versions": {"recherche": "0.1.0"},
    }
    told["cells"] = [row["point"] for row in rows]
    (folder / "language.json").write_text(json.dumps(told | record))
    for row in rows:
        if row["refused"] is None and row["n"] == 1000:
            searching = row["protocol"] == "search"
            answers = [sample(searches=searching), sample(right=False, searches=searching, wanted=20)]
            place = folder / "points" / f"{row['point']}-{row['config_hash']}"
            place.mkdir(parents=True)
            (place / "samples.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return folder
