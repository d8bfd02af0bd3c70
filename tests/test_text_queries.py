"""Questions to a text: what is written is what is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recherche.errors import QueryError
from recherche.text_queries import After, Between, Line, Pattern, Sentence, Word, read, write

KEYS = st.text(min_size=1).filter(lambda key: key == key.strip())
WHICH = st.one_of(st.just("last"), st.integers(1, 10**9 - 1))
KINDS = st.sampled_from((After, Word, Line, Sentence))


@given(KINDS, KEYS, WHICH)
def test_a_question_about_a_key_is_read_as_it_was_written(kind, key, which):
    assert read(write(kind(key, which))) == kind(key, which)


@given(KEYS.filter(lambda key: " ... " not in f"{key} " and not key.startswith("... ")), KEYS, WHICH)
def test_between_is_read_as_it_was_written(begin, end, which):
    assert read(write(Between(begin, end, which))) == Between(begin, end, which)


@given(KEYS)
def test_a_pattern_is_read_as_it_was_written(pattern):
    assert read(write(Pattern(pattern))) == Pattern(pattern)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("after Ada Berg:", After("Ada Berg:"), id="the first match unless another is asked for"),
        pytest.param("  #3 after Ada ", After("Ada", 3), id="white space at the ends is dropped"),
        pytest.param("last line with 7", Line("7", "last"), id="the last line"),
        pytest.param("word after the", Word("the"), id="a word"),
        pytest.param(
            "sentence with after all", Sentence("after all"), id="a key may hold the words of another question"
        ),
        pytest.param("between a ... b ... c", Between("a", "b ... c"), id="the first gap parts the keys"),
        pytest.param(r"pattern after (\w+)", Pattern(r"after (\w+)"), id="a pattern that looks like a question"),
        pytest.param(r"Ada: (\d+)", Pattern(r"Ada: (\d+)"), id="anything else is a pattern"),
        pytest.param("#0 after Ada", Pattern("#0 after Ada"), id="there is no match number 0"),
    ],
)
def test_what_a_model_writes_is_read(text, query):
    assert read(text) == query


@pytest.mark.parametrize("text", ["", "   ", "between a and b", "between  ... b"])
def test_a_question_that_asks_for_nothing_is_refused(text):
    with pytest.raises(QueryError):
        read(text)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda: After(" Ada"), "white space", id="a key with white space at an end"),
        pytest.param(lambda: Line("Ada", 0), "from 1", id="match 0"),
        pytest.param(lambda: Between("a ... b", "c"), "cannot hold", id="a gap in the first key"),
        pytest.param(lambda: Pattern("a "), "dropped", id="a pattern that ends with a space"),
    ],
)
def test_what_cannot_be_written_is_refused(make, said):
    with pytest.raises(QueryError, match=said):
        make()
