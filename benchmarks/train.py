"""Training steps of the 0.5M models beside transformers' models of the same shape, on the CPU in float32.

Then every mixer at that shape (8 layers of width 64 with SwiGLU of width 256; Mamba and Mamba-2, which need no channel
mixer, 16 layers) beside our own Transformer, and beside the model of transformers that is made of the same layers, or
of the nearest: RWKV is there in version 4, the linear RNN as the RG-LRU of RecurrentGemma, retention as the lightning
attention of MiniMax. LSTM and GRU are torch's own; DeltaNet, GLA, TOVA and plain linear attention are not there.

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
_HEADS = {"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "intermediate_size": 256}
_DELTA = {f"linear_num_{part}_heads": 4 for part in ("key", "value")} | {
    f"linear_{part}_head_dim": 16 for part in ("key", "value")
}
_EXPERT = {"num_local_experts": 1, "num_experts_per_tok": 1}
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "mamba2": ("Mamba2", {"state_size": 16, "num_heads": 4, "head_dim": 32, "n_groups": 1, "chunk_size": 32}),
    "gated-deltanet": ("Qwen3_5", _HEADS | _DELTA | {"layer_types": ["linear_attention"] * 8}),
    "mlstm": ("xLSTM", {"num_blocks": 8, "num_heads": 4, "qk_dim_factor": 1.0, "chunk_size": 32}),
    "rwkv6": ("Rwkv", {"attention_hidden_size": 64, "intermediate_size": 256, "context_length": LENGTH}),
    "linear-rnn": ("RecurrentGemma", _HEADS | {"lru_width": 64, "block_types": ["recurrent"]}),
    "retention": ("MiniMax", _HEADS | _EXPERT | {"block_size": 32, "layer_types": ["linear_attention"] * 8}),
    "sliding-window": ("Mistral", _HEADS | {"sliding_window": 16}),
}
"""The mixers that transformers has too, or something close to them: the model's name there, and its shape."""


def lines() -> Iterator[Line]:
    """Tokens per second of a training step: Mamba, then the Transformer."""
    yield _line("mamba", _transformers("Mamba", state_size=16), "transformers MambaForCausalLM", repeats=2)
    llama = _transformers("Llama", num_attention_heads=4, intermediate_size=256)
    yield _line("transformer", llama, "transformers LlamaForCausalLM", repeats=10)
    transformer = LanguageModel(model_config("transformer", "0.5M", vocab_size=VOCAB))
    for name in MIXERS:
        ours = language_model(name)
        rates = compare(_step(ours, ours), _step(transformer, transformer), repeats=3)
        yield Line.from_rates(f"train-{name}", rates, reference_name="our Transformer, 0.5M", unit="tokens/s")
    for name, (model, shape) in PEERS.items():
        yield _beside_peer(name, _transformers(model, **shape), f"transformers {model}ForCausalLM")


def language_model(mixer: str) -> LanguageModel:
    """The model of the 0.5M shape whose layers have this mixer."""
    layer = MIXERS[mixer]
    layers = (layer(),) * 16 if layer.stands_alone else (layer(d_ffn=256),) * 8
    return LanguageModel(LanguageModelConfig(d_model=64, vocab_size=VOCAB, layers=layers))


def _beside_peer(mixer: str, theirs: torch.nn.Module, reference_name: str) -> Line:
    config = language_model(mixer).config
    ours = LanguageModel(config.model_copy(update={"embedding": LearnedEmbedding()}))
    rates = compare(_step(ours, ours), _step(theirs, lambda tokens: theirs(tokens).logits), repeats=2)
    return Line.from_rates(f"train-{mixer}-beside-transformers", rates, reference_name=reference_name, unit="tokens/s")


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

    n_layers = 16 if name in ("Mamba", "Mamba2") else 8
    shape |= {"vocab_size": VOCAB, "hidden_size": 64, "num_hidden_layers": n_layers, "tie_word_embeddings": False}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config_name = f"{name}TextConfig" if name == "Qwen3_5" else f"{name}Config"
    config = getattr(transformers, config_name)(use_cache=False, **special, **shape)
    return getattr(transformers, f"{name}ForCausalLM")(config).train()
