"""Random texts and questions in plain words, and the answer to each by its definition, character by character."""

from random import Random

from recherche.retrieval.charset import is_word
from recherche.text_queries import After, Between, Line, Sentence, TextQuery, Which, Word

PARTS = (
    *(
        "Ada",
        "Berg",
        "Ada Berg",
        "Ada Berg:",
        "Bergen",
        "é",
        "世",
        "e\u0301",
        "555-1234",
        "_",
        "x.",
        "No!",
        "So? ",
        "...",
    ),
    *(
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\n",
        "\n\n",
        "\n \n",
        "\r\n",
        "\t",
        "\u00a0",
        ". ",
        ", ",
        ":",
        "(",
        ")",
        "\x1c",
        "\x0b",
    ),
)
KEYS = (
    "Ada",
    "Berg",
    "Ada Berg",
    "Ada Berg:",
    "é",
    "世",
    ":",
    "x.",
    "No!",
    "(",
    "...",
    "a",
    "_",
    "Zed",
    "555",
    "Berg\nAda",
)
WHICH: tuple[Which, ...] = (1, 1, 2, 3, "last", "last")


def random_text(random: Random) -> str:
    return "".join(random.choices(PARTS, k=random.randint(0, 25)))


def random_query(random: Random) -> TextQuery:
    which = random.choice(WHICH)
    if random.random() < 0.3:
        begin, end = random.choice([key for key in KEYS if key != "..."]), random.choice(KEYS)
        return Between(begin, end, which)
    return random.choice((After, Word, Line, Sentence))(random.choice(KEYS), which)


def places(text: str, key: str) -> list[int]:
    """Where the key stands as a whole."""
    return [at for at in range(len(text)) if text.startswith(key, at) and _is_whole(text, at, at + len(key))]


def answer(text: str, query: TextQuery) -> tuple[int, int] | None:
    """Where the answer begins and ends; None if there is none."""
    if isinstance(query, Between):
        pairs = [
            (begin + len(query.begin), end)
            for begin in places(text, query.begin)
            for end in [next((at for at in places(text, query.end) if at >= begin + len(query.begin)), None)]
            if end is not None
        ]
        pair = _picked(pairs, query.which)
        return None if pair is None else _stripped(text, *pair)
    assert not isinstance(query, str)
    begin = _picked(places(text, query.key), query.which)
    if begin is None:
        return None
    end = begin + len(query.key)
    match query:
        case After():
            return _stripped(text, end, _line_end(text, end))
        case Word():
            first = next((at for at in range(end, len(text)) if not text[at].isspace()), None)
            if first is None:
                return None
            return first, next((at for at in range(first, len(text)) if text[at].isspace()), len(text))
        case Line():
            past = _line_end(text, end)
            return text.rfind("\n", 0, begin) + 1, past - (past < len(text) and past > end and text[past - 1] == "\r")
        case _:
            return _stripped(text, _sentence_start(text, begin), _sentence_end(text, end))


def _picked(found: list, which: Which):
    if which == "last":
        return found[-1] if found else None
    return found[which - 1] if len(found) >= which else None


def _is_whole(text: str, begin: int, end: int) -> bool:
    before, after = text[begin - 1] if begin else "", text[end] if end < len(text) else ""
    return not ((is_word(text[begin]) and is_word(before)) or (is_word(text[end - 1]) and is_word(after)))


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) if "\n" in text[at:] else len(text)


def _stripped(text: str, begin: int, end: int) -> tuple[int, int]:
    while end > begin and text[end - 1].isspace():
        end -= 1
    while begin < end and text[begin].isspace():
        begin += 1
    return begin, end


def _stops_at(text: str, at: int) -> bool:
    """Whether a sentence ends with the character before `at`."""
    return text[at - 1 : at] in tuple(".!?") and (at == len(text) or text[at].isspace())


def _is_blank(text: str, begin: int, end: int) -> bool:
    """Whether there is nothing but white space from a line break to another one."""
    between = text[begin:end]
    return len(between) > 1 and between.isspace() and between[0] == between[-1] == "\n"


def _sentence_start(text: str, begin: int) -> int:
    starts = [at for at in range(1, begin + 1) if _stops_at(text, at)]
    starts += [end for at in range(begin) for end in range(at, begin + 1) if _is_blank(text, at, end)]
    return max(starts, default=0)


def _sentence_end(text: str, end: int) -> int:
    ends = [at for at in range(end, len(text)) if _stops_at(text, at)]
    ends += [at for at in range(end, len(text)) for past in range(at, len(text) + 1) if _is_blank(text, at, past)]
    return min(ends, default=len(text))
