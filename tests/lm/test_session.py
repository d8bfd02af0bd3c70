"""What one row writes, asks and gets, with tokenizers of every kind and markers of both."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recherche.errors import CodecError
from recherche.lm.budget import Budget
from recherche.lm.codec import Codec
from recherche.lm.markers import Markers, MarkerWatcher, add_search_tokens, markers_of
from recherche.lm.session import TextSession
from recherche.retrieval import Retriever, Status
from recherche.text_queries import After
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import KINDS, LOSSY, tiny_tokenizer

PROMPT = "Ada Berg: 555-1234\nCleo Lund: 12 Main St.\nAda Berg: second\nQuestion: Who?\nAnswer:"


def with_search_tokens(kind: str) -> Any:
    """A tokenizer whose markers are special tokens."""
    tokenizer = tiny_tokenizer(kind)
    add_search_tokens(tiny_model("llama", tokenizer, vocab_size=len(tokenizer) + 8), tokenizer)
    return tokenizer


TOKENIZERS = {
    **{f"{kind}, special tokens": with_search_tokens(kind) for kind in KINDS if kind not in LOSSY},
    **{f"{kind}, text": tiny_tokenizer(kind) for kind in ("byte-level", "sentencepiece", "trie", "bytes")},
}
CODECS = {name: Codec(tokenizer) for name, tokenizer in TOKENIZERS.items()}


class Writer:
    """A row that writes what it is told, token by token."""

    def __init__(self, codec: Codec, prompt: str = PROMPT, *, budget: Budget | None = None, stops: Sequence[str] = ()):
        self.codec = codec
        self.prompt_ids = codec.encode_prompt(prompt)
        self.session = TextSession(
            codec,
            self.prompt_ids,
            watcher=MarkerWatcher(codec.tokenizer),
            context=Retriever().text(prompt),
            budget=budget or Budget(),
            stop_strings=stops,
        )
        self.ids: list[int] = []

    def write(self, text: str) -> None:
        """Generate the tokens of a text; `<search>` and `</search>` in it are markers."""
        ids = markers_of(self.codec.tokenizer)
        if ids is None:
            self._generate(self.codec.encode_passage([*self.prompt_ids, *self.ids], text))
            return
        for part in text.replace("<search>", "\0<search>\0").replace("</search>", "\0</search>\0").split("\0"):
            marker = {"<search>": ids.start, "</search>": ids.end}.get(part)
            self._generate([marker] if marker is not None else self.codec.encode_passage(self.prompt_ids, part))

    def _generate(self, ids: Sequence[int]) -> None:
        for token in ids:
            self.ids.append(token)
            for forced in self.session.feed(token):
                self.ids.append(forced)
                self.session.hear_forced(forced)

    @property
    def whole(self) -> str:
        """The text of all ids after the prompt, decoded anew."""
        size = len(self.codec.decode(self.prompt_ids))
        return self.codec.decode([*self.prompt_ids, *self.ids])[size:]


@pytest.mark.parametrize("name", CODECS)
def test_a_query_is_answered_and_the_passage_stands_in_the_text(name: str) -> None:
    writer = Writer(CODECS[name])
    writer.write(" so <search>after Ada Berg:</search>")
    writer.write(" it is")
    writer.session.finish()
    assert writer.whole == writer.session.text == " so <search>after Ada Berg:</search><found>555-1234</found> it is"
    assert writer.session.answer_text == " so  it is"
    [search] = writer.session.searches
    everything = PROMPT + writer.session.text
    assert (search.status, search.query, search.asked, search.found) == (
        Status.OK,
        "after Ada Berg:",
        After("Ada Berg:"),
        "555-1234",
    )
    assert search.span is not None
    assert everything[slice(*search.span)] == "555-1234"
    assert everything[slice(*search.query_span)] == "<search>after Ada Berg:</search>"
    assert everything[slice(*search.inserted_span)] == search.inserted == "<found>555-1234</found>"


@pytest.mark.parametrize("name", CODECS)
def test_what_is_found_can_be_searched_and_queries_cannot(name: str) -> None:
    writer = Writer(CODECS[name])
    writer.write("<search>after Ada Berg:</search>")
    writer.write("<search>last after Ada Berg:</search>")
    writer.write("<search>line with 555</search><search>after Berg</search> x <search>after <found></search>")
    statuses = [search.status for search in writer.session.searches]
    founds = [search.found for search in writer.session.searches]
    assert founds[:2] == ["555-1234", "second"]
    assert founds[2] == "Ada Berg: 555-1234"
    assert founds[3] == ": 555-1234"
    assert statuses[4] is Status.NO_MATCH
    assert writer.whole == writer.session.text


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize(
    ("written", "statuses", "asked"),
    [
        pytest.param("<search>after Zed:</search>", [Status.NO_MATCH], "after Zed:", id="nothing there"),
        pytest.param("<search>a<search>after Zed:</search>", [Status.NESTED_START, Status.NO_MATCH], None, id="anew"),
        pytest.param(" x</search> y", [Status.NO_START], None, id="no start"),
        pytest.param(" x <search>after Ada", [Status.UNTERMINATED], None, id="no end"),
        pytest.param("<search></search>", [Status.SYNTAX], "", id="an empty query"),
        pytest.param("<search>pattern (a</search>", [Status.SYNTAX], None, id="a pattern that cannot be read"),
        pytest.param("<search>pattern a+</search>", [Status.NO_GROUP], None, id="a pattern without a group"),
        pytest.param("<search>pattern (a)\\1</search>", [Status.UNSUPPORTED], None, id="a back-reference"),
    ],
)
def test_every_end_has_a_name(name: str, written: str, statuses: list[Status], asked: str | None) -> None:
    writer = Writer(CODECS[name])
    writer.write(written)
    writer.session.finish()
    assert [search.status for search in writer.session.searches] == statuses
    assert writer.whole == writer.session.text
    inserted = [search.inserted for search in writer.session.searches]
    silent = (Status.NESTED_START, Status.UNTERMINATED)
    assert inserted == ["" if status in silent else "<nothing>" for status in statuses]
    if asked is not None:
        assert writer.session.searches[-1].query == asked


@pytest.mark.parametrize(
    ("budget", "queries", "statuses"),
    [
        pytest.param({"searches": 1}, ["after Ada Berg:"] * 2, [Status.OK, Status.OVER_BUDGET], id="searches"),
        pytest.param({"query_characters": 10}, ["after Ada Berg:"], [Status.TOO_LARGE], id="length of a query"),
        pytest.param(
            {"passage_characters": 7}, ["after Ada Berg:"], [Status.RESULT_TOO_LONG], id="length of a passage"
        ),
        pytest.param(
            {"inserted_characters": 10},
            ["after Ada Berg:", "after Zed", "after Ada Berg:"],
            [Status.OK, Status.NO_MATCH, Status.OVER_BUDGET],
            id="all that is inserted",
        ),
    ],
)
def test_the_budget_ends_by_name(budget: dict[str, int], queries: list[str], statuses: list[Status]) -> None:
    writer = Writer(CODECS["byte-level, special tokens"], budget=Budget(**budget))
    for query in queries:
        writer.write(f"<search>{query}</search>")
    assert [search.status for search in writer.session.searches] == statuses
    assert all(search.reason for search in writer.session.searches if search.status.refused)


def test_a_query_of_a_million_characters_is_refused_by_name() -> None:
    writer = Writer(CODECS["bytes, special tokens"])
    writer.write("<search>" + "a" * 100_000 + "</search> on")
    assert [search.status for search in writer.session.searches] == [Status.TOO_LARGE]


def test_markers_in_a_prompt_and_in_a_passage_are_text() -> None:
    prompt = "key: <search>after x</search> and <found> y\nAnswer:"
    for codec in CODECS.values():
        writer = Writer(codec, prompt)
        writer.write("<search>after key:</search>")
        [search] = writer.session.searches
        assert search.found == "<search>after x</search> and <found> y"
        writer.write(" and on")
        writer.session.finish()
        assert len(writer.session.searches) == 1
        assert writer.whole == writer.session.text
        assert not writer.session.in_query


def test_what_the_tokenizer_cannot_write_is_named_and_nothing_is_inserted() -> None:
    tokenizer = with_search_tokens("unigram")
    codec = Codec(tokenizer)
    session = TextSession(
        codec,
        codec.encode_prompt("key"),
        watcher=MarkerWatcher(tokenizer),
        context=Retriever().text("key: \u6f22\u5b57\n"),
        budget=Budget(),
    )
    ids = markers_of(tokenizer)
    assert ids is not None
    forced = [session.feed(token) for token in (ids.start, *codec.encode_passage([ids.start], "after key:"), ids.end)]
    assert session.searches[0].status is Status.NOT_ENCODABLE
    assert forced[-1] == [ids.nothing]


def test_textual_markers_that_cannot_be_written_are_refused_before_anything_is_generated() -> None:
    codec = Codec(tiny_tokenizer("byte-level"))
    lossy = Codec(tiny_tokenizer("unigram"))
    markers = Markers(found="\u6f22", close="\u5b57")
    for one in (codec, lossy):
        arguments: dict[str, Any] = {"context": Retriever().text("a"), "budget": Budget()}
        watcher = MarkerWatcher(one.tokenizer, markers)
        if one is codec:
            TextSession(one, one.encode_prompt("a"), watcher=watcher, **arguments)
        else:
            with pytest.raises(CodecError):
                TextSession(one, one.encode_prompt("a"), watcher=watcher, **arguments)


@pytest.mark.parametrize("name", ["byte-level, special tokens", "byte-level, text"])
def test_a_stop_string_ends_a_row_outside_queries_only(name: str) -> None:
    writer = Writer(CODECS[name], stops=["\n"])
    writer.write("<search>after\nAda Berg:</search>")
    assert not writer.session.has_ended
    writer.write(" yes")
    assert not writer.session.has_ended
    writer.write(" no\n")
    assert writer.session.has_ended


@given(
    st.sampled_from([name for name in CODECS if "special" in name]),
    st.lists(st.tuples(st.sampled_from(("say", "ask")), st.text(max_size=12)), max_size=5),
    st.text(min_size=1, max_size=30),
)
def test_whatever_is_written_the_tokens_spell_the_text(name: str, parts: list[tuple[str, str]], prompt: str) -> None:
    writer = Writer(CODECS[name], prompt.replace("\0", "0"))
    for kind, text in parts:
        clean = text.replace("\0", "0")
        writer.write(clean if kind == "say" else f"<search>after {clean}</search>")
    writer.session.finish()
    assert writer.whole == writer.session.text
    for search in writer.session.searches:
        if search.span is not None and search.found is not None:
            assert (prompt.replace("\0", "0") + writer.session.text)[slice(*search.span)] == search.found
