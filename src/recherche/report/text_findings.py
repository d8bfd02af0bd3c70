"""What a measurement of language models found, in sentences that its own intervals support."""

from collections.abc import Sequence
from typing import NamedTuple, final

from recherche.report.findings import Finding, Headline
from recherche.report.numerals import decimal, short_number
from recherche.report.text_results import Measured, TextRun, sizes_of

SOLVED = 0.99
"""An accuracy from which a task counts as solved at an n."""


@final
class _Pair(NamedTuple):
    """The curves of one model on one task, one for each protocol."""

    model: str
    task: str
    direct: list[Measured]
    search: list[Measured]


def text_headline(run: TextRun) -> Headline:
    """The measurement in a title and a sentence."""
    if not any(point.accuracy is not None for point in run.points):
        return Headline("Nothing is measured yet", "No point has come to its end.")
    models = len(run.models)
    title = f"{_listed(run.tasks)}: {models} model{'s' if models > 1 else ''}, direct beside searching"
    return Headline(title, " ".join(sentence for task in run.tasks if (sentence := _at_largest_n(run, task))))


def _at_largest_n(run: TextRun, task: str) -> str:
    """How every model does at the largest n that it was measured at."""
    words = []
    for pair in _pairs(run):
        reached = [
            f"{decimal(line[-1].accuracy)} {name}"
            for name, line in (("direct", pair.direct), ("searching", pair.search))
            if line
        ]
        if pair.task == task and reached:
            largest = max(line[-1].point.n for line in (pair.direct, pair.search) if line)
            words.append(f"{pair.model} {' and '.join(reached)} (n = {largest:,})")
    return f"{task}: {'; '.join(words)}." if words else ""


def text_findings(run: TextRun) -> list[Finding]:
    """For each model and task: whether searching is above the direct answer, how far it holds, what a state allows."""
    findings = []
    for pair in _pairs(run):
        findings += _judge_gain(pair)
        if pair.search:
            findings.append(_judge_reach(pair))
    return findings + _judge_states(run)


def _pairs(run: TextRun) -> list[_Pair]:
    return [
        _Pair(model, task, run.line(model, task, "direct"), run.line(model, task, "search"))
        for task in run.tasks
        for model in run.models
    ]


def _judge_gain(pair: _Pair) -> list[Finding]:
    """Direct beside searching at the largest n that both were measured at."""
    direct = {measured.point.n: measured for measured in pair.direct}
    both = [(direct[measured.point.n], measured) for measured in pair.search if measured.point.n in direct]
    if not both:
        return []
    alone, searching = both[-1]
    opening = f"{pair.model}, {pair.task} at n = {alone.point.n:,}"
    numbers = f"{opening}: searching {_interval(searching)}, direct {_interval(alone)}"
    if searching.low > alone.high:
        return [Finding("holds", f"{numbers}; searching is above.")]
    if alone.low > searching.high:
        return [Finding("does not hold", f"{numbers}; searching is below.")]
    return [Finding("cannot be told", f"{numbers}; the intervals overlap.")]


def _judge_reach(pair: _Pair) -> Finding:
    """Up to which n every measured point of the searching curve is solved."""
    opening = f"{pair.model}, {pair.task}: searching "
    solved = []
    for measured in pair.search:
        if measured.accuracy < SOLVED:
            break
        solved.append(measured.point.n)
    if len(solved) == len(pair.search):
        return Finding("holds", f"{opening}stays at {SOLVED} or above up to n = {solved[-1]:,}, the largest measured.")
    failed = pair.search[len(solved)]
    fell = f"is below {SOLVED} at n = {failed.point.n:,} ({decimal(failed.accuracy)})"
    if solved:
        return Finding("does not hold", f"{opening}stays at {SOLVED} or above up to n = {solved[-1]:,}, and {fell}.")
    return Finding("does not hold", f"{opening}{fell}, the smallest measured.")


def _judge_states(run: TextRun) -> list[Finding]:
    """From which n on the state is smaller than what the task needs."""
    findings = []
    for pair in _pairs(run):
        points = [measured.point for measured in pair.direct or pair.search]
        known = [point for point in points if point.state_bits and point.required_bits]
        short = [point for point in known if (point.state_bits or 0) < (point.required_bits or 0)]
        if short:
            first = short[0]
            findings.append(
                Finding(
                    "holds",
                    f"{pair.model}, {pair.task}: from n = {first.n:,} on the state ({short_number(first.state_bits)} "
                    f"bits) is smaller than the {short_number(first.required_bits)} bits that the task needs, so that "
                    "no direct answer from it can always be right.",
                )
            )
    return findings


def text_caption(run: TextRun) -> list[str]:
    """What was measured, and how to read the figure."""
    measured = [point for point in run.points if point.accuracy is not None]
    if not measured:
        return []
    texts = sorted({point.num_samples for point in measured})
    tokens = [point.prompt_tokens for point in measured if point.prompt_tokens]
    longest = f", up to {max(tokens):,.0f} tokens" if tokens else ""
    sizes = sizes_of(measured)
    seeds = ", ".join(map(str, sorted({point.seed for point in measured})))
    counted = (
        f"Each point is {_range(texts)} fresh texts with n = {sizes[0]:,} to {sizes[-1]:,}{longest}, the same for "
        f"every model and protocol (seed {seeds}). The model writes its answer itself, greedily; it is right if it is "
        "the wanted one after normalisation (case, white space, a full stop at its end). No end within the budget "
        "counts as wrong. Shades are 95 % intervals (Wilson’s)."
    )
    protocols = (
        "Direct: the model answers from its state alone, and the token that would begin a search is kept from it. "
        "Searching: it writes queries, each is run on the text before it, and what is found is inserted."
    )
    paragraphs = [counted, protocols]
    if any(point.required_bits for point in measured):
        paragraphs.append(
            "Bits are those of the live cache of one row after the prompt, at its number type. In the grey area a "
            "state has fewer bits than the answers to all questions that may follow, so that no reader is always right "
            "who cannot look into the text again; above it nothing is promised. A searching model keeps the text "
            "itself, and the line says nothing about it."
        )
    return paragraphs


def _interval(measured: Measured) -> str:
    return f"{decimal(measured.accuracy)} [{decimal(measured.low)}, {decimal(measured.high)}]"


def _range(values: Sequence[int]) -> str:
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
