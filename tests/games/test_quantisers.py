import pytest
import torch

from recherche.errors import ConfigError
from recherche.games.quantisers import FixedPoint, Integers, Rounded, quantiser_of

NAMES = ["float64", "float32", "bfloat16", "int8", "int4", "r3", "r9", "r53"]
SHAPES = [(1, 1), (3, 7), (4,), (2, 5, 3), (2, 2, 4, 6), (3, 4, 0, 2)]


def numbers(shape: tuple[int, ...], *, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def bits_of(parts: dict[str, torch.Tensor]) -> int:
    return 8 * sum(part.numel() * part.element_size() for part in parts.values())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_a_tensor_comes_back_in_its_shape_and_a_second_trip_changes_nothing(name: str, shape: tuple[int, ...]) -> None:
    quantiser, x = quantiser_of(name), numbers(shape)
    once = quantiser.unpack(quantiser.pack(x), shape)
    assert once.shape == shape
    twice = quantiser.unpack(quantiser.pack(once), shape)
    torch.testing.assert_close(twice.double(), once.double(), rtol=1e-2 if name.startswith("int") else 0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_packed_apart(name: str) -> None:
    quantiser, x = quantiser_of(name), numbers((3, 5, 3))
    together, alone = quantiser.pack(x), quantiser.pack(x[1:2])
    assert all(torch.equal(together[part][1:2], alone[part]) for part in alone)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("float64", 64 * 30),
        ("float32", 32 * 30),
        ("bfloat16", 16 * 30),
        ("int8", 8 * 30 + 16 * 10),
        ("int4", 4 * 30 + 16 * 10),
        ("r3", 96),
        ("r5", 5 * 30 + 2),
        ("r53", 53 * 30 + 2),
    ],
)
def test_bits_are_really_packed(name: str, bits: int) -> None:
    """30 numbers in 10 channels of one row; a row of codes is filled up to whole bytes."""
    assert bits_of(quantiser_of(name).pack(numbers((1, 10, 3)))) == bits


@pytest.mark.parametrize("p", [3, 5, 11, 21, 53])
def test_fixed_point_is_the_papers_rule(p: int) -> None:
    f = (p - 1) // 2
    x = numbers((4, 50), scale=2.0**f)
    by_definition = (x * 2.0**f).round() / 2.0**f
    by_definition = by_definition.clamp(-(2.0**f - 2.0**-f), 2.0**f - 2.0**-f)
    assert torch.equal(FixedPoint(p).unpack(FixedPoint(p).pack(x), (4, 50)), by_definition)


@pytest.mark.parametrize("bits", [4, 8])
def test_integers_err_by_half_a_step_of_their_channel(bits: int) -> None:
    x = numbers((4, 6, 9)) * torch.logspace(-3, 3, 6, dtype=torch.float64)[None, :, None]
    error = (Integers(bits).unpack(Integers(bits).pack(x), tuple(x.shape)) - x).abs().amax(dim=2)
    step = x.abs().amax(dim=2) / Integers(bits).largest
    assert bool((error <= 0.5 * step * (1 + 2.0**-7) + step * Integers(bits).largest * 2.0**-8).all())


def test_a_channel_of_zeros_stays_zero() -> None:
    x = torch.zeros(2, 3, 4)
    assert torch.equal(Integers(4).unpack(Integers(4).pack(x), (2, 3, 4)), x.double())


def test_rounding_to_the_models_own_format_changes_nothing() -> None:
    x = numbers((3, 4)).float()
    assert torch.equal(Rounded(torch.float32).unpack(Rounded(torch.float32).pack(x), (3, 4)), x)


@pytest.mark.parametrize("p", [2, 4, 1, 55])
def test_even_or_too_wide_fixed_point_is_refused(p: int) -> None:
    with pytest.raises(ConfigError, match="odd p from 3 to 53"):
        FixedPoint(p)


def test_integers_of_other_widths_are_refused() -> None:
    with pytest.raises(ConfigError, match="4 or 8 bits, got 5"):
        Integers(5)


def test_an_unknown_quantiser_is_answered_with_near_names() -> None:
    with pytest.raises(ConfigError, match="did you mean int8"):
        quantiser_of("int6")
