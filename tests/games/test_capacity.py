"""The meter is held to memories of known size, played through the whole game: text, bytes, questions, bits."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from recherche.games.capacity import Capacity, longest_solved, measure_capacity
from recherche.games.quantisers import quantiser_of
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel
from recherche.tasks import Copying, Counting, Index, IsTree
from recherche.tasks.base import AbstractTask
from recherche.tasks.symbols import FAILED_ID

BITS = Index(n=20, n_symbols=2)


class Tape(NamedTuple):
    """The first tokens of a text as -1 and 1, and what follows it."""

    cells: torch.Tensor
    place: torch.Tensor


class Memory:
    """Keeps the first `num_cells` tokens of the list, and answers a position from them; beyond, it says 1.

    Each time it is asked, it errs with probability `noise`, and forgets (and guesses) with probability `erase`.
    """

    device = torch.device("cpu")

    def __init__(self, num_cells: int, *, noise: float = 0.0, erase: float = 0.0, length: int = 20) -> None:
        self.num_cells, self.noise, self.erase, self.length = num_cells, noise, erase, length
        self.generator = torch.Generator().manual_seed(0)

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {}

    def init_state(self, batch: int, *, dtype: Any = None, device: Any = None) -> Any:
        return (Tape(torch.zeros(batch, self.num_cells), torch.zeros(batch, 1)),)

    def prefill(
        self, tokens: torch.Tensor, state: Any = None, *, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        state = self.init_state(len(tokens)) if state is None else state
        logits = torch.zeros(len(tokens), 1)
        for token in tokens.T:
            logits, state = self.step(token, state)
        return logits, state

    def step(self, token: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        cells, place = state[0]
        index = place.long().clamp(max=self.num_cells) - 1
        written = torch.nn.functional.one_hot(index.clamp(min=0)[:, 0], self.num_cells) * (index >= 0)
        written = written * (place <= self.num_cells)
        after = torch.where(written.bool(), 2.0 * (token[:, None] - FAILED_ID) - 3, cells)
        asked = token - FAILED_ID - 1
        known = (asked >= 0) & (asked < self.num_cells)
        bit = cells.gather(1, asked.clamp(0, self.num_cells - 1)[:, None])[:, 0] > 0
        bit = bit ^ (torch.rand(len(token), generator=self.generator) < self.noise)
        forgotten = torch.rand(len(token), generator=self.generator) < self.erase
        guess = torch.rand(len(token), generator=self.generator) < 0.5
        answer = torch.where(known, torch.where(forgotten, guess, bit), False) + 1 + FAILED_ID
        return torch.nn.functional.one_hot(answer, 40).float(), (Tape(after, place + 1),)


def play(memory: Memory, *, quantiser: str = "int4", num_texts: int = 1000) -> Capacity:
    return measure_capacity(
        memory, BITS, quantiser=quantiser_of(quantiser), generator=np.random.default_rng(0), num_texts=num_texts
    )


def entropy(p: float) -> float:
    return -p * np.log2(p) - (1 - p) * np.log2(1 - p)


@pytest.mark.parametrize("num_cells", [1, 7, 20])
def test_a_perfect_memory_of_k_bits_reads_k(num_cells: int) -> None:
    result = play(Memory(num_cells))
    assert 0.9 * num_cells <= result.bits_recovered <= num_cells
    assert result.bits_estimated == pytest.approx(num_cells, abs=0.1)
    assert result.errors[:num_cells] == (0.0,) * num_cells


def test_a_binary_symmetric_memory_reads_one_minus_entropy_a_bit() -> None:
    result = play(Memory(20, noise=0.1), num_texts=4000)
    truth = 20 * (1 - entropy(0.1))
    assert 0.85 * truth <= result.bits_recovered <= truth
    assert result.bits_estimated == pytest.approx(truth, rel=0.03)


def test_an_erasing_memory_reads_at_most_what_it_keeps() -> None:
    result = play(Memory(20, erase=0.4), num_texts=4000)
    assert result.bits_recovered <= result.bits_estimated <= 20 * 0.6


def test_a_memory_that_guesses_reads_nothing() -> None:
    result = play(Memory(20, erase=1.0), num_texts=1000)
    assert result.bits_recovered < 0.01
    assert result.bits_estimated < 0.1


def test_the_message_is_counted_for_one_text() -> None:
    """20 cells and one place as int4 with a bfloat16 scale each; a row of codes is filled up to a byte."""
    result = play(Memory(20))
    assert result.message_bits == (20 * 4 + 16) + (8 + 16)
    assert result.bits_per_state_bit == result.bits_recovered / result.message_bits


def test_a_quantiser_that_destroys_the_state_destroys_the_bits() -> None:
    """R_3 has a step of 1/2 and clamps at 3/2; a place beyond it is lost, and with it nothing; cells of 1 survive."""
    assert play(Memory(20), quantiser="r3").bits_recovered > 18


TASKS = [Index(n=8), Counting(n=8), Copying(n=5), IsTree(n_nodes=6)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize("family", ["mamba", "transformer", "hybrid"])
def test_untrained_models_recover_next_to_nothing(task: AbstractTask, family: str) -> None:
    mamba, attention = MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)
    layers = {"mamba": (mamba, mamba), "transformer": (attention,), "hybrid": (mamba, attention)}[family]
    config = LanguageModelConfig(d_model=16, vocab_size=len(task.vocab), layers=layers)
    model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
    result = measure_capacity(
        model, task, quantiser=quantiser_of("float32"), generator=np.random.default_rng(0), num_texts=100
    )
    assert result.bits_recovered <= 0.3 * result.bits_dealt
    assert result.bits_recovered <= result.bits_estimated <= result.bits_dealt <= result.bits_needed
    assert result.bits_estimated <= result.message_bits
    assert result.as_json()["num_texts"] == 100


def test_a_curve_says_up_to_which_length_a_memory_holds() -> None:
    curve = [
        measure_capacity(
            Memory(10),
            BITS.at_size(n),
            quantiser=quantiser_of("int4"),
            generator=np.random.default_rng(n),
            num_texts=200,
        )
        for n in (4, 8, 10, 20)
    ]
    assert [point.n for point in curve] == [4, 8, 10, 20]
    points = [(point.n, point.accuracy) for point in curve]
    assert longest_solved(points) == 10
    assert longest_solved(points[3:]) is None
