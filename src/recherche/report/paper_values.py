"""What the paper measured: accuracies on IsTree, read off Figures 2 and 5 to about a hundredth.

    chain of thought   a table by size, architecture and n
    direct             every bar between 0.48 and 0.52
    retrieval          every bar between 0.99 and 1.00

Reference: Wen, Dang & Lyu (2024), Figures 2 and 5, https://arxiv.org/abs/2402.18510
"""

from types import MappingProxyType

SIZES = ("0.5M", "1M", "2M")
N_NODES = (16, 32, 64, 128)
DIRECT = 0.50
RETRIEVAL = 0.995
CHAIN_OF_THOUGHT = MappingProxyType(
    {
        ("transformer", "0.5M"): (1.00, 1.00, 0.98, 0.69),
        ("transformer", "1M"): (1.00, 1.00, 1.00, 0.92),
        ("transformer", "2M"): (1.00, 1.00, 1.00, 1.00),
        ("mamba", "0.5M"): (0.84, 0.55, 0.50, 0.50),
        ("mamba", "1M"): (1.00, 0.79, 0.49, 0.50),
        ("mamba", "2M"): (1.00, 0.87, 0.49, 0.50),
        ("hybrid", "0.5M"): (1.00, 1.00, 0.97, 0.77),
        ("hybrid", "1M"): (1.00, 1.00, 1.00, 0.76),
        ("hybrid", "2M"): (1.00, 1.00, 1.00, 0.99),
    }
)


def size_in_paper(size: str) -> str:
    """The paper's size that `size` is held against: itself, or the smallest for a model that the paper does not have.

    >>> size_in_paper("1M"), size_in_paper("quick")
    ('1M', '0.5M')
    """
    return size if size in SIZES else SIZES[0]


def scale_of(size: str) -> str:
    """The paper's size, or nothing for the sizes that the paper does not have: those stand for one another.

    >>> scale_of("1M"), scale_of("quick-cot")
    ('1M', '')
    """
    return size if size in SIZES else ""


def paper_accuracy(*, architecture: str, protocol: str, n_nodes: int, size: str) -> float | None:
    """The paper's accuracy for a cell; None where it has no such cell.

    >>> paper_accuracy(architecture="mamba", protocol="cot", n_nodes=16, size="quick")
    0.84
    """
    row = CHAIN_OF_THOUGHT.get((architecture, size_in_paper(size)))
    if row is None or n_nodes not in N_NODES:
        return None
    by_protocol = {"direct": DIRECT, "cot": row[N_NODES.index(n_nodes)], "retrieval": RETRIEVAL}
    return by_protocol.get(protocol)
