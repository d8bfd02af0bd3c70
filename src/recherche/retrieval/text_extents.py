r"""What stands around a key: the rest of its line, the next word, its line, its sentence, as bytes of the text.

A line ends at `\n`, and a `\r` directly before it belongs to the break. A sentence ends at `.`, `!` or `?` before white
space or the end of the text, or at a blank line. No more is looked at than a result may hold.
"""

import re

from recherche.retrieval.limits import Limits
from recherche.retrieval.outcome import RefusedError, Status
from recherche.retrieval.searched_bytes import Bytes

_MARGIN = 1024
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n\s*\n")
_STOPS = ".!?"


def too_long(limits: Limits) -> RefusedError:
    """The refusal of a result that is longer than the limit."""
    return RefusedError(
        Status.RESULT_TOO_LONG,
        f"A result may have {limits.result_characters} characters (Limits.result_characters); ask for less.",
    )


def rest_of_line(data: bytearray, end: int, limits: Limits) -> Bytes:
    """What follows byte `end` on its line, without white space at its ends.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    return stripped(data, end, _line_end(data, end, limits))


def whole_line(data: bytearray, begin: int, end: int, *, limits: Limits) -> Bytes:
    """The line of what stands between two bytes; lines, if it has a line break itself.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    reach = _reach(limits)
    first = data.rfind(b"\n", max(0, begin - reach), begin) + 1
    if not first and begin > reach:
        raise too_long(limits)
    past = _line_end(data, end, limits)
    return first, past - (past > end and past < len(data) and data[past - 1] == 0x0D)


def next_word(data: bytearray, end: int, limits: Limits) -> Bytes | None:
    """The first run of anything but white space at or after byte `end`; None if there is none.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    reach = _reach(limits)
    while end < len(data):
        ahead = _decoded(data, end, end + reach)
        if word := _WORD.search(ahead):
            if word.end() == len(ahead) and end + reach < len(data):
                if not word.start():
                    raise too_long(limits)
                end += len(ahead[: word.start()].encode())
                continue
            begin = end + len(ahead[: word.start()].encode())
            return begin, begin + len(word[0].encode())
        end += len(ahead.encode())
    return None


def whole_sentence(data: bytearray, begin: int, end: int, *, limits: Limits) -> Bytes:
    """The sentence, or the sentences, of what stands between two bytes.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    reach = _reach(limits)
    behind = data[max(0, begin - reach) : begin].decode(errors="ignore")
    *_, last = (None, *_SENTENCE_END.finditer(behind))
    if last is None and begin > reach:
        raise too_long(limits)
    first = 0 if last is None else begin - len(behind[last.end() :].encode())
    # The last character of the key may itself be the end of the sentence.
    ahead = _decoded(data, end - 1, end + reach) if data[end - 1] < 0x80 else " " + _decoded(data, end, end + reach)
    stop = _SENTENCE_END.search(ahead)
    if stop is None and end + reach < len(data):
        raise too_long(limits)
    if stop is None:
        past = len(data)
    else:
        shown = ahead[1 : stop.end() if stop[0] in _STOPS else stop.start()]
        past = end + len(shown.encode())
    return stripped(data, first, past)


def stripped(data: bytearray, begin: int, end: int) -> Bytes:
    """The same stretch without white space at its ends."""
    text = data[begin:end].decode()
    tail = text.lstrip()
    begin = end - len(tail.encode()) if tail else begin
    return begin, begin + len(tail.rstrip().encode())


def stripped_within(data: bytearray, begin: int, end: int, *, limits: Limits) -> Bytes:
    """The same, of a stretch that may be as long as the text.

    Raises:
        RefusedError: RESULT_TOO_LONG.
    """
    if end - begin > _reach(limits):
        raise too_long(limits)
    return stripped(data, begin, end)


def _reach(limits: Limits) -> int:
    """Bytes within which a result that is short enough must end, white space around it included."""
    return 4 * int(limits.result_characters) + _MARGIN


def _line_end(data: bytearray, begin: int, limits: Limits) -> int:
    reach = _reach(limits)
    end = data.find(b"\n", begin, begin + reach)
    if end < 0 and begin + reach < len(data):
        raise too_long(limits)
    return end if end >= 0 else len(data)


def _decoded(data: bytearray, begin: int, end: int) -> str:
    """The whole characters between two bytes."""
    return data[begin:end].decode(errors="ignore")
