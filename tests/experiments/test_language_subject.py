from pathlib import Path

import pytest
import torch

from recherche.errors import ConfigError, StateError
from recherche.experiments import language_subject as module
from recherche.experiments.language_subject import FolderSubject, load_subject
from recherche.lm.codec import Codec
from recherche.lm.markers import add_search_tokens, markers_of
from tests.experiments.pretend_subject import FACTS
from tests.lm.tiny_models import tiny_folder, tiny_model
from tests.lm.tokenizers import tiny_tokenizer

PROMPT = "Ada Berg: 555-1234\nCleo Lund: 555-9876\n\nQuestion: What is the number of Ada Berg?\nAnswer:"


@pytest.fixture(scope="module")
def subjects(tmp_path_factory) -> dict[str, FolderSubject]:
    root = tmp_path_factory.mktemp("folders")
    return {
        family: load_subject(tiny_folder(root / family, family), device="cpu", dtype="auto")
        for family in ("mamba", "llama")
    }


def test_facts_are_those_of_the_model(subjects):
    facts = subjects["mamba"].facts
    assert (facts.model_type, facts.dtype, facts.positions) == ("mamba", "float32", None)
    assert facts.num_parameters == sum(weight.numel() for weight in subjects["mamba"].model.parameters())
    assert subjects["llama"].facts.positions == subjects["llama"].model.config.max_position_embeddings


def test_a_state_of_fixed_size_is_the_sum_of_its_parts_at_every_length(subjects):
    config = subjects["mamba"].model.config
    numbers = config.num_hidden_layers * config.intermediate_size * (config.state_size + config.conv_kernel)
    assert {subjects["mamba"].state_bits(PROMPT[:k]) for k in (20, 60)} == {32 * numbers}


def test_a_cache_grows_by_keys_and_values_of_each_token(subjects):
    config, subject = subjects["llama"].model.config, subjects["llama"]
    per_token = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * 32
    assert subject.state_bits(PROMPT) == per_token * subject.count(PROMPT)


def test_a_cache_that_is_not_all_of_the_state_has_no_bits(subjects, monkeypatch):
    def refuse(model, tokenizer, text):
        raise StateError("a part of it is elsewhere")

    monkeypatch.setattr(module, "read_prompt", refuse)
    assert subjects["mamba"].state_bits(PROMPT) is None


@pytest.mark.parametrize("protocol", ["direct", "search"])
@pytest.mark.parametrize("family", ["mamba", "llama"])
def test_both_protocols_write_within_the_budget(subjects, family, protocol):
    written = subjects[family].write(protocol, [PROMPT, PROMPT[19:]], max_new_tokens=6)
    assert [row.prompt for row in written] == [PROMPT, PROMPT[19:]]
    assert all(0 < len(row.tokens) <= 6 for row in written)


@torch.inference_mode()
def test_a_direct_answer_never_begins_a_search_and_a_searching_one_may():
    tokenizer = tiny_tokenizer("byte-level")
    model = tiny_model("llama", tokenizer)
    add_search_tokens(model, tokenizer)
    special = markers_of(tokenizer)
    assert special is not None
    ids = torch.tensor([Codec(tokenizer).encode_prompt(PROMPT)])
    last = model(ids, output_hidden_states=True).hidden_states[-1][0, -1]
    head = model.get_output_embeddings().weight
    head.zero_()
    head[special.start] = last  # after this prompt, nothing is as likely as the beginning of a search
    subject = FolderSubject(model=model, tokenizer=tokenizer, facts=FACTS)
    direct, search = (
        subject.write(protocol, [PROMPT], max_new_tokens=4)[0].tokens for protocol in ("direct", "search")
    )
    assert search[0] == special.start
    assert special.start not in direct


@pytest.mark.parametrize(
    ("dtype", "message"), [pytest.param("float8", "no number type 'float8'", id="an unknown number type")]
)
def test_what_cannot_be_loaded_is_refused(tmp_path: Path, dtype, message):
    with pytest.raises(ConfigError, match=message):
        load_subject(tiny_folder(tmp_path / "x"), device="cpu", dtype=dtype)
