import pytest
import torch

from recherche._rng import torch_generator
from recherche.kernels.token_omission import kept_tokens, one_by_one


def draw(w, c, *, dtype):
    generator = torch_generator(0, "scores")
    scores = torch.randn(3, 2, c, w + c, generator=generator, dtype=torch.float64).to(dtype)
    is_empty = torch.arange(w) >= torch.tensor([[0], [w // 2], [w]])
    is_padding = torch.arange(c) >= torch.tensor([[c], [c // 2], [c - 1]])
    return scores, is_empty, is_padding


@pytest.mark.parametrize(("w", "c"), [(1, 1), (1, 9), (4, 23), (16, 5)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_the_compiled_choice_is_that_of_torch(w, c, dtype):
    arguments = draw(w, c, dtype=dtype)
    for compiled, slow in zip(kept_tokens(*arguments), one_by_one(*arguments), strict=True):
        assert torch.equal(compiled, slow)


@pytest.mark.parametrize("choice", [kept_tokens, one_by_one])
def test_the_least_attended_token_makes_room_and_may_be_the_new_one(choice):
    scores = torch.tensor([[[[3.0, 1.0, 2.0, 0.0], [3.0, 9.0, 2.0, 0.5]]]])
    seen, held = choice(scores, torch.zeros(1, 2, dtype=torch.bool), torch.zeros(1, 2, dtype=torch.bool))
    assert seen.int().tolist() == [[[1, 1, 1, 0], [1, 0, 1, 1]]]
    assert held.tolist() == [[0, 2]]


@pytest.mark.parametrize("choice", [kept_tokens, one_by_one])
def test_empty_slots_are_taken_from_the_first_on(choice):
    seen, held = choice(torch.zeros(1, 1, 2, 5), torch.tensor([[False, True, True]]), torch.zeros(1, 2).bool())
    assert held.tolist() == [[0, 3, 4]]
    assert seen.int().tolist() == [[[1, 0, 0, 1, 0], [1, 0, 0, 1, 1]]]


def test_padding_takes_no_slot():
    scores, is_empty, _ = draw(4, 6, dtype=torch.float64)
    _, held = kept_tokens(scores, is_empty, torch.ones(3, 6, dtype=torch.bool))
    assert held.tolist() == [[0, 1, 2, 3]] * 3
