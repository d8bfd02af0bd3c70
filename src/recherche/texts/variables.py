"""Variable tracking: n assignments in chains; which value does the end of a chain have?

    VAR ABCDE = 12345
    VAR KLMNO = 70011
    VAR FGHIJ = VAR ABCDE

    Question: What is the value of VAR FGHIJ?
    Answer: 12345

Over k hops a search finds `VAR ABCDE` after `VAR FGHIJ =`, then what that is, and so on until it is a number.

Reference: Hsieh et al. (2024), RULER, Section 3 (variable tracking), https://arxiv.org/abs/2404.06654
"""

from dataclasses import dataclass
from math import log2
from typing import ClassVar, final

from recherche.text_queries import After
from recherche.texts.base import AbstractTextTask, Ask, TextExample, asked, searched
from recherche.texts.draws import Draws

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME_LENGTH, VALUE_DIGITS = 5, 5
MAX_HOPS = 20


@final
@dataclass(frozen=True, kw_only=True)
class Variables(AbstractTextTask):
    """The value of the last variable of a chain.

    Attributes:
        n: assignments; as many chains of hops + 1 of them as there is room for, and the rest a shorter one.
        hops: how often the value has been handed on.
    """

    name: ClassVar[str] = "variables"
    counted: ClassVar[str] = "assignments"
    hops: int = 2

    def __post_init__(self) -> None:
        self.require_between("hops", 0, MAX_HOPS)
        super().__post_init__()

    @property
    def least(self) -> int:
        """One chain."""
        return self.hops + 1

    @property
    def lower_bound_bits(self) -> float:
        """chains * log2(90000): after the text the end of any full chain may be asked for; their values are free."""
        return (self.n // (self.hops + 1)) * log2(9 * 10 ** (VALUE_DIGITS - 1))

    def example(self, key: int) -> TextExample:
        """Chains whose assignments keep their order and are mixed with those of the others, and the end of one."""
        draws = Draws(key, self.name)
        size, numbers = self.hops + 1, draws.distinct(self.n, len(LETTERS) ** NAME_LENGTH)
        names = [f"VAR {_letters(number)}" for number in numbers]
        chains = [names[start : start + size] for start in range(0, self.n, size)]
        values = [draws.digits(VALUE_DIGITS) for _ in chains]
        left = [zip(chain, (value, *chain), strict=False) for chain, value in zip(chains, values, strict=True)]
        turns = draws.shuffled(i for i, chain in enumerate(chains) for _ in chain)
        lines = [next(left[i]) for i in turns]
        wanted = draws.below(self.n // size)
        links = (values[wanted], *chains[wanted])
        asks = [Ask(After(f"{links[i]} ="), links[i - 1]) for i in range(size, 0, -1)]
        return TextExample(
            context="".join(f"{name} = {value}\n" for name, value in lines),
            question=asked(f"What is the value of {chains[wanted][-1]}?"),
            answers=(values[wanted],),
            trace=searched(asks, [values[wanted]]),
        )


def _letters(number: int) -> str:
    """The name of a variable, 0 <= number < 26^5."""
    places = []
    for _ in range(NAME_LENGTH):
        number, place = divmod(number, len(LETTERS))
        places.append(LETTERS[place])
    return "".join(places)
