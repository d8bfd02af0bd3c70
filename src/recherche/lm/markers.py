"""What stands around a query and around what it found, and who wrote it.

    <search>after Ada Berg:</search><found>555-1234</found>          <search>after Zed:</search><nothing>

A model writes from `<search>` to `</search>`; the rest is inserted. Markers are special tokens, which no text can
spell (`add_search_tokens`), or plain text, for models that are only prompted. Either counts only where the model
generated it: `MarkerWatcher` hears generated tokens, never those of a prompt or a passage.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, NamedTuple, final

from recherche.errors import ConfigError
from recherche.lm.codec import Codec
from recherche.lm.token_bytes import name_of


@final
@dataclass(frozen=True, slots=True)
class Markers:
    """How the five markers are written; none is empty, and none is a part of another.

    Attributes:
        start: begins a query.
        end: ends it; the search is made here.
        found: begins what was found.
        close: ends it.
        nothing: stands for a search that found nothing.
    """

    start: str = "<search>"
    end: str = "</search>"
    found: str = "<found>"
    close: str = "</found>"
    nothing: str = "<nothing>"

    def __post_init__(self) -> None:
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, text in named.items():
            if not text.strip() or text != text.strip():
                raise ConfigError(f"Marker {name} is {text!r}; give it characters, and no white space at its ends.")
            whole = next((other for other, longer in named.items() if other != name and text in longer), None)
            if whole is not None:
                raise ConfigError(
                    f"Marker {name}, {text!r}, is a part of marker {whole}, {named[whole]!r}; choose markers that "
                    "cannot be taken for each other."
                )


class MarkerIds(NamedTuple):
    """The five markers as special tokens; see `Markers`."""

    start: int
    end: int
    found: int
    close: int
    nothing: int


class Kind(enum.Enum):
    """Which marker a model has generated."""

    START = "start"
    END = "end"


class Event(NamedTuple):
    """A marker that a model has generated.

    Attributes:
        begin, end: where it stands, in characters of all the text that the watcher was fed.
    """

    kind: Kind
    begin: int
    end: int


_NAMES = ("search_start_token", "search_end_token", "search_found_token", "search_close_token", "search_nothing_token")
"""What a tokenizer of transformers calls the markers: `tokenizer.search_start_token_id`; its folder keeps them."""


def own_markers(tokenizer: Any) -> Markers | None:
    """The markers that `add_search_tokens` gave to the tokenizer, or the default ones if those are special tokens."""
    named = tokenizer.special_tokens_map
    if all(name in named for name in _NAMES):
        return Markers(*(named[name] for name in _NAMES))
    return Markers() if _special_ids(tokenizer, Markers()) else None


def markers_of(tokenizer: Any) -> MarkerIds | None:
    """The ids of the tokenizer's own search tokens; None if it has none."""
    markers = own_markers(tokenizer)
    return markers and _special_ids(tokenizer, markers)


def _special_ids(tokenizer: Any, markers: Markers) -> MarkerIds | None:
    special = {str(token): index for index, token in tokenizer.added_tokens_decoder.items() if token.special}
    texts = astuple(markers)
    return MarkerIds(*(special[text] for text in texts)) if special.keys() >= set(texts) else None


def add_search_tokens(model: Any, tokenizer: Any, markers: Markers | None = None) -> None:
    """Make the markers special tokens of a tokenizer, and give the model rows for them; both are saved with the folder.

    Rows of the input and output embeddings, and a bias, start as the mean over the tokens that there were. A vocabulary
    that is padded to a multiple stays so, tied heads stay tied. What is there already is left as it is.

    Args:
        model: a causal language model of transformers.
        tokenizer: its tokenizer; both are changed.
        markers: how the tokens are written; by default `Markers()`.

    Raises:
        ConfigError: the tokenizer has other search tokens or a token that a marker could be taken for, or the model
            has no embeddings that can grow.
    """
    from recherche.lm.embedding_rows import EmbeddingRows

    chosen, present = markers or own_markers(tokenizer) or Markers(), own_markers(tokenizer)
    texts = astuple(chosen)
    if present not in (None, chosen):
        raise ConfigError(f"{name_of(tokenizer)} has the search tokens {astuple(present)} already, asked were {texts}.")
    rows = EmbeddingRows(model)
    known = {*tokenizer.get_vocab().values(), *tokenizer.added_tokens_decoder}
    if present is None:
        _refuse_confusable(tokenizer, texts)
        _add_special(tokenizer, texts)
    ids = tokenizer.convert_tokens_to_ids(list(texts))
    new = set(ids) - known
    if present is None and len(new) < len(texts):
        raise ConfigError(f"{name_of(tokenizer)} gives new tokens the ids of old ones, {ids}; number its tokens anew.")
    rows.add(new=new, at_least=max(ids) + 1, known=known)


