import pytest

from recherche.errors import ConfigError, InputError
from recherche.texts.prose import (
    BOOKS,
    MIN_WORDS,
    book,
    passage,
    pieces,
    prose,
    sentence_ends,
    sentence_starts,
    sentences,
)


@pytest.mark.parametrize("name", BOOKS)
def test_books_are_plain_text_in_ascii(name: str):
    text = book(name)
    assert text.isascii()
    assert len(text.split()) > 80_000
    assert "gutenberg" not in text.lower()
    assert "\n\n\n" not in text
    assert not any(line != line.strip() or "\t" in line for line in text.split("\n"))


def test_all_books_are_the_prose():
    assert prose() == "\n".join(map(book, BOOKS))
    assert "".join(pieces()) == prose()


def test_a_passage_runs_around_the_end(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text(" ".join(f"w{i}" for i in range(MIN_WORDS)))
    got = [piece.strip() for piece in passage(98, 205, path=str(path))]
    assert got == [f"w{i % MIN_WORDS}" for i in range(98, 98 + 205)]
    assert passage(3, 0) == ()


def test_sentences_are_the_prose_without_its_line_breaks():
    assert " ".join(sentences()).split() == prose().split()
    assert sentences()[:2] == ("CHAPTER 1.", "Loomings.")
    assert "Call me Ishmael." in sentences()
    assert not any("\n" in sentence for sentence in sentences())
    assert [pieces()[start].strip() for start in sentence_starts()] == [line.split()[0] for line in sentences()]


@pytest.mark.parametrize(
    ("piece", "ends"),
    [
        ("end. ", True),
        ('end!" ', True),
        ("end\n\n", True),
        ("end, ", False),
        ("end\n", False),
        ("3.14 ", False),
        ("Mr. ", False),
        ("(Mrs. ", False),
        ("Amr. ", True),
    ],
)
def test_a_sentence_ends_at_a_mark_before_white_space(piece: str, ends: bool):
    assert sentence_ends(("So ", piece, "what? ")) == ((2, 3) if ends else (3,))


def test_a_book_that_is_not_there_and_bad_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no book 'mobydick'; did you mean moby_dick"):
        book("mobydick")
    with pytest.raises(InputError, match=r"Cannot read the prose .*gone\.txt"):
        prose(str(tmp_path / "gone.txt"))
    (tmp_path / "short.txt").write_text("three little words")
    with pytest.raises(InputError, match="at least 100 words, found 3 in"):
        prose(str(tmp_path / "short.txt"))
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="Cannot read the prose"):
        prose(str(tmp_path / "bytes.txt"))
