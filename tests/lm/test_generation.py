"""Whole answers with searches: a processor of logits makes random models write what is wanted, the rest is real."""

import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LogitsProcessor, TextStreamer

from recherche.errors import CodecError, ConfigError
from recherche.lm.budget import Budget
from recherche.lm.codec import Codec
from recherche.lm.decode_loop import EndReason
from recherche.lm.generation import Searching, generate_plain, generate_with_search, searching
from recherche.lm.markers import add_search_tokens, markers_of
from recherche.lm.prompt_state import read_prompt
from recherche.retrieval import Status
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import tiny_tokenizer

PROMPTS = (
    "Ada Berg: 555-1234\nCleo Lund: 12 Main St.\nQuestion: Ada Berg?\nAnswer:",
    "Cleo Lund: 77\nAnswer:",
    "Ada: 1\nZoe: 2\nAda Berg: 3\nCleo Lund: 4\nAnswer:",
)
FAMILIES = ("llama", "mamba", "jamba", "rwkv", "recurrent_gemma")


class Dictated(LogitsProcessor):
    """Row i samples the tokens of `scripts[i]` one after the other wherever it samples; then a full stop forever."""

    def __init__(self, scripts: Sequence[Sequence[int]], sampled: Sequence[Any], stop: int) -> None:
        self.scripts, self.sampled, self.stop = scripts, sampled, stop

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        out = torch.full_like(scores, -1e9)
        for row, listener in enumerate(self.sampled[-len(scores) :]):
            script = self.scripts[listener.number]
            token = script[listener.count] if listener.count < len(script) else self.stop
            out[row, token] = 0.0
        return out


class Counting:
    """Counts the tokens that a session has heard, so that the dictation knows where it is."""

    def __init__(self, session: Any, number: int) -> None:
        self.session, self.number, self.count = session, number, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    def feed(self, token: int) -> Sequence[int]:
        self.count += 1
        return self.session.feed(token)


def dictate(monkeypatch: pytest.MonkeyPatch, codec: Codec, texts: Sequence[str]) -> Dictated:
    """A processor that makes row i write `texts[i]`, with `<search>` and `</search>` as markers."""
    ids = markers_of(codec.tokenizer)
    scripts = []
    for text in texts:
        script: list[int] = []
        for part in text.replace("<search>", "\0<search>\0").replace("</search>", "\0</search>\0").split("\0"):
            known = {} if ids is None else {"<search>": ids.start, "</search>": ids.end}
            script += [known[part]] if part in known else codec.encode_passage(codec.encode_prompt("a"), part)
        scripts.append(script)
    opened: list[Counting] = []
    session = Searching.session

    def counted(self: Searching, codec: Codec, ids: Sequence[int], stop_strings: Sequence[str]) -> Any:
        opened.append(Counting(session(self, codec, ids, stop_strings), len(opened) % len(texts)))
        return opened[-1]

    monkeypatch.setattr(Searching, "session", counted)
    return Dictated(scripts, opened, codec.encode_passage(codec.encode_prompt("a"), ".")[-1])


def searching_pair(family: str, kind: str) -> tuple[Any, Any]:
    """A tiny model and a tokenizer with search tokens."""
    tokenizer = tiny_tokenizer(kind)
    model = tiny_model(family, tokenizer)
    add_search_tokens(model, tokenizer)
    return model, tokenizer


