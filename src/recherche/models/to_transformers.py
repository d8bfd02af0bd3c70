"""Our language models as folders of the transformers library: the inverse of `from_transformers`.

    to_transformers(model, "my-mamba", tokenizer=tokenizer)
    AutoModelForCausalLM.from_pretrained("my-mamba")             logits agree to rounding

    attention                llama       with qk_norm: qwen3
    mamba                    mamba
    mamba-2                  mamba2

A frozen embedding becomes an ordinary one with the same vectors. The norm of queries and keys has an epsilon of its own
here and shares the model's there: (c q) / sqrt(c^2 m + c^2 e) = q / sqrt(m + e), so W_q and W_k are scaled by c.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from recherche._files import replacing_folder
from recherche.errors import ConfigError
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.mamba2 import Mamba2Layer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import TiedHead
from recherche.models.language_model import LanguageModel
from recherche.models.pretrained import FAMILIES, Weights, qk_rescaling
from recherche.models.word_tokenizer import word_tokenizer
from recherche.vocab import Vocab

POSITIONS = 2**20
"""Stated as the longest text of an attention model: rotations have no longest one, and the field needs a number."""


class Export(NamedTuple):
    """How one kind of layer is written.

    Attributes:
        classes: the stem of the library's two classes, as in LlamaConfig and LlamaForCausalLM.
        settings: fields of its config that are about layers.
        layer: its weights of one layer, from ours with the layer's prefix cut off.
    """

    classes: str
    settings: Callable[[LanguageModelConfig], dict[str, Any]]
    layer: Callable[[Weights, LanguageModelConfig], dict[str, Tensor]]


def to_transformers(
    model: LanguageModel, folder: str | Path, *, tokenizer: Any = None, vocab: Vocab | None = None
) -> None:
    """Save a model as a folder that `AutoModelForCausalLM` loads, and `AutoTokenizer` where a tokenizer is given.

    Args:
        tokenizer: a tokenizer of transformers, saved beside the weights.
        vocab: or a table of tokens, which becomes a tokenizer that splits at white space.

    Raises:
        ConfigError: transformers has no equal of the model, or the tokenizer has more tokens than the model.
    """
    if tokenizer is not None and vocab is not None:
        raise ConfigError("A folder holds one tokenizer, got a tokenizer and a vocab; leave one of them out.")
    if vocab is not None:
        tokenizer = word_tokenizer(vocab)
    if tokenizer is not None and len(tokenizer) > model.config.vocab_size:
        raise ConfigError(
            f"The tokenizer has {len(tokenizer)} tokens, but the model has vectors for {model.config.vocab_size}; "
            "save the tokenizer that the model was trained with."
        )
    theirs = transformers_model(model)
    if tokenizer is not None:
        for config in (theirs.config, theirs.generation_config):
            for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
                setattr(config, name, getattr(tokenizer, name))
    with replacing_folder(Path(folder)) as draft:
        theirs.save_pretrained(draft)
        if tokenizer is not None:
            tokenizer.save_pretrained(draft)


def transformers_model(model: LanguageModel) -> Any:
    """The same function as a model of transformers, from copied weights, in the weights' number type.

    Raises:
        ConfigError: transformers has no equal of the model.
    """
    import transformers

    config = model.config
    export = EXPORTS[_family_of(config)]
    settings = export.settings(config) | {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": len(config.layers),
        "tie_word_embeddings": isinstance(config.head, TiedHead),
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    }
    with torch.random.fork_rng(devices=[]):  # their first weights are drawn from the global generator
        copy = getattr(transformers, f"{export.classes}ForCausalLM")(
            getattr(transformers, f"{export.classes}Config")(**settings)
        )
    copy.to(model.embedding.dtype).load_state_dict(transformers_weights(model))
    return copy.eval()


def transformers_weights(model: LanguageModel) -> dict[str, Tensor]:
    """Our weights by their names, as `load_state_dict` of `transformers_model(model)` takes them.

    Raises:
        ConfigError: transformers has no equal of the model.
    """
    name = _family_of(model.config)
    family, export, ours = FAMILIES[name], EXPORTS[name], model.state_dict()
    theirs = {family.stem + their_name: ours[our_name] for our_name, their_name in family.names.items()}
    theirs["lm_head.weight"] = ours["embedding" if model.head is None else "head"]
    for i in range(len(model.config.layers)):
        prefix = f"layers.{i}."
        layer = {key.removeprefix(prefix): tensor for key, tensor in ours.items() if key.startswith(prefix)}
        theirs |= {f"{family.stem}{prefix}{key}": tensor for key, tensor in export.layer(layer, model.config).items()}
    return theirs


def _family_of(config: LanguageModelConfig) -> str:
    """The key of `EXPORTS` and of `FAMILIES`."""
    if len(set(config.layers)) > 1:
        raise ConfigError(
            "Only a model whose layers are all alike can be saved for transformers, got "
            f"{', '.join(layer.mixer for layer in config.layers)}: its hybrids (Jamba, Zamba, Bamba, Nemotron-H) have "
            "other norms, positions or feed-forward parts, so none computes the same; save a pure model."
        )
    layer = config.layers[0]
    if isinstance(layer, AttentionLayer):
        return "qwen3" if layer.qk_norm else "llama"
    if layer.mixer not in EXPORTS:
        raise ConfigError(
            f"transformers has no model of {layer.mixer} layers that computes the same; choose from: "
            "attention, mamba, mamba2."
        )
    return layer.mixer


def _require_ffn(layer: AttentionLayer) -> int:
    if layer.d_ffn is None:
        raise ConfigError(
            "A Transformer of transformers has a feed-forward part in every layer, but d_ffn is None here; "
            "train the model with d_ffn."
        )
    return layer.d_ffn


def _require_no_ffn(layer: MambaLayer | Mamba2Layer) -> None:
    if layer.d_ffn is not None:
        raise ConfigError(
            f"A Mamba of transformers has no feed-forward part, but d_ffn={layer.d_ffn} here; "
            "train the model without d_ffn."
        )


def _attention_settings(config: LanguageModelConfig) -> dict[str, Any]:
    layer = config.layers[0]
    assert isinstance(layer, AttentionLayer)
    return {
        "num_attention_heads": layer.n_heads,
        "num_key_value_heads": layer.n_kv_heads or layer.n_heads,
        "head_dim": config.d_model // layer.n_heads,
        "intermediate_size": _require_ffn(layer),
        "rope_parameters": {"rope_type": "default", "rope_theta": layer.rope_base},
        "rms_norm_eps": config.norm_eps,
        "max_position_embeddings": POSITIONS,
    }


def _attention_layer(ours: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
    layer = config.layers[0]
    assert isinstance(layer, AttentionLayer)
    d_head = config.d_model // layer.n_heads
    d_kv = (layer.n_kv_heads or layer.n_heads) * d_head
    q, k, v = ours["mixer.qkv_proj.weight"].split((config.d_model, d_kv, d_kv))
    norms = {}
    if layer.qk_norm:
        q, k = (weight * qk_rescaling(config.norm_eps) for weight in (q, k))
        norms = dict(zip(("self_attn.q_norm.weight", "self_attn.k_norm.weight"), ours["mixer.qk_scale"], strict=True))
    gate, up = ours["ffn.gate_up_proj.weight"].chunk(2)
    return norms | {
        "input_layernorm.weight": ours["norm.weight"],
        "self_attn.q_proj.weight": q,
        "self_attn.k_proj.weight": k,
        "self_attn.v_proj.weight": v,
        "self_attn.o_proj.weight": ours["mixer.out_proj.weight"],
        "post_attention_layernorm.weight": ours["ffn_norm.weight"],
        "mlp.gate_proj.weight": gate,
        "mlp.up_proj.weight": up,
        "mlp.down_proj.weight": ours["ffn.out_proj.weight"],
    }


def _mamba_settings(config: LanguageModelConfig) -> dict[str, Any]:
    layer = config.layers[0]
    assert isinstance(layer, MambaLayer | Mamba2Layer)
    _require_no_ffn(layer)
    return {
        "state_size": layer.d_state,
        "expand": layer.expand,
        "conv_kernel": layer.d_conv,
        "layer_norm_epsilon": config.norm_eps,
    }


def _mamba2_settings(config: LanguageModelConfig) -> dict[str, Any]:
    layer = config.layers[0]
    assert isinstance(layer, Mamba2Layer)
    if layer.norm_eps != config.norm_eps:
        raise ConfigError(
            f"A Mamba-2 of transformers has one epsilon for all its norms, got norm_eps={config.norm_eps} of the model "
            f"and norm_eps={layer.norm_eps} of its layers; make them equal."
        )
    heads = {
        "num_heads": layer.n_heads,
        "head_dim": layer.expand * config.d_model // layer.n_heads,
        "n_groups": layer.n_groups,
    }
    return _mamba_settings(config) | heads


def _renamed(names: Mapping[str, str]) -> Callable[[Weights, LanguageModelConfig], dict[str, Tensor]]:
    """Layers that differ from ours in names, and in an axis of length 1 of the convolution."""

    def layer(ours: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
        theirs = {names.get(name, name): tensor for name, tensor in ours.items()}
        return theirs | {"mixer.conv1d.weight": theirs["mixer.conv1d.weight"].unsqueeze(1)}

    return layer


_MAMBA_NAMES = {
    "mixer.conv_weight": "mixer.conv1d.weight",
    "mixer.conv_bias": "mixer.conv1d.bias",
    "mixer.dt_weight": "mixer.dt_proj.weight",
    "mixer.dt_bias": "mixer.dt_proj.bias",
}
_MAMBA2_NAMES = {
    "mixer.convolution.weight": "mixer.conv1d.weight",
    "mixer.convolution.bias": "mixer.conv1d.bias",
    "mixer.norm_weight": "mixer.norm.weight",
}

EXPORTS: MappingProxyType[str, Export] = MappingProxyType(
    {
        "llama": Export("Llama", _attention_settings, _attention_layer),
        "qwen3": Export("Qwen3", _attention_settings, _attention_layer),
        "mamba": Export("Mamba", _mamba_settings, _renamed(_MAMBA_NAMES)),
        "mamba2": Export("Mamba2", _mamba2_settings, _renamed(_MAMBA2_NAMES)),
    }
)
"""Every family that can be written, by transformers' own name of it."""
