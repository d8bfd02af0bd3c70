"""Which characters are the same to Python's `(?i)`.

`re` compares lower-case characters one by one, and takes those together that have the same upper-case form: s and the
long s, k and the Kelvin sign. So the group of a character is the upper-case form of its lower-case form.

Reference: Python's re.IGNORECASE, https://docs.python.org/3/library/re.html#re.IGNORECASE
"""

import functools

_PAST_LAST_CASED = 0x20000


def same_but_for_case(character: str) -> frozenset[str]:
    """All characters that `(?i)` does not tell from this one, itself included.

    >>> sorted(same_but_for_case("K"))
    ['K', 'k', '\N{KELVIN SIGN}']
    """
    return _groups().get(_group(character)) or frozenset(character)


def _group(character: str) -> str:
    return character.lower()[0].upper()


@functools.lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for character in map(chr, range(_PAST_LAST_CASED)):
        if character.lower() != character or character.upper() != character:
            found.setdefault(_group(character), set()).add(character)
    return {group: frozenset(members) for group, members in found.items()}
