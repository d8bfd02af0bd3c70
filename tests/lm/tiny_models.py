"""Tiny random models of transformers whose vocabulary is that of a tiny tokenizer."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from recherche.games.tiny_families import SHARED, TINY_FAMILIES
from tests.lm.tokenizers import tiny_tokenizer


def tiny_model(family: str, tokenizer: Any, **settings: Any) -> Any:
    """A random model of a family, from seed 0."""
    chosen = dict(SHARED) | TINY_FAMILIES[family] | {"vocab_size": len(tokenizer)} | settings
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **chosen)).eval()


def tiny_folder(folder: Path, family: str = "mamba", kind: str = "byte-level", **settings: Any) -> Path:
    """A folder with a tiny model and a tiny tokenizer."""
    tokenizer = tiny_tokenizer(kind)
    tiny_model(family, tokenizer, **settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
