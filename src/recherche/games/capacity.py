"""How much of a text a state really holds: Alice runs once a text, Bob once a question, and errors become bits.

    deal -> Alice: prefill -> message (bytes) -> Bob: state of every text, repeated for its questions -> answers
         -> errors of each question -> bits recovered (`information`), beside the bits that were sent

No model can recover more bits than it sends; how far below the diagonal a trained one stays is what is measured. A task
needs `lower_bound_bits`: where that exceeds the bits sent, the model must fail.

Reference: Wen, Dang & Lyu (2024), Theorems 4.6 and 4.7, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Int

from recherche.decoding import generate
from recherche.games.deals import Deal, deal
from recherche.games.information import recovered_bits
from recherche.games.protocol import StatefulModel, receive, send
from recherche.games.quantisers import AbstractQuantiser
from recherche.mixers.state import state_bits
from recherche.tasks.base import AbstractTask
from recherche.vocab import Vocab

SOLVED = 0.95
"""A model holds a text of length n if its answers about it are right at least this often."""

_NO_ANSWER = -1
_TEXTS_AT_ONCE, _BYTES_AT_ONCE = 512, 2**26
"""States that Bob goes on from side by side: enough to fill the processor, few enough for its memory."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What one game at one n has shown.

    Attributes:
        message_bits: bits of the message about one text.
        bits_recovered: bits that the message has carried, with 95 % confidence.
        bits_estimated: the same without allowance for chance.
        bits_dealt: bits of what could be asked; no message carries more about it.
        bits_needed: what any always right model needs for the task at this n: the task's own bound, or what was dealt.
        num_texts: texts; every question is asked about each.
        errors: share of wrong answers to each question.
    """

    n: int
    quantiser: str
    message_bits: int
    bits_recovered: float
    bits_estimated: float
    bits_dealt: float
    bits_needed: float
    accuracy: float
    num_texts: int
    errors: tuple[float, ...]

    @classmethod
    def of(
        cls,
        wrong: Bool[np.ndarray, "s m"],
        *,
        n: int,
        quantiser: str,
        message_bits: int,
        num_symbols: int,
        bits_needed: float = 0.0,
    ) -> "Capacity":
        """What the wrong answers (true) to m questions about each of s texts show.

        Args:
            message_bits: bits of the messages about all texts together.
            bits_needed: the task's own bound, where that is more than what was dealt.
        """
        num_texts, num_questions = wrong.shape
        bits_dealt = float(num_questions * np.log2(num_symbols))
        certain, estimated = recovered_bits(wrong.sum(axis=0), num_texts, num_symbols)
        return cls(
            n=n,
            quantiser=quantiser,
            message_bits=message_bits // num_texts,
            bits_recovered=certain,
            bits_estimated=estimated,
            bits_dealt=bits_dealt,
            bits_needed=max(bits_needed, bits_dealt),
            accuracy=float(1 - wrong.mean()),
            num_texts=num_texts,
            errors=tuple(wrong.mean(axis=0).tolist()),
        )

    @property
    def bits_per_state_bit(self) -> float:
        """Bits recovered for each bit sent."""
        return self.bits_recovered / self.message_bits

    def as_json(self) -> dict[str, Any]:
        """All of it, for a line of JSON."""
        return asdict(self) | {"bits_per_state_bit": self.bits_per_state_bit}


def measure_capacity(
    model: StatefulModel,
    task: AbstractTask,
    *,
    quantiser: AbstractQuantiser,
    generator: np.random.Generator,
    num_texts: int = 1000,
    vocab: Vocab | None = None,
) -> Capacity:
    """Play the game of a task.

    Args:
        num_texts: more texts, narrower limits.
        vocab: the model's own, if it is not the task's.

    Raises:
        ConfigError: there is no game for the task.
        StateError: the model's state is not finite.
        VocabError: the model has no word for a token of the task.
    """
    dealt = deal(task, generator, num_texts)
    if vocab is not None:
        dealt = dealt.translated(task.vocab, vocab)
    stop_ids = [i for i, token in enumerate((vocab or task.vocab).tokens) if token in set(task.answer_tokens)]
    answers, message_bits = [], 0
    stride = _texts_at_once(model, torch.from_numpy(dealt.texts[:1]))
    for start in range(0, num_texts, stride):
        rows = slice(start, start + stride)
        message = send(model, torch.from_numpy(dealt.texts[rows]), quantiser)
        message_bits += message.message_bits
        state = receive(model, message.data)
        answers.append(ask(model, state, dealt.questions[rows], deal=dealt, stop_ids=stop_ids))
    return Capacity.of(
        (np.concatenate(answers) != dealt.answers).reshape(num_texts, -1),
        n=task.size,
        quantiser=quantiser.name,
        message_bits=message_bits,
        num_symbols=dealt.num_symbols,
        bits_needed=task.lower_bound_bits,
    )


@torch.inference_mode()
def _texts_at_once(model: StatefulModel, text: Int[torch.Tensor, "1 t"]) -> int:
    _, state = model.prefill(text.to(model.device))
    return min(_TEXTS_AT_ONCE, max(1, 8 * _BYTES_AT_ONCE // max(1, state_bits(state))))


@torch.inference_mode()
def ask(
    model: StatefulModel, state: Any, questions: Int[np.ndarray, "s q j"], *, deal: Deal, stop_ids: Sequence[int]
) -> Int[np.ndarray, "s q a"]:
    """Bob's answers, -1 where he gives none; every question, about all texts at once, starts from the same state."""
    answers = [
        _answer(model, state, torch.from_numpy(questions[:, i]), deal=deal, stop_ids=stop_ids)
        for i in range(questions.shape[1])
    ]
    return np.stack(answers, axis=1)


def _answer(
    model: StatefulModel, state: Any, questions: Int[torch.Tensor, "s j"], *, deal: Deal, stop_ids: Sequence[int]
) -> Int[np.ndarray, "s a"]:
    """The answer to one question about the text of each row of a state."""
    num_symbols = deal.answers.shape[2]
    if deal.budget == 1:
        for column in questions.T.contiguous().to(model.device):
            logits, state = model.step(column, state)
        chosen = logits.argmax(dim=1).cpu().numpy()
        return np.where(np.isin(chosen, stop_ids), chosen, _NO_ANSWER)[:, None]
    generations = generate(
        model,
        list(questions.numpy()),
        stop_ids=stop_ids if num_symbols == 1 else (),
        max_new_tokens=deal.budget,
        state=state,
    )
    answers = np.full((len(questions), num_symbols), _NO_ANSWER)
    for row, generation in zip(answers, generations, strict=True):
        if num_symbols > 1:
            row[:] = generation.tokens
        elif generation.answer is not None:
            row[0] = generation.answer
    return answers


def longest_solved(points: Iterable[tuple[int, float]]) -> int | None:
    """Of several n with the accuracy there, the largest that is held (`SOLVED`); None if there is none."""
    return max((n for n, accuracy in points if accuracy >= SOLVED), default=None)
