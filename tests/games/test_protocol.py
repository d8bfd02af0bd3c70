"""Bob knows what is in the bytes, and nothing else."""

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from recherche.errors import StateError
from recherche.games.protocol import MAGIC, fingerprint, receive, send, write_message
from recherche.games.quantisers import quantiser_of
from recherche.mixers.state import named_tensors
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel

MAMBA, ATTENTION = MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)
FAMILIES = {"mamba": (MAMBA, MAMBA), "transformer": (ATTENTION,), "hybrid": (MAMBA, ATTENTION)}
FLOAT32 = quantiser_of("float32")


def model_of(family: str, seed: int = 0) -> LanguageModel:
    config = LanguageModelConfig(d_model=16, vocab_size=9, layers=FAMILIES[family])
    return LanguageModel(config, torch.Generator().manual_seed(seed)).eval()


def tokens_of(*, rows: int = 2, length: int = 11, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 9, (rows, length), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_bob_goes_on_as_if_he_had_read_the_text(family: str) -> None:
    model, text, query = model_of(family), tokens_of(), tokens_of(length=3, seed=1)
    with torch.inference_mode():
        expected = model(torch.cat([text, query], dim=1))[:, -1]
        state = receive(model, send(model, text, FLOAT32).data)
        answer, _ = model.prefill(query, state)
    torch.testing.assert_close(answer, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_state_of_rows_of_different_lengths_can_be_sent(family: str) -> None:
    model, text, query = model_of(family), tokens_of(), tokens_of(length=1, seed=1)
    with torch.inference_mode():
        _, state = model.prefill(text, lengths=torch.tensor([11, 4]))
        expected, _ = model.step(query[:, 0], state)
        answer, _ = model.step(query[:, 0], receive(model, write_message(model, state, FLOAT32).data))
    torch.testing.assert_close(answer, expected)


def test_equal_messages_give_equal_answers_and_swapped_ones_swapped_answers() -> None:
    model, query = model_of("mamba"), tokens_of(rows=1, length=2, seed=5)
    one, other = (send(model, tokens_of(rows=1, seed=seed), FLOAT32).data for seed in (1, 2))

    def answer(message: bytes) -> torch.Tensor:
        with torch.inference_mode():
            return model.prefill(query, receive(model, message))[0]

    assert send(model, tokens_of(rows=1, seed=1), FLOAT32).data == one
    assert torch.equal(answer(one), answer(bytes(bytearray(one))))
    assert not torch.equal(answer(one), answer(other))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "int4", "r11"])
def test_message_bits_are_the_bytes_of_the_payload(name: str) -> None:
    """Two Mamba layers of one row: 32 channels with 3 + 4 numbers each."""
    message = send(model_of("mamba"), tokens_of(rows=1), quantiser_of(name))
    expected = {
        "float32": 2 * 32 * 7 * 32,
        "bfloat16": 2 * 32 * 7 * 16,
        "int8": 2 * (32 * 7 * 8 + 2 * 32 * 16),
        "int4": 2 * (32 * 7 * 4 + 2 * 32 * 16),
        "r11": 2 * 32 * 7 * 11,
    }
    assert message.message_bits == expected[name]
    assert message.message_bits + message.header_bits == 8 * len(message.data)


def test_a_recurrent_message_does_not_grow_with_the_text_and_a_cache_does() -> None:
    short, long = (
        {f: send(model_of(f), tokens_of(length=n), FLOAT32).message_bits for f in FAMILIES} for n in (10, 20)
    )
    assert short["mamba"] == long["mamba"]
    assert 2 * short["transformer"] == long["transformer"]
    assert short["hybrid"] < long["hybrid"] < 2 * short["hybrid"]


@pytest.mark.slow
def test_bob_can_be_another_process(tmp_path: Path) -> None:
    model, path = model_of("hybrid"), tmp_path / "state"
    path.write_bytes(send(model, tokens_of(), FLOAT32).data)
    bob = """
import sys, torch
from pathlib import Path
from recherche.games.protocol import receive
from recherche.models.config import LanguageModelConfig
from recherche.models.language_model import LanguageModel
config = LanguageModelConfig.model_validate_json(sys.argv[2])
model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
logits, _ = model.step(torch.tensor([3, 4]), receive(model, Path(sys.argv[1]).read_bytes()))
print(*logits.argmax(dim=1).tolist())
"""
    command = [sys.executable, "-c", bob, str(path), model.config.model_dump_json()]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with torch.inference_mode():
        expected = model(torch.cat([tokens_of(), torch.tensor([[3], [4]])], dim=1))[:, -1].argmax(dim=1)
    assert said.split() == [str(token) for token in expected.tolist()]


