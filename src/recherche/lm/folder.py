"""A language model in a local folder of transformers, with its tokenizer; what cannot be used is said in one sentence.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from recherche._files import replacing_folder
from recherche.errors import ConfigError
from recherche.games.hf_subjects import HFSubject

DTYPES: MappingProxyType[str, torch.dtype | str] = MappingProxyType(
    {"auto": "auto", "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
)
"""Number types by name; auto is the one that the weights were saved in."""


class LoadedModel(NamedTuple):
    """A model in evaluation mode, and its tokenizer."""

    model: Any
    tokenizer: Any


def load_language_model(
    folder: Path | str, *, device: torch.device | str = "cpu", dtype: torch.dtype | str = "auto"
) -> LoadedModel:
    """The model and the tokenizer in a folder; no hub is asked.

    Args:
        dtype: number type of the weights; "auto" is the one that they were saved in.

    Raises:
        ConfigError: the folder, its model or its tokenizer is missing or cannot be used, or transformers is.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ConfigError(f"There is no folder {path}; give one that `save_pretrained` has written.")
    try:
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ConfigError(f"Language models need transformers: {error}; pip install 'recherche[lm]'.") from error
    config = _read(AutoConfig, path, "no configuration of a model", "save one with `save_pretrained`")
    if config.is_encoder_decoder:
        raise ConfigError(
            f"{path} holds an encoder-decoder ({config.model_type}), which cannot go on from what is appended to its "
            "prompt; choose a decoder-only model."
        )
    tokenizer = _read(AutoTokenizer, path, "no tokenizer", "save one beside the model with `save_pretrained`")
    wanted = {"tokenizer_config.json", "tokenizer.json", *tokenizer.vocab_files_names.values()}
    if not any((path / name).exists() for name in wanted):  # transformers makes an empty one of its own accord
        raise ConfigError(f"{path} holds no tokenizer; save one beside the model with `save_pretrained`.")
    model = _read(AutoModelForCausalLM, path, "no causal language model", "choose another folder", dtype=dtype)
    _ = HFSubject(model=model, label=str(path), recipe="").cache_name  # refuses a model that takes none
    return LoadedModel(model.to(device).eval(), tokenizer)


def _read(auto_class: Any, path: Path, missing: str, remedy: str, **options: Any) -> Any:
    try:
        return auto_class.from_pretrained(path, local_files_only=True, **options)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RuntimeError, ImportError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ConfigError(f"{path} holds {missing} that can be read: {first}; {remedy}.") from error


def save_searching(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save a model and its tokenizer; `model.generate(custom_generate=FOLDER, ...)` then searches. All or nothing.

    The folder loads with transformers alone; only generating with searches needs this package.
    """
    with replacing_folder(folder) as draft:
        model.save_pretrained(draft)
        tokenizer.save_pretrained(draft)
        (draft / "custom_generate").mkdir()
        (draft / "custom_generate" / "generate.py").write_text(_CUSTOM_GENERATE, encoding="utf-8")


_CUSTOM_GENERATE = '''"""Generate with searches of the model's own context.

    model.generate(**inputs, custom_generate=FOLDER, trust_remote_code=True, tokenizer=tokenizer)

Needs: pip install "recherche[lm]"
"""

import importlib


def generate(model, tokenizer, streamer=None, **options):
    """The model's own `generate`, searching while it writes."""
    searching = importlib.import_module("recherche.lm.generation").searching
    return model.generate(custom_generate=searching(tokenizer, streamer=streamer), **options)
'''
