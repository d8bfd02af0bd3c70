"""LoRA for any causal model of transformers, and merged again: what is left is a model of the same kind.

    W x  ->  W x + (2 r / r) B A x       A: r x d random, B: zero at first; only A, B and the rows of new tokens learn

A layer can have an adapter if the model *calls* it. Some families use the weight of a layer without calling it (the
step size of Mamba), and an adapter there would learn nothing and be merged all the same; so the layers that are called
are found by calling the model, and what is merged is compared with what was trained.

Reference: Hu et al. (2021), LoRA, https://arxiv.org/abs/2106.09685
"""

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from recherche.errors import ConfigError

_FUSED = frozenset({"out_proj", "conv1d"})
"""Layers of Mamba whose weights its CUDA kernels take; peft refuses them."""

_TOLERANCES = MappingProxyType({torch.float64: 1e-3, torch.float32: 1e-3})
_HALF_TOLERANCE = 5e-2
"""How far logits may move when adapters are merged, relative to their size: sums of weights are rounded anew."""


def with_adapters(model: Any, *, rank: int, tokens: Sequence[int], generator: torch.Generator) -> Any:
    """The model with adapters of that rank; all else is frozen.

    Args:
        tokens: ids whose rows of the embedding (and of the head) are trained whole.
        generator: of the random matrices, on the CPU.

    Raises:
        ConfigError: peft is not there, or no layer of the model can have an adapter.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise ConfigError(f"LoRA needs peft: {error}; pip install 'recherche[lm]', or train all weights.") from error
    layers = called_layers(model)
    if not layers:
        raise ConfigError(
            f"No linear layer of {type(model).__name__} can have an adapter; train all weights (--lora none)."
        )
    config = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=layers,
        fan_in_fan_out=any("Conv1D" in type(model.get_submodule(layer)).__name__ for layer in layers),
        trainable_token_indices={name: [*tokens] for name in _embeddings(model)},
        task_type="CAUSAL_LM",
    )
    with warnings.catch_warnings(), torch.random.fork_rng():  # peft draws from the global generator
        warnings.simplefilter("ignore", FutureWarning)  # between peft and transformers: nobody here can heed it
        adapted: Any = get_peft_model(model, config)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if ".lora_A." in name:
                bound = weight.shape[1] ** -0.5  # as peft draws it
                weight.copy_(bound * (2 * torch.rand(weight.shape, generator=generator) - 1))
    # Rows of new tokens are stored with the adapters, and all others are those of the folder.
    adapted.save_pretrained = partial(adapted.save_pretrained, save_embedding_layers=False)
    return adapted


def called_layers(model: Any) -> list[str]:
    """Names of the linear layers that a forward pass calls, without the head."""
    from transformers.pytorch_utils import Conv1D  # GPT-2's transposed linear layer

    head, called = model.get_output_embeddings(), []
    with ExitStack() as stack:
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear | Conv1D) and layer is not head and name.rpartition(".")[2] not in _FUSED:
                hook = layer.register_forward_hook(lambda *_, name=name: called.append(name))
                stack.callback(hook.remove)
        with torch.no_grad():
            model(input_ids=torch.zeros(1, 4, dtype=torch.long, device=model.device), use_cache=False)
    return sorted(set(called))


@torch.no_grad()
def merged(adapted: Any, sample: Int[Tensor, "b t"]) -> Any:
    """The model with its adapters added to its weights.

    Args:
        sample: tokens on which both must agree.

    Raises:
        ConfigError: they do not, so the family cannot be trained by adapters.
    """
    adapted.eval()
    sample = sample.to(adapted.device)
    expected = adapted(input_ids=sample, use_cache=False).logits.float()
    model = adapted.merge_and_unload()
    found = model(input_ids=sample, use_cache=False).logits.float()
    error = float((found - expected).norm() / expected.norm())
    if not error <= _TOLERANCES.get(model.dtype, _HALF_TOLERANCE):
        raise ConfigError(
            f"Adapters of {type(model).__name__} cannot be merged: its logits change by {error:.1e} of their size; "
            "train all weights (--lora none)."
        )
    return model


def _embeddings(model: Any) -> list[str]:
    """Names of the embedding and of a head of its own."""
    tables = [model.get_input_embeddings()]
    head = model.get_output_embeddings()
    if head is not None and head.weight is not tables[0].weight:
        tables.append(head)
    return [name for name, module in model.named_modules() if any(module is table for table in tables)]
