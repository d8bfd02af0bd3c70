"""From errors to bits: what a message must have carried, given how often its receiver was right (Fano).

    X_1 .. X_m    independent symbols, each uniform on k values: what Alice knows
    M             her message
    e_i           how often Bob, from M and the question i, is wrong about X_i

    H(X_i | M) <= phi(e_i),    phi(e) = h(e) + e log2(k - 1),    h(e) = -e log2 e - (1-e) log2(1-e)
    bits(M) >= H(M) >= I(X; M) >= sum_i I(X_i; M) >= sum_i (log2 k - phi(e_i))

The third step needs that the symbols are independent. phi grows up to e = 1 - 1/k, where it is log2 k; beyond that a
question counts nothing. Measured error rates are estimates: the value that is reported holds with 95 % confidence,
because each e_i is replaced by its exact upper confidence limit (Clopper & Pearson) at level 1 - 0.05 / m, so that all
of them hold together (Bonferroni).

Reference: Cover & Thomas (2006), Elements of Information Theory, Theorem 2.10.1; Clopper & Pearson (1934),
https://doi.org/10.1093/biomet/26.4.404
"""

from math import lgamma

import numpy as np
from jaxtyping import Float, Int

from recherche.errors import ConfigError

_BISECTIONS = 60


def equivocation_bits(error: Float[np.ndarray, " m"], num_symbols: int) -> Float[np.ndarray, " m"]:
    """phi(e), the most that can be unknown about a symbol that is guessed wrongly with probability e.

    >>> equivocation_bits(np.array([0.0, 0.5, 0.9]), 2).tolist()
    [0.0, 1.0, 1.0]
    """
    e = np.minimum(error, 1 - 1 / num_symbols)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(e > 0, e * np.log2(e), 0.0) - (1 - e) * np.log2(1 - e)
    return entropy + e * np.log2(max(num_symbols - 1, 1))


def error_upper_limits(
    num_wrong: Int[np.ndarray, " m"], num_trials: int, *, confidence: float
) -> Float[np.ndarray, " m"]:
    """The largest error rates that leave each count of wrong answers more likely than 1 - confidence (Clopper-Pearson).

    >>> error_upper_limits(np.array([0, 10]), 10, confidence=0.95).round(4).tolist()
    [0.2589, 1.0]
    """
    counts, places = np.unique(num_wrong, return_inverse=True)
    limits = np.array([_upper_limit(int(count), num_trials, 1 - confidence) for count in counts])
    return limits[places]


def _upper_limit(num_wrong: int, num_trials: int, level: float) -> float:
    """The p for which at most `num_wrong` of `num_trials` has probability `level`, by bisection."""
    if num_wrong >= num_trials:
        return 1.0
    k = np.arange(num_wrong + 1)
    log_choose = np.array([lgamma(num_trials + 1) - lgamma(i + 1) - lgamma(num_trials - i + 1) for i in k.tolist()])
    low, high = num_wrong / num_trials, 1.0
    for _ in range(_BISECTIONS):
        p = (low + high) / 2
        tail = np.exp(log_choose + k * np.log(p) + (num_trials - k) * np.log1p(-p)).sum()
        low, high = (p, high) if tail > level else (low, p)
    return high


def recovered_bits(num_wrong: Int[np.ndarray, " m"], num_trials: int, num_symbols: int) -> tuple[float, float]:
    """Bits that the message has carried about the symbols: what holds with 95 % confidence, and the plain estimate.

    Args:
        num_wrong: wrong answers to each question.
        num_trials: how often each question was asked, of as many independent texts.
        num_symbols: k.

    Raises:
        ConfigError: there is nothing to count.
    """
    if num_trials < 1 or num_symbols < 2 or not len(num_wrong):
        raise ConfigError(
            f"Bits are counted over at least one text, one question and two symbols, "
            f"got {num_trials}, {len(num_wrong)} and {num_symbols}."
        )
    limits = error_upper_limits(num_wrong, num_trials, confidence=1 - 0.05 / len(num_wrong))
    certain = np.log2(num_symbols) - equivocation_bits(limits, num_symbols)
    estimate = np.log2(num_symbols) - equivocation_bits(num_wrong / num_trials, num_symbols)
    return float(certain.sum()), float(estimate.sum())


def best_accuracy(message_bits: float | int, *, needed_bits: float | int, num_symbols: int) -> float:
    """The highest mean accuracy that a message of so many bits allows, by the inequality above read backwards.

    Over m questions that need m log2 k = `needed_bits` together, phi is concave, so that equal error rates are the best
    case: log2 k - phi(e) <= message_bits / m. For questions that are asked one after the other, each followed by its
    right answer (mqar), the same holds by the chain rule: sum_i I(X_i; M | X_1 .. X_{i-1}) = I(X; M).

    >>> [round(best_accuracy(bits, needed_bits=16, num_symbols=2), 4) for bits in (0, 8, 16)]
    [0.5, 0.89, 1.0]

    Raises:
        ConfigError: there is nothing to know.
    """
    if needed_bits <= 0 or num_symbols < 2 or message_bits < 0:
        raise ConfigError(
            "A bound needs bits to send, bits to know and two symbols, "
            f"got {message_bits}, {needed_bits} and {num_symbols}."
        )
    allowed = min(1.0, message_bits / needed_bits) * np.log2(num_symbols)
    low, high = 0.0, 1 - 1 / num_symbols  # errors: at `low` the message is too short, unless it carries everything
    for _ in range(_BISECTIONS):
        error = (low + high) / 2
        carried = np.log2(num_symbols) - equivocation_bits(np.array([error]), num_symbols)[0]
        low, high = (low, error) if carried <= allowed else (error, high)
    return float(1 - low)
