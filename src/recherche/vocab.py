"""An immutable table of tokens: encode, decode, and the control tokens that drive a search.

Text is always `" ".join(tokens)`: one space between two tokens. So a token is not empty and holds no space and no
newline; `Vocab` refuses others when it is built. Control tokens (<StartSearch>, <EndSearch>) act only when a model has
generated them; in a prompt or in a retrieved span they are data, or refused (see `recherche.retrieval`).

Reference: Wen, Dang & Lyu (2024), Section 5.1 and Appendix A.3, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from jaxtyping import Int

from recherche.errors import VocabError

BEGIN = "<s>"
END_OF_DATA = "<d>"
START_SEARCH = "<StartSearch>"
END_SEARCH = "<EndSearch>"
FAILED = "FAILED"
YES = "YES"
NO = "NO"
CONTROL_TOKENS = (START_SEARCH, END_SEARCH)


@final
@dataclass(frozen=True, slots=True)
class Vocab:
    """A token table; the id of a token is its place in `tokens`."""

    tokens: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        for token in self.tokens:
            if not token or " " in token or "\n" in token:
                raise VocabError(f"A token may not be empty or hold a space or newline, got {token!r}; rename it.")
        ids = {token: i for i, token in enumerate(self.tokens)}
        if len(ids) != len(self.tokens):
            twice = sorted({token for token in self.tokens if self.tokens.count(token) > 1})
            raise VocabError(f"Every token must be listed once, but these repeat: {', '.join(twice)}; drop the copies.")
        object.__setattr__(self, "_ids", ids)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def id_of(self, token: str) -> int:
        """The id of one token.

        Raises:
            VocabError: the table does not hold it.
        """
        if token not in self._ids:
            raise VocabError(
                f"The vocabulary of {len(self)} tokens does not hold {token!r}; "
                f"it holds {' '.join(self.tokens[:12])}{' ...' if len(self) > 12 else ''}."
            )
        return self._ids[token]

    def encode(self, tokens: Iterable[str]) -> Int[np.ndarray, " t"]:
        """Ids of a sequence of tokens.

        >>> Vocab(("<s>", "1", "2")).encode(["<s>", "2", "1"]).tolist()
        [0, 2, 1]

        Raises:
            VocabError: a token is not in the table.
        """
        return np.fromiter((self.id_of(token) for token in tokens), dtype=np.int64)

    def decode(self, ids: Sequence[int] | Int[np.ndarray, " t"]) -> tuple[str, ...]:
        """Tokens of a sequence of ids.

        Raises:
            VocabError: an id lies outside the table.
        """
        tokens = self.tokens
        numbers = [int(i) for i in ids]
        if numbers and not (min(numbers) >= 0 and max(numbers) < len(tokens)):
            bad = next(number for number in numbers if not 0 <= number < len(tokens))
            raise VocabError(f"Token ids run from 0 to {len(tokens) - 1}, got {bad}; check the model's vocabulary.")
        return tuple([tokens[number] for number in numbers])
