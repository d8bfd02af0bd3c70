"""Rows that have tokens forced on them, for every family: what is written is what one full forward says."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from recherche.errors import ConfigError
from recherche.games.contract_checks import TOLERANCE, relative_error
from recherche.games.hf_subjects import tiny_subject
from recherche.games.tiny_families import TINY_FAMILIES
from recherche.lm import custom_generate
from recherche.lm.custom_generate import ListeningGenerate
from recherche.lm.decode_loop import EndReason
from tests.lm.scripted import SCRIPTS, Scripted, padded, random_rows

READ_ANEW = {"moshi": "attention beyond its window", "zamba2": "the step size is not clamped in single steps"}
"""Families whose single steps are wrong, and why: the whole text is read for each token."""
ALONE = {"rwkv", "minimax", "deepseek_v4", "recurrent_gemma", "xlstm"} | set(READ_ANEW)
"""Families that are wrong in padded batches: rows run one by one."""


def opened(listeners: Sequence[Scripted]) -> Callable[[Sequence[int]], Scripted]:
    """Hands out one listener after the other."""
    waiting: Iterator[Scripted] = iter(listeners)
    return lambda ids: next(waiting)


def generate(model: Any, rows: Sequence[Tensor], listeners: Sequence[Scripted], **options: Any) -> Any:
    """What `model.generate` returns, and the warnings that it gave."""
    tokens, mask = padded(rows)
    settings = {
        "max_new_tokens": 24,
        "do_sample": False,
        "eos_token_id": None,
        "return_dict_in_generate": True,
    } | options
    return model.generate(tokens, attention_mask=mask, custom_generate=ListeningGenerate(opened(listeners)), **settings)


def finished(row: Tensor, output: Any, number: int) -> Tensor:
    """The row's whole text: its prompt and what follows, without padding."""
    longest = output.sequences.shape[1] - output.rows.sampled.shape[1]
    return torch.cat([row, output.sequences[number, longest : longest + output.rows.lengths[number]]])


@torch.no_grad()
def worst_choice(model: Any, text: Tensor, sampled: Tensor) -> float:
    """How far a sampled token lies below the best one by a full forward over the text, in shares of the logits."""
    logits = model(text[None], use_cache=False).logits[0].double()
    start = len(text) - len(sampled)
    gaps = [
        (logits[at - 1].max() - logits[at - 1, text[at]]) / logits[at - 1].abs().max()
        for at in range(start, len(text))
        if sampled[at - start]
    ]
    return float(max(gaps))


QUICK = {"llama", "mistral", "mamba", "mamba2", "jamba", "qwen3_next", "falcon_h1", *ALONE}
"""Families that `make check` looks at too; the others are made of the same parts."""


@pytest.mark.parametrize(
    "family", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.slow) for one in TINY_FAMILIES]
)
def test_a_batch_writes_what_one_full_forward_and_each_row_alone_say(family: str) -> None:
    model, rows = tiny_subject(family).model, random_rows()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        output = generate(model, rows, [Scripted(script) for script in SCRIPTS])
        texts = [finished(row, output, number) for number, row in enumerate(rows)]
        alone = [
            finished(row, generate(model, [row], [Scripted(script)]), 0)
            for row, script in zip(rows, SCRIPTS, strict=True)
        ]
    for number, text in enumerate(texts):
        assert worst_choice(model, text, output.rows.sampled[number, : output.rows.lengths[number]]) <= TOLERANCE
        assert torch.equal(text, alone[number])
    told = " ".join(str(warning.message) for warning in caught)
    assert ("rows run one by one" in told) == (family in ALONE)
    assert ("read anew for each token" in told) == (family in READ_ANEW)


@pytest.mark.parametrize("family", ["llama", "mamba", "jamba", "qwen3_next", "falcon_h1"])
def test_the_logits_of_every_step_are_those_of_one_full_forward(family: str) -> None:
    model, rows = tiny_subject(family).model, random_rows()
    output = generate(model, rows, [Scripted(script) for script in SCRIPTS], output_logits=True)
    for number, row in enumerate(rows):
        text = finished(row, output, number)
        with torch.no_grad():
            whole = model(text[None], use_cache=False).logits[0]
        for step, logits in enumerate(output.logits):
            assert relative_error(logits[number], whole[len(row) + step - 1]) <= TOLERANCE


