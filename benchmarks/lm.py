"""Language models that search while they generate: what it costs where nothing is searched, and what it saves.

    lm-overhead     generating without a search, beside `model.generate`, for 1 row and for 32
    lm-search       a text full of searches after a prompt of 1k to 64k tokens, beside reading the whole text anew for
                    each token, which is what is left without a state that can be gone on from; reading the prompt,
                    once, is not counted on our side and is a small part of it

Models are random, of transformers, with a tokenizer of about 1,000 tokens trained on prose that ships; what they write
is dictated, so that the amount of work depends on no model. Growth is that of the time a token takes.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, LogitsProcessor, PreTrainedTokenizerFast

from benchmarks.harness import Line, compare, rate
from recherche.lm.codec import Codec
from recherche.lm.generation import generate_with_search
from recherche.lm.markers import add_search_tokens, markers_of
from recherche.lm.prompt_state import PromptState, read_prompt
from recherche.texts.prose import prose

WIDTHS = {"overhead": 256, "search": 64}
ROWS, NUM_NEW, PROMPT = (1, 32), 96, 64
PROMPTS = (1_000, 4_000, 16_000, 64_000)
QUERY = "word after the"
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {"num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 1 << 17},
    "mamba": {"state_size": 16},
    "mamba2": {"state_size": 64, "head_dim": 32, "n_groups": 1},
}


def tokenizer_of(text: str) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer trained on a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [text[:200_000]], trainers.BpeTrainer(vocab_size=1000, initial_alphabet=alphabet, show_progress=False)
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")


def model_of(family: str, tokenizer: Any, width: int, num_layers: int) -> Any:
    """A random model with search tokens."""
    settings = FAMILIES[family] | ({"num_heads": 2 * width // 32} if family == "mamba2" else {})
    shape = {"vocab_size": len(tokenizer), "hidden_size": width, "num_hidden_layers": num_layers}
    ends = {"bos_token_id": None, "eos_token_id": 0, "pad_token_id": 0}
    config = AutoConfig.for_model(family, **shape, **ends, **settings, **_feed_forward(family, width))
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval()
    add_search_tokens(model, tokenizer)
    return model


def _feed_forward(family: str, width: int) -> dict[str, int]:
    return {"intermediate_size": 3 * width} if family == "llama" else {}


class Dictated(LogitsProcessor):
    """Writes a script over and over, whatever is inserted in between."""

    def __init__(self, script: Sequence[int]) -> None:
        self.script, self.at = script, 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        token = self.script[self.at % len(self.script)]
        self.at += 1
        return torch.full_like(scores, -1e9).index_fill_(1, torch.tensor([token]), 0.0)


def overhead(family: str, tokenizer: Any, text: str, rows: int) -> Line:
    """Generating without a search beside the library's own."""
    model, codec = model_of(family, tokenizer, WIDTHS["overhead"], 4), Codec(tokenizer)
    ids = torch.tensor([codec.encode_prompt(text)[:PROMPT]]).repeat(rows, 1)
    prompts = [codec.decode(ids[0].tolist())] * rows
    options: dict[str, Any] = {"max_new_tokens": NUM_NEW, "eos_token_id": None, "do_sample": False, "pad_token_id": 0}

    def theirs() -> int:
        made = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
        return int(made.shape[1] - ids.shape[1]) * rows

    def ours() -> int:
        return sum(len(row.tokens) for row in generate_with_search(model, tokenizer, prompts, **options))

    return Line.from_rates(
        f"lm-overhead {family}, batch of {rows}",
        compare(ours, theirs, repeats=4),
        reference_name="model.generate of transformers",
        unit="tokens/s",
    )


def search_heavy(model: Any, tokenizer: Any, state: PromptState) -> int:
    """One search after the other; how many tokens were written and read."""
    ids = markers_of(tokenizer)
    assert ids is not None
    codec = Codec(tokenizer)
    script = [ids.start, *codec.encode_passage([5], QUERY), ids.end]
    [written] = generate_with_search(
        model,
        tokenizer,
        ["\n"],
        state=state,
        max_new_tokens=NUM_NEW,
        logits_processor=[Dictated(script)],
        eos_token_id=None,
        pad_token_id=0,
    )
    assert len(written.searches) > 1
    assert all(search.found for search in written.searches)
    return len(written.tokens)


@torch.inference_mode()
def reading_anew(model: Any, ids: Tensor) -> int:
    """The whole text once, for one token."""
    model(ids, use_cache=False, logits_to_keep=1)
    return 1


def lines() -> Iterator[Line]:
    """Ratios to transformers' own generate, and to reading everything anew."""
    text = prose()
    tokenizer = tokenizer_of(text)
    for family in FAMILIES:
        for rows in ROWS:
            yield overhead(family, tokenizer, text, rows)
    for family in FAMILIES:
        yield from growing(family, tokenizer, text)


def growing(family: str, tokenizer: Any, text: str) -> Iterator[Line]:
    """A text full of searches after longer and longer prompts."""
    model, codec, before = model_of(family, tokenizer, WIDTHS["search"], 2), Codec(tokenizer), None
    ids = codec.encode_prompt((text * 2)[: 6 * max(PROMPTS)])
    for length in PROMPTS:
        state = read_prompt(model, tokenizer, codec.decode(ids[:length]))
        search_heavy(model, tokenizer, state)
        ours = max(rate(partial(search_heavy, model, tokenizer, state)) for _ in range(3))
        theirs = rate(partial(reading_anew, model, torch.tensor([ids[:length]])))
        reference = "reading the whole text anew for each token"
        yield Line(
            f"lm-search {family}", ours, theirs, reference, ours / theirs, "tokens/s", length, before and before / ours
        )
        before = ours
