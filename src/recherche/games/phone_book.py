"""A phone book: associative recall as text, for a language model with a tokenizer of its own.

    Alice reads      Ada Berg: 7          n lines, names drawn without repetition, numbers of one digit, each uniform on
                     Cleo Lund: 3         ten values and independent of all others
    Bob is asked     Cleo Lund:           and says which digit comes next; the likeliest of the ten is his answer

The names are known to both players, so that Alice's cache has carried what Bob knows about the digits. A text and a
question are cut into tokens apart; where all ten numbers begin with the same token (a space, say), it is part of the
question. Bob's questions about one text are asked side by side, from copies of the cache that was sent.

Reference: Jelassi et al. (2024), Repeat after me, https://arxiv.org/abs/2402.01032
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
import torch

from recherche.errors import ConfigError, StateError
from recherche.games.capacity import Capacity
from recherche.games.hf_inside import refill
from recherche.games.hf_subjects import Carried, HFSubject, folder_subject
from recherche.games.quantisers import AbstractQuantiser

FIRST = "Ada Ben Cleo Dan Eva Finn Gus Hana Ida Jon Kai Lea Max Nora Otto Pia Ron Sam Tess Uma Vic Wes"
LAST = "Berg Cole Dahl Ek Fox Gray Holm Ives Jung Kern Lund Moss Nash Orr Park Quist Reed Stone Tate"
DIGITS = tuple("0123456789")


class Question(NamedTuple):
    """What Bob reads, and the token of each digit that may follow."""

    ids: tuple[int, ...]
    candidates: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class PhoneBookReader:
    """A language model that plays.

    Attributes:
        subject: the model and its cache.
        tokenizer: from text to ids; anything with `encode`.
    """

    subject: HFSubject
    tokenizer: Any

    @property
    def family(self) -> str:
        """The kind of model, in the words of the library."""
        return str(self.subject.model.config.model_type)

    def play(self, n: int, *, quantiser: AbstractQuantiser, generator: np.random.Generator, num_texts: int) -> Capacity:
        """The game with n lines.

        Raises:
            ConfigError: there are fewer names, or digits that the tokenizer does not tell apart.
            StateError: the cache is not finite, or is not one row for one text.
        """
        names = [f"{first} {last}" for first, last in product(FIRST.split(), LAST.split())]
        if not 1 <= n <= len(names):
            raise ConfigError(
                f"A phone book has 1 to {len(names)} lines, got n = {n}; that is how many names there are."
            )
        wrong, bits = np.ones((num_texts, n), dtype=bool), 0
        for row in wrong:
            chosen = [names[i] for i in generator.permutation(len(names))[:n]]
            digits = generator.integers(len(DIGITS), size=n)
            text = "".join(f"{name}: {DIGITS[digit]}\n" for name, digit in zip(chosen, digits, strict=True))
            message, text_bits = self._send(text, quantiser)
            row[:] = self._ask(message, chosen) != digits
            bits += text_bits
        return Capacity.of(wrong, n=n, quantiser=quantiser.name, message_bits=bits, num_symbols=len(DIGITS))

    def question(self, name: str) -> Question:
        """What is asked about a name.

        Raises:
            ConfigError: two digits begin with the same token.
        """
        lines = [self.tokenizer.encode(f"{name}: {digit}", add_special_tokens=False) for digit in DIGITS]
        shortest = min(map(len, lines))
        common = next((i for i in range(shortest) if len({line[i] for line in lines}) > 1), shortest)
        candidates = tuple(line[common] for line in lines if len(line) > common)
        if len(set(candidates)) < len(DIGITS):
            raise ConfigError(
                "Bob answers with one token, but this tokenizer begins several digits with the same one; "
                "choose a model whose tokenizer has a token for each digit."
            )
        return Question(tuple(lines[0][:common]), candidates)

    @torch.inference_mode()
    def _send(self, text: str, quantiser: AbstractQuantiser) -> tuple[Carried, int]:
        """Alice: the cache after a text, as it is after packing and unpacking, and the bits in between."""
        ids = torch.tensor([self.tokenizer.encode(text)])
        cache = self.subject.extend(ids, None).cache
        bits, sent = 0, {}
        for path, tensor in self.subject.tensors(cache).items():
            if tensor.shape[0] != 1:
                raise StateError(f"The cache of one text has {tensor.shape[0]} rows in {path}; this model cannot play.")
            parts = quantiser.pack(tensor) if tensor.is_floating_point() else {"": tensor}
            bits += 8 * sum(part.numel() * part.element_size() for part in parts.values())
            back = quantiser.unpack(parts, tuple(tensor.shape)) if tensor.is_floating_point() else tensor
            sent[path] = back.to(tensor.dtype)
        return Carried(refill(copy.deepcopy(cache.cache), sent), cache.length), bits

    @torch.inference_mode()
    def _ask(self, message: Carried, names: Sequence[str]) -> np.ndarray:
        """Bob: the digit of each name; questions of equal length side by side."""
        questions = [self.question(name) for name in names]
        answers = np.zeros(len(names), dtype=np.int64)
        for length in sorted({len(question.ids) for question in questions}):
            rows = [i for i, question in enumerate(questions) if len(question.ids) == length]
            tokens = torch.tensor([questions[i].ids for i in rows])
            copies = {
                path: tensor.repeat_interleave(len(rows), dim=0)
                for path, tensor in self.subject.tensors(message).items()
            }
            own = Carried(refill(copy.deepcopy(message.cache), copies), message.length)
            for token in tokens.split(1, dim=1):  # one by one: some families are wrong for more from a cache
                reading, own = self.subject.extend(token, own)
            logits = reading[-1].logits
            candidates = torch.tensor([questions[i].candidates for i in rows])
            answers[rows] = logits.gather(1, candidates).argmax(dim=1).numpy()
        return answers


def load_reader(path: str) -> PhoneBookReader:
    """The model and the tokenizer in a local folder.

    Raises:
        ConfigError: one of them is not there, or transformers is not installed.
    """
    subject = folder_subject(path)
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise ConfigError(f"{path} has no tokenizer that can be read: {error}; save one beside the model.") from error
    return PhoneBookReader(subject, tokenizer)
