"""Text to tokens and back, exactly: what a model reads and writes is known to the byte, and text never becomes control.

    decode(encode_prompt(text))              is what the tokenizer puts in front, spelled out, then the text
    decode(before + encode_passage(before))  is decode(before), then the passage

The text of a sequence of tokens is the sum of what each token adds (`token_bytes`), control tokens spelled out,
nothing cleaned up. Of a tokenizer that puts a space before a text, the space of the first ordinary token is left out.
Bytes that are cut off in the middle of a character are shown as U+FFFD; a passage after them begins a character of its
own.
"""

from collections.abc import Iterable, Sequence
from typing import Any, final

from recherche.errors import CodecError
from recherche.lm.exact_encoding import ExactEncoder
from recherche.lm.text_stream import TextStream
from recherche.lm.token_bytes import name_of, read_token_bytes

_SAMPLE = "so it is a name: 12"


@final
class Codec:
    """The texts of a tokenizer of transformers.

    Raises:
        CodecError: the tokenizer's text is not the sum of its tokens.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._table = read_token_bytes(tokenizer)
        self._encoder = ExactEncoder(tokenizer, self._table)
        self.prefix = self._measured_prefix()
        """Ids that the tokenizer puts in front of a text."""
        self._compare_with_tokenizer()

    @property
    def control_ids(self) -> frozenset[int]:
        """Ids that steer the model; no user text is ever encoded as one of them."""
        return frozenset(self._table.control)

    def encode_prompt(self, text: str) -> list[int]:
        """What the tokenizer puts in front of a text, then the text; what it would put behind is left out.

        Raises:
            CodecError: the tokenizer cannot write the text.
        """
        return [*self.prefix, *self._encoder.encode(text, self._encoder.lead)]

    def encode_passage(self, before: Sequence[int], passage: str) -> list[int]:
        """Ids of a passage that follows the tokens `before`: `decode(before + ids) == decode(before) + passage`.

        Args:
            before: all tokens before the passage, or the last of them if one of those is no control token.
            passage: any text; no part of it becomes a control token.

        Raises:
            CodecError: the tokenizer cannot write the passage.
        """
        return self._encoder.encode(passage, self._lead_after(before))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, control tokens spelled out."""
        stream = TextStream(self._table, self._encoder.lead)
        return "".join([*map(stream.push, ids), stream.flush()])

    def prompt_text(self, ids: Sequence[int]) -> str:
        """The text of a prompt without what the tokenizer has put in front of it."""
        size = len(self.prefix)
        return self.decode(ids[size:] if list(ids[:size]) == self.prefix else ids)

    def stream(self, before: Sequence[int] = ()) -> TextStream:
        """Decodes what follows `before`; a character that those tokens have cut is theirs."""
        return TextStream(self._table, self._lead_after(before))

    def _lead_after(self, before: Sequence[int]) -> bytes:
        return b"" if any(index in self._table.ordinary for index in before) else self._encoder.lead

    def _measured_prefix(self) -> list[int]:
        bare = self.tokenizer.encode("a", add_special_tokens=False)
        whole = self.tokenizer.encode("a")
        starts = [start for start in range(len(whole)) if whole[start : start + len(bare)] == bare]
        return whole[: starts[0]] if starts else []

    def _compare_with_tokenizer(self) -> None:
        """The sum of the tokens must be what the tokenizer itself shows."""
        ids = self.tokenizer.encode(_SAMPLE, add_special_tokens=False)
        ids = [index for index in ids if index not in self._table.control]
        theirs = self.tokenizer.decode(ids, clean_up_tokenization_spaces=False).strip()
        ours = self.decode(ids).strip()
        if ours != theirs:
            raise CodecError(
                f"{name_of(self.tokenizer)} shows {ids} as {theirs!r}, and its tokens one by one are {ours!r}; "
                "choose a tokenizer whose text is the sum of its tokens."
            )
