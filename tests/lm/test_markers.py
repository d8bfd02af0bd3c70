"""Markers: five texts that cannot be mistaken, special tokens that a folder keeps, events of what a model writes."""

import re
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AddedToken, AutoConfig, AutoModelForCausalLM, AutoTokenizer

from recherche.errors import ConfigError
from recherche.lm.codec import Codec
from recherche.lm.markers import Event, Kind, Markers, MarkerWatcher, add_search_tokens, markers_of, own_markers
from tests.lm.tokenizers import KINDS, load_tokenizer, tiny_tokenizer

OWN = Markers("[[find]]", "[[/find]]", "[[got]]", "[[/got]]", "[[none]]")
TINY = {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 32}
TINY |= {"num_attention_heads": 2, "num_key_value_heads": 2, "state_size": 4}


def tiny_model(family: str, tokenizer):
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(family, vocab_size=len(tokenizer), **TINY))


WRONG = {
    "empty": ({"found": ""}, "Marker found is ''; give it characters"),
    "space at the end": ({"start": "<search> "}, "Marker start is '<search> '; give it characters, and no white space"),
    "twice": ({"end": "<search>"}, "Marker start, '<search>', is a part of marker end, '<search>'"),
    "a part": ({"nothing": "found"}, "Marker nothing, 'found', is a part of marker found, '<found>'"),
    "a beginning": ({"start": "<f", "end": "<found>x"}, "Marker start, '<f', is a part of marker end, '<found>x'"),
}


@pytest.mark.parametrize(("fields", "message"), WRONG.values(), ids=WRONG)
def test_markers_that_could_be_taken_for_each_other_are_refused(fields, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Markers(**fields)


@pytest.mark.parametrize("family", ["llama", "mamba"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("markers", [None, OWN], ids=["default", "own"])
def test_a_folder_keeps_its_search_tokens(kind, family, markers, tmp_path):
    tokenizer = tiny_tokenizer(kind)
    assert markers_of(tokenizer) is None
    model = tiny_model(family, tokenizer)
    before = len(tokenizer)
    add_search_tokens(model, tokenizer, markers)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded, weights = load_tokenizer(kind, tmp_path), AutoModelForCausalLM.from_pretrained(tmp_path)
    assert own_markers(loaded) == own_markers(tokenizer) == (markers or Markers())
    ids = markers_of(loaded)
    assert ids == markers_of(tokenizer) == tuple(range(before, before + 5))
    assert loaded.search_start_token_id == ids.start
    assert len(weights.get_input_embeddings().weight) == len(model.get_output_embeddings().weight) > ids.nothing
    codec = Codec(loaded)
    assert set(ids) <= codec.control_ids
    assert codec.decode(ids) == "".join(astuple(markers or Markers()))


@pytest.mark.parametrize("kind", ["byte-level", "unigram", "metaspace"])
def test_a_folder_with_search_tokens_opens_by_itself(kind, tmp_path):
    tokenizer = tiny_tokenizer(kind)
    model = tiny_model("llama", tokenizer)
    add_search_tokens(model, tokenizer, OWN)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert markers_of(AutoTokenizer.from_pretrained(tmp_path)) == markers_of(tokenizer)


@pytest.mark.parametrize("kind", KINDS)
def test_search_tokens_are_added_once(kind):
    tokenizer = tiny_tokenizer(kind)
    model = tiny_model("mamba", tokenizer)
    add_search_tokens(model, tokenizer)
    size, ids = len(tokenizer), markers_of(tokenizer)
    model.get_input_embeddings().weight.data[ids.start] = 7
    add_search_tokens(model, tokenizer)
    assert (len(tokenizer), markers_of(tokenizer)) == (size, ids)
    assert (model.get_input_embeddings().weight[ids.start] == 7).all()


def test_special_tokens_that_are_spelled_like_the_default_are_search_tokens():
    tokenizer = tiny_tokenizer("byte-level")
    texts = ["<search>", "</search>", "<found>", "</found>", "<nothing>"]
    tokenizer.add_special_tokens({"extra_special_tokens": texts[:4]})
    assert markers_of(tokenizer) is None
    tokenizer.add_special_tokens({"extra_special_tokens": texts})
    assert list(markers_of(tokenizer)) == tokenizer.convert_tokens_to_ids(texts)


CONFUSABLE = {
    "whole": ("<search>", "has the added token '<search>', which the marker '<search>' could be taken for"),
    "a part of a marker": ("<nothing", "has the added token '<nothing', which the marker '<nothing>' could be"),
    "a marker and more": ("<found>:", "has the added token '<found>:', which the marker '<found>' could be"),
}


@pytest.mark.parametrize(("token", "message"), CONFUSABLE.values(), ids=CONFUSABLE)
@pytest.mark.parametrize("kind", ["byte-level", "characters"])
def test_a_marker_that_could_be_taken_for_another_token_is_refused(kind, token, message):
    tokenizer = tiny_tokenizer(kind)
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=False)])
    model, size = tiny_model("llama", tokenizer), len(tokenizer)
    with pytest.raises(ConfigError, match=re.escape(message)):
        add_search_tokens(model, tokenizer)
    assert len(tokenizer) == len(model.get_input_embeddings().weight) == size


def test_a_marker_that_is_an_ordinary_token_is_refused():
    tokenizer = tiny_tokenizer("byte-level")
    markers = Markers(start="search", end="END", found="FOUND", close="CLOSE", nothing="NOTHING")
    assert "search" in tokenizer.get_vocab()
    with pytest.raises(ConfigError, match=r"has the ordinary token 'search' \(id \d+\); choose other markers"):
        add_search_tokens(tiny_model("llama", tokenizer), tokenizer, markers)


