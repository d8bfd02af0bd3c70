import numpy as np
import pytest

from recherche.models.word_tokenizer import word_tokenizer
from recherche.tasks import TASKS
from recherche.vocab import CONTROL_TOKENS, Vocab


@pytest.mark.parametrize("name", ["istree", "index", "mqar", "copying"])
def test_ids_and_words_are_those_of_the_vocabulary(name):
    task = TASKS[name].configured(n=8, protocol="retrieval" if name == "istree" else "direct")
    tokenizer = word_tokenizer(task.vocab)
    tokens = task.vocab.decode(task.batch(np.uint64([7])).tokens[0])
    ids = tokenizer(" ".join(tokens)).input_ids
    assert ids == task.vocab.encode(tokens).tolist()
    assert tokenizer.decode(ids) == " ".join(tokens)
    assert len(tokenizer) == len(task.vocab)


def test_only_control_tokens_are_special():
    tokenizer = word_tokenizer(Vocab(("<s>", *CONTROL_TOKENS, "1")))
    assert set(tokenizer.all_special_tokens) == set(CONTROL_TOKENS)


def test_a_word_outside_the_table_is_an_error():
    with pytest.raises(Exception, match="UNK"):
        word_tokenizer(Vocab(("a", "<unknown>")))("a b")
