"""Objects of transformers are told by the module of their class; two small ones stand for caches and models here."""

import copy
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from recherche.games.hf_inside import layer_outputs, refill, tensors_in, walk


class Layer:
    """Stands for a layer of a cache."""

    def __init__(self) -> None:
        self.keys, self.seen, self.states = torch.zeros(2, 3), 4, {0: torch.ones(2), 1: None}


class Cache:
    """Stands for a cache."""

    def __init__(self) -> None:
        self.layers, self.pair = [Layer(), Layer()], (torch.ones(1), torch.zeros(1).expand(5))


@pytest.fixture(autouse=True)
def of_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in (Layer, Cache):
        monkeypatch.setattr(cls, "__module__", "transformers.cache_utils")


def test_walking_finds_all_tensors_of_a_cache() -> None:
    paths = [path for path, _ in tensors_in(Cache())]
    each = ["keys", "states.0"]
    assert paths == [*(f"layers.{i}.{name}" for i in (0, 1) for name in each), "pair.0", "pair.1"]


def test_walking_finds_numbers_too_and_puts_them_back() -> None:
    numbers = dict(walk(Cache(), kind=int))
    assert numbers == {"layers.0.seen": 4, "layers.1.seen": 4}
    assert [layer.seen for layer in refill(Cache(), {"layers.1.seen": 7}).layers] == [4, 7]


def test_objects_of_other_libraries_and_modules_are_not_entered() -> None:
    assert list(tensors_in({"a": SimpleNamespace(x=torch.ones(1))})) == []


def test_a_cache_is_refilled_with_what_was_read_from_it() -> None:
    """Views too, which cannot be written into."""
    cache = Cache()
    new = {path: tensor + 7 for path, tensor in tensors_in(cache)}
    empty = refill(copy.deepcopy(cache), new)
    assert all(torch.equal(tensor, new[path]) for path, tensor in tensors_in(empty))
    assert empty.layers[0].seen == 4
    assert torch.equal(cache.layers[0].keys, torch.zeros(2, 3))


class Stack(nn.Module):
    """Two layers that put out tuples, and a list of another length."""

    def __init__(self) -> None:
        super().__init__()
        self.config: Any = SimpleNamespace(get_text_config=lambda: SimpleNamespace(num_hidden_layers=2))
        self.others = nn.ModuleList([nn.Identity()])
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Identity()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_layers_are_heard_while_the_context_is_open_and_not_after() -> None:
    model, x = Stack(), torch.ones(1, 2, 3)
    with layer_outputs(model) as found:
        y = model(x)
    assert sorted(found) == [0, 1]
    assert torch.equal(found[1], y)
    found.clear()
    model(x)
    assert found == {}
