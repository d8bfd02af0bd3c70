"""One answer as a line of samples.jsonl, and many of them as the numbers of a point.

An answer is the text without searches up to the first line break. It is right if `texts.grade` says so, and
undecided if the budget was used up before the line ended; then it counts as wrong, for no guess is half right here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from recherche.evaluation import wilson_interval
from recherche.lm import Written
from recherche.text_queries import write
from recherche.texts import TextExample, grade

HEAD, TAIL, AROUND = 240, 320, 160
"""Characters of a prompt that are kept: at its beginning, at its end, on each side of what a search found."""

MAX_KEPT_SPANS = 16


def sample_record(example: TextExample, written: Written, **numbers: Any) -> dict[str, Any]:
    """One answer as JSON data.

    Positions are characters of prompt and text together, half open. Of the prompt, `prompt` keeps pieces, each with the
    position of its first character: the beginning, the end, and what surrounds the first places that searches found.

    Args:
        numbers: further columns, such as the number of tokens.
    """
    answer = written.answer_text.partition("\n")[0]
    decided = not (written.reason == "length" and "\n" not in written.answer_text)
    spans = [search.span for search in written.searches if search.span is not None]
    return {
        "question": example.question.strip(),
        "answers": list(example.answers),
        "answer": answer.strip(),
        "decided": decided,
        "right": decided and grade(example, answer),
        "reason": str(written.reason),
        "prompt": [list(piece) for piece in shortened(written.prompt, spans)],
        "prompt_characters": len(written.prompt),
        "text": written.text,
        "searches": [_search_record(search) for search in written.searches],
    } | numbers


def _search_record(search: Any) -> dict[str, Any]:
    return {
        "query": search.query,
        "asked": None if search.asked is None else write(search.asked),
        "pattern": search.pattern,
        "status": search.status.name,
        "span": None if search.span is None else list(search.span),
        "found": search.found,
        "place": [search.query_span[0], search.inserted_span[1]],
        "inserted": list(search.inserted_span),
        "reason": search.reason,
    }


def shortened(prompt: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Pieces of a prompt with the position of each: its ends and what surrounds some spans of it.

    >>> [(begin, len(text)) for begin, text in shortened("x" * 5000, [(2000, 2010)])]
    [(0, 240), (1840, 330), (4680, 320)]
    """
    length = len(prompt)
    wanted = [(0, HEAD), (length - TAIL, length)]
    wanted += [(begin - AROUND, end + AROUND) for begin, end in spans[:MAX_KEPT_SPANS] if begin < length]
    kept: list[list[int]] = []
    for begin, end in sorted((max(0, begin), min(length, end)) for begin, end in wanted):
        if kept and begin <= kept[-1][1]:
            kept[-1][1] = max(kept[-1][1], end)
        else:
            kept.append([begin, end])
    lines = (_whole_lines(prompt, begin, end) for begin, end in kept)
    return [(begin, prompt[begin:end]) for begin, end in lines]


def _whole_lines(prompt: str, begin: int, end: int) -> tuple[int, int]:
    """The piece without the halves of lines at its ends, as far as that costs no more than what surrounds a span."""
    first = prompt.find("\n", begin - 1, begin + AROUND) + 1 if begin else 0
    last = prompt.rfind("\n", end - AROUND, end) if end < len(prompt) else end
    return first or begin, end if last < 0 else last


def tally(samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of a point, from its samples: columns of results.jsonl."""
    num = len(samples)
    right = sum(sample["right"] for sample in samples)
    low, high = wilson_interval(right, num)
    outcomes = Counter(_outcomes(samples))
    num_searches = sum(outcomes.values())
    seconds = sum(sample["seconds"] for sample in samples)
    tokens = sum(sample["prompt_tokens"] + sample["tokens"] for sample in samples)
    return {
        "prompt_tokens": sum(sample["prompt_tokens"] for sample in samples) / num,
        "accuracy": right / num,
        "accuracy_low": low,
        "accuracy_high": high,
        "num_samples": num,
        "num_undecided": sum(not sample["decided"] for sample in samples),
        "measured_by": "generation",
        "searches_per_answer": num_searches / num,
        "search_outcomes": {status: count / num_searches for status, count in sorted(outcomes.items())},
        "seconds": seconds,
        "tokens_per_second": tokens / seconds if seconds else None,
    }


def _outcomes(samples: Sequence[dict[str, Any]]) -> Iterator[str]:
    return (search["status"] for sample in samples for search in sample["searches"])
