"""A row that does not search: what it writes is decoded while it writes, so that a text can end it.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from collections.abc import Sequence
from typing import final

from recherche.lm.codec import TextStream


@final
class PlainListener:
    """Follows one row.

    Args:
        stream: decodes what follows the prompt.
        stop_strings: texts that end the row.
    """

    searches = ()

    def __init__(self, stream: TextStream, stop_strings: Sequence[str] = ()) -> None:
        self.text = ""
        self.has_ended = False
        self._stream, self._stops = stream, tuple(stop_strings)

    @property
    def answer_text(self) -> str:
        """All that was written."""
        return self.text

    def feed(self, token: int) -> Sequence[int]:
        """Hear one generated token; nothing is ever forced."""
        new = self._stream.push(token)
        if new:
            self.text += new
            self.has_ended = ends_with_stop(self.text, len(new), self._stops)
        return ()

    def hear_forced(self, token: int) -> None:
        """Nothing is ever forced on this row."""
        raise AssertionError(token)

    def finish(self) -> None:
        """Hear that the text has ended."""
        self.text += self._stream.flush()


def ends_with_stop(text: str, num_new: int, stops: Sequence[str]) -> bool:
    """Whether a stop string ends within the last `num_new` characters of a text."""
    return any(text.find(stop, max(0, len(text) - num_new - len(stop) + 1)) >= 0 for stop in stops)
