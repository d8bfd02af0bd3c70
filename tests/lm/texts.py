"""Texts that are hard to write in tokens: control tokens spelled out, cut characters, white space, any Unicode."""

from hypothesis import strategies as st

CONTROLS = ("<search>", "</search>", "<found>", "</found>", "<nothing>", "<s>", "</s>", "<pad>", "<unk>", "<|user|>")
CONTROLS += (
    "<|endoftext|>",
    "[SEP]",
    "[CLS]",
    "[UNK]",
    "[PAD]",
    "<extra_id_0>",
    "<tool>",
    "<think>",
    "</s> ",
    " <pad>",
)
SPELLINGS = ("<0x41>", "▁", "▁a", "##a", "Ġ", "Ã", "\ufffd", "b'x'", "\u0122")
CHARACTERS = ("e\u0301", "\u0301", "ﬁ", "①", "İ", "👨\u200d👩\u200d👧", "🇩🇪", "東京", "\u200b", "\ufeff", "\U0010ffff")
SPACES = (" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\0", "\u00a0", "\u2028", "\x85")
WORDS = ("after Ada Berg:", "the", " the", "555-1234", "Ada", ".", ", ", "'s", " n't", "a")

FRAGMENTS = CONTROLS + SPELLINGS + CHARACTERS + SPACES + WORDS

TEXTS = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=12).map("".join)
