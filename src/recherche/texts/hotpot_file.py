"""Reads questions from an official file of HotpotQA: ten paragraphs each, two of which hold the facts.

    [{"_id": ..., "question": ..., "answer": ..., "type": "bridge", "level": "hard",
      "supporting_facts": [[title, sentence], ...], "context": [[title, [sentence, ...]], ...]}, ...]

That is hotpot_dev_distractor_v1.json and hotpot_train_v1.1.json. In files of the fullwiki setting the facts may be
missing from the paragraphs; they are refused, as is everything else that would be measured wrongly in silence.

Reference: Yang et al. (2018), HotpotQA, https://arxiv.org/abs/1809.09600
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from recherche.errors import InputError

OFFICIAL = "hotpot_dev_distractor_v1.json of https://hotpotqa.github.io"
_NAMES = ("_id", "question", "answer", "supporting_facts", "context")
_TOLERATED = 100
"""One question in so many may lack a paragraph with its facts; it is left out. More of them: another setting."""


@final
@dataclass(frozen=True, slots=True)
class Paragraph:
    """A title and sentences, without line breaks; each sentence ends where the next one begins, spaces included."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """All sentences."""
        return "".join(self.sentences).strip()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HotpotQuestion:
    """A question with its paragraphs.

    Attributes:
        id: its name in the file.
        kind: bridge or comparison; empty if the file does not say.
        paragraphs: all of them, in the order of the file.
        facts: index of a paragraph and of a sentence in it, in the order of the file; sentences that do not exist,
            of which the official files have a few, are left out.
        supporting: indices of the paragraphs that hold facts, ascending.
    """

    id: str
    question: str
    answer: str
    kind: str
    paragraphs: tuple[Paragraph, ...]
    facts: tuple[tuple[int, int], ...]
    supporting: tuple[int, ...]

    @property
    def distractors(self) -> tuple[int, ...]:
        """Indices of the other paragraphs."""
        return tuple(index for index in range(len(self.paragraphs)) if index not in self.supporting)


def read_hotpot(path: Path) -> tuple[HotpotQuestion, ...]:
    """The questions of a file, in its order; those without exactly two supporting paragraphs are left out.

    Raises:
        InputError: the file is missing, cut short, or of another version or setting.
    """
    entries = _entries(path)
    for place, entry in enumerate(entries):
        _require_entry(path, place, entry)
    questions = [_question(entry) for entry in entries]
    fit = [question for question in questions if len(question.supporting) == 2]
    if (len(questions) - len(fit)) * _TOLERATED > len(questions):
        _refuse(
            path,
            f"{len(questions) - len(fit)} of its {len(questions)} questions lack a paragraph with their facts, as in "
            "the fullwiki setting",
        )
    if not any(question.distractors for question in fit):
        _refuse(path, "its questions have no paragraph beside the two with the facts")
    if len({question.id for question in fit}) < len(fit):
        _refuse(path, "a question stands in it twice")
    return tuple(fit)


def _refuse(path: Path, found: str) -> NoReturn:
    raise InputError(f"{path} is not a file of HotpotQA's distractor setting: {found}; give {OFFICIAL}.")


def _entries(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot read the questions {path}: {error.strerror}; give {OFFICIAL}.") from error
    except UnicodeDecodeError:
        _refuse(path, "it is not text in UTF-8")
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            _refuse(path, f"something follows its first JSON value, in line {error.lineno}")
        cut = text.lstrip().startswith("[") and not text.rstrip().endswith("]")
        if cut:
            raise InputError(
                f"{path} is cut short: its {len(text):,} characters end before its list does; fetch {OFFICIAL} again."
            ) from error
        _refuse(path, f"it is not JSON ({error})")
    except RecursionError:
        _refuse(path, "it is nested too deeply")
    if not isinstance(entries, list) or not entries:
        _refuse(path, f"it holds {_describe(entries)} instead of a list of questions")
    return entries


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        return f"one object with {', '.join(map(repr, list(value)[:4]))}"
    return "an empty list" if value == [] else f"a single {type(value).__name__}"


def _require_entry(path: Path, place: int, entry: Any) -> None:
    """Refuse an entry whose parts are not those of the format."""
    where = f"entry {place + 1}"
    if not isinstance(entry, dict):
        _refuse(path, f"{where} is {_describe(entry)}")
    missing = [name for name in _NAMES if name not in entry]
    if missing:
        hint = " (the test questions have no answers)" if missing == ["answer", "supporting_facts"] else ""
        _refuse(path, f"{where} has no {' and no '.join(map(repr, missing))}{hint}, only {', '.join(entry)}")
    for name in ("_id", "question", "answer"):
        if not isinstance(entry[name], str) or not entry[name].strip():
            _refuse(path, f"{name!r} of {where} is {entry[name]!r:.60} instead of a text")
    if isinstance(entry["context"], dict):
        _refuse(path, f"'context' of {where} is a table with columns, as another library writes it")
    if not _is_list_of(entry["context"], lambda item: _is_pair(item) and _is_list_of(item[1], _is_text)):
        _refuse(path, f"'context' of {where} is not a list of titles with sentences")
    if not _is_list_of(entry["supporting_facts"], lambda item: _is_pair(item) and type(item[1]) is int):
        _refuse(path, f"'supporting_facts' of {where} is not a list of titles with the number of a sentence")


def _is_list_of(value: Any, fits: Any) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _question(entry: dict[str, Any]) -> HotpotQuestion:
    paragraphs = [Paragraph(_one_line(title).strip(), _sentences(sentences)) for title, sentences in entry["context"]]
    place = {title: index for index, (title, _) in reversed(list(enumerate(entry["context"])))}
    facts = [(place[title], number) for title, number in entry["supporting_facts"] if title in place]
    return HotpotQuestion(
        id=entry["_id"],
        question=_one_line(entry["question"]).strip(),
        answer=_one_line(entry["answer"]).strip(),
        kind=str(entry.get("type", "")),
        paragraphs=tuple(paragraphs),
        facts=tuple((index, at) for index, at in facts if 0 <= at < len(paragraphs[index].sentences)),
        supporting=tuple(sorted({index for index, _ in facts})),
    )


def _sentences(sentences: Sequence[str]) -> tuple[str, ...]:
    """The sentences with a space where neither has one, so that a full stop never touches the next word."""
    told: list[str] = []
    for sentence in map(_one_line, sentences):
        gap = " " if told and not (told[-1].endswith(" ") or sentence.startswith(" ")) else ""
        told.append(gap + sentence)
    return tuple(told)


def _one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    kept = " ".join(text.split())
    return f"{' ' if text[:1].isspace() else ''}{kept}{' ' if text[-1:].isspace() else ''}"
