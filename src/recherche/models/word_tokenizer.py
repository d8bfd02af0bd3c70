"""A table of tokens as a tokenizer of the transformers library: one word, one token, white space between them.

    word_tokenizer(Vocab(("<s>", "1", "2")))("<s> 2 1").input_ids           [0, 2, 1]

Control tokens (<StartSearch>, <EndSearch>) are special tokens; all others, <s> too, are words that a text may hold. A
word that is not in the table is an error, never an unknown token.
"""

from typing import Any

from recherche.vocab import CONTROL_TOKENS, Vocab


def word_tokenizer(vocab: Vocab) -> Any:
    """A `PreTrainedTokenizerFast` with the ids of `vocab`; it adds nothing of its own."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import PreTrainedTokenizerFast

    unknown = "<unknown>"  # named, because the library asks for it, and not in the table, so that no word becomes it
    while unknown in vocab:
        unknown = f"<{unknown}>"
    tokenizer = Tokenizer(WordLevel({token: i for i, token in enumerate(vocab.tokens)}, unk_token=unknown))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        additional_special_tokens=[token for token in CONTROL_TOKENS if token in vocab],
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