def test_what_is_forced_stands_where_it_was_asked_for() -> None:
    rows, listeners = random_rows(), [Scripted(script) for script in SCRIPTS]
    output = generate(tiny_subject("llama").model, rows, listeners)
    for number, (script, listener) in enumerate(zip(SCRIPTS, listeners, strict=True)):
        written, sampled = output.sequences[number, 12:].tolist(), output.rows.sampled[number].tolist()
        assert listener.heard == written
        asked = [token for tokens in script.values() for token in tokens]
        assert [token for token, own in zip(written, sampled, strict=True) if not own] == asked


def test_without_searches_the_text_is_that_of_the_librarys_own_generate() -> None:
    model, rows = tiny_subject("llama").model, random_rows()
    tokens, mask = padded(rows)
    for options in (
        {"do_sample": False},
        {"do_sample": True, "temperature": 0.7, "top_k": 5},
        {"repetition_penalty": 1.4},
    ):
        settings: dict[str, Any] = {"max_new_tokens": 20, **options}
        torch.manual_seed(0)
        expected = model.generate(tokens, attention_mask=mask, **settings)
        torch.manual_seed(0)
        output = generate(model, rows, [Scripted({}) for _ in rows], **{"eos_token_id": 2, **settings})
        assert torch.equal(output.sequences, expected)


def test_a_forced_token_cannot_end_a_row_and_a_sampled_one_can() -> None:
    model, [row] = tiny_subject("llama").model, random_rows([6])
    first = int(generate(model, [row], [Scripted({})]).sequences[0, 6])
    forced = generate(model, [row], [Scripted({1: [first, first]})], eos_token_id=[first + 100])
    assert forced.rows.lengths == [24]
    ended = generate(model, [row], [Scripted({1: [first, first]})], eos_token_id=first, pad_token_id=0)
    assert (ended.rows.lengths, ended.rows.reasons) == ([1], [EndReason.EOS])


def test_a_row_ends_where_its_listener_says_so_and_others_go_on() -> None:
    rows = random_rows()
    output = generate(
        tiny_subject("mamba2").model, rows, [Scripted({}, ends_at=3), Scripted({}), Scripted({}, ends_at=7)]
    )
    assert output.rows.lengths == [3, 24, 7]
    assert output.rows.reasons == [EndReason.STOP_STRING, EndReason.LENGTH, EndReason.STOP_STRING]


def test_a_streamer_hears_every_token() -> None:
    class Streamer:
        def __init__(self) -> None:
            self.tokens: list[int] = []
            self.has_ended = False

        def put(self, value: Tensor) -> None:
            self.tokens += value.flatten().tolist()

        def end(self) -> None:
            self.has_ended = True

    model, [row] = tiny_subject("llama").model, random_rows([6])
    streamer = Streamer()
    method = ListeningGenerate(opened([Scripted({2: [5] * 6})]), streamer=streamer)
    sequences = model.generate(row[None], custom_generate=method, max_new_tokens=15, eos_token_id=None, pad_token_id=0)
    assert streamer.tokens == sequences[0, 6:].tolist()
    assert streamer.has_ended


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"num_beams": 2}, "num_beams=1", id="beams"),
        pytest.param({"use_cache": False}, "use_cache=False", id="no cache"),
        pytest.param({"max_new_tokens": 300, "prompt": 300}, "256 positions", id="a prompt longer than the positions"),
        pytest.param({"output_scores": True, "family": "rwkv"}, "one prompt at a time", id="scores of rows run alone"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    settings = dict(options)
    model = tiny_subject(settings.pop("family", "gpt2")).model
    rows = random_rows([settings.pop("prompt", 5), 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ConfigError, match=said):
            generate(model, rows, [Scripted({}), Scripted({})], **settings)


def test_long_prompts_of_unequal_length_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_generate, "CHUNK", 8)
    with pytest.warns(UserWarning, match="unequal length that are read in chunks"):
        generate(tiny_subject("mamba2").model, random_rows(), [Scripted({}) for _ in range(3)])
