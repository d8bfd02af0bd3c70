"""What a sweep found, in sentences that its own numbers support.

Nothing is said about what a model can never do, except by the bound: a training that used up its steps has a number at
equal training, and says so.
"""

from collections.abc import Sequence

from recherche.report.findings import SOLVED, Finding, Headline
from recherche.report.numerals import decimal, duration, percent, short_number
from recherche.report.sweep_figures import largest_sizes, task_label
from recherche.report.sweep_results import SweepPoint, SweepRun

STEEP = 0.1
"""A loss of accuracy from the smallest to the largest n that is worth a word."""


def sweep_headline(run: SweepRun) -> Headline:
    """The sweep in a title and a sentence."""
    if not run.points:
        return Headline("Nothing is measured yet", "No point of this sweep has come to its end.")
    models = len({point.mixer for point in run.points})
    names = " and ".join(task_label(task) for task in run.tasks)
    title = f"{names}: {models} model{'s' if models > 1 else ''} against the bits of their states"
    best = []
    for task in run.tasks:
        points = run.at_largest_n(task)
        fixed = [point for point in points if not point.state_grows]
        growing = [point for point in points if point.state_grows]
        words = [
            f"{kind} reach {decimal(top.accuracy)} ({top.label}, {short_number(top.state_bits)} bits)"
            for kind, group in (("states that grow", growing), ("states of fixed size", fixed))
            if group
            for top in [max(group, key=lambda point: point.accuracy)]
        ]
        need = f"{task_label(task)} at n = {points[0].n} needs {points[0].needed_bits:.0f} bits"
        best.append(f"{need}; {' and '.join(words)}.")
    return Headline(title, " ".join(best))


def sweep_findings(run: SweepRun) -> list[Finding]:
    """The bound held against every point; then, task by task, who solved it and who ran out of steps."""
    findings = []
    bounded = [point for point in run.points if point.bound_accuracy is not None]
    if bounded:
        findings.append(_judge_bound(bounded))
    for task in run.tasks:
        findings += _judge_task(task, run.at_largest_n(task), [p for p in run.points if p.task == task])
    return findings


def sweep_caption(run: SweepRun) -> list[str]:
    """What was trained for how long, what is counted, and how to read it."""
    points = {point.cell: point for point in run.points}.values()
    if not points:
        return []
    steps, samples = [point.train_steps for point in points], [point.train_samples for point in points]
    seconds = [point.train_seconds for point in points]
    ran_out = sum(not point.solved for point in points)
    seeds = ", ".join(map(str, sorted({point.seed for point in points})))
    trained = (
        f"{len(points)} models, each trained once (seed {seeds}) on all n of its task, for at most "
        f"{max(point.max_steps for point in points):,} steps: in fact {min(steps):,} to {max(steps):,} steps, "
        f"{min(samples):,} to {max(samples):,} texts, {duration(min(seconds))} to {duration(max(seconds))}. Training "
        f"stops early once validation is solved; {ran_out} of {len(points)} used up their steps and may be capable of "
        "more: read “lower at equal training”, not “cannot”."
    )
    counted = sorted({point.measured_by for point in points})
    first = next(iter(points))
    keyless = (
        " A reader of MQAR that keeps which values occurred and not with which keys gets the dash-dotted line: it "
        "answers the last question, the one before it half the time, and so on."
        if "mqar" in run.tasks
        else ""
    )
    measured = (
        f"Each accuracy is over {first.num_samples:,} fresh texts, counted by {' or '.join(counted)}; with every "
        "question, the right answers to the earlier ones stand in the text, as in zoology. The last question alone "
        f"would flatter.{keyless} Whiskers are 95 % intervals that count texts."
    )
    bound = (
        "The edge of the grey area is the best mean accuracy that so many bits of state allow, by Fano’s inequality, "
        "for any model and any training. States here are float32, 32 bits a number, so that trained models lie far to "
        "the right of it: the bound says what no training can pass, and not what training reaches."
    )
    return [trained, measured, bound] if any(p.bound_accuracy is not None for p in points) else [trained, measured]


def _judge_bound(points: Sequence[SweepPoint]) -> Finding:
    above = [p for p in points if p.bound_accuracy is not None and p.accuracy_low > p.bound_accuracy]
    if above:
        names = "; ".join(f"{p.label}, {task_label(p.task)}, n = {p.n}" for p in above)
        return Finding("does not hold", f"The interval of {len(above)} points lies above their bound: {names}.")
    biting = [p for p in points if p.bound_accuracy is not None and p.bound_accuracy < 1]
    nearest = min(biting, key=lambda p: (p.bound_accuracy or 1) - p.accuracy, default=None)
    sentence = f"Nobody is above what the bits of the state allow, in {len(points)} measurements"
    if nearest is not None:
        sentence += (
            f"; for {len(biting)} of them the bound is below 1, nearest to it is {nearest.label} on "
            f"{task_label(nearest.task)} at n = {nearest.n}: {decimal(nearest.accuracy)} of at most "
            f"{decimal(nearest.bound_accuracy or 1)}"
        )
    return Finding("holds", f"{sentence}.")


def _judge_task(task: str, points: Sequence[SweepPoint], every_n: Sequence[SweepPoint]) -> list[Finding]:
    opening = f"{task_label(task)} at n = {points[0].n}: "
    solved = sorted((p for p in points if p.accuracy >= SOLVED), key=lambda p: p.state_bits)
    names = ", ".join(f"{p.label} ({short_number(p.state_bits)} bits)" for p in solved)
    reached = f"{len(solved)} of {len(points)} reach {percent(SOLVED)}{f': {names}' if names else ''}."
    ran_out = [p for p in points if not p.solved]
    falling = [line for line in largest_sizes(every_n) if line[0].accuracy - line[-1].accuracy > STEEP]
    findings = [Finding("holds" if solved else "cannot be told", opening + reached)]
    if ran_out:
        findings.append(
            Finding(
                "cannot be told",
                f"{opening}whether the {len(ran_out)} unsolved ones would get there with more training, another "
                "learning rate or another seed.",
            )
        )
    if falling:
        words = ", ".join(
            f"{line[0].mixer} {decimal(line[0].accuracy)} → {decimal(line[-1].accuracy)}" for line in falling
        )
        findings.append(Finding("holds", f"{task_label(task)}: longer texts cost accuracy at equal training: {words}."))
    return findings
