"""The entrance: rules and limits, from which contexts are made.

    >>> context = Retriever().context(["<s>", "1", "~", "2", "3", "~", "2"])
    >>> context.query(NextEdge(vertex="2", after="1")).tokens
    ['3']
    >>> context.search("(?:^| )1 ([^ ]+) [^ ]").span
    (2, 3)

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from recherche.queries import NextEdge as NextEdge
from recherche.retrieval.context import Context
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.limits import Limits, Mode, Standard
from recherche.vocab import Vocab


@final
class Retriever:
    """Makes contexts that follow one set of rules and limits.

    Args:
        mode: which group is the result and what a model sees without one; `Standard()` or `Paper()`.
        limits: what a search may cost.
    """

    __slots__ = ("_lexicons", "limits", "mode")

    def __init__(self, mode: Mode | None = None, limits: Limits | None = None) -> None:
        self.mode = mode if mode is not None else Standard()
        self.limits = limits if limits is not None else Limits()
        self._lexicons: dict[int, tuple[Vocab, Lexicon]] = {}

    def context(self, tokens: Sequence[str] | Sequence[int] | np.ndarray, vocab: Vocab | None = None) -> Context:
        """A context that begins with `tokens`: strings, or with a vocabulary ids.

        Raises:
            VocabError: a token or id that the vocabulary does not hold, or that no text can hold.
        """
        context = Context(self._lexicon(vocab), mode=self.mode, limits=self.limits)
        context.extend(tokens)
        return context

    def _lexicon(self, vocab: Vocab | None) -> Lexicon:
        if vocab is None:
            return Lexicon()
        # The vocabulary is kept beside its lexicon, so that its address is not given to another one.
        if id(vocab) not in self._lexicons:
            self._lexicons[id(vocab)] = vocab, Lexicon(vocab)
        return self._lexicons[id(vocab)][1]
