"""What a question finds in a text, character by character: slow, and written without the search engine."""

from recherche.text_queries import After, Between, Line, Sentence, TextQuery, Word
from recherche.texts.base import Ask, Say, TextExample


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def places(text: str, key: str) -> list[int]:
    """Where the key stands as a whole."""
    found = []
    at = text.find(key)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(key) : at + len(key) + 1]
        joined = (is_word(key[0]) and before and is_word(before)) or (is_word(key[-1]) and after and is_word(after))
        if not joined:
            found.append(at)
        at = text.find(key, at + 1)
    return found


def lines_with(text: str, key: str) -> list[str]:
    """The lines that hold the key, each once."""
    return [line for line in text.split("\n") if places(line, key)]


def answers(text: str, query: TextQuery) -> list[str]:
    """All that is found, in order."""
    match query:
        case Line(key):
            return lines_with(text, key)
        case After(key):
            return [text[at + len(key) :].split("\n", 1)[0].strip() for at in places(text, key)]
        case Word(key):
            return [rest.split()[0] for at in places(text, key) if (rest := text[at + len(key) :]).split()]
        case Between(begin, end):
            rests = [text[at + len(begin) :] for at in places(text, begin)]
            return [rest[: places(rest, end)[0]].strip() for rest in rests if places(rest, end)]
        case Sentence() | _:
            raise NotImplementedError(query)


def find(text: str, query: TextQuery) -> str | None:
    """The answer that the query chooses, None if there is none."""
    found = answers(text, query)
    if query.which == "last":
        return found[-1] if found else None
    return found[query.which - 1] if len(found) >= query.which else None


def check_trace(example: TextExample) -> None:
    """Every search finds in prompt and text so far what the trace says, and the last part is the target."""
    text = example.prompt
    for part in example.trace:
        if isinstance(part, Ask):
            assert find(text, part.query) == part.found, part
            text += part.found or ""
        else:
            text += part.text
    assert example.trace[-1] == Say(example.target)
