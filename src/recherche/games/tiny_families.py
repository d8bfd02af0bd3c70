"""Tiny random models of the transformers library, one for each family of caches: what differs is the code.

Each is two to four layers of width 32 (xLSTM 64) with a vocabulary of 50, made from seed 0; chunks and windows are
short, so that a text of a hundred tokens crosses them.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from types import MappingProxyType
from typing import Any

_ATTENTION = {"intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
_MAMBA2 = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_n_groups": 1, "mamba_chunk_size": 8}
_DELTA = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}

SHARED: MappingProxyType[str, Any] = MappingProxyType(
    {
        "vocab_size": 50,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        # Larger weights than a model starts its training with, so that what a layer forgets is felt at the end.
        "initializer_range": 0.2,
    }
)
"""What all of them have in common, unless their own settings say otherwise."""

TINY_FAMILIES: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    {
        "llama": _ATTENTION,
        "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256},
        "mistral": _ATTENTION | {"sliding_window": 8},
        "mamba": {"state_size": 8},
        "falcon_mamba": {"state_size": 8},
        "mamba2": {"state_size": 8, "num_heads": 4, "head_dim": 16, "n_groups": 1, "chunk_size": 8},
        "jamba": _ATTENTION
        | {
            "num_hidden_layers": 4,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "expert_layer_period": 4,
            "expert_layer_offset": 3,
            "num_experts": 2,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "use_mamba_kernels": False,
        },
        "bamba": _ATTENTION | _MAMBA2 | {"attn_layer_indices": [1]},
        "falcon_h1": _ATTENTION | _MAMBA2 | {"head_dim": 8, "mamba_d_ssm": 64},
        "granitemoehybrid": _ATTENTION
        | _MAMBA2
        | {
            "layer_types": ["mamba", "attention"],
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "shared_intermediate_size": 32,
        },
        "zamba2": {
            "num_hidden_layers": 3,
            "layers_block_type": ["mamba", "hybrid", "mamba"],
            "intermediate_size": 64,
            "num_attention_heads": 4,
            "mamba_d_state": 8,
            "mamba_ngroups": 1,
            "n_mamba_heads": 4,
            "mamba_headdim": 16,
            "chunk_size": 8,
            "num_mem_blocks": 1,
            "adapter_rank": 4,
        },
        "nemotron_h": _ATTENTION
        | {
            "layers_block_type": ["mamba", "attention"],
            "head_dim": 8,
            "mamba_num_heads": 4,
            "mamba_head_dim": 16,
            "ssm_state_size": 8,
            "n_groups": 1,
            "chunk_size": 8,
        },
        "qwen3_next": _ATTENTION
        | _DELTA
        | {
            "head_dim": 8,
            "layer_types": ["linear_attention", "full_attention"],
            "num_experts": 2,
            "num_experts_per_tok": 1,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 32,
        },
        "olmo_hybrid": _ATTENTION | _DELTA | {"layer_types": ["linear_attention", "full_attention"]},
        "lfm2": _ATTENTION | {"conv_L_cache": 3, "layer_types": ["conv", "full_attention"]},
        "rwkv": {"attention_hidden_size": 32, "context_length": 256},
        "recurrent_gemma": {
            "num_hidden_layers": 3,
            "block_types": ["recurrent", "recurrent", "attention"],
            "intermediate_size": 64,
            "num_attention_heads": 4,
            "head_dim": 8,
            "lru_width": 32,
            "attention_window_size": 8,
        },
        "xlstm": {"hidden_size": 64, "num_heads": 4, "num_blocks": 2, "chunk_size": 16, "qk_dim_factor": 1.0},
    }
)
"""Settings of each family, by its name in transformers."""
