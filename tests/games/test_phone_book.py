"""The phone book, read by tiny random models of transformers with a tokenizer of letters."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from recherche.errors import ConfigError
from recherche.games.hf_subjects import tiny_subject
from recherche.games.phone_book import DIGITS, PhoneBookReader, load_reader
from recherche.games.quantisers import quantiser_of

pytest.importorskip("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

FLOAT32 = quantiser_of("float32")


def save_tiny(folder: Path, family: str) -> Path:
    """A random model and a tokenizer of 43 letters in a folder whose name says that it is random."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "<s>", "</s>", "<unk>", *DIGITS, ":", " ", "\n", *map(chr, range(ord("a"), ord("z") + 1))]
    letters = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    letters.normalizer = normalizers.Lowercase()
    letters.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), behavior="isolated")
    path = folder / f"tiny-random-{family}"
    PreTrainedTokenizerFast(tokenizer_object=letters, unk_token="<unk>", pad_token="<pad>").save_pretrained(path)
    tiny_subject(family).model.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PhoneBookReader]:
    folder = tmp_path_factory.mktemp("tiny")
    return {family: load_reader(str(save_tiny(folder, family))) for family in ("llama", "mamba", "mamba2")}


@pytest.mark.parametrize("family", ["llama", "mamba", "mamba2"])
def test_answers_from_the_cache_are_those_of_the_whole_text(family: str, readers: dict[str, PhoneBookReader]) -> None:
    reader = readers[family]
    text, names = "Ada Berg: 7\nBen Cole: 3\nCleo Kern: 0\n", ["Ada Berg", "Cleo Kern", "Ben Cole"]
    message, _ = reader._send(text, FLOAT32)
    answers = reader._ask(message, names)
    for name, answer in zip(names, answers.tolist(), strict=True):
        question = reader.question(name)
        ids = torch.tensor([reader.tokenizer.encode(f"{text}{name}: ")])
        assert ids[0, -len(question.ids) :].tolist() == list(question.ids)
        with torch.inference_mode():
            logits = reader.subject.model(ids, use_cache=False).logits[0, -1]
        assert answer == int(logits[list(question.candidates)].argmax())


@pytest.mark.parametrize("family", ["llama", "mamba2"])
def test_a_random_model_recovers_nothing(family: str, readers: dict[str, PhoneBookReader]) -> None:
    reader = readers[family]
    found = reader.play(4, quantiser=FLOAT32, generator=np.random.default_rng(0), num_texts=30)
    assert reader.family == family
    assert found.bits_recovered < 1
    assert found.bits_dealt == found.bits_needed == pytest.approx(4 * np.log2(10))
    fewer = reader.play(4, quantiser=quantiser_of("int8"), generator=np.random.default_rng(0), num_texts=2)
    assert fewer.message_bits < found.message_bits


def test_only_a_cache_grows_with_the_book(readers: dict[str, PhoneBookReader]) -> None:
    bits = {
        (family, n): readers[family]
        .play(n, quantiser=FLOAT32, generator=np.random.default_rng(0), num_texts=1)
        .message_bits
        for family in ("llama", "mamba2")
        for n in (2, 8)
    }
    assert bits["llama", 8] > 2 * bits["llama", 2]
    assert bits["mamba2", 8] == bits["mamba2", 2]


def test_more_lines_than_names_are_refused(readers: dict[str, PhoneBookReader]) -> None:
    with pytest.raises(ConfigError, match="1 to 418 lines, got n = 1000"):
        readers["llama"].play(1000, quantiser=FLOAT32, generator=np.random.default_rng(0), num_texts=1)


@pytest.mark.parametrize("ids", [[5, 6], [5]], ids=["the same token for all", "nothing but the name"])
def test_a_tokenizer_without_digits_is_refused(ids: list[int], readers: dict[str, PhoneBookReader]) -> None:
    blind: Any = SimpleNamespace(encode=lambda text, add_special_tokens=True: ids)
    with pytest.raises(ConfigError, match="token for each digit"):
        PhoneBookReader(readers["llama"].subject, blind).question("Ada Berg")


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    tiny_subject("llama").model.save_pretrained(tmp_path / "bare")
    with pytest.raises(ConfigError, match="no tokenizer"):
        load_reader(str(tmp_path / "bare"))


def test_the_command_names_the_model_in_every_output(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from recherche.cli.app import app

    path, figure = save_tiny(tmp_path, "mamba2"), tmp_path / "capacity.svg"
    arguments = ["game", "capacity", "--hf", str(path), "--n", "2", "--num", "2", "--out", str(figure)]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "tiny-random-mamba2" in shown.stdout
    assert "tiny-random-mamba2" in figure.read_text()
    lines = CliRunner().invoke(app, [*arguments, "--json"])
    assert '"label": "tiny-random-mamba2"' in lines.stdout
