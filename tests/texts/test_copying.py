import pytest

from recherche.errors import ConfigError, InputError
from recherche.texts.copying import CopyingPassage, _choose
from recherche.texts.draws import Draws
from recherche.texts.prose import sentences


@pytest.mark.parametrize("n", [1, 10, 300])
def test_the_answer_is_the_one_line_that_begins_so(n: int):
    for key in range(30):
        example = CopyingPassage(n=n).example(key)
        lines = example.context.splitlines()
        cue = example.question.removeprefix("\nQuestion: Which line begins with these words: ").removesuffix(
            "\nAnswer:"
        )
        assert len(lines) == n
        assert [line for line in lines if cue in line] == [*example.answers]
        assert example.answers[0].startswith(cue)
        assert set(lines) <= set(sentences())
        assert all(8 <= len(line.split()) <= 30 for line in lines)


def test_a_line_that_stands_twice_is_answered_with_the_first(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("We sat by the fire and told tales of old. " * 20, encoding="utf-8")
    example = CopyingPassage(n=20, prose=str(path)).example(1)
    assert example.answers == ("We sat by the fire and told tales of old.",)
    assert "these words: We sat by the fire and told tales\n" in example.question


def test_lines_are_chosen_everywhere():
    lines = tuple(f"{word} one two three four five six seven" for word in "abc")
    assert {_choose(Draws(key, "choice"), lines)[0] for key in range(40)} == set(lines)


def test_more_sentences_than_there_are_are_refused(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("We sat by the fire and told tales of old. " * 20, encoding="utf-8")
    with pytest.raises(ConfigError, match="copying takes n from 1 to 20, got n = 21"):
        CopyingPassage(n=21, prose=str(path))
    short = tmp_path / "short.txt"
    short.write_text("Short ones. " * 100, encoding="utf-8")
    with pytest.raises(InputError, match="sentences of 8 to 30 words, found none in"):
        CopyingPassage(n=1, prose=str(short))
