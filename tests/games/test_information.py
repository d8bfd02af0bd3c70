import numpy as np
import pytest

from recherche.errors import ConfigError
from recherche.games.information import best_accuracy, equivocation_bits, error_upper_limits, recovered_bits

RNG = np.random.default_rng(7)


def mutual_information(channel: np.ndarray) -> float:
    """I(X; Y) of a uniform X through the channel, by the definition."""
    joint = channel / len(channel)
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    used = joint > 0
    return float((joint[used] * np.log2(joint[used] / product[used])).sum())


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("error", [0.0, 0.01, 0.2, 0.45])
def test_fano_is_met_by_the_symmetric_channel(k: int, error: float) -> None:
    channel = np.full((k, k), error / (k - 1))
    np.fill_diagonal(channel, 1 - error)
    bits = np.log2(k) - equivocation_bits(np.array([error]), k)[0]
    assert bits == pytest.approx(mutual_information(channel), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_channel_carries_less_than_fano_says(k: int) -> None:
    for _ in range(300):
        channel = RNG.dirichlet(np.full(k, 0.3), size=k)
        joint = channel / k
        error = 1 - joint.max(axis=0).sum()
        assert np.log2(k) - equivocation_bits(np.array([error]), k)[0] <= mutual_information(channel) + 1e-12


@pytest.mark.parametrize("k", [2, 3, 64])
def test_guessing_leaves_everything_open(k: int) -> None:
    assert equivocation_bits(np.array([1 - 1 / k, 1.0]), k) == pytest.approx([np.log2(k)] * 2)


@pytest.mark.parametrize(("wrong", "n"), [(0, 1), (0, 50), (3, 50), (49, 50), (17, 400)])
def test_the_upper_limit_is_where_so_few_errors_become_unlikely(wrong: int, n: int) -> None:
    """By summing the binomial distribution exactly, in whole numbers scaled by a power of two."""
    from fractions import Fraction
    from math import comb

    limit = Fraction(float(error_upper_limits(np.array([wrong]), n, confidence=0.95)[0]))
    tail = sum(comb(n, i) * limit**i * (1 - limit) ** (n - i) for i in range(wrong + 1))
    assert float(tail) == pytest.approx(0.05, rel=1e-6)


def test_all_wrong_has_no_limit_below_one() -> None:
    assert error_upper_limits(np.array([5, 5]), 5, confidence=0.95).tolist() == [1.0, 1.0]


def simulate(errors: np.ndarray, *, texts: int, k: int = 2) -> tuple[float, float]:
    return recovered_bits(RNG.binomial(texts, errors), texts, k)


def test_a_perfect_memory_of_k_bits_reads_k() -> None:
    certain, estimated = simulate(np.repeat([0.0, 0.5], [40, 60]), texts=2000)
    assert 0.93 * 40 <= certain <= 40
    assert estimated == pytest.approx(40, abs=0.1)


@pytest.mark.parametrize("error", [0.01, 0.1, 0.3])
def test_a_symmetric_memory_reads_one_minus_the_entropy_of_its_error(error: float) -> None:
    h = -error * np.log2(error) - (1 - error) * np.log2(1 - error)
    certain, estimated = simulate(np.full(100, error), texts=20_000)
    assert certain <= 100 * (1 - h)
    assert estimated == pytest.approx(100 * (1 - h), rel=0.02)
    assert certain == pytest.approx(100 * (1 - h), rel=0.2)


@pytest.mark.parametrize("erased", [0.1, 0.5, 0.9])
def test_an_erasing_memory_reads_at_most_what_is_not_erased(erased: float) -> None:
    certain, estimated = simulate(np.full(100, erased / 2), texts=5000)
    assert certain <= estimated <= 100 * (1 - erased) + 0.1


def test_a_random_memory_reads_nothing() -> None:
    certain, estimated = simulate(np.full(100, 0.5), texts=1000)
    assert certain < 0.01
    assert estimated < 0.2


def test_the_certain_value_is_above_the_truth_in_few_of_many_experiments() -> None:
    truth = 20 * (1 - (-0.1 * np.log2(0.1) - 0.9 * np.log2(0.9)))
    above = [simulate(np.full(20, 0.1), texts=100)[0] > truth for _ in range(300)]
    assert np.mean(above) <= 0.05
    estimates = [simulate(np.full(20, 0.1), texts=100)[1] > truth for _ in range(300)]
    assert np.mean(estimates) > 0.2, "the plain estimate is no bound, so the experiment can tell them apart"


@pytest.mark.parametrize(("wrong", "trials", "k"), [([], 5, 2), ([1], 0, 2), ([1], 5, 1)])
def test_counting_nothing_is_refused(wrong: list[int], trials: int, k: int) -> None:
    with pytest.raises(ConfigError, match="Bits are counted over"):
        recovered_bits(np.array(wrong, dtype=np.int64), trials, k)


@pytest.mark.parametrize("k", [2, 5, 16])
@pytest.mark.parametrize("error", [0.01, 0.1, 0.4])
def test_the_best_accuracy_gives_back_the_bits_it_was_read_from(k: int, error: float) -> None:
    carried = 12 * (np.log2(k) - float(equivocation_bits(np.array([error]), k)[0]))
    assert best_accuracy(carried, needed_bits=12 * np.log2(k), num_symbols=k) == pytest.approx(1 - error, abs=1e-9)


def test_the_best_accuracy_grows_from_chance_to_one_and_stays_there() -> None:
    curve = [best_accuracy(bits, needed_bits=32.0, num_symbols=4) for bits in (0, 1, 8, 31, 32, 1000)]
    assert curve == sorted(curve)
    assert curve[0] == pytest.approx(0.25)
    assert curve[3] < 1 - 1e-4
    assert curve[4:] == pytest.approx([1.0, 1.0])


def test_a_code_that_stores_some_symbols_and_guesses_the_rest_stays_below() -> None:
    stored = [(m * 2.0, (m + (16 - m) / 4) / 16) for m in range(17)]
    assert all(best_accuracy(bits, needed_bits=32.0, num_symbols=4) >= got - 1e-12 for bits, got in stored)


def test_a_bound_on_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="two symbols"):
        best_accuracy(3, needed_bits=4, num_symbols=1)
