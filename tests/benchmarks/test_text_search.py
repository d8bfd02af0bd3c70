import pytest

from benchmarks import text_search
from benchmarks.harness import Line
from recherche.retrieval import Retriever, Status


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_search, "SIZES", (2_000, 4_000))
    monkeypatch.setattr(text_search, "OURS_PER_TURN", 2)
    monkeypatch.setattr(text_search, "REFERENCE_WORK", 8_000)
    rows = {row: text_search.ROWS[row] for row in ("what follows a key", "pattern of a line")}
    monkeypatch.setattr(text_search, "ROWS", rows)


@pytest.mark.usefixtures("small")
def test_every_way_of_asking_has_a_line_for_each_reference(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_search, "RIPGREP", "true")
    lines = list(text_search.lines())
    asked = [line for line in lines if line.name != "index"]
    assert [line.n for line in lines if line.name == "index"] == [2_000, 4_000]
    references = ("re", "RE2", "ripgrep on the file")
    wanted = [(row, n, name) for n in (2_000, 4_000) for row in text_search.ROWS for name in references]
    assert [(line.name, line.n, line.reference_name) for line in asked] == wanted
    assert all(line.ratio == pytest.approx(line.ours / line.reference) for line in lines)


@pytest.mark.usefixtures("small")
def test_without_ripgrep_a_line_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_search, "RIPGREP", "no such program")
    monkeypatch.setattr(text_search, "SIZES", (2_000,))
    *_, last = text_search.lines()
    assert (last.name, last.reference_name) == ("ripgrep", "ripgrep, which is not installed (apt-get install ripgrep)")


@pytest.mark.parametrize("row", text_search.ROWS)
def test_ours_and_the_references_look_for_the_same(row: str):
    drawn = text_search.book(20_000)
    context = Retriever().text(drawn.text)
    asked = text_search.ROWS[row](drawn)
    found = asked.ours(context)
    by_re = text_search.search_with_re(drawn.text, b"", asked)
    by_re2 = text_search.search_with_re2("", drawn.text.encode(), asked)
    assert (by_re is not None) is (by_re2 is not None) is (found.status is Status.OK)
    if by_re is not None:
        place = by_re.span(1) if by_re.re.groups else by_re.span()
        assert found.span is not None
        assert found.span[1] == place[1]
        assert drawn.text[slice(*found.span)] == found.text


def test_the_table_has_a_column_for_each_reference():
    lines = [Line("a", 1000.0, 10.0, name, 100.0, "searches/s", 5) for name in ("re", "RE2", "ripgrep on the file")]
    assert text_search.table(lines).splitlines()[2] == "| a | 5 | **1.00 ms** | 100 ms | 100 ms | 100 ms |"
