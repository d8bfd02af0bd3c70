"""A byte-level BPE tokenizer, trained on prose and on the texts that the models are taught with.

Pieces never cross these borders, which makes strings that must be copied look alike wherever they stand:

    words        with the space before them                         " Ishmael", "Ada"
    codes        two characters at a time, the space apart          " ", "6f", "2b", "9c", "1e", "-0d", "7e"
    line breaks  apart

A word is a run of letters of which none but the first is a capital and beside which no digit stands; everything else
that is made of letters and digits (numbers, UUIDs, names of variables) is a code. A hyphen belongs to what follows it:
a piece that stood at four places of every UUID would say nothing of what comes next.

Reference: Sennrich, Haddow & Birch (2016), https://arxiv.org/abs/1508.07909; Radford et al. (2019), GPT-2, Section 2.2
(bytes)
"""

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any

from recherche.lm.markers import Markers

END = "<eos>"
"""Ends each text of the training."""

BORDERS = (
    r" ?(?<![A-Za-z0-9])[A-Za-z][a-z]*(?![A-Za-z0-9])"  # a word
    r"|-?[A-Za-z0-9]{1,2}"  # a piece of a code
    r"|\n"
    r"| ?[^\sA-Za-z0-9]+"  # punctuation
    r"|\s"
)


def train_tokenizer(texts: Iterable[str], *, vocab_size: int) -> Any:
    """A tokenizer of transformers with the end of a text and the markers of searches as special tokens.

    Args:
        texts: what it is trained on.
        vocab_size: number of tokens; 256 of them are bytes, so that any text can be written.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    markers = list(astuple(Markers()))
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(BORDERS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END, *markers],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token=END, additional_special_tokens=markers, clean_up_tokenization_spaces=False
    )
