"""How answers to HotpotQA are graded, by the rules of its official evaluation.

normalisation   lower case; without the characters of ASCII punctuation; without the words a, an, the; runs of white
                space as one space
exact match     the normalised answers are equal
F1              of the words that both have, each counted as often as both have it; 0 if either answer is yes, no or
                noanswer and the other one is not the same

Reference: Yang et al. (2018), Section 5.1, https://arxiv.org/abs/1809.09600, and hotpot_evaluate_v1.py of
https://github.com/hotpotqa/hotpot
"""

import re
from collections import Counter
from string import punctuation
from typing import NamedTuple, final

_WITHOUT_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_CLOSED = frozenset({"yes", "no", "noanswer"})


@final
class HotpotGrade(NamedTuple):
    """How well an answer agrees with the right one."""

    exact_match: bool
    f1: float


def normalised(answer: str) -> str:
    """The answer in the form in which answers are compared.

    >>> normalised("The  Battle of Hastings, (1066)!")
    'battle of hastings 1066'
    """
    return " ".join(_ARTICLE.sub(" ", answer.lower().translate(_WITHOUT_PUNCTUATION)).split())


def grade_hotpot(written: str, answer: str) -> HotpotGrade:
    """The grade of a written answer.

    >>> grade_hotpot("in the town of Alta", "Alta")
    HotpotGrade(exact_match=False, f1=0.4)
    """
    ours, theirs = normalised(written), normalised(answer)
    if ours != theirs and {ours, theirs} & _CLOSED:
        return HotpotGrade(False, 0.0)
    words, wanted = ours.split(), theirs.split()
    shared = sum((Counter(words) & Counter(wanted)).values())
    f1 = 2 * shared / (len(words) + len(wanted)) if shared else 0.0
    return HotpotGrade(ours == theirs, f1)
