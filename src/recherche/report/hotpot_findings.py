"""What distractors cost, in sentences that the run's own intervals support.

Two claims are held against the largest number of paragraphs that was measured:

    order     a model that answers directly loses more when its facts stand anywhere than when they stand last
    search    with facts anywhere, a model that searches answers more than one that answers directly

Reference: Wen, Dang & Lyu (2024), Figure 6, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterator

from recherche.report.findings import Finding, Headline, Verdict
from recherche.report.hotpot_figures import relative
from recherche.report.hotpot_results import FEWEST, HotpotPoint, HotpotRun
from recherche.report.numerals import decimal


def hotpot_headline(run: HotpotRun) -> Headline:
    """The measurement in a title and a sentence."""
    if not run.points:
        return Headline("Nothing is measured yet", "No point of this measurement has come to its end.")
    num, count = run.points[0].num_samples, len(run.models)
    title = (
        f"{num} question{'s' if num > 1 else ''} of HotpotQA among distractors, asked of {count} "
        f"model{'s' if count > 1 else ''}"
    )
    parts = []
    for order, words in (("random", "in random order"), ("last", "with the facts last")):
        told = [
            f"{point.folder} {decimal(point.accuracy)}"
            for model in run.models
            for point in run.line(model, "direct", order)[-1:]
            if point.n > FEWEST
        ]
        if told:
            parts.append(f"{words} {', '.join(told)}")
    if not parts:
        return Headline(title, "Direct answers among distractors are not measured.")
    return Headline(title, f"Direct answers with {run.sizes[-1]} paragraphs: {'; '.join(parts)}.")


def hotpot_caption(run: HotpotRun) -> list[str]:
    """How questions were chosen, what a model is shown, what is drawn."""
    if not run.points:
        return []
    choice = run.choice
    chosen = (
        f"{run.points[0].num_samples} questions of {choice.data}, which every model here answers directly with the two "
        "paragraphs that hold the facts (exact match by the official rules): direct answers are at 1.00 there by "
        f"design. {choice.num_asked:,} of {choice.num_candidates:,} were asked to find them; {choice.num_wanted:,} "
        "were wanted. Then distractors are added to the same questions; more paragraphs keep the distractors of fewer. "
        "In (a) all paragraphs are shuffled once for each question, in (b) the two with the facts come last."
    )
    shown = (
        f"Before each question stand {choice.num_shots} worked-out examples of other questions of {choice.shots_file}, "
        "with two paragraphs each, so that prompts stay short; they stand in hotpot.json. Direct: the sentences that "
        "hold the facts, then the answer. Searching, which the paper did not do: a search for each of these sentences, "
        "then the answer. An answer without a conclusion within the budget is wrong."
    )
    drawn = (
        "Above, accuracy beside that of the same model by the same protocol with two paragraphs; below, accuracy "
        "itself. Questions are chosen by direct answers, so that with two paragraphs searching can only lie below "
        "them. Shades are Wilson’s 95 % intervals."
    )
    return [chosen, shown, drawn]


def hotpot_findings(run: HotpotRun) -> list[Finding]:
    """Both claims, model by model, as far as they were measured."""
    return [*_judge_order(run), *_judge_search(run)]


def _at_largest(run: HotpotRun, model: str, *, protocol: str, order: str) -> HotpotPoint | None:
    line = run.line(model, protocol, order)
    return line[-1] if line and line[-1].n == run.sizes[-1] > FEWEST else None


def _judge_order(run: HotpotRun) -> Iterator[Finding]:
    for model in run.models:
        mixed = _at_largest(run, model, protocol="direct", order="random")
        last = _at_largest(run, model, protocol="direct", order="last")
        if mixed and last:
            sentence = (
                f"{model}, direct, {mixed.n} paragraphs: facts anywhere cost more than facts last; {_told(run, mixed)} "
                f"beside {_told(run, last)}."
            )
            yield Finding(_verdict(lower=mixed, upper=last), sentence)


def _judge_search(run: HotpotRun) -> Iterator[Finding]:
    for model in run.models:
        direct = _at_largest(run, model, protocol="direct", order="random")
        search = _at_largest(run, model, protocol="search", order="random")
        if direct and search:
            sentence = (
                f"{model}, random order, {direct.n} paragraphs: searching answers more than answering at once; "
                f"{_told(run, search)} beside {_told(run, direct)}."
            )
            yield Finding(_verdict(lower=direct, upper=search), sentence)


def _verdict(*, lower: HotpotPoint, upper: HotpotPoint) -> Verdict:
    if lower.accuracy_high < upper.accuracy_low:
        return "holds"
    return "does not hold" if upper.accuracy_high < lower.accuracy_low else "cannot be told"


def _told(run: HotpotRun, point: HotpotPoint) -> str:
    share = relative(run, point)
    interval = f"{decimal(point.accuracy)} [{decimal(point.accuracy_low)}, {decimal(point.accuracy_high)}]"
    return interval if share in (None, point.accuracy) else f"{interval}, {share:.3f} of that with two"
