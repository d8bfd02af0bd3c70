import re
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recherche.errors import VocabError
from recherche.queries import Query
from recherche.retrieval import AR, Context, FirstEdge, Index, Limits, Paper, Retriever, Status, Tier
from recherche.retrieval.bind import bind
from recherche.retrieval.engine import compile_program
from recherche.retrieval.finder import find
from recherche.retrieval.lexicon import Lexicon
from recherche.retrieval.pattern import read_pattern
from recherche.retrieval.plan import plan_of
from recherche.retrieval.recognise import recognise
from recherche.retrieval.templates import read, render
from recherche.retrieval.translate import translate
from recherche.vocab import Vocab
from tests.retrieval.oracles import KINDS, NAMES, Case, answer, random_case, random_queries

LIMITS = Limits()


def context(text: str, **settings) -> Context:
    return Retriever(**settings).context(text.split())


def wrong_answers(query: Query, cases: list[Case]) -> list[str]:
    """The texts on which the index, a recognised plan or RE2 does not give the oracle's answer."""
    pattern = render(query)
    assert read(pattern) == query
    tree, known = read_pattern(pattern, LIMITS), Lexicon()
    known.ids_of(NAMES)
    plans = {hidden: recognise(tree, known, has_hidden=hidden) for hidden in (False, True)}
    program = compile_program(translate(tree, "", LIMITS), LIMITS.memory_bytes)
    wrong = []
    for case in cases:
        index, ids, joined = case.context._index, case.context._lexicon.ids, bytearray(case.joined.encode())
        tried = {plan_of(query), plans[bool(index.hidden)] or plan_of(query)}
        answers = [groups and groups[min(groups)][0] for groups in (find(bind(plan, ids), index) for plan in tried)]
        spans = program.match(joined)
        begin = next((span[0] for span in spans[1:] if span != (-1, -1)), None) if spans else None
        answers.append(None if begin is None else joined.count(b" ", 0, begin))
        if answers != [answer(query, case.text)] * len(answers):
            wrong.append(case.joined)
    return wrong


@pytest.mark.parametrize("kind", KINDS)
def test_every_tier_gives_the_answer_of_the_definition_on_a_sample(kind: str):
    random = Random(kind)
    cases = [random_case(random) for _ in range(20)]
    assert [query for query in random_queries(random, kind, 15) if wrong_answers(query, cases)] == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("kind", KINDS)
