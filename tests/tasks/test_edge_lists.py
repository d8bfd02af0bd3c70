import pytest

from recherche.errors import InputError
from recherche.tasks.edge_lists import EdgeList, check_edges, parse_edge_list, read_edge_list, write_edge_list


def test_names_become_vertices_in_order_of_first_use():
    text = ["# header", "", "hub-a x   # a comment", "x y", "z hub-a"]
    assert parse_edge_list(text, source="g") == EdgeList(((1, 2), (2, 3), (4, 1)), ("hub-a", "x", "y", "z"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1 2", "1 2 3"], r"g, line 2: expected two names `u v`, got '1 2 3'; write one edge per line"),
        (["1"], r"g, line 1: expected two names `u v`, got '1'"),
        (["1 2", "# c", "3 3"], r"g, line 3: .* got the self loop '3 3'; remove it"),
        (["1 2", "2 3", "2 1"], r"g, line 3: the edge '2 1' is repeated, first seen on line 1; remove one"),
        (["# nothing"], r"g: expected edges `u v`, one per line, found none"),
    ],
    ids=["three words", "one word", "self loop", "repeated", "empty"],
)
def test_a_bad_line_is_named(lines, message):
    with pytest.raises(InputError, match=message):
        parse_edge_list(lines, source="g")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "needs at least one edge, got none"),
        ([(1, 2), (2, 5)], r"vocabulary 1..4, got vertex 5 in edge 2 5; rename the vertices or use a model"),
        ([(1, 0)], r"vocabulary 1..4, got vertex 0"),
        ([(1, 2), (3, 3)], "got the self loop 3 3; remove it"),
        ([(1, 2), (2, 1)], "but 2 1 is repeated; remove the copies"),
        ([(2, 3)], "starts at vertex 1, which none of the 1 edges has; rename a vertex to 1"),
    ],
    ids=["none", "too large", "zero", "self loop", "repeated", "no root"],
)
def test_what_is_no_graph_of_the_vocabulary_is_refused(edges, message):
    check_edges([(1, 2), (2, 4)], n_names=4)
    with pytest.raises(InputError, match=message):
        check_edges(edges, n_names=4)


def test_a_written_graph_reads_back(tmp_path):
    path = tmp_path / "tree.edgelist"
    graph = EdgeList(((1, 2), (3, 1)), ("b", "a", "c"))
    write_edge_list(path, graph.edges, names=graph.names)
    assert path.read_text() == "b a\nc b\n"
    assert read_edge_list(path) == graph
    write_edge_list(path, [(1, 2)])
    assert path.read_text() == "1 2\n"
    assert [file.name for file in tmp_path.iterdir()] == ["tree.edgelist"]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"Cannot read the graph file .*absent.*; give a text file"):
        read_edge_list(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="Cannot read the graph file"):
        read_edge_list(tmp_path / "binary")
