"""Stand-ins for language models that answer the made-up questions of HotpotQA, by reading only what they can hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recherche.experiments.language_subject import SubjectFacts
from recherche.lm import Written
from recherche.lm.decode_loop import EndReason
from recherche.lm.session import TextSearch
from recherche.retrieval.outcome import Status
from recherche.text_queries import Line

FACTS = SubjectFacts(model_type="made-up", num_parameters=12, dtype="float32", device="none")
QUERY, INSERTED = "<search>line with Q</search>", "<found>Q</found>"


@dataclass
class Reader:
    """Answers rightly when the facts stand among the last paragraphs.

    Attributes:
        memory: how many paragraphs it holds; with searches it finds everything.
        foolish: words of questions that it never answers.
        asked: prompts that it was given, with the protocol.
    """

    memory: int = 10
    foolish: tuple[str, ...] = ()
    facts: SubjectFacts = FACTS
    asked: list[tuple[str, str]] = field(default_factory=list)

    def count(self, text: str) -> int:
        return len(text.split())

    def state_bits(self, prompt: str) -> int | None:
        return None

    def write(self, protocol: str, prompts: Sequence[str], *, max_new_tokens: int) -> list[Written]:
        self.asked += [(protocol, prompt) for prompt in prompts]
        return [self.answer(protocol, prompt) for prompt in prompts]

    def answer(self, protocol: str, prompt: str) -> Written:
        *paragraphs, question = prompt.rpartition("So the answer is:")[2].split("\n\n")
        held = " ".join(paragraphs if protocol == "search" else paragraphs[-self.memory :])
        told = None if any(word in question for word in self.foolish) else conclude(question, held)
        text = " Nobody knows.\n" if told is None else f" It says so. So the answer is: {told}\n"
        searches = (search_in(prompt),) if protocol == "search" else ()
        inserted = QUERY + INSERTED if searches else ""
        return Written(
            prompt=prompt,
            text=inserted + text,
            answer_text=text,
            searches=searches,
            tokens=tuple(range(7)),
            generated=(True,) * 7,
            reason=EndReason.STOP_STRING,
        )


def conclude(question: str, held: str) -> str | None:
    """What follows from the paragraphs, or None."""
    pair = re.search(r"Were (.+) and (.+) born in", question)
    if pair:
        years = [re.search(rf"{name} was born in \w+ in (\d+)", held) for name in pair.groups()]
        return None if None in years else "Yes." if years[0][1] == years[1][1] else "no"  # type: ignore[index]
    person = re.search(r"where (.+) was born\?", question)
    town = re.search(rf"{person[1]} was born in (\w+)", held) if person else None
    river = re.search(rf"{town[1]} is a town on the river (\w+)", held) if town else None
    return f"the {river[1]}" if river else None


def search_in(prompt: str) -> TextSearch:
    """A search for the last question."""
    at, begin = prompt.rindex("Question:"), len(prompt)
    middle = begin + len(QUERY)
    inserted = (middle, middle + len(INSERTED))
    return TextSearch(Status.OK, "line with Q", Line("Q"), (begin, middle), (at, at + 1), "Q", INSERTED, inserted)


def write_folder(folder: Path, name: str = "weights") -> Path:
    """A folder that looks like that of a model."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(f'{{"model_type": "made-up", "name": "{name}"}}')
    return folder
