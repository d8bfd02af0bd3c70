"""Two tokenizers written in Python: one token a character, and the longest match in a trie of byte strings (RWKV)."""

import ast
import tempfile
from pathlib import Path
from typing import ClassVar

from transformers import AddedToken, PreTrainedTokenizer

CHARACTERS = "\n abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()<>/-_|#=+éüñ"
WORDS = (
    "the",
    " the",
    " search",
    "search",
    " of",
    "Ada",
    " Ada Berg",
    ": ",
    "\n\n",
    "555-",
    "é",
    "東",
    "京都",
    "  ",
    "<s",
)


class CharacterTokenizer(PreTrainedTokenizer):
    """A token for each of a few characters, `<unk>` for all others; nothing is put around a text."""

    vocab_files_names: ClassVar[dict[str, str]] = {"vocab_file": "characters.txt"}

    def __init__(self, vocab_file: str | None = None, **kwargs) -> None:
        characters = CHARACTERS if vocab_file is None else Path(vocab_file).read_text(encoding="utf-8")
        self._characters = ["<unk>", "<s>", "</s>", "<pad>", *characters]
        self._ids = {character: index for index, character in enumerate(self._characters)}
        named = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
        super().__init__(**(named | {"extra_special_tokens": ["<|user|>"]} | kwargs))

    @property
    def vocab_size(self) -> int:
        return len(self._characters)

    def get_vocab(self) -> dict[str, int]:
        return self._ids | self.added_tokens_encoder

    def _tokenize(self, text: str, **kwargs) -> list[str]:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self._ids.get(token, 0)

    def _convert_id_to_token(self, index: int) -> str:
        return self._characters[index]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        return "".join(tokens)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str]:
        path = Path(save_directory) / ((filename_prefix or "") + "characters.txt")
        path.write_text("".join(self._characters[4:]), encoding="utf-8", newline="")
        return (str(path),)


class TrieTokenizer(PreTrainedTokenizer):
    """The longest byte string of the vocabulary that fits, again and again, as of RWKV's World models.

    As there, a token of the slow interface is its number or its bytes, what is shown for a cut character is lossy, a
    line of the file is `id repr(bytes) length`, and number 0 ends a text.
    """

    vocab_files_names: ClassVar[dict[str, str]] = {"vocab_file": "trie.txt"}

    def __init__(self, vocab_file: str, **kwargs) -> None:
        self._bytes: dict[int, bytes] = {}
        for line in Path(vocab_file).read_text(encoding="utf-8").splitlines():
            value = ast.literal_eval(line[line.index(" ") : line.rindex(" ")].strip())
            self._bytes[int(line[: line.index(" ")])] = value.encode() if isinstance(value, str) else value
        self._ids = {value: index for index, value in self._bytes.items()}
        self._longest = max(map(len, self._ids))
        self._added_tokens_decoder = {0: AddedToken("<s>", special=True, normalized=False)}
        named = dict.fromkeys(("bos_token", "eos_token", "unk_token", "pad_token"), "<s>")
        super().__init__(**(named | {"extra_special_tokens": ["<|user|>"]} | kwargs))

    @classmethod
    def tiny(cls) -> "TrieTokenizer":
        """All bytes and a few words."""
        values = [bytes([byte]) for byte in range(256)]
        values += sorted({word.encode() for word in WORDS} - set(values))
        lines = [f"{index} {value!r} {len(value)}" for index, value in enumerate(values, start=1)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trie.txt"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return cls(str(path))

    @property
    def vocab_size(self) -> int:
        return len(self._ids) + 1

    def get_vocab(self) -> dict[bytes | str, int]:
        return self._ids | self.added_tokens_encoder

    def _tokenize(self, text: str, **kwargs) -> list[int]:
        data, begin, found = text.encode(), 0, []
        while begin < len(data):
            end = next(e for e in range(min(len(data), begin + self._longest), begin, -1) if data[begin:e] in self._ids)
            found.append(self._ids[data[begin:end]])
            begin = end
        return found

    def _convert_token_to_id(self, token: int) -> int:
        return token

    def _convert_id_to_token(self, index: int) -> str:
        return self._bytes.get(index, b"<s>").decode(errors="replace")

    def convert_tokens_to_string(self, tokens: list[str | bytes]) -> str:
        return b"".join(token.encode() if isinstance(token, str) else token for token in tokens).decode()

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str]:
        path = Path(save_directory) / ((filename_prefix or "") + "trie.txt")
        lines = [f"{index} {value!r} {len(value)}" for index, value in self._bytes.items()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return (str(path),)