def test_the_fingerprint_is_that_of_weights_and_configuration() -> None:
    model = model_of("mamba")
    assert fingerprint(model) == fingerprint(model_of("mamba"))
    others = [model_of("mamba", seed=1), model_of("transformer"), model_of("mamba").double()]
    assert len({fingerprint(model), *map(fingerprint, others)}) == 4


def test_tensors_are_named_by_layer_and_field() -> None:
    paths = [path for path, _ in named_tensors(model_of("hybrid").init_state(1))]
    assert paths == ["0.window", "0.ssm", "1.keys", "1.values"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "truncated or was changed"),
        (lambda data: data[:40], "truncated or was changed"),
        (lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:], "truncated or was changed"),
        (lambda data: data.replace(b"STATE 1", b"STATE 9", 1), "another version"),
        (lambda data: b"PK" + data, "another kind of file"),
        (lambda data: b"", "another kind of file"),
    ],
    ids=["truncated", "only a beginning", "a bit flipped", "version", "zip", "empty"],
)
def test_a_damaged_message_is_refused(damage, message: str) -> None:
    model = model_of("mamba")
    with pytest.raises(StateError, match=message):
        receive(model, damage(send(model, tokens_of(), FLOAT32).data))


def forged(change: Callable[[bytes], bytes]) -> bytes:
    """A message with another body, whose digest fits."""
    data = send(model_of("mamba"), tokens_of(), FLOAT32).data
    body = change(data[len(MAGIC) + 32 :])
    return MAGIC + hashlib.sha256(body).digest() + body


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body[:8] + b"[" + body[9:], "header should be JSON"),
        (lambda body: (2).to_bytes(8, "little") + b"[]" + body[8:], "header should be a JSON object"),
        (lambda body: body.replace(b'"quantiser": "float32"', b'"quantisex": "float32"'), "KeyError: 'quantiser'"),
        (lambda body: body.replace(b'"torch.float32"', b'"torch.float33"', 1), "AttributeError"),
        (
            lambda body: body.replace(b'"shape": [2, 32', b'"shape": [2, 33', 1),
            "payload should be what its header says",
        ),
        (lambda body: body.replace(b"0.ssm/values", b"0.ssx/values", 1), "payload should be what its header says"),
        (lambda body: body[:-9], "SafetensorError"),
    ],
    ids=[
        "no JSON",
        "no object",
        "a field is missing",
        "no such dtype",
        "another shape",
        "another tensor",
        "cut payload",
    ],
)
def test_a_message_that_was_forged_is_refused(change: Callable[[bytes], bytes], message: str) -> None:
    """The digest is no signature: what is inside is looked at as well."""
    with pytest.raises(StateError, match=message):
        receive(model_of("mamba"), forged(change))


def test_a_message_that_was_forged_into_itself_is_read() -> None:
    assert receive(model_of("mamba"), forged(lambda body: body)) is not None


def test_another_dtype_is_named() -> None:
    data = send(model_of("mamba").double(), tokens_of(), quantiser_of("float64")).data
    with pytest.raises(StateError, match="whose weights are float64 and not float32"):
        receive(model_of("mamba"), data)


def test_a_message_of_another_model_is_refused() -> None:
    data = send(model_of("mamba"), tokens_of(), FLOAT32).data
    with pytest.raises(StateError, match="the state belongs to model"):
        receive(model_of("mamba", seed=1), data)


def test_a_state_that_is_not_finite_is_refused() -> None:
    model = model_of("mamba")
    window, ssm = model.init_state(1)[0]
    with pytest.raises(StateError, match=r"0.ssm holds NaN"):
        write_message(model, ((type(model.init_state(1)[0]))(window, ssm / 0), model.init_state(1)[1]), FLOAT32)
