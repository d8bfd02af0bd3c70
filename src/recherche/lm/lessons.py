"""What a model is taught with: a text as tokens, and which of them the model must write itself.

    search   prompt <search> after Ada Berg: </search> <found> 555-1234 </found> 555-1234 [line break] [end of text]
                    ------------------------------------------                   --------------------------------
    direct   prompt 555-1234 [line break] [end of text]
                    -----------------------------------
    prose    all of it

Underlined is what has a loss: not the prompt, and not what a search inserts, which is encoded as it will be when the
model runs. A direct answer is taught under the condition under which it is asked for: that no search is begun.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from recherche.errors import ConfigError
from recherche.lm.codec import Codec
from recherche.lm.markers import MarkerWatcher
from recherche.text_queries import write
from recherche.texts.base import Ask, TextExample


@final
@dataclass(frozen=True, slots=True)
class Lesson:
    """One text.

    Attributes:
        ids: its tokens.
        written: for each token, whether the model must write it.
        may_search: whether the model may begin a search instead of its next token; False in a direct answer.
    """

    ids: tuple[int, ...]
    written: tuple[bool, ...]
    may_search: bool


@final
class LessonWriter:
    """Writes lessons in the tokens of a tokenizer that has search tokens.

    Args:
        tokenizer: as `add_search_tokens` has left it.

    Raises:
        ConfigError: it has no search tokens.
        CodecError: it cannot be used exactly.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.codec = Codec(tokenizer)
        self._watcher = MarkerWatcher(tokenizer)
        if self._watcher.ids is None:
            raise ConfigError("Lessons need search tokens, but the tokenizer has none; call add_search_tokens first.")
        self.markers = self._watcher.ids
        self._end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]

    def search(self, example: TextExample) -> Lesson:
        """The example answered with its searches.

        Raises:
            CodecError: the tokenizer cannot write it.
        """
        parts = _Parts(self.codec.encode_prompt(example.prompt))
        for part in example.trace:
            if isinstance(part, Ask):
                parts.add([self.markers.start], written=True)
                parts.add(self.codec.encode_passage(parts.ids, write(part.query)), written=True)
                parts.add([self.markers.end], written=True)
                parts.add(self._inserted(parts.ids, part.found), written=False)
            else:
                parts.add(self.codec.encode_passage(parts.ids, part.text), written=True)
        parts.add(self._end, written=True)
        return parts.lesson(may_search=True)

    def direct(self, example: TextExample) -> Lesson:
        """The example answered at once.

        Raises:
            CodecError: the tokenizer cannot write it.
        """
        parts = _Parts(self.codec.encode_prompt(example.prompt))
        parts.add(self.codec.encode_passage(parts.ids, example.target), written=True)
        parts.add(self._end, written=True)
        return parts.lesson(may_search=False)

    def prose(self, text: str, *, limit: int) -> Lesson:
        """The first `limit` tokens of a text, all to be written.

        Raises:
            CodecError: the tokenizer cannot write it.
        """
        ids = self.codec.encode_prompt(text)[:limit]
        return Lesson(tuple(ids), (True,) * len(ids), may_search=True)

    def _inserted(self, before: Sequence[int], found: str | None) -> list[int]:
        if found is None:
            return self._watcher.encode_nothing(self.codec, before)
        return self._watcher.encode_found(self.codec, before, found)


@final
class _Parts:
    """A lesson that grows behind its prompt."""

    def __init__(self, prompt: Sequence[int]) -> None:
        self.ids = [*prompt]
        self._written = [False] * len(prompt)

    def add(self, ids: Sequence[int], *, written: bool) -> None:
        self.ids += ids
        self._written += [written] * len(ids)

    def lesson(self, *, may_search: bool) -> Lesson:
        return Lesson(tuple(self.ids), tuple(self._written), may_search)
