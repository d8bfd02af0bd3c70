import re
from random import Random

import pytest

from recherche.retrieval import Limits
from recherche.retrieval.bind import bind
from recherche.retrieval.finder import find
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.outcome import RefusedError
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.plan import Anchor, Piece, Plan, Tail
from recherche.retrieval.recognise import recognise
from tests.retrieval import fuzz
from tests.retrieval.oracles import NAMES, ODD_NAMES, Case, random_case

LIMITS = Limits()
CASES_PER_PATTERN = 12


def lexicon(*tokens: str) -> Lexicon:
    known = Lexicon()
    known.ids_of(["<s>", *tokens])
    return known


def plan(pattern: str, *tokens: str, has_hidden: bool = False) -> Plan | None:
    return recognise(read_pattern(pattern, LIMITS), lexicon(*tokens), has_hidden=has_hidden)


def places_by_re(pattern: str, case: Case) -> dict[int, tuple[int, int]] | None:
    """The token places of the groups that took part in the match that `re` finds."""
    found = re.search(pattern, case.joined)
    if found is None:
        return None
    counts = [(case.joined.count(" ", 0, begin), begin, end) for begin, end in found.regs[1:]]
    return {number: (place, place + 1) for number, (place, begin, _) in enumerate(counts, 1) if begin >= 0}


def differences(
    random: Random, names: tuple[str, ...], wanted: int, n_cases: int = 400
) -> tuple[int, list[tuple[str, str]]]:
    """(number of comparisons, those where the index and `re` part)."""
    cases = [random_case(random, names) for _ in range(n_cases)]
    compared, parted = 0, []
    while compared < wanted:
        pattern = fuzz.token_pattern(random, names[:4])
        if random.random() < 0.3:
            pattern = fuzz.mutated(random, pattern)
        try:
            tree = read_pattern(pattern, LIMITS)
        except RefusedError:
            continue
        for case in random.sample(cases, CASES_PER_PATTERN):
            known, index = case.context._lexicon, case.context._index
            found = recognise(tree, known, has_hidden=bool(index.hidden))
            if found is None:
                continue
            if (find(bind(found, known.ids), index) or None) != (places_by_re(pattern, case) or None):
                parted.append((pattern, case.joined))
            compared += 1
    return compared, parted


@pytest.mark.parametrize("names", [NAMES, NAMES[:3] + ODD_NAMES], ids=["plain", "odd"])
def test_index_finds_what_re_finds_on_a_sample(names: tuple[str, ...]):
    assert differences(Random(3), names, 240, n_cases=40)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("names", [NAMES, NAMES[:3] + ODD_NAMES], ids=["plain", "odd"])
def test_index_finds_what_re_finds(names: tuple[str, ...]):
    compared, parted = differences(Random(4), names, fuzz.number_of_comparisons() // 2)
    assert parted == []
    assert compared >= fuzz.number_of_comparisons() // 2


AR_PIECE = Piece(2, ((0, "7"),), ((1, 1),))
RECOGNISED = {
    r"(?:^|\s)7\s(\S+)\s": Plan((AR_PIECE,), Anchor.FIRST, Tail.MORE),
    "(?: |^)7 ([^ ]+)": Plan((AR_PIECE,)),
    " 7 ([^ ]+)(?: |$)": Plan((AR_PIECE,), Anchor.INNER),
    "^7 ([^ ]+)$": Plan((AR_PIECE,), Anchor.START, Tail.END),
    r"(?s)^(?:.* )?7 (\S+)(?: \S+){2}": Plan((Piece(4, ((0, "7"),), ((1, 1),)),), Anchor.LAST),
    r"^(?:\S+ ){2}(7)(?: |$)": Plan((Piece(3, ((2, "7"),), ((1, 2),)),), Anchor.START),
    "(?:^| )(?:([^ ]+) ~ 7|7 ~ ([^ ]+))(?: |$)": Plan(
        (Piece(3, ((1, "~"), (2, "7")), ((1, 0),)), Piece(3, ((0, "7"), (1, "~")), ((2, 2),)))
    ),
    r"(?:^| )7 (?:\S+ )*?8 (\S+)": Plan((Piece(2, ((0, "8"),), ((1, 1),)),), before=(Piece(1, ((0, "7"),), ()),)),
    "(?:^| )(.) 7": None,
    "7 ([^ ]+)": None,
    "(?:^| )7 ([^ ]+)(?: [^ ]+){0}": None,
    "(?:^| )7 ([^ ]+ [^ ]+)": None,
    "(?:^| )(?:7 8|7) (?:.*? )??([^ ]+) 9": None,
}


@pytest.mark.parametrize(("pattern", "wanted"), RECOGNISED.items(), ids=RECOGNISED)
def test_patterns_over_whole_tokens_become_plans(pattern: str, wanted: Plan | None):
    assert plan(pattern, "7", "8") == wanted


INEXACT = {
    "white space in a token": ((r"(?:^|\s)7\s(\S+)", "7", "a\tb"), (r"(?:^|\s)7\s(\S+)", "7", "ab")),
    "a longer token after an open literal": (("(?:^| )([^ ]+) 7", "7", "71"), ("(?:^| )([^ ]+) 7", "7", "17")),
}


@pytest.mark.parametrize(("refused", "accepted"), INEXACT.values(), ids=INEXACT)
def test_a_form_is_taken_only_where_it_is_exact(refused: tuple[str, ...], accepted: tuple[str, ...]):
    assert plan(*refused) is None
    assert plan(*accepted) is not None


@pytest.mark.parametrize("pattern", [r"(?:^| )7\s+(\S+)", r"(?:^| )7 (?:\S+ )*?8 (\S+)"])
def test_what_could_cross_a_hidden_span_is_left_to_re2(pattern: str):
    assert plan(pattern, "7", "8", has_hidden=True) is None
    assert plan(pattern, "7", "8", has_hidden=False) is not None
