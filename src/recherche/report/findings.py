"""What a run found, in sentences that its own intervals support.

Three claims of the paper are held against the numbers, at each n and size that was measured:

    direct      nobody decides IsTree at once: the lower end of every interval is at most the best guess that the
                degrees of the hubs allow
    cot         Transformer and hybrid reach 0.97; Mamba's interval lies below both
    retrieval   with searches of its own context, every architecture reaches 0.97

A gap is quoted only between cells whose curriculum reached the n that is measured, and only as lower at equal training.

Reference: Wen, Dang & Lyu (2024), Section 6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, final

from recherche.report.appearance import ARCHITECTURE_LABELS, architecture_label
from recherche.report.numerals import percent
from recherche.report.paper_values import scale_of
from recherche.report.results import Run, distinct
from recherche.report.summaries import Key, Summary, summarise
from recherche.tasks.hub_degrees import best_guess_accuracy

SOLVED = 0.97
ARCHITECTURES = tuple(ARCHITECTURE_LABELS)
Verdict = Literal["holds", "does not hold", "cannot be told"]
Trio = dict[str, Summary]


@final
class Finding(NamedTuple):
    """A claim of the paper held against the run."""

    verdict: Verdict
    sentence: str


@final
class Headline(NamedTuple):
    """The result in a few words, and the numbers behind it."""

    title: str
    sentence: str


def findings_of(run: Run) -> list[Finding]:
    """The claims that the run can be held against, n by n."""
    summaries = summarise(run.results)
    found = []
    for n_nodes, scale in distinct([(key.n_nodes, scale_of(key.size)) for key in summaries]):
        for protocol, judge in (("direct", _judge_direct), ("cot", _judge_cot), ("retrieval", _judge_retrieval)):
            trio = _trio(summaries, protocol=protocol, n_nodes=n_nodes, scale=scale)
            if trio:
                verdict, sentence = judge(trio, n_nodes)
                found.append(Finding(verdict, f"{scale}, {sentence}" if scale else sentence))
    return found


def headline(run: Run) -> Headline:
    """What the run found, at the largest n that was measured in full."""
    summaries = summarise(run.results)
    for n_nodes, scale in reversed(distinct([(key.n_nodes, scale_of(key.size)) for key in summaries])):
        cot = _trio(summaries, protocol="cot", n_nodes=n_nodes, scale=scale)
        retrieval = _trio(summaries, protocol="retrieval", n_nodes=n_nodes, scale=scale)
        if _complete(cot) and _complete(retrieval) and all(s.finished_curriculum for s in cot.values()):
            return _headline_at(n_nodes, cot, retrieval)
    wanted = len(run.results) + len(run.absent)
    return Headline(
        "Too little is measured for the whole picture",
        f"{len(run.results)} of {wanted} cells have a result; a gap is quoted once chain of thought and retrieval are "
        "measured for all three architectures, each trained up to the n of its cell.",
    )


def _headline_at(n_nodes: int, cot: Trio, retrieval: Trio) -> Headline:
    mamba, searching = cot["mamba"], retrieval["mamba"]
    alone = max(len(summary.cells) for summary in cot.values()) == 1
    sentence = (
        f"On graphs of {n_nodes} vertices, at equal training{' and with one seed' if alone else ''}, Mamba answers "
        f"{percent(mamba.accuracy)} right by chain of thought, the Transformer {percent(cot['transformer'].accuracy)} "
        f"and the hybrid {percent(cot['hybrid'].accuracy)}; searching its own context, Mamba reaches "
        f"{percent(searching.accuracy)}."
    )
    if not _clearly_lower(mamba, cot):
        return Headline("Chain of thought shows no clear gap here", sentence)
    if searching.accuracy >= SOLVED and searching.low > mamba.high:
        return Headline("Mamba falls behind with chain of thought, and retrieval closes the gap", sentence)
    return Headline("Mamba falls behind with chain of thought, and retrieval does not close the gap", sentence)


def _trio(summaries: Mapping[Key, Summary], *, protocol: str, n_nodes: int, scale: str) -> Trio:
    """The three architectures under one protocol, as far as they are measured."""
    here = {
        key.architecture: s
        for key, s in summaries.items()
        if key[1:3] == (protocol, n_nodes) and scale_of(key.size) == scale
    }
    return {name: here[name] for name in ARCHITECTURES if name in here}


def _complete(trio: Trio) -> bool:
    return len(trio) == len(ARCHITECTURES)


def _clearly_lower(mamba: Summary, others: Trio) -> bool:
    return all(mamba.high < others[name].low for name in ("transformer", "hybrid"))


def _list(trio: Trio) -> str:
    return ", ".join(f"{architecture_label(name)} {percent(summary.accuracy)}" for name, summary in trio.items())


def _judge_direct(trio: Trio, n_nodes: int) -> Finding:
    guess = float(best_guess_accuracy(n_nodes))
    above = [architecture_label(name) for name, summary in trio.items() if summary.low > guess]
    rule = f"the best guess from hub degrees alone, {percent(guess)}"
    if above:
        return Finding(
            "does not hold", f"n = {n_nodes}, answered at once: {', '.join(above)} beat {rule} ({_list(trio)})."
        )
    return Finding("holds", f"n = {n_nodes}, answered at once: nobody beats {rule} ({_list(trio)}).")


def _judge_cot(trio: Trio, n_nodes: int) -> Finding:
    opening = f"n = {n_nodes}, chain of thought: "
    if not _complete(trio):
        return Finding("cannot be told", f"{opening}not all three architectures are measured ({_list(trio)}).")
    unfinished = [
        f"{architecture_label(name)} stood at n = {min(cell.level_reached or n_nodes for cell in summary.cells)}"
        for name, summary in trio.items()
        if not summary.finished_curriculum
    ]
    if unfinished:
        return Finding(
            "cannot be told", f"{opening}no gap is quoted, for a curriculum ended early: {'; '.join(unfinished)}."
        )
    if not _clearly_lower(trio["mamba"], trio):
        return Finding("does not hold", f"{opening}Mamba's interval is not below both others ({_list(trio)}).")
    unsolved = [architecture_label(name) for name in ("transformer", "hybrid") if trio[name].accuracy < SOLVED]
    if unsolved:
        return Finding(
            "does not hold",
            f"{opening}Mamba is lower at equal training, but {' and '.join(unsolved)} did not reach "
            f"{percent(SOLVED)} ({_list(trio)}).",
        )
    return Finding(
        "holds", f"{opening}Mamba is lower at equal training, its interval below both others ({_list(trio)})."
    )


def _judge_retrieval(trio: Trio, n_nodes: int) -> Finding:
    opening = f"n = {n_nodes}, chain of thought with retrieval: "
    below = [architecture_label(name) for name, summary in trio.items() if summary.accuracy < SOLVED]
    if below:
        return Finding(
            "does not hold", f"{opening}{' and '.join(below)} did not reach {percent(SOLVED)} ({_list(trio)})."
        )
    if not _complete(trio):
        return Finding("cannot be told", f"{opening}not all three architectures are measured ({_list(trio)}).")
    return Finding("holds", f"{opening}every architecture reaches {percent(SOLVED)} ({_list(trio)}).")
