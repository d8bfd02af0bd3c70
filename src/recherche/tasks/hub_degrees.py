"""How often hub degrees alone give away the answer of a hard IsTree instance: the yardstick for direct answers.

A hard graph has N = n - 2 vertices that hang on one of two hubs by fair bits x_1..x_N, and one more edge between k and
k + 1, with k uniform in 1..N-1; it is a tree iff x_k != x_{k+1}. Let A of the bits be 0. Given A = a, all placements of
the zeros are equally likely, so the pair (x_k, x_{k+1}) is two draws without replacement:

    P(YES | A = a) = 2 a (N - a) / (N (N - 1)).

A guesser that sees the two hub degrees sees {A, N - A}, which fixes this probability (it is the same for a and N - a).
The best guess is the likelier answer, so the best accuracy from degrees is

    sum over a of C(N, a) / 2^N * max(P, 1 - P),        P = P(YES | A = a),

which tends to 1/2 as n grows: A is close to N / 2 and P close to 1/2.

Reference: Wen, Dang & Lyu (2024), Section 6 (the instances), https://arxiv.org/abs/2402.18510
"""

from fractions import Fraction
from math import comb

from recherche.errors import ConfigError


def best_guess_accuracy(n_nodes: int) -> Fraction:
    """The accuracy of the best direct guess that uses hub degrees alone, exactly.

    Raises:
        ConfigError: there is no hard graph of that size.

    >>> [round(float(best_guess_accuracy(n)), 3) for n in (6, 8, 16, 32)]
    [0.625, 0.594, 0.536, 0.517]
    """
    if n_nodes < 4:
        raise ConfigError(f"Hard graphs need at least 4 vertices, got {n_nodes}; choose a larger n.")
    n_spokes = n_nodes - 2
    total = Fraction(0)
    for zeros in range(n_spokes + 1):
        yes = Fraction(2 * zeros * (n_spokes - zeros), n_spokes * (n_spokes - 1))
        total += Fraction(comb(n_spokes, zeros), 2**n_spokes) * max(yes, 1 - yes)
    return total
