from pathlib import Path

import pytest

from recherche.errors import ConfigError
from recherche.lm.token_length import length_in
from tests.lm.tokenizers import tiny_tokenizer


@pytest.mark.parametrize("kind", ["byte-level", "metaspace", "bytes"])
def test_a_text_is_as_long_as_its_ids(tmp_path: Path, kind: str):
    tokenizer = tiny_tokenizer(kind)
    tokenizer.save_pretrained(tmp_path)
    length = length_in(tmp_path)
    for text in ("", "after Ada Berg: 555-1234\n", "a" * 3000):
        assert length(text) == len(tokenizer(text)["input_ids"])


def test_a_missing_tokenizer_is_said(tmp_path: Path):
    with pytest.raises(ConfigError, match="There is no folder"):
        length_in(tmp_path / "gone")
    with pytest.raises(ConfigError, match="holds no tokenizer that can be read"):
        length_in(tmp_path)