def _refuse_confusable(tokenizer: Any, texts: Iterable[str]) -> None:
    """Added tokens are looked for in a text before all others, so that a part of one would hide the other."""
    vocabulary = tokenizer.get_vocab()
    for text in texts:
        for token in map(str, tokenizer.added_tokens_decoder.values()):
            if token and (token in text or text in token):
                raise ConfigError(
                    f"{name_of(tokenizer)} has the added token {token!r}, which the marker {text!r} could be taken "
                    "for; choose other markers."
                )
        if text in vocabulary:
            raise ConfigError(
                f"{name_of(tokenizer)} has the ordinary token {text!r} (id {vocabulary[text]}); choose other markers."
            )


def _add_special(tokenizer: Any, texts: Sequence[str]) -> None:
    from transformers import AddedToken

    tokenizer.SPECIAL_TOKENS_ATTRIBUTES = [*tokenizer.SPECIAL_TOKENS_ATTRIBUTES, *_NAMES]
    tokenizer.add_special_tokens(
        {name: AddedToken(text, normalized=False, special=True) for name, text in zip(_NAMES, texts, strict=True)}
    )


@final
class MarkerWatcher:
    """Hears what a model generates and says where it has written `start` and `end`.

    Markers that are special tokens count by their id: their letters in ordinary tokens are text. Textual markers count
    by their letters, however tokens cut them, but not on both sides of what is inserted: `encode_found` and
    `encode_nothing` are told, and `interrupt` tells it of anything else.

    Args:
        tokenizer: of the model.
        markers: what to look for, special tokens if the tokenizer has them as such, else text; None: the tokenizer's
            own search tokens, or the default markers as text.
    """

    def __init__(self, tokenizer: Any, markers: Markers | None = None) -> None:
        self.markers = markers or own_markers(tokenizer) or Markers()
        self.ids = _special_ids(tokenizer, self.markers)
        self._kinds = {self.markers.start: Kind.START, self.markers.end: Kind.END}
        self._pattern = re.compile("|".join(map(re.escape, self._kinds)))
        self._longest = max(map(len, self._kinds))
        self._fed = 0
        self._tail = ""  # the end of the text, in which a marker may have begun

    def feed(self, token: int, new_text: str) -> list[Event]:
        """Hear one generated token.

        Args:
            token: its id.
            new_text: what `TextStream.push` has returned for it.

        Returns:
            The markers that this token completes, in order; at most one if they are special tokens.
        """
        self._fed += len(new_text)
        if self.ids is None:
            return self._in_text(new_text)
        for kind, text in ((Kind.START, self.markers.start), (Kind.END, self.markers.end)):
            if token == getattr(self.ids, kind.value):
                return [Event(kind, self._fed - len(text), self._fed)]
        return []

    def interrupt(self) -> None:
        """Something that the model did not write follows."""
        self._tail = ""

    def _in_text(self, new_text: str) -> list[Event]:
        text, events, end = self._tail + new_text, [], 0
        origin = self._fed - len(text)
        for found in self._pattern.finditer(text):
            end = found.end()
            events.append(Event(self._kinds[found[0]], origin + found.start(), origin + end))
        self._tail = text[max(end, len(text) - self._longest + 1) :]
        return events

    def encode_found(self, codec: Codec, before: Sequence[int], passage: str) -> list[int]:
        """What is inserted for a passage after the tokens `before`: `found`, the passage, `close`.

        Raises:
            CodecError: the tokenizer cannot write the passage.
        """
        self.interrupt()
        if self.ids is None:
            return codec.encode_passage(before, f"{self.markers.found}{passage}{self.markers.close}")
        return [self.ids.found, *codec.encode_passage([*before, self.ids.found], passage), self.ids.close]

    def encode_nothing(self, codec: Codec, before: Sequence[int]) -> list[int]:
        """What is inserted for a search that found nothing.

        Raises:
            CodecError: the tokenizer cannot write a textual marker.
        """
        self.interrupt()
        return codec.encode_passage(before, self.markers.nothing) if self.ids is None else [self.ids.nothing]
