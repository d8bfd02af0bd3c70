import re
from random import Random

import networkx as nx
import pytest

from recherche.errors import QueryError, VocabError
from recherche.queries import AR, FirstEdge, LastWrite, NextEdge, Parent, Query
from recherche.retrieval import Limits, Retriever, SearchSession, Standard, Status, read_pattern
from recherche.vocab import CONTROL_TOKENS, FAILED, Vocab

NUMBERS = tuple(str(number) for number in range(1, 21))
SIGNS = ("<s>", "<d>", "~", "-", "=", ";", "^", "(", ")", "[^", "]+", "<space>", "|")
VOCAB = Vocab((*SIGNS, *CONTROL_TOKENS, FAILED, *NUMBERS))


def read_query(tokens: tuple[str, ...]) -> Query:
    """The queries of the retrieval trace, one on a key, and one of a machine's tape."""
    match tokens:
        case (v, "-"):
            return Parent(v)
        case (v, "~"):
            return FirstEdge(v)
        case (v, "~", w):
            return NextEdge(vertex=v, after=w)
        case (p, "="):
            return LastWrite(p)
        case (key,):
            return AR(key)
    raise QueryError(f"The tokens {tokens} are no query; write one key.")


class Writer:
    """Feeds a session with words, as a model would, and keeps the whole sequence."""

    def __init__(self, prompt: str, reader=read_query, **settings) -> None:
        self.tokens = prompt.split()
        context = Retriever(**settings).context(VOCAB.encode(self.tokens), VOCAB)
        self.session = SearchSession(context, vocab=VOCAB, read_query=reader)

    def write(self, text: str) -> str:
        """Generate the words; what is appended after the last of them."""
        appended: tuple[str, ...] = ()
        for token in text.split():
            appended = VOCAB.decode(self.session.feed(VOCAB.id_of(token)))
            self.tokens += [token, *appended]
        return " ".join(appended)

    def ask(self, query: str) -> str:
        return self.write(f"<StartSearch> {query} <EndSearch>")

    @property
    def statuses(self) -> list[Status]:
        return [search.status for search in self.session.searches]


def test_a_search_appends_its_result_and_is_recorded():
    writer = Writer("<s> 1 ~ 2 2 ~ 3 <d>")
    assert writer.ask("2 ~") == "1"
    assert writer.ask("2 ~ 1") == "3"
    first, second = writer.session.searches
    assert (first.status, first.query, first.tokens) == (Status.OK, ("2", "~"), ("1",))
    assert first.pattern == "(?:^| )(?:([^ ]+) ~ 2|2 ~ ([^ ]+))(?: |$)"
    assert writer.tokens[slice(*second.query_span)] == ["<StartSearch>", "2", "~", "1", "<EndSearch>"]
    assert writer.tokens[slice(*second.span)] == writer.tokens[slice(*second.result_span)] == ["3"]


def test_earlier_queries_are_hidden_and_earlier_results_are_not():
    writer = Writer("3 4 5 7")
    assert writer.ask("7") == FAILED
    assert writer.ask("7") == FAILED
    assert writer.ask("3") == "4"
    writer.write("9 9")
    assert writer.ask("4") == "5"
    assert writer.session.searches[-1].span == (2, 3)


def test_the_first_query_has_an_end_although_the_paper_defines_none_before_it():
    """Erratum E26: the paper's span runs between the last markers of the text before <EndSearch>, an older one."""

    def printed_span(text: str) -> list[str]:
        tokens = text.split()
        last = {token: i for i, token in enumerate(tokens)}
        return tokens[last["<StartSearch>"] : last["<EndSearch>"]]

    with pytest.raises(KeyError, match="<EndSearch>"):
        printed_span("4 7 2 <StartSearch> 4")
    assert printed_span("4 7 2 <StartSearch> 4 <EndSearch> 7 <StartSearch> 7") == []
    writer = Writer("4 7 2")
    assert writer.ask("4") == "7"
    assert [search.query for search in writer.session.searches] == [("4",)]


