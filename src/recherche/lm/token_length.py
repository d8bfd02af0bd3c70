"""The length of a text in tokens of any tokenizer of transformers, for texts that are made to fit."""

from collections.abc import Callable
from pathlib import Path

from recherche.errors import ConfigError


def length_in(folder: Path) -> Callable[[str], int]:
    """How many tokens a text has for the tokenizer of a folder, those that it adds itself included.

    Raises:
        ConfigError: there is no tokenizer that can be read, or transformers is missing.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise ConfigError(f"Tokens are counted with transformers: {error}; pip install 'recherche[lm]'.") from error
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {folder}; give one that `tokenizer.save_pretrained` has written.")
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, ImportError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise ConfigError(f"{folder} holds no tokenizer that can be read: {first}; save one there.") from error
    return lambda text: len(tokenizer(text, verbose=False)["input_ids"])
