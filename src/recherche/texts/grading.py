"""When an answer counts as right: exact match after a stated normalisation.

1. the answer ends at the first line break
2. where several answers are wanted, it is cut at commas and at the word "and"
3. of each part: compatibility forms of characters are made one (NFKC), white space is one space, none at the ends;
   one full stop at the end is dropped; upper and lower case are the same
4. the parts are the wanted answers in any order, each exactly once
"""

import re
import unicodedata
from collections.abc import Sequence

from recherche.texts.base import TextExample

_BETWEEN_PARTS = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+", re.IGNORECASE)


def normalise(answer: str) -> str:
    """One answer in the form in which answers are compared.

    >>> normalise("  Ada   Berg. ")
    'ada berg'
    """
    text = " ".join(unicodedata.normalize("NFKC", answer).split())
    return text.removesuffix(".").rstrip().casefold()


def parts(written: str, num: int) -> list[str]:
    """The answers in a text, normalised, where `num` are wanted.

    >>> parts(" 7, 9 and 8.\\nQuestion: ...", 3)
    ['7', '9', '8']
    """
    line = written.split("\n", 1)[0]
    return [normalise(part) for part in (_BETWEEN_PARTS.split(line.strip()) if num > 1 else [line])]


def matches(answers: Sequence[str], written: str) -> bool:
    """Whether a text is these answers, each once.

    Args:
        written: what stands behind "Answer:", without queries, markers and what searches returned.
    """
    return sorted(parts(written, len(answers))) == sorted(map(normalise, answers))


def grade(example: TextExample, written: str) -> bool:
    """Whether a text answers the question of an example; see `matches`."""
    return matches(example.answers, written)
