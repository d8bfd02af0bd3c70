import pytest

from recherche.report.paper_values import CHAIN_OF_THOUGHT, N_NODES, SIZES, paper_accuracy


def test_the_table_is_complete():
    assert set(CHAIN_OF_THOUGHT) == {(name, size) for name in ("transformer", "mamba", "hybrid") for size in SIZES}
    assert all(len(row) == len(N_NODES) for row in CHAIN_OF_THOUGHT.values())


@pytest.mark.parametrize(
    ("architecture", "protocol", "n_nodes", "size", "value"),
    [
        pytest.param("mamba", "cot", 16, "0.5M", 0.84, id="the gap at n = 16"),
        pytest.param("mamba", "cot", 32, "1M", 0.79, id="another size"),
        pytest.param("transformer", "cot", 128, "0.5M", 0.69, id="the last column"),
        pytest.param("hybrid", "direct", 64, "2M", 0.50, id="direct is chance"),
        pytest.param("mamba", "retrieval", 128, "0.5M", 0.995, id="retrieval is solved"),
        pytest.param("mamba", "cot", 16, "quick-cot", 0.84, id="a size of ours is held against the smallest"),
        pytest.param("mamba", "cot", 6, "0.5M", None, id="an n the paper does not have"),
        pytest.param("gru", "direct", 16, "0.5M", None, id="an architecture the paper does not have"),
        pytest.param("mamba", "silent", 16, "0.5M", None, id="a protocol the paper does not have"),
    ],
)
def test_values_are_the_papers(architecture: str, protocol: str, n_nodes: int, size: str, value: float | None):
    assert paper_accuracy(architecture=architecture, protocol=protocol, n_nodes=n_nodes, size=size) == value
