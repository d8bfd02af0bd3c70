from typing import Any

import numpy as np
import pytest
import torch

from recherche.games.automaton import Automaton, state_digest, state_hashes
from recherche.games.quantisers import quantiser_of
from recherche.models.config import LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel


def small_mamba() -> LanguageModel:
    config = LanguageModelConfig(d_model=8, vocab_size=20, layers=(MambaLayer(d_state=2),))
    return LanguageModel(config, torch.Generator().manual_seed(0)).eval()


def test_state_bits_are_those_of_the_rounded_state(last_tokens: Any) -> None:
    for quantiser, bits in (("r5", 32), ("float32", 6 * 32)):
        automaton = Automaton(last_tokens(6), quantiser_of(quantiser))
        assert automaton.state_bits(automaton.start(1)) == bits


def test_reading_in_parts_is_reading_at_once() -> None:
    automaton, text = Automaton(small_mamba(), quantiser_of("int8")), np.arange(1, 13)[None]
    _, at_once = automaton.read(automaton.start(1), text)
    _, half = automaton.read(automaton.start(1), text[:, :5])
    assert state_digest(automaton.read(half, text[:, 5:])[1]) == state_digest(at_once)


def test_every_state_is_a_fixed_point_of_the_quantiser() -> None:
    automaton, text = Automaton(small_mamba(), quantiser_of("r7")), np.arange(1, 13)[None]
    logits, state = automaton.read(automaton.start(1), text)
    for tensor in state[0]:
        assert torch.equal(tensor, (tensor * 8).round() / 8)
    assert not torch.equal(logits, automaton.model.prefill(torch.from_numpy(text))[0]), "rounding should be felt"


def test_rows_have_hashes_of_their_own(last_tokens: Any) -> None:
    automaton = Automaton(last_tokens(2), quantiser_of("float32"))
    _, state = automaton.read(automaton.start(3), np.array([[1, 2, 3], [4, 2, 3], [1, 3, 2]]))
    first, second, third = state_hashes(state).tolist()
    assert first == second != third


def test_states_that_differ_in_two_signs_have_different_hashes() -> None:
    """The multipliers alone, without the upper halves, would take them for the same."""
    signs = torch.tensor([[0.0, 1.0, 0.0, 1.0], [0.0, -1.0, 0.0, -1.0], [0.0, -1.0, 0.0, 1.0]])
    assert len(set(state_hashes((signs,)).tolist())) == 3


@pytest.mark.parametrize("width", [1, 3, 4, 7])
def test_hashes_of_many_random_rows_are_all_different(width: int) -> None:
    rows = torch.from_numpy(np.random.default_rng(0).integers(256, size=(20_000, width), dtype=np.uint8)).unique(dim=0)
    assert len(np.unique(state_hashes((rows,)))) == len(rows)
