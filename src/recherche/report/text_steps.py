"""An answer cut into steps that a reader can walk through: each search beside the place where it found something.

Prompt and text become segments, cut wherever a marking begins or ends, so that a marking is a range of segments. A step
is a search with what it inserted, or text that the model wrote itself; the last text is the answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

from recherche.report.text_samples import Span, TextSample, TextSearch
from recherche.report.trace_steps import Step

LONGEST_QUOTE = 80
_START, _END, _NOTHING = "⟨", "⟩", "∅"


@final
class Segment(NamedTuple):
    """Text that is marked as a whole, or not at all.

    Attributes:
        kind: control, retrieved, answer, or nothing in particular.
        short: a sign to show in the place of a marker.
        gap: characters left out before it.
    """

    begin: int
    text: str
    kind: str = ""
    short: str = ""
    gap: int = 0

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.begin + len(self.text)


@final
@dataclass(frozen=True, slots=True)
class ShownText:
    """An answer with its segments and steps.

    Attributes:
        source: segments of the prompt.
        written: segments of what was written; numbers of segments go on from those of `source`.
        rest: characters of the prompt behind its last segment.
    """

    sample: TextSample
    source: tuple[Segment, ...]
    written: tuple[Segment, ...]
    steps: tuple[Step, ...]
    rest: int

    @property
    def steps_as_data(self) -> list[dict[str, Any]]:
        """The steps in plain values, for the page's script."""
        return [asdict(step) for step in self.steps]

    def segments_of(self, step: Step) -> tuple[Segment, ...]:
        """The segments that were written in a step."""
        offset = len(self.source)
        return self.written[step.tokens[0] - offset : step.tokens[1] - offset]


@final
class ShownGroup(NamedTuple):
    """The answers of one model, each with a name."""

    model: str
    shown: tuple[tuple[str, ShownText], ...]


def show_text(sample: TextSample) -> ShownText:
    """The answer, ready to be drawn."""
    searches = list(_in_order(sample))
    spans = [search.span for search in searches if search.span is not None]
    around = {span: _line_around(sample, span) for span in spans}
    marked = {place for span in [*spans, *around.values()] for place in span}
    source = tuple(_source(sample, marked))
    written = tuple(_written(sample, searches, marked))
    steps = tuple(_steps(sample, searches, source + written, len(source), around))
    kept = source[-1].end if source else 0
    return ShownText(sample, source, written, steps, rest=max(0, sample.prompt_characters - kept))


def _in_order(sample: TextSample) -> Iterator[TextSearch]:
    """The searches one after the other; those whose place lies outside the text, or in another's, are left out."""
    cursor, end = sample.prompt_characters, sample.prompt_characters + len(sample.text)
    for search in sorted(sample.searches, key=lambda search: search.place):
        if cursor <= search.place[0] <= search.inserted[0] <= search.inserted[1] <= search.place[1] <= end:
            yield search
            cursor = search.place[1]


def _line_around(sample: TextSample, span: Span) -> Span:
    """The line on which a span stands, as far as it is kept."""
    pieces = [*sample.prompt, (sample.prompt_characters, sample.text)]
    for begin, text in pieces:
        low, high = span[0] - begin, span[1] - begin
        if 0 <= low <= high <= len(text):
            stop = text.find("\n", high)
            return begin + text.rfind("\n", 0, low) + 1, begin + (len(text) if stop < 0 else stop)
    return span


def _source(sample: TextSample, marked: Iterable[int]) -> Iterator[Segment]:
    cursor = 0
    for begin, text in sample.prompt:
        for place, part in _cut(text, begin, marked):
            yield Segment(place, part, gap=max(0, place - cursor))
            cursor = place + len(part)


def _written(sample: TextSample, searches: Sequence[TextSearch], marked: Iterable[int]) -> Iterator[Segment]:
    offset, text = sample.prompt_characters, sample.text
    cursor = offset
    for search in searches:
        yield from _plain(text, offset, (cursor, search.place[0]), marked)
        yield from _of_search(text, offset, search, marked)
        cursor = search.place[1]
    yield from _plain(text, offset, (cursor, offset + len(text)), marked)


