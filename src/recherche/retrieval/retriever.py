"""The entrance: rules and limits, from which contexts are made.

    >>> context = Retriever().context(["<s>", "1", "~", "2", "3", "~", "2"])
    >>> context.query(NextEdge(vertex="2", after="1")).tokens
    ['3']
    >>> context.search("(?:^| )1 ([^ ]+) [^ ]").span
    (2, 3)
    >>> Retriever().text("Ada Berg: 555-1234").search(r"\\d+").text
    '555'

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from recherche.queries import NextEdge as NextEdge
from recherche.retrieval.context import Context
from recherche.retrieval.folding import Fold
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.limits import TEXT_LIMITS, Limits, Mode, Standard
from recherche.retrieval.text_context import TextContext
from recherche.vocab import Vocab


@final
class Retriever:
    """Makes contexts that follow one set of rules and limits.

    Args:
        mode: which group is the result and what a model sees without one; `Standard()` or `Paper()`.
        limits: what a search may cost; `Limits()` over tokens and `TEXT_LIMITS` over a text where none are given.
    """

    __slots__ = ("_lexicons", "_text_limits", "limits", "mode")

    def __init__(self, mode: Mode | None = None, limits: Limits | None = None) -> None:
        self.mode = mode if mode is not None else Standard()
        self.limits = limits if limits is not None else Limits()
        self._text_limits = limits if limits is not None else TEXT_LIMITS
        self._lexicons: dict[int, tuple[Vocab, Lexicon]] = {}

    def context(self, tokens: Sequence[str] | Sequence[int] | np.ndarray, vocab: Vocab | None = None) -> Context:
        """A context that begins with `tokens`: strings, or with a vocabulary ids.

        Raises:
            VocabError: a token or id that the vocabulary does not hold, or that no text can hold.
        """
        context = Context(self._lexicon(vocab), mode=self.mode, limits=self.limits)
        context.extend(tokens)
        return context

    def text(self, text: str = "", *, fold: Fold | None = None) -> TextContext:
        """A text with lines that begins with `text`.

        Args:
            fold: what a search shall not tell apart; exact if it is not given.

        Raises:
            InputError: it holds a lone surrogate.
        """
        return TextContext(text, mode=self.mode, limits=self._text_limits, fold=fold)

    def _lexicon(self, vocab: Vocab | None) -> Lexicon:
        if vocab is None:
            return Lexicon()
        # The vocabulary is kept beside its lexicon, so that its address is not given to another one.
        if id(vocab) not in self._lexicons:
            self._lexicons[id(vocab)] = vocab, Lexicon(vocab)
        return self._lexicons[id(vocab)][1]
