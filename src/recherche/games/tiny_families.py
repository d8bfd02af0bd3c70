"""Tiny random models of the transformers library, one for each family of caches: what differs is the code.

Each is two to six layers of width 32 (xLSTM 64) with a vocabulary of 50, made from seed 0; chunks and windows are
short, so that a text of a hundred tokens crosses them. Indexers have 16 heads: with few of them the scores, which are
cut off at zero, tie exactly, and which of the tied tokens is chosen is anybody's guess.

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
_LINEAR_THEN_FULL = {"layer_types": ["linear_attention", "full_attention"]}
_LATENT = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 16,
    "q_lora_rank": None,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
}
_EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 32}
_LOCAL_EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 32}
_ROUTED_EXPERTS = {"n_routed_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 32}
_INKLING = {
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "swa_num_attention_heads": 4,
    "swa_num_key_value_heads": 2,
    "swa_head_dim": 8,
    "sliding_window_size": 8,
    "rel_extent": 16,
    "d_rel": 4,
    "unpadded_vocab_size": 50,
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
        "gpt_neox": {"intermediate_size": 64, "num_attention_heads": 4},
        "mistral": _ATTENTION | {"sliding_window": 8},
        "gemma2": _ATTENTION | {"head_dim": 8, "sliding_window": 8, "query_pre_attn_scalar": 8},
        "gemma3_text": _ATTENTION
        | {
            "head_dim": 8,
            "sliding_window": 8,
            "query_pre_attn_scalar": 8,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        "gemma4_text": _ATTENTION
        | {
            "head_dim": 8,
            "global_head_dim": 8,
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention"],
            "num_kv_shared_layers": 0,
            "vocab_size_per_layer_input": 50,
            "hidden_size_per_layer_input": 4,
        },
        "gpt_oss": _ATTENTION | {"head_dim": 8, "sliding_window": 8, "num_local_experts": 2, "num_experts_per_tok": 1},
        "llama4_text": _ATTENTION
        | {
            "head_dim": 8,
            "attention_chunk_size": 8,
            "num_local_experts": 2,
            "intermediate_size_mlp": 64,
            "num_experts_per_tok": 1,
        },
        "moshi": {
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "head_dim": 8,
            "ffn_dim": 64,
            "sliding_window": 8,
        },
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
        "zamba": {
            "num_hidden_layers": 6,
            "layers_block_type": ["mamba", "hybrid", "mamba", "mamba", "hybrid", "mamba"],
            "intermediate_size": 64,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "n_mamba_heads": 2,
        },
        "qwen3_next": _ATTENTION
        | _DELTA
        | _LINEAR_THEN_FULL
        | _EXPERTS
        | {"head_dim": 8, "shared_expert_intermediate_size": 32},
        "qwen3_5_text": _ATTENTION | _DELTA | _LINEAR_THEN_FULL | {"head_dim": 8},
        "qwen3_5_moe_text": _ATTENTION
        | _DELTA
        | _LINEAR_THEN_FULL
        | _EXPERTS
        | {"head_dim": 8, "shared_expert_intermediate_size": 32},
        "qwen4_exp_text": _ATTENTION
        | _DELTA
        | _LINEAR_THEN_FULL
        | _EXPERTS
        | {
            "head_dim": 8,
            "shared_expert_intermediate_size": 32,
            "hc_count": 2,
            "hc_lowrank": 8,
            "ple_layer_ids": [1],
            "ple_embed_dim": 8,
            "heads_per_ngram": 2,
            "ngram_vocab_size_base": 50,
            "make_ngram_vocab_size_divisible_by": 2,
            "split_ngram_parts": 2,
            "indexer_n_heads": 16,
            "indexer_kv_heads": 1,
            "indexer_head_dim": 8,
            "indexer_budget": 16,
            "indexer_compress_ratio": 2,
        },
        "olmo_hybrid": _ATTENTION | _DELTA | _LINEAR_THEN_FULL,
        "kimi_linear": _ATTENTION
        | _LATENT
        | _LINEAR_THEN_FULL
        | _LOCAL_EXPERTS
        | {"linear_head_dim": 8, "linear_num_heads": 4},
        "bailing_hybrid": _ATTENTION
        | _LATENT
        | _LINEAR_THEN_FULL
        | _LOCAL_EXPERTS
        | {"head_dim": 16, "n_group": 1, "topk_group": 1, "num_mtp_layers": 0},
        "lara_mini": _ATTENTION
        | _DELTA
        | _LINEAR_THEN_FULL
        | _EXPERTS
        | {"head_dim": 8, "sliding_window": 8, "shared_expert_intermediate_size": 32},
        "minimax": _ATTENTION
        | _LINEAR_THEN_FULL
        | {"head_dim": 8, "block_size": 8, "num_local_experts": 2, "num_experts_per_tok": 1},
        "lfm2": _ATTENTION | {"conv_L_cache": 3, "layer_types": ["conv", "full_attention"]},
        "lfm2_moe": _ATTENTION
        | _EXPERTS
        | {"conv_L_cache": 3, "layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
        "lfm3": _ATTENTION
        | {
            "num_hidden_layers": 3,
            "conv_L_cache": 3,
            "head_dim": 8,
            "sliding_window": 8,
            "layer_types": ["conv", "sliding_attention", "full_attention"],
        },
        "zaya": _ATTENTION | _EXPERTS | {"head_dim": 8, "router_hidden_size": 16},
        "inkling_text": _INKLING | _ROUTED_EXPERTS | {"n_shared_experts": 1},
        "inkling2_text": _INKLING | _ROUTED_EXPERTS | {"n_layers_per_attn_res_block": 1},
        "inkling2_loop_text": _INKLING
        | _ROUTED_EXPERTS
        | {
            "num_hidden_layers": 4,
            "n_layers_per_attn_res_block": 1,
            "loop_layer_index_start": 1,
            "loop_layer_index_end": 3,
            "loop_num_passes": 2,
            "loop_gate_rank": 4,
        },
        "deepseek_v3": _ATTENTION | _LATENT | _ROUTED_EXPERTS | {"n_group": 1, "topk_group": 1},
        "deepseek_v4": _ROUTED_EXPERTS
        | {
            "num_hidden_layers": 3,
            "layer_types": ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"],
            "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 8},
            "num_attention_heads": 4,
            "head_dim": 16,
            "q_lora_rank": 16,
            "sliding_window": 8,
            "o_groups": 2,
            "o_lora_rank": 8,
            "index_n_heads": 16,
            "index_head_dim": 8,
            "index_topk": 4,
            "hc_mult": 2,
            "num_nextn_predict_layers": 0,
        },
        "glm5_next": {
            "text_config": dict(SHARED)
            | _LATENT
            | _ROUTED_EXPERTS
            | {
                "layer_types": ["linear_attention", "full_attention"],
                "mlp_layer_types": ["dense", "sparse"],
                "indexer_types": ["full", "full"],
                "intermediate_size": 64,
                "num_attention_heads": 4,
                "q_lora_rank": 16,
                "qk_rope_head_dim": 0,
                "linear_head_dim": 8,
                "linear_num_heads": 4,
                "index_n_heads": 16,
                "index_head_dim": 8,
                "index_topk": 8,
                "index_kpool": 2,
                "hc_mult": 2,
            },
            "vision_config": {
                "depth": 1,
                "hidden_size": 16,
                "num_heads": 2,
                "out_hidden_size": 32,
                "intermediate_size": 16,
                "projection_intermediate_size": 16,
            },
        },
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

AUTO_CLASSES: MappingProxyType[str, str] = MappingProxyType({"glm5_next": "AutoModelForImageTextToText"})
"""Where a family is not under AutoModelForCausalLM."""