def test_markers_are_no_part_of_the_pattern():
    """Erratum E27: with the markers inside, the printed pattern could never match."""
    assert re.search(r"<StartSearch> ^([^ ]+) <EndSearch>", "4 7 2") is None
    writer = Writer("4 7 2", read_pattern)
    assert writer.ask("^ ( [^ <space> ]+ )") == "4"
    assert writer.session.searches[0].pattern == "^([^ ]+)"


def test_markers_in_the_prompt_are_data():
    writer = Writer("<StartSearch> 1 <EndSearch> 2 <StartSearch>")
    assert writer.write("1") == ""
    assert not writer.session.in_query
    assert writer.ask("2") == FAILED
    assert writer.statuses == [Status.RESERVED_RESULT]


def test_markers_are_never_returned():
    writer = Writer("5 <EndSearch> 6 7")
    assert writer.ask("5") == FAILED
    assert writer.statuses == [Status.RESERVED_RESULT]
    assert Writer("5 <EndSearch> 6", read_pattern).ask("( [^ <space> ]+ <space> [^ <space> ]+ )") == FAILED


def test_a_failed_that_stands_in_the_text_may_be_found():
    writer = Writer(f"5 {FAILED} 6 5")
    assert writer.ask("5") == FAILED
    assert writer.statuses == [Status.OK]


def test_an_end_without_a_start_runs_nothing():
    writer = Writer("<StartSearch> 4 7 2")
    assert writer.write("<EndSearch>") == FAILED
    assert writer.statuses == [Status.NO_START]
    assert writer.ask("4") == "7"


def test_a_second_start_begins_the_query_anew():
    writer = Writer("4 7 2")
    assert writer.write("<StartSearch> 9 9 <StartSearch> 4 <EndSearch>") == "7"
    assert writer.statuses == [Status.NESTED_START, Status.OK]
    nested, run = writer.session.searches
    assert (nested.query, run.query) == (("9", "9"), ("4",))
    assert writer.tokens[slice(*nested.query_span)] == ["<StartSearch>", "9", "9"]
    assert writer.tokens[slice(*run.query_span)][-3:] == ["<StartSearch>", "4", "<EndSearch>"]


def test_text_that_ends_inside_a_query_appends_nothing():
    writer = Writer("4 7 2")
    assert writer.write("<StartSearch> 4") == ""
    assert writer.session.in_query
    writer.session.finish()
    writer.session.finish()
    assert writer.statuses == [Status.UNTERMINATED]
    assert not writer.session.in_query


@pytest.mark.parametrize(("query", "status"), [("", Status.SYNTAX), ("1 2 3 4", Status.SYNTAX), ("1", Status.NO_MATCH)])
def test_what_cannot_be_read_or_found_fails(query: str, status: Status):
    writer = Writer("4 7 2")
    assert writer.ask(query) == FAILED
    assert writer.statuses == [status]
    assert bool(writer.session.searches[0].reason) is (status is Status.SYNTAX)


def test_a_refused_pattern_fails_under_its_own_name():
    writer = Writer("4 7 2", read_pattern)
    assert [writer.ask("("), writer.ask("4"), writer.ask("")] == [FAILED] * 3
    assert writer.statuses == [Status.SYNTAX, Status.NO_GROUP, Status.NO_GROUP]


def test_a_user_may_choose_a_token_for_each_kind_of_failure():
    mode = Standard(failure_tokens={Status.SYNTAX: "20"})
    writer = Writer("4 7 2", mode=mode)
    assert (writer.ask("4 4 4"), writer.ask("9")) == ("20", FAILED)
    with pytest.raises(VocabError, match="does not hold '<BADQUERY>'"):
        Writer("4", mode=Standard(failure_tokens={Status.SYNTAX: "<BADQUERY>"}))


def test_searches_are_budgeted_by_generated_tokens():
    writer = Writer("4 7 2", limits=Limits(searches=2, searches_per_token=0.1))
    results = [writer.ask("4") for _ in range(5)]
    assert results == ["7", "7", "7", "7", FAILED]
    assert writer.statuses[-1] is Status.OVER_BUDGET
    assert "15 generated tokens allow 3 searches" in writer.session.searches[-1].reason
    writer.write("1 " * 30)
    assert writer.ask("4") == "7"


