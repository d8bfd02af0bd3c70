"""The prompts of HotpotQA: worked-out examples, then n paragraphs and a question.

    Altvik: Altvik is a town on the river Lune. Snow fell there 3 times.

    Ada Berg: Ada Berg is a painter of ships. Ada Berg was born in Altvik.

    Question: On which river is the town where Ada Berg was born?
    Answer: Ada Berg was born in Altvik. Altvik is a town on the river Lune. So the answer is: Lune

    direct   the sentences with the facts, then the conclusion: the paper's chain of thought
    search   a search for each of these sentences, then the same conclusion

Two of the n paragraphs hold the facts. A larger n keeps the distractors of a smaller one; `random` puts all of them in
an order that is drawn once for each question, `last` the two with the facts behind the others. With n = 2 both are the
same prompt. An example shows the two paragraphs with its facts, so that the prompt stays short.

What a search in an example asks for is the longest run of words, a name or a number among them, that the sentence with
the fact shares with the question or with what was found before; if that finds another sentence first, the same words as
a title, with a colon. A question without such words for all of its facts is no example.

Reference: Wen, Dang & Lyu (2024), Figure 6, https://arxiv.org/abs/2402.18510; Wei et al. (2022), Chain-of-Thought
Prompting, https://arxiv.org/abs/2201.11903
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, final

from recherche._rng import numpy_generator
from recherche.errors import ConfigError
from recherche.text_queries import Sentence, TextQuery
from recherche.texts.base import Ask
from recherche.texts.hotpot_file import HotpotQuestion, Paragraph

ORDERS = ("random", "last")
PROTOCOLS = ("direct", "search")
OPENING = "Answer each question from the paragraphs above it.\n\n"
MAX_KEYS = 8
"""How many runs of words are tried for each fact."""

_CONCLUSION = " So the answer is: "
_CONCLUDED = re.compile(r"[Ss]o the answer is:?(.*)")
_WORD = re.compile(r"\w+")
_MAX_WORDS = 12


@final
class Searching(NamedTuple):
    """How searches are made and written in examples.

    Attributes:
        find: what a query finds in a text; None for nothing.
        spell: a search with what it found, as it stands in a text.
    """

    find: Callable[[str, TextQuery], str | None]
    spell: Callable[[Ask], str]


@final
class Shots(NamedTuple):
    """Worked-out examples.

    Attributes:
        ids: the questions that they are made of.
        direct: their text, in which facts are told.
        search: their text, in which facts are searched for.
    """

    ids: tuple[str, ...]
    direct: str
    search: str

    def prompt(self, protocol: str, asked: str) -> str:
        """What a model is given, up to "Answer:"."""
        return (self.direct if protocol == "direct" else self.search) + asked


def arranged(question: HotpotQuestion, n: int, order: str, *, seed: int) -> tuple[Paragraph, ...]:
    """The paragraphs that a model is shown.

    Raises:
        ConfigError: an unknown order, or a question without so many paragraphs.
    """
    if order not in ORDERS or not 2 <= n <= len(question.paragraphs):
        raise ConfigError(
            f"Question {question.id} is shown with 2 to {len(question.paragraphs)} paragraphs in the order "
            f"{' or '.join(ORDERS)}, got {n} and {order!r}; choose others."
        )
    chosen = numpy_generator(seed, f"hotpot-distractors-{question.id}").permutation(question.distractors)[: n - 2]
    ranks = numpy_generator(seed, f"hotpot-order-{question.id}").permutation(len(question.paragraphs)).tolist()
    shown = [*question.supporting, *chosen.tolist()]
    if order == "last":
        shown.sort(key=lambda index: (index in question.supporting, ranks[index]))
    else:
        shown.sort(key=lambda index: ranks[index])
    return tuple(question.paragraphs[index] for index in shown)


def asked(paragraphs: Iterable[Paragraph], question: str) -> str:
    """Paragraphs and a question as text, up to "Answer:"."""
    told = "".join(f"{paragraph.title}: {paragraph.text}\n\n" for paragraph in paragraphs)
    return f"{told}Question: {question}\nAnswer:"


def answer_of(written: str) -> str | None:
    """The answer in what a model wrote, without searches and what they found; None if it came to no conclusion.

    >>> answer_of(" Ada Berg was born in Altvik. So the answer is: Altvik\\n")
    'Altvik'
    """
    found = _CONCLUDED.search(written.partition("\n")[0])
    return found[1].strip() if found else None


def choose_shots(questions: Sequence[HotpotQuestion], num: int, searching: Searching, *, seed: int) -> Shots:
    """Examples made of questions that are drawn at random, among those whose facts can be searched for.

    What a search finds in an example is what it finds in the whole text up to there.

    Raises:
        ConfigError: there are not enough such questions.
    """
    order = numpy_generator(seed, "hotpot-shots").permutation(len(questions)).tolist()
    ids: list[str] = []
    direct = search = OPENING
    for index in order:
        if len(ids) == num:
            break
        question = questions[index]
        opened = asked(arranged(question, 2, "random", seed=seed), question.question)
        found = _worked_out(question, search + opened, searching)
        if found is not None:
            ids.append(question.id)
            end = f"{_CONCLUSION}{question.answer}\n\n"
            direct += opened + "".join(f" {fact}" for fact, _ in found) + end
            search += opened + "".join(searching.spell(ask) for _, ask in found) + end
    if len(ids) < num:
        raise ConfigError(
            f"{num} examples were asked for, and of {len(questions)} questions {len(ids)} have facts that can be "
            "searched for; ask for fewer --shots, or name a larger --shots-file."
        )
    return Shots(tuple(ids), direct, search)


def _worked_out(question: HotpotQuestion, text: str, searching: Searching) -> list[tuple[str, Ask]] | None:
    """The sentences with the facts in an order in which each can be searched for, with the searches, or None.

    Args:
        text: the prompt up to where the answer begins.
    """
    left = dict.fromkeys(question.paragraphs[index].sentences[at].strip() for index, at in question.facts)
    known, done = [question.question], list[tuple[str, Ask]]()
    while left:
        step = next(filter(None, (_search_for(fact, known, text, searching) for fact in left)), None)
        if step is None:
            return None
        fact, ask = step
        del left[fact]
        done.append(step)
        known.append(str(ask.found))
        text += searching.spell(ask)
    return done or None


def _search_for(fact: str, known: Sequence[str], text: str, searching: Searching) -> tuple[str, Ask] | None:
    """The sentence with a search by known words that finds it, or None."""
    for key in _keys(fact, known)[:MAX_KEYS]:
        for query in (Sentence(key), Sentence(f"{key}:")):
            found = searching.find(text, query)
            if found is not None and fact in found:
                return fact, Ask(query, found)
    return None


def _keys(fact: str, known: Iterable[str]) -> list[str]:
    """Runs of words of `known` that stand in the fact and hold a capital letter or a digit, the longest first."""
    keys = {key for text in known for key in _runs(text) if key in fact}
    named = [key for key in keys if any(letter.isupper() or letter.isdigit() for letter in key)]
    return sorted(named, key=lambda key: (-len(key), key))


def _runs(text: str) -> Iterator[str]:
    words = list(_WORD.finditer(text))
    for first, word in enumerate(words):
        for last in words[first : first + _MAX_WORDS]:
            yield text[word.start() : last.end()]
