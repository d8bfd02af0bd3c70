import pytest

from recherche.errors import CodecError, ConfigError
from recherche.lm.budget import Budget
from recherche.lm.lessons import Lesson, LessonWriter
from recherche.lm.markers import MarkerWatcher
from recherche.lm.session import TextSession
from recherche.retrieval.retriever import Retriever
from recherche.text_queries import After, write
from recherche.texts import TEXT_TASKS
from recherche.texts.base import Ask, Say, TextExample
from tests.lm.taught import tiny_writer
from tests.lm.tokenizers import tiny_tokenizer

KINDS = ("byte-level", "metaspace", "sentencepiece", "trie", "bytes")
SPANISH = TextExample(
    context="Ana Ñúñez: 12\n",
    question="\nQ?\nAnswer:",
    answers=("12",),
    trace=(Ask(After("Ana Ñúñez:"), "12"), Say(" 12\n")),
)
MISSED = TextExample(
    context="Ada: 1\n",
    question="\nAnswer:",
    answers=("no",),
    trace=(Say(" Well"), Ask(After("Bo:"), None), Say(" no\n")),
)
MISSED_ALEPH = TextExample(context="ℵ", question="?", answers=("ℵ",), trace=(Say("ℵ"),))


def small(name: str) -> TextExample:
    """A short text of a task."""
    return TEXT_TASKS[name].configured(n=8).example(5)


def as_run(writer: LessonWriter, example: TextExample, lesson: Lesson) -> Lesson:
    """The oracle: a real session hears the tokens that a lesson says are written, and inserts what it inserts."""
    prompt = writer.codec.encode_prompt(example.prompt)
    session = TextSession(
        writer.codec,
        prompt,
        watcher=MarkerWatcher(writer.codec.tokenizer),
        context=Retriever().text(example.prompt),
        budget=Budget(passage_characters=10**6, inserted_characters=10**6, searches=10**6),
    )
    ids, written = [*prompt], [False] * len(prompt)
    for token, is_written in zip(lesson.ids[len(prompt) :], lesson.written[len(prompt) :], strict=True):
        if not is_written:
            continue
        ids, written = [*ids, token], [*written, True]
        inserted = session.feed(token)
        for forced in inserted:
            session.hear_forced(forced)
        ids, written = [*ids, *inserted], [*written, *[False] * len(inserted)]
    session.finish()
    asked = [part for part in example.trace if isinstance(part, Ask)]
    assert [search.query for search in session.searches] == [write(ask.query) for ask in asked]
    assert [search.found for search in session.searches] == [ask.found for ask in asked]
    return Lesson(tuple(ids), tuple(written), may_search=True)


@pytest.mark.parametrize("name", TEXT_TASKS)
def test_a_lesson_is_what_a_model_that_writes_its_tokens_would_have_in_its_text(name):
    writer, example = tiny_writer(), small(name)
    lesson = writer.search(example)
    assert as_run(writer, example, lesson) == lesson


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("example", [SPANISH, MISSED, small("variables")], ids=["letters", "nothing found", "chain"])
def test_so_it_is_with_every_tokenizer(kind, example):
    writer = tiny_writer(kind)
    lesson = writer.search(example)
    assert as_run(writer, example, lesson) == lesson


def test_a_wrong_mask_would_be_noticed():
    writer, example = tiny_writer(), small("phonebook")
    lesson = writer.search(example)
    begin = lesson.written.index(True)
    wrong = Lesson(lesson.ids, (*lesson.written[:begin], False, *lesson.written[begin + 1 :]), may_search=True)
    with pytest.raises(AssertionError):
        assert as_run(writer, example, wrong) == wrong


@pytest.mark.parametrize("kind", KINDS)
def test_text_and_parts_of_a_lesson_can_be_read(kind):
    writer = tiny_writer(kind)
    lesson = writer.search(SPANISH)
    end = writer.codec.tokenizer.eos_token or ""
    prefix = writer.codec.decode(writer.codec.prefix)
    whole = "<search>after Ana Ñúñez:</search><found>12</found> 12\n"
    assert writer.codec.decode(lesson.ids) == prefix + SPANISH.prompt + whole + end
    ids = {True: [], False: []}
    for token, written in zip(lesson.ids, lesson.written, strict=True):
        ids[written].append(token)
    markers = writer.markers
    assert ids[True].count(markers.start) == ids[True].count(markers.end) == 1
    assert ids[False].count(markers.found) == ids[False].count(markers.close) == 1
    assert not {markers.found, markers.close, markers.nothing} & set(ids[True])


def test_a_direct_answer_begins_no_search():
    writer = tiny_writer()
    lesson = writer.direct(SPANISH)
    written = [token for token, is_written in zip(lesson.ids, lesson.written, strict=True) if is_written]
    assert writer.codec.decode(written) == f" 12\n{writer.codec.tokenizer.eos_token}"
    assert not lesson.may_search
    assert lesson.written == (False,) * (len(lesson.ids) - len(written)) + (True,) * len(written)


def test_prose_is_all_to_be_written_up_to_its_limit():
    writer = tiny_writer()
    ids = writer.codec.encode_prompt("Call me Ishmael. " * 9)
    assert writer.prose("Call me Ishmael. " * 9, limit=12) == Lesson(tuple(ids[:12]), (True,) * 12, may_search=True)


def test_a_tokenizer_without_search_tokens_is_refused():
    with pytest.raises(ConfigError, match="add_search_tokens"):
        LessonWriter(tiny_tokenizer("byte-level"))


def test_what_the_tokenizer_cannot_write_is_an_error():
    with pytest.raises(CodecError):
        tiny_writer("characters").search(MISSED_ALEPH)