@pytest.mark.parametrize("kind", ["byte-level", "sentencepiece", "bytes", "trie"])
@pytest.mark.parametrize("family", ["llama", "mamba", "jamba"])
def test_rows_of_a_batch_search_at_different_moments(family: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair(family, kind)
    codec = Codec(tokenizer)
    texts = (" it is <search>after Ada Berg:</search> yes\n", "<search>line with Cleo</search>\n", " none at all\n")
    processor = dictate(monkeypatch, codec, texts)
    written = generate_with_search(
        model, tokenizer, PROMPTS, stop_strings=["\n"], max_new_tokens=200, logits_processor=[processor]
    )
    assert [row.text for row in written] == [
        " it is <search>after Ada Berg:</search><found>555-1234</found> yes\n",
        "<search>line with Cleo</search><found>Cleo Lund: 77</found>\n",
        " none at all\n",
    ]
    assert [row.answer_text for row in written] == [" it is  yes\n", "\n", " none at all\n"]
    assert [len(row.searches) for row in written] == [1, 1, 0]
    assert {row.reason for row in written} == {EndReason.STOP_STRING}
    for prompt, row in zip(PROMPTS, written, strict=True):
        ids = codec.encode_prompt(prompt)
        assert codec.decode([*ids, *row.tokens]) == codec.decode(ids) + row.text
        forced = [token for token, own in zip(row.tokens, row.generated, strict=True) if not own]
        assert bool(forced) == bool(row.searches)


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_after_an_insertion_are_those_of_the_whole_text(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair(family, "byte-level")
    codec = Codec(tokenizer)
    processor = dictate(monkeypatch, codec, ["<search>after Ada Berg:</search>"])
    seen: list[Tensor] = []

    class Spy(LogitsProcessor):
        def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
            seen.append(torch.cat([input_ids[0].double(), scores[0].double()]))
            return processor(input_ids, scores)

    generate_with_search(model, tokenizer, PROMPTS[:1], max_new_tokens=80, logits_processor=[Spy()])
    with torch.no_grad():
        for record in seen[-3:]:
            size = len(record) - model.config.vocab_size
            whole = model(record[:size].long()[None], use_cache=False).logits[0, -1].double()
            assert float((record[size:] - whole).abs().max() / whole.abs().max()) < 1e-4


def test_sampling_options_are_the_librarys_own(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair("llama", "byte-level")
    options: dict[str, Any] = {"max_new_tokens": 12, "do_sample": True, "temperature": 0.5, "eos_token_id": None}
    codec = Codec(tokenizer)
    ids = torch.tensor([codec.encode_prompt(PROMPTS[0])])
    torch.manual_seed(3)
    expected = model.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **options)
    torch.manual_seed(3)
    [found] = generate_plain(model, tokenizer, PROMPTS[:1], pad_token_id=0, **options)
    assert list(found.tokens) == expected[0, ids.shape[1] :].tolist()


def test_a_prompt_read_before_is_searched_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair("mamba", "byte-level")
    state = read_prompt(model, tokenizer, "Ada Berg: 555-1234\n")
    processor = dictate(monkeypatch, Codec(tokenizer), ["<search>after Ada Berg:</search>\n"])
    [written] = generate_with_search(
        model, tokenizer, ["Who?"], state=state, stop_strings=["\n"], logits_processor=[processor]
    )
    assert written.searches[0].found == "555-1234"
    assert written.prompt == "Ada Berg: 555-1234\nWho?"


def test_in_the_conventions_of_transformers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, tokenizer = searching_pair("mamba2", "byte-level")
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.eos_token, "left"
    processor = dictate(
        monkeypatch, Codec(tokenizer), [" <search>after Ada Berg:</search> ok", " <search>after Cleo Lund:</search>"]
    )
    inputs = tokenizer(list(PROMPTS[:2]), return_tensors="pt", padding=True)
    output = model.generate(
        **inputs,
        custom_generate=searching(tokenizer),
        max_new_tokens=120,
        logits_processor=[processor],
        return_dict_in_generate=True,
    )
    assert [listener.searches[0].found for listener in output.rows.listeners] == ["555-1234", "77"]
    plain = model.generate(**inputs, custom_generate=searching(tokenizer), max_new_tokens=5)
    assert plain.shape == (2, inputs["input_ids"].shape[1] + 5)
    streamer = TextStreamer(tokenizer, skip_prompt=True)
    one = {name: value[:1] for name, value in inputs.items()}
    model.generate(**one, custom_generate=searching(tokenizer, streamer=streamer), max_new_tokens=5)
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("prompts", "options", "error", "said"),
    [
        pytest.param([], {}, ConfigError, "none of them empty", id="no prompt"),
        pytest.param("Ada", {}, ConfigError, "list of prompts", id="one string"),
        pytest.param(["Ada", ""], {}, ConfigError, "none of them empty", id="an empty prompt"),
        pytest.param(["Ada"], {"num_beams": 3}, ConfigError, "num_beams=1", id="beams"),
        pytest.param(["Ada"], {"num_return_sequences": 2}, ConfigError, "several times", id="several results"),
        pytest.param(["Ada"], {"use_cache": False}, ConfigError, "use_cache=False", id="no cache"),
        pytest.param(["Ada " * 300], {}, ConfigError, "256 positions", id="longer than the positions"),
        pytest.param(["Ada \ud800"], {}, CodecError, "cannot write", id="a lone surrogate"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(prompts: Any, options: dict, error: type, said: str) -> None:
    tokenizer = tiny_tokenizer("byte-level")
    model = tiny_model("gpt2", tokenizer)
    with pytest.raises(error, match=said):
        generate_with_search(model, tokenizer, prompts, **options)


def test_other_bounds_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair("llama", "byte-level")
    processor = dictate(monkeypatch, Codec(tokenizer), ["<search>after Ada Berg:</search>\n"])
    [written] = generate_with_search(
        model,
        tokenizer,
        PROMPTS[:1],
        Searching(budget=Budget(passage_characters=3)),
        stop_strings=["\n"],
        logits_processor=[processor],
    )
    assert written.searches[0].status is Status.RESULT_TOO_LONG


def test_a_family_that_mixes_rows_says_that_they_run_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = searching_pair("rwkv", "byte-level")
    with pytest.warns(UserWarning, match="rows run one by one"):
        several = generate_plain(model, tokenizer, PROMPTS, max_new_tokens=6, eos_token_id=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        alone = [
            generate_plain(model, tokenizer, [prompt], max_new_tokens=6, eos_token_id=None)[0] for prompt in PROMPTS
        ]
    assert [row.tokens for row in several] == [row.tokens for row in alone]
