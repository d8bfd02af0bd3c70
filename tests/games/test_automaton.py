from typing import Any

import numpy as np
import torch

from recherche.games.automaton import Automaton, state_digests
from recherche.games.quantisers import quantiser_of
from recherche.models.config import LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel


def small_mamba() -> LanguageModel:
    config = LanguageModelConfig(d_model=8, vocab_size=20, layers=(MambaLayer(d_state=2),))
    return LanguageModel(config, torch.Generator().manual_seed(0)).eval()


def test_state_bits_are_those_of_the_rounded_state(last_tokens: Any) -> None:
    assert Automaton(last_tokens(6), quantiser_of("r5")).state_bits == 32
    assert Automaton(last_tokens(6), quantiser_of("float32")).state_bits == 6 * 32


def test_reading_in_parts_is_reading_at_once() -> None:
    automaton, text = Automaton(small_mamba(), quantiser_of("int8")), np.arange(1, 13)[None]
    _, at_once = automaton.read(automaton.start(1), text)
    _, half = automaton.read(automaton.start(1), text[:, :5])
    assert state_digests(automaton.read(half, text[:, 5:])[1]) == state_digests(at_once)


def test_every_state_is_a_fixed_point_of_the_quantiser() -> None:
    automaton, text = Automaton(small_mamba(), quantiser_of("r7")), np.arange(1, 13)[None]
    logits, state = automaton.read(automaton.start(1), text)
    for tensor in state[0]:
        assert torch.equal(tensor, (tensor * 8).round() / 8)
    assert not torch.equal(logits, automaton.model.prefill(torch.from_numpy(text))[0]), "rounding should be felt"


def test_rows_have_digests_of_their_own(last_tokens: Any) -> None:
    automaton = Automaton(last_tokens(2), quantiser_of("float32"))
    _, state = automaton.read(automaton.start(3), np.array([[1, 2, 3], [4, 2, 3], [1, 3, 2]]))
    first, second, third = state_digests(state)
    assert first == second != third