def _plain(text: str, offset: int, span: Span, marked: Iterable[int]) -> Iterator[Segment]:
    """What the model wrote itself."""
    for place, part in _cut(text[span[0] - offset : span[1] - offset], span[0], marked):
        yield Segment(place, part, "answer")


def _of_search(text: str, offset: int, search: TextSearch, marked: Iterable[int]) -> Iterator[Segment]:
    """Markers, query and passage of a search."""
    query = text[search.place[0] - offset : search.inserted[0] - offset]
    passage = text[search.inserted[0] - offset : search.place[1] - offset]
    yield from _between_markers(query, search.place[0], search.query, kind="", short=(_START, _END), marked=marked)
    if search.found:
        place = search.inserted[0]
        yield from _between_markers(passage, place, search.found, kind="retrieved", short=("", ""), marked=marked)
    elif passage:
        yield Segment(search.inserted[0], passage, "control", _NOTHING)


def _between_markers(
    whole: str, place: int, inner: str, *, kind: str, short: tuple[str, str], marked: Iterable[int]
) -> Iterator[Segment]:
    """A text with a marker on each side of it."""
    if not inner or inner not in whole:
        if whole:
            yield Segment(place, whole, kind)
        return
    before, _, after = whole.partition(inner)
    if before:
        yield Segment(place, before, "control", short[0])
    for begin, part in _cut(inner, place + len(before), marked):
        yield Segment(begin, part, kind)
    if after:
        yield Segment(place + len(before) + len(inner), after, "control", short[1])


def _cut(text: str, begin: int, marked: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The text cut at the marked places, each part with its own place."""
    cuts = sorted({0, len(text), *(place - begin for place in marked if 0 < place - begin < len(text))})
    return ((begin + low, text[low:high]) for low, high in pairwise(cuts))


def _steps(
    sample: TextSample,
    searches: Sequence[TextSearch],
    segments: Sequence[Segment],
    num_source: int,
    around: dict[Span, Span],
) -> Iterator[Step]:
    """A step for each search and for the text before, between and after them."""
    cursor, end = sample.prompt_characters, sample.prompt_characters + len(sample.text)
    for number, search in enumerate(searches, start=1):
        if search.place[0] > cursor:
            yield _own(sample, _range(segments, (cursor, search.place[0]), start=num_source), last=False)
        span, asked = search.span, quoted(search.asked or search.query)
        yield Step(
            kind="search",
            tokens=_range(segments, search.place, start=num_source),
            caption=f"Search {number} of {len(searches)}, {asked}: {_outcome(search, sample)}",
            pattern=search.query if len(search.query) > LONGEST_QUOTE else "",
            found=None if span is None else _range(segments, span),
            record=None if span is None else _range(segments, around[span]),
        )
        cursor = search.place[1]
    if end > cursor:
        yield _own(sample, _range(segments, (cursor, end), start=num_source), last=True)


def _range(segments: Sequence[Segment], span: Span, *, start: int = 0) -> tuple[int, int]:
    """The segments that lie within a span."""
    inside = [i for i in range(start, len(segments)) if span[0] <= segments[i].begin and segments[i].end <= span[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _own(sample: TextSample, tokens: tuple[int, int], *, last: bool) -> Step:
    if not last:
        return Step(kind="other", tokens=tokens, caption="Writes this itself.")
    wanted = ", ".join(sample.answers)
    if sample.right:
        verdict = "right."
    elif sample.decided:
        verdict = f"wrong, for the answer is {quoted(wanted)}."
    else:
        verdict = f"no end within the budget; the answer is {quoted(wanted)}."
    return Step(kind="answer", tokens=tokens, caption=f"Answers {quoted(sample.answer)}: {verdict}")


def _outcome(search: TextSearch, sample: TextSample) -> str:
    reason = f" {search.reason}" if search.reason else ""
    if search.span is None:
        return f"nothing ({search.status}).{reason}"
    where = "of the prompt" if search.span[0] < sample.prompt_characters else "of prompt and answer"
    return f"found {quoted(search.found or '')} at character {search.span[0]:,} {where}.{reason}"


def quoted(text: str) -> str:
    """A text on one line, with its end left out where it is long.

    >>> quoted("a\\n  b")
    '“a b”'
    """
    line = re.sub(r"\s+", " ", text).strip()
    return f"“{line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + '…'}”"