def test_every_tier_gives_the_answer_of_the_definition(kind: str):
    random = Random(f"{kind} again")
    cases = [random_case(random) for _ in range(500)]
    assert [query for query in random_queries(random, kind, 40) if wrong_answers(query, cases)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_reported_are_the_tokens_at_a_span_of_the_whole_context(kind: str):
    random = Random(kind)
    num_found = 0
    for query in random_queries(random, kind, 60, NAMES[:3]):
        case = random_case(random, NAMES[:3])
        place = answer(query, case.text)
        for found in (case.context.query(query), case.context.search(render(query))):
            if place is None:
                assert (found.status, found.tokens, found.span) == (Status.NO_MATCH, None, None)
            else:
                assert found.tokens == [case.text[place]]
                assert found.span == (case.places[place], case.places[place] + 1)
                num_found += 1
    assert num_found


TIERS = {
    "(?:^| )1 ([^ ]+) [^ ]": Tier.TEMPLATE,
    r"(?:^|\s)1 (\S+) ": Tier.RECOGNISED,
    r"(?:^| )1 (\d+ ~) ": Tier.RE2,
}


@pytest.mark.parametrize(("pattern", "tier"), TIERS.items(), ids=TIERS)
def test_explain_says_who_answered_and_what_re2_would_run(pattern: str, tier: Tier):
    found = context("<s> 1 2 ~ 3").explain(pattern)
    assert (found.status, found.tier, found.pattern) == (Status.OK, tier, pattern)
    assert found.translated is not None
    assert found.translated.startswith("(?s)")
    assert 0 < (found.program_size or 0) < 200


OUTCOMES = {
    "found": (r"(\d ~ \d)", Status.OK, ["1", "~", "2"]),
    "nothing": (r"(\d\d\d)", Status.NO_MATCH, None),
    "unset group": ("1(x)?", Status.UNSET_GROUP, None),
    "first group that took part": ("(x)?(12)", Status.OK, ["12"]),
    "empty": ("1(x*)", Status.EMPTY_RESULT, None),
    "no group": ("1", Status.NO_GROUP, None),
    "half a token": (r"1(2)", Status.NOT_TOKEN_ALIGNED, None),
    "a space is no token": ("1( )~", Status.NOT_TOKEN_ALIGNED, None),
    "control token": ("(<.*>)$", Status.RESERVED_RESULT, None),
    "control token by the index": ("(?:^| )12 ([^ ]+)", Status.RESERVED_RESULT, None),
    "syntax": ("(", Status.SYNTAX, None),
    "repeat of nothing": ("*(a)", Status.SYNTAX, None),
    "look-ahead": ("(?=1)(1)", Status.UNSUPPORTED, None),
    "back-reference": (r"(1)\1", Status.UNSUPPORTED, None),
    "flag": ("(?i)(a)", Status.UNSUPPORTED, None),
    "repeat of what can be empty": ("(a*)*", Status.UNSUPPORTED, None),
    "long": ("(a)" + "b" * 5000, Status.TOO_LARGE, None),
    "deep": ("(" * 5000 + ")" * 5000, Status.TOO_LARGE, None),
    "too deep but short": ("(?:" * 60 + "(a)" + ")" * 60, Status.TOO_LARGE, None),
    "many groups": ("(a)" * 17, Status.TOO_LARGE, None),
    "large program": (r"(\w{900}){5}", Status.TOO_LARGE, None),
    "huge repeat": ("(a){4294967296}", Status.TOO_LARGE, None),
    "nothing between two borders": (r"\B(1)", Status.NO_MATCH, None),
}


@pytest.mark.parametrize(("pattern", "status", "tokens"), OUTCOMES.values(), ids=OUTCOMES)
def test_every_outcome_has_a_name(pattern: str, status: Status, tokens: list[str] | None):
    found = context("<s> 1 ~ 2 12 <EndSearch>").search(pattern)
    assert (found.status, found.tokens) == (status, tokens)
    assert bool(found.reason) is (status in REASONED)


REASONED = {Status.NO_GROUP, Status.RESERVED_RESULT, Status.SYNTAX, Status.UNSUPPORTED, Status.TOO_LARGE}


def test_a_long_result_is_refused():
    assert context("a " * 65).search("(.*)").status is Status.RESULT_TOO_LONG
    assert context("a " * 64).search("(.*)").tokens == ["a"] * 64


def test_a_search_that_could_take_too_long_is_refused_with_the_numbers():
    found = context("1 " * 100_000).search(r"(\d.{900}z)")
    assert found.status is Status.TOO_LARGE
    assert re.search(r"Instructions times bytes may be 2.5e\+08 \(Limits.cost\), got \d+ x 199999", found.reason)


def test_deadline_answers_while_the_search_still_runs_and_the_text_can_grow():
    slow = context("1 " * 12_000, limits=Limits(deadline_ms=1))
    found = slow.search(r"(\d.{900}z)")
    assert (found.status, found.tokens) == (Status.TIMEOUT, None)
    assert "1 ms (Limits.deadline_ms)" in found.reason
    slow.extend(["7", "8"])
    assert slow.search(r"(7 \d)$").tokens == ["7", "8"]


def test_paper_mode_takes_group_one_and_splits_text_into_tokens_again():
    paper = context("<s> 11 5 1", mode=Paper())
    assert paper.search("(x)?(5)").status is Status.UNSET_GROUP
    assert paper.search("1(1)").tokens == ["1"]
    assert (paper.search("1( 5 )1").tokens, paper.search("1( 5 )1").span) == (["5"], (2, 3))
    assert paper.search("1( )5").status is Status.EMPTY_RESULT
    assert paper.query(FirstEdge("5")).status is Status.NO_MATCH
    assert context("5 ~ 1", mode=Paper()).query(FirstEdge("5")).status is Status.UNSET_GROUP
    vocab = Vocab(("11", "5"))
    assert Retriever(mode=Paper()).context([0], vocab).search("1(1)").status is Status.NOT_TOKEN_ALIGNED


def test_vocabulary_contexts_take_ids():
    vocab = Vocab(("<s>", "1", "2", "~"))
    found = Retriever().context(vocab.encode(["<s>", "1", "~", "2"]), vocab).query(FirstEdge("1"))
    assert (found.tokens, found.span) == (["2"], (3, 4))
    with pytest.raises(VocabError, match="Token ids run from 0 to 3, got 4"):
        Retriever().context([0, 4], vocab)
    with pytest.raises(VocabError, match="may not be empty or hold a space or newline, got 'a b'"):
        Retriever().context(["a b"])


def test_hidden_spans_count_in_positions_but_nothing_crosses_them():
    text = context("<s> 7")
    text.hide(["<StartSearch>", "7", "~", "<EndSearch>"])
    text.extend(["FAILED", "7", "8", "9"])
    assert text.text == "<s> 7  FAILED 7 8 9"
    assert len(text) == 10
    assert (text.query(AR("7")).tokens, text.query(AR("7")).span) == (["8"], (8, 9))
    assert text.query(Index(1)).tokens == ["<s>"]
    assert text.query(Index(2)).status is Status.NO_MATCH
    assert text.search(r"(\w+ \d+) 8").span == (6, 8)
    assert text.search("(7.*)8").status is Status.NOT_TOKEN_ALIGNED
    assert text.search("(7.*)$").status is Status.RESERVED_RESULT


@pytest.mark.parametrize("k", [999, 1000, 1001, 2000, 2001, 3000, 3001])
def test_index_at_and_around_the_limits_of_repeats(k: int):
    text = Retriever().context([str(number) for number in range(1, 3002)])
    wanted = [str(k)] if k <= 3000 else None
    assert text.query(Index(k)).tokens == wanted
    assert text.search(render(Index(k))).tokens == wanted
    assert text.search(rf"^(?:\S+ ){{{k - 1}}}(\S+) ").tokens == wanted
    if k <= 2001:
        assert text.search(f"^(?:[0-9]+ ){{{k - 1}}}([^ ]+) [^ ]").tier is not Tier.RECOGNISED


def test_the_same_question_before_and_after_growth():
    text = context("<s> 1 ~ 2")
    patterns = ("(?:^| )([^ ]+) ~ 3(?: |$)", r"(\d) ~ 3")
    assert [text.search(pattern).tokens for pattern in patterns] == [None, None]
    text.extend(["2", "~", "3"])
    assert [text.search(pattern).tokens for pattern in patterns] == [["2"], ["2"]]


def test_forks_share_the_past_and_not_the_future():
    parent = context("<s> 1 ~ 2")
    parent.search(r"(\d+) x")
    left, right = parent.fork(), parent.fork()
    left.extend(["3", "~", "1"])
    right.hide(["q"])
    right.extend(["1", "~", "4"])
    asked = r"(\d) ~ \d$"
    assert [text.search(asked).span for text in (parent, left, right)] == [(1, 2), (4, 5), (5, 6)]
    assert [text.query(FirstEdge("4")).tokens for text in (parent, left, right)] == [None, None, ["1"]]
    assert parent.text == "<s> 1 ~ 2"


def test_all_matches_from_left_to_right():
    found = context("<s> 1 ~ 2 2 ~ 3 x 3 ~ 4").search_all(r"(\d) ~ \d")
    assert [(one.tokens, one.span) for one in found] == [(["1"], (1, 2)), (["2"], (4, 5)), (["3"], (8, 9))]
    assert [one.status for one in context("a").search_all("(b)")] == [Status.NO_MATCH]
    assert [one.status for one in context("a").search_all("(")] == [Status.SYNTAX]
    assert [one.status for one in context("a é").search_all("(x*)")] == [Status.EMPTY_RESULT] * 4
    late = context("1 " * 12_000, limits=Limits(deadline_ms=1)).search_all(r"(\d)(?:.{900}z)?")
    assert late[-1].status is Status.TIMEOUT


SIGNS = st.sampled_from(
    [*"()[]{}|*+?^$\\.,-:<>=!#~ &0129abdDsSwWbBAZPxuUN\x00é\ud800", "(?", "(?:", "(?P<n>", "{2,", "(a)"]
)


@given(st.lists(SIGNS, max_size=40).map("".join))
@example("(?P<n>a)(?P<n>b)")
@example("[[a](b)")
@example(r"(\N{DIGIT ONE})")
def test_any_string_is_answered_or_refused_as_re_would(pattern: str):
    found = context("a 0 é a\x00b 12 (").search(pattern)
    assert isinstance(found.status, Status)
    try:
        expected = re.search(pattern, "a 0 é a\x00b 12 (")
    except (re.error, OverflowError, FutureWarning, RecursionError):
        assert found.status in (Status.SYNTAX, Status.UNSUPPORTED, Status.TOO_LARGE)
    else:
        assert found.status is not Status.SYNTAX
        if found.status is Status.NO_MATCH:
            assert expected is None
        if found.status is Status.OK:
            group = next(group for group in expected.groups() if group is not None)
            assert " ".join(found.tokens) == group


def test_a_long_prompt_and_single_tokens_give_the_same_answers():
    random = Random(5)
    tokens = [str(random.randint(1, 300)) if i % 3 else "~" for i in range(9_000)]
    whole, grown = Retriever().context(tokens), Retriever().context([])
    for begin in range(0, len(tokens), 7):
        grown.extend(tokens[begin : begin + 7])
        if begin % 1_001 == 0:
            grown.query(AR("1"))
    for query in [query for kind in KINDS for query in random_queries(random, kind, 20, tuple(tokens[:40]))]:
        assert whole.query(query)[:3] == grown.query(query)[:3]
        place = answer(query, list(tokens))
        assert whole.query(query).span == (None if place is None else (place, place + 1))


def test_ids_may_come_as_an_array():
    vocab = Vocab(tuple("abc"))
    assert Retriever().context(np.array([0, 1, 2, 1]), vocab).query(AR("a")).tokens == ["b"]
