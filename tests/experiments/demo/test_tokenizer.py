import pytest

from recherche.experiments.demo.tokenizer import END, train_tokenizer
from recherche.lm.codec import Codec
from recherche.lm.markers import markers_of
from recherche.texts import TEXT_TASKS
from recherche.texts.prose import book

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tokenizer():
    texts = [book("persuasion")[:50_000], *(TEXT_TASKS["keyvalue"](n=5).example(key).prompt for key in range(200))]
    return train_tokenizer(texts, vocab_size=900)


def pieces(tokenizer, text):
    return [tokenizer.decode([index]) for index in tokenizer(text)["input_ids"]]


def uncut(tokenizer, text):
    """What no token reaches beyond."""
    cuts = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    return [text[start:end] for _, (start, end) in cuts]


def test_it_has_the_size_that_was_asked_for_and_knows_the_markers(tokenizer):
    assert len(tokenizer) == 900
    assert tokenizer.eos_token == END
    assert markers_of(tokenizer) is not None


@pytest.mark.parametrize("text", ["naïve\r\n\tcafé \x00 日本語", "", "  two  spaces ", "<search>", "HTTP2 a1B2"])
def test_any_text_comes_back(tokenizer, text):
    codec = Codec(tokenizer)
    assert codec.decode(codec.encode_prompt(text)) == text


def test_codes_are_cut_into_pairs_and_alike_wherever_they_stand(tokenizer):
    assert uncut(tokenizer, "6f2b9c1e-0d7e") == ["6f", "2b", "9c", "1e", "-0d", "7e"]
    assert uncut(tokenizer, ": 555-1234\n") == [":", " ", "55", "5", "-12", "34", "\n"]
    assert pieces(tokenizer, " 6f2b9c1e") == [" ", "6f", "2b", "9c", "1e"]


def test_a_word_takes_the_space_before_it(tokenizer):
    assert " the" in pieces(tokenizer, "of the sea")
