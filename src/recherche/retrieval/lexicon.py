"""Tokens as text and as ids, and what is known of the characters they hold.

A lexicon is either the table of a `Vocab`, fixed, or open: a token gets the next id when it is first met. What a
character class or `\\b` means depends on the characters that the text can hold, so these are kept as tokens arrive.
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from recherche.errors import VocabError
from recherche.vocab import Vocab


@final
class Lexicon:
    """A table of tokens that only grows; contexts and their forks share it."""

    __slots__ = ("_prefix_free", "characters", "has_whitespace", "ids", "is_open", "tokens")

    def __init__(self, vocab: Vocab | None = None) -> None:
        self.tokens: list[str] = []
        self.ids: dict[str, int] = {}
        self.characters: set[str] = set()
        self.has_whitespace = False
        self.is_open = vocab is None
        self._prefix_free: dict[str, tuple[int, bool]] = {}
        for token in vocab.tokens if vocab is not None else ():
            self._add(token)

    def ids_of(self, tokens: Sequence[str] | Sequence[int] | np.ndarray) -> list[int]:
        """Ids of tokens: strings for an open lexicon, which learns the new ones, and ids for a fixed one.

        Raises:
            VocabError: a token is empty, holds a space, a newline or a lone surrogate; an id lies outside the table.
        """
        if self.is_open:
            ids = self.ids
            return [ids[token] if token in ids else self._add(str(token)) for token in tokens]
        numbers = tokens.tolist() if isinstance(tokens, np.ndarray) else [int(number) for number in tokens]
        if numbers and not (min(numbers) >= 0 and max(numbers) < len(self.tokens)):
            bad = next(number for number in numbers if not 0 <= number < len(self.tokens))
            raise VocabError(
                f"Token ids run from 0 to {len(self.tokens) - 1}, got {bad}; check the model's vocabulary."
            )
        return numbers

    def knows(self, token: str) -> bool:
        """Whether a text may hold the token: any token if the lexicon is open."""
        return self.is_open or token in self.ids

    def starts_only_itself(self, token: str) -> bool:
        """Whether no other token begins with `token`, so that meeting its text is meeting the token."""
        seen, free = self._prefix_free.get(token, (0, True))
        if seen < len(self.tokens):
            free = free and not any(t != token and t.startswith(token) for t in self.tokens[seen:])
            self._prefix_free[token] = len(self.tokens), free
        return free

    def _add(self, token: str) -> int:
        if not token or " " in token or "\n" in token:
            raise VocabError(
                f"A token may not be empty or hold a space or newline, got {token!r}; split the text first."
            )
        if any("\ud800" <= character <= "\udfff" for character in token):
            raise VocabError(f"A token must be encodable as UTF-8, got {token!r}; drop the lone surrogate.")
        self.ids[token] = len(self.tokens)
        self.tokens.append(token)
        self.characters.update(token)
        self.has_whitespace = self.has_whitespace or any(character.isspace() for character in token)
        return self.ids[token]