def test_a_fork_goes_on_alone():
    writer = Writer("4 7 2")
    writer.write("<StartSearch> 4")
    twin = writer.session.fork()
    assert writer.write("<EndSearch>") == "7"
    assert twin.in_query
    assert VOCAB.decode(twin.feed(VOCAB.id_of("<EndSearch>"))) == ("7",)
    assert twin.feed(VOCAB.id_of("9")) == ()
    assert (len(writer.session.searches), len(twin.searches)) == (1, 1)


def has_one_path_between_all(writer: Writer, n_vertices: int, n_edges: int) -> bool:
    """Algorithm 2: a walk that knows nothing of the graph but what its searches return, the root and two counts."""
    root = v = "1"
    n_entered = 1
    parent: str | None = None
    u = writer.ask(f"{v} ~")
    while True:
        if u == parent:
            u = writer.ask(f"{v} ~ {u}")
        if u == FAILED:
            if v == root:
                return n_entered == n_vertices == n_edges + 1
            came_from, v = v, writer.ask(f"{v} -")
            parent = None if v == root else writer.ask(f"{v} -")
            u = writer.ask(f"{v} ~ {came_from}")
            continue
        if u == root or writer.ask(f"{u} -") != FAILED:
            return False
        writer.write(f"{v} - {u}")
        parent, v, n_entered = v, u, n_entered + 1
        u = writer.ask(f"{v} ~")


def random_graph(random: Random) -> nx.Graph:
    """A tree, a near-tree or any graph without isolated vertices, on 1 .. n with n up to 13."""
    n = random.randint(2, 13)
    graph = nx.Graph([(v, random.randint(1, v - 1)) for v in range(2, n + 1)])
    kind = random.random()
    if kind < 0.3 and n > 3:
        graph.remove_edge(*random.choice(list(graph.edges)))
    if 0.2 < kind < 0.6 and n > 2:
        graph.add_edge(*random.sample(range(1, n + 1), 2))
    names = dict(zip(graph.nodes, random.sample(range(1, n + 1), n), strict=True))
    return nx.relabel_nodes(graph, names)


def decided_wrong(random: Random, count: int) -> list[list[tuple[int, int]]]:
    """The graphs among `count` random ones that the walk decides wrongly."""
    wrong = []
    for _ in range(count):
        graph = random_graph(random)
        edges = [random.choice(((u, v), (v, u))) for u, v in graph.edges]
        random.shuffle(edges)
        writer = Writer(f"<s> {' '.join(f'{u} ~ {v}' for u, v in edges)} <d>", limits=Limits(searches=10_000))
        decided = has_one_path_between_all(writer, graph.number_of_nodes(), graph.number_of_edges())
        if decided is not nx.is_tree(graph):
            wrong.append(edges)
    return wrong


def test_a_walk_driven_by_searches_alone_decides_trees_on_a_sample():
    assert decided_wrong(Random(1), 15) == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
def test_a_walk_driven_by_searches_alone_decides_trees():
    assert decided_wrong(Random(2), 3_000) == []


def tape_misread(steps: int, writer: Writer) -> list[int]:
    """Steps of a random walk on a tape at which the last write read back is not what the tape holds."""
    random, tape, position, wrong = Random(3), dict[int, str](), 10, list[int]()
    for step in range(steps):
        if writer.ask(f"{position} =") != tape.get(position, FAILED):
            wrong.append(step)
        tape[position] = random.choice(NUMBERS)
        writer.write(f"{position} = {tape[position]} ;")
        position = max(1, min(20, position + random.choice((-1, 1))))
    return wrong


def test_a_tape_is_read_through_its_last_writes_on_a_sample():
    assert tape_misread(60, Writer("<s>")) == []


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_types")
def test_a_tape_is_read_through_its_last_writes():
    assert tape_misread(10_000, Writer("<s>")) == []
