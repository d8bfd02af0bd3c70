"""Small real tokenizers of every kind, made on the spot: nothing is downloaded, a vocabulary has a few hundred tokens.

`tiny_tokenizer(kind)` returns a new tokenizer, which a test may change; what takes time is trained once.
"""

import functools
import io
import json
import tempfile
from pathlib import Path

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, LlamaTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast, T5Tokenizer
from transformers.models.bert_generation.tokenization_bert_generation import BertGenerationTokenizer

from tests.lm.python_tokenizers import CharacterTokenizer, TrieTokenizer

VOCAB_SIZE = 400

CORPUS = (
    "The search begins where the memory of the model ends: what follows Ada Berg is 555-1234.",
    "after Ada Berg: word after key; line with key; sentence with key; between one and two",
    "It is a truth universally acknowledged, that a single man must be in want of a wife (page 1).",
    "def find(text, key):\n    return text.index(key)  # 0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "search, found, nothing; <tag> </tag> <a> </b> ! ? . , ; : ' \" - _ + = * / \\ ( ) [ ] { } @ # $ % & | ~ ^",
    "Äpfel, Öl, Übung, naïve café, façade, señor; Привет, мир; 東京都; emoji 😀.",
)

FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<|user|>"]
NAMED = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
"""What most of the kinds call their control tokens; `<|user|>` is one of a chat template."""


def tiny_tokenizer(kind: str) -> PreTrainedTokenizerBase:
    """A new tokenizer of the kind."""
    return _MAKERS[kind]()


def load_tokenizer(kind: str, folder: Path) -> PreTrainedTokenizerBase:
    """What `save_pretrained` of a tokenizer of the kind has written."""
    return type(tiny_tokenizer(kind)).from_pretrained(folder)


def _fast(text: str, **named: str) -> PreTrainedTokenizerFast:
    extra = {} if named else {"extra_special_tokens": ["<|user|>"]}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(text), **(named or NAMED), **extra)


def _trained(tokenizer: Tokenizer, trainer: trainers.Trainer) -> str:
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer.to_str()


def _begins_with(tokenizer: Tokenizer, token: str) -> None:
    """A text begins with this token."""
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{token} $A", pair=f"{token} $A {token} $B", special_tokens=[(token, tokenizer.token_to_id(token))]
    )


@functools.cache
def _byte_level_text() -> str:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _trained(
        tokenizer,
        trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE,
            special_tokens=["<|endoftext|>", "<|user|>"],
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )


def _byte_level() -> PreTrainedTokenizerBase:
    """As of GPT-2: bytes are characters, one token ends and begins every text, runs of spaces are added tokens."""
    end = "<|endoftext|>"
    tokenizer = _fast(_byte_level_text(), bos_token=end, eos_token=end, unk_token=end, pad_token=end)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|user|>"]})
    tokenizer.add_tokens(["    ", "  "])
    return tokenizer


_PARTS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _byte_level_chat() -> PreTrainedTokenizerBase:
    """As of Qwen: the same with a normal form, whole words first, and tokens of a chat that are not called special."""
    state = json.loads(_byte_level_text())
    state["normalizer"], state["model"]["ignore_merges"] = {"type": "NFC"}, True
    tokenizer = Tokenizer.from_str(json.dumps(state))
    split = pre_tokenizers.Split(Regex(_PARTS), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return _chatting(_fast(tokenizer.to_str(), eos_token="<|endoftext|>"))


def _chatting(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    tokenizer.add_tokens(["<tool>", "<think>", "\n\n"])
    tokenizer.chat_template = "{{ messages }}<tool>\n\n"
    return tokenizer


@functools.cache
def _replaced_spaces_text() -> str:
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    special = [*SPECIAL[:4], "<|user|>", *FALLBACK]
    state = json.loads(
        _trained(tokenizer, trainers.BpeTrainer(vocab_size=656, special_tokens=special, show_progress=False))
    )
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] not in FALLBACK]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    _begins_with(tokenizer, "<s>")
    return tokenizer.to_str()


def _replaced_spaces() -> PreTrainedTokenizerBase:
    """As of Gemma: SentencePiece-like with byte tokens, and no space before a text."""
    return _chatting(_fast(_replaced_spaces_text()))


