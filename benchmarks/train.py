"""Training steps of the 0.5M models beside transformers' models of the same shape, on the CPU in float32.

Then every mixer at that shape (8 layers of width 64 with SwiGLU of width 256; Mamba and Mamba-2, which need no channel
mixer, 16 layers) beside our own Transformer.

One step is a forward and a backward pass of 32 texts of 96 tokens and an update by AdamW. Both sides have the same
number of layers, widths, state and vocabulary, learn their embedding, and take turns in one process.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from benchmarks.harness import Line, compare
from recherche._rng import torch_generator
from recherche.mixers import MIXERS
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import LearnedEmbedding, LearnedHead
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import model_config

VOCAB, BATCH, LENGTH = 40, 32, 96


def lines() -> Iterator[Line]:
    """Tokens per second of a training step: Mamba, then the Transformer."""
    yield _line("mamba", _transformers("Mamba", state_size=16), "transformers MambaForCausalLM", repeats=1)
    llama = _transformers("Llama", num_attention_heads=4, intermediate_size=256)
    yield _line("transformer", llama, "transformers LlamaForCausalLM", repeats=10)
    transformer = LanguageModel(model_config("transformer", "0.5M", vocab_size=VOCAB))
    for name, layer in MIXERS.items():
        layers = (layer(),) * 16 if layer.stands_alone else (layer(d_ffn=256),) * 8
        ours = LanguageModel(LanguageModelConfig(d_model=64, vocab_size=VOCAB, layers=layers))
        rates = compare(_step(ours, ours), _step(transformer, transformer), repeats=3)
        yield Line.from_rates(f"train-{name}", rates, reference_name="our Transformer, 0.5M", unit="tokens/s")


def _line(architecture: str, theirs: torch.nn.Module, reference_name: str, *, repeats: int) -> Line:
    config = model_config(architecture, "0.5M", vocab_size=VOCAB)
    ours = LanguageModel(config.model_copy(update={"embedding": LearnedEmbedding(), "head": LearnedHead()}))
    rates = compare(_step(ours, ours), _step(theirs, lambda tokens: theirs(tokens).logits), repeats=repeats)
    return Line.from_rates(f"train-{architecture}-0.5M", rates, reference_name=reference_name, unit="tokens/s")


def _step(model: torch.nn.Module, logits_of: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    tokens = torch.randint(VOCAB, (BATCH, LENGTH + 1), generator=torch_generator(0, "bench"))

    def step() -> float:
        loss = cross_entropy(logits_of(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return BATCH * LENGTH

    return step


def _transformers(name: str, **shape: Any) -> torch.nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

    n_layers = {"Mamba": 16, "Llama": 8}[name]
    shape |= {"vocab_size": VOCAB, "hidden_size": 64, "num_hidden_layers": n_layers, "tie_word_embeddings": False}
    config = getattr(transformers, f"{name}Config")(use_cache=False, **shape)
    return getattr(transformers, f"{name}ForCausalLM")(config).train()