def test_other_search_tokens_are_refused():
    tokenizer = tiny_tokenizer("byte-level")
    model = tiny_model("llama", tokenizer)
    add_search_tokens(model, tokenizer)
    with pytest.raises(ConfigError, match=r"has the search tokens \('<search>', .*\) already, asked were \('\[\[find"):
        add_search_tokens(model, tokenizer, OWN)


def test_a_tokenizer_that_gives_ids_twice_is_refused(monkeypatch):
    tokenizer = tiny_tokenizer("characters")
    vocabulary = tokenizer.get_vocab()
    model = tiny_model("llama", tokenizer)
    monkeypatch.setattr(tokenizer, "get_vocab", lambda: {"hole": 92} | vocabulary | tokenizer.added_tokens_encoder)
    with pytest.raises(ConfigError, match="gives new tokens the ids of old ones"):
        add_search_tokens(model, tokenizer)


MARKERS = Markers()
PIECES = {
    "one token": (["a", "<search>", "q", "</search>"], [("start", 1, 9), ("end", 10, 19)]),
    "cut": (["a<", "sea", "rch>", "q</search", ">"], [("start", 1, 9), ("end", 10, 19)]),
    "with more": (["<search>q</search>\n"], [("start", 0, 8), ("end", 9, 18)]),
    "letter by letter": (list("<search>"), [("start", 0, 8)]),
    "begun twice": (["<sea<search>"], [("start", 4, 12)]),
    "not finished": (["<search", " >"], []),
    "other markers": (["<found>x</found><nothing>"], []),
    "held back": (["", "", "é<search>"], [("start", 1, 9)]),
}


@pytest.mark.parametrize(("pieces", "expected"), PIECES.values(), ids=PIECES)
def test_textual_markers_are_found_however_tokens_cut_them(pieces, expected):
    watcher = MarkerWatcher(tiny_tokenizer("bytes"))
    assert watcher.ids is None
    events = [event for piece in pieces for event in watcher.feed(5, piece)]
    assert events == [Event(Kind(kind), begin, end) for kind, begin, end in expected]


@given(
    pieces=st.lists(st.sampled_from(["<", "search", ">", "</", "</search>", "<search>", "a", "", "ab", "ba", "b"])),
    markers=st.sampled_from([MARKERS, Markers("ab", "ba", "x", "y", "z"), Markers("aa", "ab", "x", "y", "z")]),
)
def test_textual_events_do_not_depend_on_the_cuts(pieces, markers):
    """The oracle: the whole text at once."""
    watcher = MarkerWatcher(tiny_tokenizer("bytes"), markers)
    events = [event for piece in pieces for event in watcher.feed(5, piece)]
    pattern = f"(?P<START>{re.escape(markers.start)})|(?P<END>{re.escape(markers.end)})"
    whole = [(Kind[found.lastgroup], *found.span()) for found in re.finditer(pattern, "".join(pieces))]
    assert events == whole


def test_a_textual_marker_is_not_made_across_what_was_inserted():
    codec = Codec(tiny_tokenizer("bytes"))
    for insert in (
        lambda watcher: watcher.interrupt(),
        lambda watcher: watcher.encode_found(codec, [5], "x"),
        lambda watcher: watcher.encode_nothing(codec, [5]),
    ):
        watcher = MarkerWatcher(codec.tokenizer)
        watcher.feed(5, "a<sea")
        insert(watcher)
        assert watcher.feed(5, "rch>") == []
    watcher = MarkerWatcher(codec.tokenizer)
    watcher.feed(5, "a<sea")
    assert watcher.feed(5, "rch>") == [Event(Kind.START, 1, 9)]


@pytest.mark.parametrize("kind", KINDS)
def test_special_markers_count_by_their_id_and_never_by_their_letters(kind):
    tokenizer = tiny_tokenizer(kind)
    add_search_tokens(tiny_model("llama", tokenizer), tokenizer)
    codec, watcher, ids = Codec(tokenizer), MarkerWatcher(tokenizer), markers_of(tokenizer)
    stream = codec.stream(codec.prefix)
    cut = next(iter(codec._table.ordinary))
    tokens = [cut, ids.start, cut, ids.end, ids.found, ids.start]
    events, text = [], ""
    for token in tokens:
        new = stream.push(token)
        text += new
        events += watcher.feed(token, new)
    assert [event.kind for event in events] == [Kind.START, Kind.END, Kind.START]
    assert [text[event.begin : event.end] for event in events] == ["<search>", "</search>", "<search>"]
    assert watcher.feed(cut, "<search>") == []


@pytest.mark.parametrize("kind", ["byte-level", "metaspace", "unigram-bytes", "bytes", "trie", "sentencepiece"])
@pytest.mark.parametrize("markers", ["special", "textual"])
def test_what_is_inserted_is_exact(kind, markers):
    tokenizer = tiny_tokenizer(kind)
    if markers == "special":
        add_search_tokens(tiny_model("llama", tokenizer), tokenizer)
    codec, watcher = Codec(tokenizer), MarkerWatcher(tokenizer)
    before = codec.encode_prompt("a:")
    found = watcher.encode_found(codec, before, " x<search>é")
    assert codec.prompt_text([*before, *found]) == "a:<found> x<search>é</found>"
    assert codec.prompt_text([*before, *watcher.encode_nothing(codec, before)]) == "a:<nothing>"
    assert len(codec.control_ids & set(found)) == (2 if markers == "special" else 0)
