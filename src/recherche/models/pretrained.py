"""Models of the transformers library as ours: the same function from copied weights.

    model = from_transformers(MambaForCausalLM(config))          logits agree to rounding

Only the object's config and state dict are read; transformers itself is never imported. What a model has and ours has
not (biases, scaled rotations, other activations) is refused, not dropped.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.kernels.rotary_heads import QK_EPS
from recherche.mixers.attention import AttentionLayer
from recherche.mixers.mamba2 import Mamba2Layer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.models.config import LanguageModelConfig
from recherche.models.embeddings import LearnedEmbedding, LearnedHead, TiedHead
from recherche.models.language_model import LanguageModel

Weights = Mapping[str, Tensor]


class Family(NamedTuple):
    """How one family of models is read.

    Attributes:
        config: our config from theirs.
        stem: prefix of all names but the head's.
        names: their name of our embedding and last norm.
        layer: our weights of one layer, from theirs with the layer's prefix cut off, and our config.
    """

    config: Callable[[Any], LanguageModelConfig]
    stem: str
    names: Mapping[str, str]
    layer: Callable[[Weights, LanguageModelConfig], dict[str, Tensor]]


def from_transformers(model: Any) -> LanguageModel:
    """Our language model with the weights of `model`, a Llama-, Qwen3-, Mamba- or Mamba2ForCausalLM.

    Raises:
        ConfigError: the family is another one, or the model has parts that ours has not.
    """
    family = lookup(FAMILIES, model.config.model_type, what="family of pretrained models")
    config = family.config(model.config)
    theirs: Weights = model.state_dict()
    ours = {name: theirs[family.stem + their_name] for name, their_name in family.names.items()}
    if isinstance(config.head, LearnedHead):
        ours["head"] = theirs["lm_head.weight"]
    for i in range(len(config.layers)):
        prefix = f"{family.stem}layers.{i}."
        layer = {name.removeprefix(prefix): tensor for name, tensor in theirs.items() if name.startswith(prefix)}
        ours |= {f"layers.{i}.{name}": tensor for name, tensor in family.layer(layer, config).items()}
    copy = LanguageModel(config).to(next(iter(ours.values())).dtype)
    copy.load_state_dict(ours)
    return copy


def _require(found: Mapping[str, tuple[Any, Any]]) -> None:
    """Refuse the first setting that is not what our layers do."""
    for name, (value, supported) in found.items():
        if value != supported:
            raise ConfigError(
                f"A model with {name}={value!r} cannot be copied, our layers have {name}={supported!r}; "
                "use a checkpoint of the plain architecture."
            )


def _llama_config(theirs: Any, *, qk_norm: bool = False) -> LanguageModelConfig:
    rope = theirs.rope_parameters
    _require(
        {
            "attention_bias": (theirs.attention_bias, False),
            "mlp_bias": (getattr(theirs, "mlp_bias", False), False),
            "hidden_act": (theirs.hidden_act, "silu"),
            "rope_type": (rope["rope_type"], "default"),
            "head_dim": (theirs.head_dim, theirs.hidden_size // theirs.num_attention_heads),
        }
    )
    layer = AttentionLayer(
        n_heads=theirs.num_attention_heads,
        n_kv_heads=theirs.num_key_value_heads,
        d_ffn=theirs.intermediate_size,
        qk_norm=qk_norm,
        rope_base=rope["rope_theta"],
    )
    return _config(theirs, layers=(layer,) * theirs.num_hidden_layers, eps=theirs.rms_norm_eps)


def _qwen3_config(theirs: Any) -> LanguageModelConfig:
    _require(
        {
            "use_sliding_window": (theirs.use_sliding_window, False),
            "layer_types": (set(theirs.layer_types), {"full_attention"}),
        }
    )
    return _llama_config(theirs, qk_norm=True)


def qk_rescaling(norm_eps: float) -> float:
    """What W_q and W_k are multiplied by, from ours to theirs, for a model whose norms all have this epsilon."""
    return math.sqrt(norm_eps / QK_EPS)


def _qwen3_layer(theirs: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
    ours = _llama_layer(theirs, config)
    scale = qk_rescaling(config.norm_eps)
    q, k, v = (theirs[f"self_attn.{part}_proj.weight"] for part in "qkv")
    return ours | {
        "mixer.qkv_proj.weight": torch.cat([q / scale, k / scale, v]),
        "mixer.qk_scale": torch.stack([theirs[f"self_attn.{part}_norm.weight"] for part in "qk"]),
    }


def _llama_layer(theirs: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
    return {
        "norm.weight": theirs["input_layernorm.weight"],
        "mixer.qkv_proj.weight": torch.cat([theirs[f"self_attn.{part}_proj.weight"] for part in "qkv"]),
        "mixer.out_proj.weight": theirs["self_attn.o_proj.weight"],
        "ffn_norm.weight": theirs["post_attention_layernorm.weight"],
        "ffn.gate_up_proj.weight": torch.cat([theirs["mlp.gate_proj.weight"], theirs["mlp.up_proj.weight"]]),
        "ffn.out_proj.weight": theirs["mlp.down_proj.weight"],
    }


def _mamba_config(theirs: Any) -> LanguageModelConfig:
    _require(
        {
            "use_bias": (theirs.use_bias, False),
            "use_conv_bias": (theirs.use_conv_bias, True),
            "hidden_act": (theirs.hidden_act, "silu"),
            "time_step_rank": (int(theirs.time_step_rank), math.ceil(theirs.hidden_size / 16)),
            "intermediate_size": (theirs.intermediate_size, int(theirs.expand) * theirs.hidden_size),
        }
    )
    layer = MambaLayer(d_state=theirs.state_size, expand=int(theirs.expand), d_conv=theirs.conv_kernel)
    return _config(theirs, layers=(layer,) * theirs.num_hidden_layers, eps=theirs.layer_norm_epsilon)


def _mamba_layer(theirs: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
    return {
        "norm.weight": theirs["norm.weight"],
        "mixer.in_proj.weight": theirs["mixer.in_proj.weight"],
        "mixer.conv_weight": theirs["mixer.conv1d.weight"].squeeze(1),
        "mixer.conv_bias": theirs["mixer.conv1d.bias"],
        "mixer.x_proj.weight": theirs["mixer.x_proj.weight"],
        "mixer.dt_weight": theirs["mixer.dt_proj.weight"],
        "mixer.dt_bias": theirs["mixer.dt_proj.bias"],
        "mixer.A_log": theirs["mixer.A_log"],
        "mixer.D": theirs["mixer.D"],
        "mixer.out_proj.weight": theirs["mixer.out_proj.weight"],
    }


def _mamba2_config(theirs: Any) -> LanguageModelConfig:
    _require(
        {
            "use_bias": (theirs.use_bias, False),
            "use_conv_bias": (theirs.use_conv_bias, True),
            "hidden_act": (theirs.hidden_act, "silu"),
            "time_step_limit": (tuple(theirs.time_step_limit), (0.0, math.inf)),
            "num_heads * head_dim": (theirs.num_heads * theirs.head_dim, int(theirs.expand) * theirs.hidden_size),
        }
    )
    layer = Mamba2Layer(
        d_state=theirs.state_size,
        expand=int(theirs.expand),
        n_heads=theirs.num_heads,
        n_groups=theirs.n_groups,
        d_conv=theirs.conv_kernel,
        norm_eps=theirs.layer_norm_epsilon,
    )
    return _config(theirs, layers=(layer,) * theirs.num_hidden_layers, eps=theirs.layer_norm_epsilon)


def _mamba2_layer(theirs: Weights, config: LanguageModelConfig) -> dict[str, Tensor]:
    return {
        "norm.weight": theirs["norm.weight"],
        "mixer.in_proj.weight": theirs["mixer.in_proj.weight"],
        "mixer.convolution.weight": theirs["mixer.conv1d.weight"].squeeze(1),
        "mixer.convolution.bias": theirs["mixer.conv1d.bias"],
        "mixer.dt_bias": theirs["mixer.dt_bias"],
        "mixer.A_log": theirs["mixer.A_log"],
        "mixer.D": theirs["mixer.D"],
        "mixer.norm_weight": theirs["mixer.norm.weight"],
        "mixer.out_proj.weight": theirs["mixer.out_proj.weight"],
    }


def _config(theirs: Any, *, layers: tuple[Any, ...], eps: float) -> LanguageModelConfig:
    return LanguageModelConfig(
        d_model=theirs.hidden_size,
        vocab_size=theirs.vocab_size,
        layers=layers,
        embedding=LearnedEmbedding(),
        head=TiedHead() if theirs.tie_word_embeddings else LearnedHead(),
        norm_eps=eps,
    )


_LLAMA_NAMES = {"embedding": "embed_tokens.weight", "norm.weight": "norm.weight"}
_MAMBA_NAMES = {"embedding": "embeddings.weight", "norm.weight": "norm_f.weight"}

FAMILIES: MappingProxyType[str, Family] = MappingProxyType(
    {
        "llama": Family(_llama_config, "model.", _LLAMA_NAMES, _llama_layer),
        "qwen3": Family(_qwen3_config, "model.", _LLAMA_NAMES, _qwen3_layer),
        "mamba": Family(_mamba_config, "backbone.", _MAMBA_NAMES, _mamba_layer),
        "mamba2": Family(_mamba2_config, "backbone.", _MAMBA_NAMES, _mamba2_layer),
    }
)
"""Every family that can be copied, by transformers' own name of it."""
