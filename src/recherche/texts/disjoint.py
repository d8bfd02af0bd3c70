"""Set disjointness: two lists of n names each; do they share one?

    Red: Ada Berg
    Red: Bo Lind
    Blue: Cy Dow
    Blue: Ada Berg

    Question: Does a name stand in the red list and in the blue list?
    Answer: yes

A search for each name of the red list in the blue one, until one is found or there are no more: 2 n + 1 at most. Half
of the examples share one name, the others none.

Reference: Kalyanasundaram & Schnitger (1992), The Probabilistic Communication Complexity of Set Intersection,
https://doi.org/10.1137/0405044
"""

from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar, final

from recherche.text_queries import After, Line
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws
from recherche.texts.names import NUM_PEOPLE, person

RED, BLUE = "Red:", "Blue:"


@final
@dataclass(frozen=True, kw_only=True)
class Disjoint(AbstractTextTask):
    """Whether two lists share a name.

    Attributes:
        n: names of each list.
    """

    name: ClassVar[str] = "disjoint"
    counted: ClassVar[str] = "names"

    @property
    def lower_bound_bits(self) -> float:
        """log2 of 2,000,000 over n, the number of red lists as sets.

        Of two different ones, one holds a name that the other does not. With a blue list of that name and others that
        stand in neither, the right answers differ; so a reader that is always right is in different states after them.
        """
        return (lgamma(NUM_PEOPLE + 1) - lgamma(self.n + 1) - lgamma(NUM_PEOPLE - self.n + 1)) / log(2)

    def example(self, key: int) -> TextExample:
        """Two lists in random order, with a common name or without one."""
        draws = Draws(key, self.name)
        people = [person(index) for index in draws.distinct(2 * self.n, NUM_PEOPLE)]
        red, blue = people[: self.n], people[self.n :]
        shared = draws.below(self.n) if draws.below(2) else None
        if shared is not None:
            blue[draws.below(self.n)] = red[shared]
        last = self.n if shared is None else shared + 1
        asks = []
        for which, name in enumerate(red[:last], start=1):
            asks += [Ask(After(RED, which), name), Ask(Line(f"{BLUE} {name}"), None)]
        answer = "no" if shared is None else "yes"
        if shared is None:
            asks.append(Ask(After(RED, self.n + 1), None))
        else:
            asks[-1] = Ask(asks[-1].query, f"{BLUE} {red[shared]}")
        return TextExample(
            context="".join(f"{RED} {name}\n" for name in red) + "".join(f"{BLUE} {name}\n" for name in blue),
            question=asked("Does a name stand in the red list and in the blue list?"),
            answers=(answer,),
            trace=searched(asks, [answer]),
        )