@functools.cache
def _metaspace_text() -> str:
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE + 256, special_tokens=[*SPECIAL[:4], *FALLBACK, "<|user|>"], show_progress=False
        ),
    )
    return json.dumps(json.loads(tokenizer.to_str())["model"])


def _metaspace() -> PreTrainedTokenizerBase:
    """As of LLaMA 2: `LlamaTokenizer` itself, with a space before each text, and byte tokens."""
    model = json.loads(_metaspace_text())
    tokenizer = LlamaTokenizer(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]], **NAMED)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|user|>"]})
    _begins_with(tokenizer.backend_tokenizer, "<s>")
    return tokenizer


@functools.cache
def _unigram_text(fallback: str) -> str:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.UnigramTrainer(vocab_size=VOCAB_SIZE, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False),
    )
    _begins_with(tokenizer, "<s>")
    state = json.loads(tokenizer.to_str())
    if fallback == "bytes":
        state["model"]["byte_fallback"] = True
        state["model"]["vocab"] += [[piece, -20.0] for piece in FALLBACK]
        parts = [{"type": "ByteFallback"}, state["decoder"]]
        state["decoder"] = {"type": "Sequence", "decoders": parts}
    return json.dumps(state)


def _unigram() -> PreTrainedTokenizerBase:
    """As of XLNet or T5: what is not in the vocabulary is `<unk>`."""
    return _fast(_unigram_text("none"))


def _unigram_bytes() -> PreTrainedTokenizerBase:
    """The same with byte tokens."""
    return _fast(_unigram_text("bytes"))


@functools.cache
def _wordpiece_text(lowercase: str) -> str:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase == "lower")
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    tokenizer.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, special_tokens=special, show_progress=False)
    )
    ids = [(token, tokenizer.token_to_id(token)) for token in special[1:3]]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ids
    )
    return tokenizer.to_str()


def _wordpiece(lowercase: str) -> PreTrainedTokenizerBase:
    """As of BERT: the space before a word is part of its token, and `[SEP]` ends a text."""
    named = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    return _fast(_wordpiece_text(lowercase), **named)


@functools.cache
def _sentencepiece_model(kind: str) -> bytes:
    """A model of the sentencepiece library itself."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(line for text in CORPUS for line in text.split("\n")),
        model_writer=written,
        vocab_size=512,
        model_type=kind,
        byte_fallback=True,
        character_coverage=1.0,
        hard_vocab_limit=False,
        normalization_rule_name="identity" if kind == "bpe" else "nmt_nfkc",
        remove_extra_whitespaces=kind != "bpe",
        pad_id=3,
        control_symbols=["<|user|>"],
        minloglevel=2,
    )
    return written.getvalue()


def _from_sentencepiece(cls: type[PreTrainedTokenizerBase], kind: str) -> PreTrainedTokenizerBase:
    with tempfile.TemporaryDirectory() as folder:
        for name in {"spiece.model", *cls.vocab_files_names.values()} - {"tokenizer.json"}:
            Path(folder, name).write_bytes(_sentencepiece_model(kind))
        tokenizer = cls.from_pretrained(folder, **NAMED)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|user|>"]})
    return tokenizer


_MAKERS = {
    "byte-level": _byte_level,
    "byte-level-chat": _byte_level_chat,
    "metaspace": _metaspace,
    "replaced-spaces": _replaced_spaces,
    "unigram": _unigram,
    "unigram-bytes": _unigram_bytes,
    "wordpiece-lower": lambda: _wordpiece("lower"),
    "wordpiece": lambda: _wordpiece("cased"),
    "bytes": lambda: ByT5Tokenizer(),
    "characters": CharacterTokenizer,
    "sentencepiece": lambda: _from_sentencepiece(LlamaTokenizer, "bpe"),
    "sentencepiece-nfkc": lambda: _from_sentencepiece(T5Tokenizer, "unigram"),
    "sentencepiece-slow": lambda: _from_sentencepiece(BertGenerationTokenizer, "unigram"),
    "trie": TrieTokenizer.tiny,
}

KINDS = tuple(_MAKERS)

LOSSY = ("unigram", "sentencepiece-nfkc", "wordpiece-lower", "wordpiece", "characters")
"""Those that have no tokens for single bytes, so that some characters cannot be written."""
