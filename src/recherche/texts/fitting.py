"""Texts of a wanted length in tokens: the size n at which an example just fits, for any tokenizer.

Length is that of the prompt and the answer that is written at once; searches come on top. An example never exceeds the
wanted length. Prose is fitted to a word, all other texts to a line.
"""

from collections.abc import Callable

from recherche.errors import ConfigError
from recherche.texts.base import AbstractTextTask

Length = Callable[[str], int]
"""How many tokens a text has."""


def fitted(task: AbstractTextTask, key: int, *, tokens: int, length: Length) -> AbstractTextTask:
    """The task at the size whose example of `key` fits into `tokens`, while that of the next size does not.

    Where the task's greatest size still fits, it is that size. Sizes are guessed from the lengths measured so far, and
    every second one halves what is left, so that about ten texts are measured.

    Raises:
        ConfigError: the smallest example of `key` is longer than `tokens`.
    """

    def measured(n: int) -> int:
        example = task.at_size(n).example(key)
        return length(example.prompt + example.target)

    low, high = task.least, task.greatest + 1
    smallest = short = measured(low)
    if short > tokens:
        raise ConfigError(
            f"The shortest example of {task.name} has {short} tokens, got {tokens} tokens to fit it into; "
            "ask for more of them, or for less in the text."
        )
    long, halve = None, False
    while high - low > 1:
        guess = (low + high) // 2 if halve else _guess((task.least, smallest), (low, short), tokens)
        n = min(max(guess, low + 1), high - 1)
        found = measured(n)
        if found <= tokens:
            low, short = n, found
        else:
            high, long = n, found
        halve = long is not None and not halve
    return task.at_size(low)


def _guess(first: tuple[int, int], last: tuple[int, int], tokens: int) -> int:
    """Where a line through two measured lengths reaches `tokens`; about twice the last size where there is none."""
    (least, smallest), (low, short) = first, last
    if short <= smallest:
        return 2 * low + 1
    return low + min(2 * low + 1, (tokens - short) * (low - least) // (short - smallest))
