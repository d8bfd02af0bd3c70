"""A language model that is none: it answers by rule, and a test decides what the rule is and when it is interrupted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recherche.experiments.language_subject import SubjectFacts
from recherche.lm.decode_loop import EndReason
from recherche.lm.generation import Written
from recherche.lm.session import TextSearch
from recherche.retrieval.outcome import Status
from recherche.text_queries import After

FACTS = SubjectFacts(model_type="pretend", num_parameters=12, dtype="float32", device="CPU")
BITS_PER_CHARACTER = 8


def looked_up(prompt: str) -> tuple[str, tuple[int, int]]:
    """The number that a phone book asks for, by a regular expression of its own, and where it stands."""
    found = re.search(r"What is the number of (.+)\?\nAnswer:\Z", prompt)
    assert found is not None
    line = re.search(rf"(?m)^{re.escape(found[1])}: (\S+)$", prompt)
    assert line is not None
    return line[1], line.span(1)


def say(prompt: str, text: str, *, reason: EndReason = EndReason.STOP_STRING, search: bool = False) -> Written:
    """What a model would have written: perhaps a search, and this text."""
    if not search:
        return Written(
            prompt=prompt,
            text=text,
            answer_text=text,
            searches=(),
            tokens=(1,) * len(text),
            generated=(),
            reason=reason,
        )
    number, span = looked_up(prompt)
    query, passage, begin = "<search>after it</search>", f"<found>{number}</found>", len(prompt)
    end = begin + len(query)
    made = TextSearch(
        status=Status.OK,
        query="after it",
        asked=After("it"),
        query_span=(begin, end),
        span=span,
        found=number,
        inserted=passage,
        inserted_span=(end, end + len(passage)),
    )
    whole = query + passage + text
    return Written(
        prompt=prompt,
        text=whole,
        answer_text=text,
        searches=(made,),
        tokens=(1,) * len(whole),
        generated=(),
        reason=reason,
    )


def always_right(protocol: str, prompt: str) -> Written:
    """A model that knows its phone book."""
    return say(prompt, f" {looked_up(prompt)[0]}\n", search=protocol == "search")


def wrong_alone(protocol: str, prompt: str) -> Written:
    """A model that knows nothing unless it searches."""
    return always_right(protocol, prompt) if protocol == "search" else say(prompt, " 000-0000\n")


@dataclass
class PretendSubject:
    """What a measurement asks; it remembers how often and with which budgets."""

    answer: Callable[[str, str], Written] = always_right
    facts: SubjectFacts = FACTS
    interrupt_at: int | None = None
    budgets: list[int] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def count(self, text: str) -> int:
        """A token for each character."""
        return len(text)

    def state_bits(self, prompt: str) -> int | None:
        """A cache that grows."""
        return BITS_PER_CHARACTER * len(prompt)

    def write(self, protocol: str, prompts: Sequence[str], *, max_new_tokens: int) -> list[Written]:
        """The rule, until the user has had enough."""
        if self.interrupt_at is not None and len(self.budgets) == self.interrupt_at:
            raise KeyboardInterrupt
        self.budgets.append(max_new_tokens)
        self.prompts += prompts
        return [self.answer(protocol, prompt) for prompt in prompts]


def pretend_folder(folder: Path, weights: bytes = b"weights") -> Path:
    """A folder that looks as if it held a model."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder
