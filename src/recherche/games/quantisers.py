"""How a number of a state becomes bits: each quantiser packs a tensor and unpacks it again.

    float64 float32 bfloat16   the number itself, rounded to the format
    int8 int4                  round(x / s) with s = max |x| / q over a channel (the last axis), q = 127 or 7
    r<p>                       R_p, the paper's p-bit numbers: a sign, (p-1)/2 integer bits and (p-1)/2 fraction bits,
                               clamp(round(x 2^f) / 2^f, +-(2^f - 2^-f)) with f = (p-1)/2

The scale s is a bfloat16. Packed means packed: two int4 codes share a byte, and R_p codes follow one another without
gaps. Rows (the first axis) are packed apart, so that one row's message is its own.

Reference: Wen, Dang & Lyu (2024), Section 3 (R_p), https://arxiv.org/abs/2402.18510
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped, UInt8
from torch import Tensor

from recherche._lookup import lookup
from recherche.errors import ConfigError

Parts = dict[str, Shaped[Tensor, "b ..."]]
"""What a tensor is packed into: named tensors whose first axis is the batch."""


class AbstractQuantiser(ABC):
    """A pair of maps between numbers and bits."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the command line calls it."""

    @abstractmethod
    def pack(self, x: Float[Tensor, "b ..."]) -> Parts:
        """The bits of a tensor."""

    @abstractmethod
    def unpack(self, parts: Parts, shape: tuple[int, ...]) -> Float[Tensor, "b ..."]:
        """The numbers that the bits stand for, as a tensor of `shape`."""


@final
@dataclass(frozen=True, slots=True)
class Rounded(AbstractQuantiser):
    """Floating-point numbers of a format."""

    dtype: torch.dtype

    @property
    def name(self) -> str:
        """The format's name."""
        return str(self.dtype).removeprefix("torch.")

    def pack(self, x: Float[Tensor, "b ..."]) -> Parts:
        """The numbers, rounded to the format."""
        return {"values": x.to(self.dtype)}

    def unpack(self, parts: Parts, shape: tuple[int, ...]) -> Float[Tensor, "b ..."]:
        """The rounded numbers."""
        return parts["values"].reshape(shape)


@final
@dataclass(frozen=True, slots=True)
class Integers(AbstractQuantiser):
    """Symmetric integers of `bits` bits, with one scale for each channel."""

    bits: int

    def __post_init__(self) -> None:
        if self.bits not in (4, 8):
            raise ConfigError(f"Integers have 4 or 8 bits, got {self.bits}; use R_p for other widths.")

    @property
    def name(self) -> str:
        """int4 or int8."""
        return f"int{self.bits}"

    @property
    def largest(self) -> int:
        """The largest code; the smallest is its negative."""
        return 2 ** (self.bits - 1) - 1

    def pack(self, x: Float[Tensor, "b ..."]) -> Parts:
        """Codes and scales."""
        channels = x.double().reshape(_by_channel(tuple(x.shape)))
        scales = (channels.abs().amax(dim=2) / self.largest).bfloat16()
        steps = scales.double()[:, :, None]
        codes = torch.where(steps > 0, channels / steps, 0.0).round().clamp(-self.largest, self.largest)
        return {"codes": _pack_codes(codes.flatten(1).long() + self.largest, self.bits), "scales": scales}

    def unpack(self, parts: Parts, shape: tuple[int, ...]) -> Float[Tensor, "b ..."]:
        """Codes times scales."""
        codes = _unpack_codes(parts["codes"], self.bits, prod(shape[1:])) - self.largest
        channels = codes.reshape(_by_channel(shape))
        return (channels * parts["scales"].double()[:, :, None]).reshape(shape)


@final
@dataclass(frozen=True, slots=True)
class FixedPoint(AbstractQuantiser):
    """The paper's R_p: p-bit fixed-point numbers, p odd."""

    p: int

    def __post_init__(self) -> None:
        if self.p % 2 == 0 or not 3 <= self.p <= 53:
            raise ConfigError(f"R_p needs an odd p from 3 to 53 (what float64 holds exactly), got {self.p}.")

    @property
    def name(self) -> str:
        """The letter r and p."""
        return f"r{self.p}"

    @property
    def fraction_bits(self) -> int:
        """Bits after the point, as many as before it."""
        return (self.p - 1) // 2

    def pack(self, x: Float[Tensor, "b ..."]) -> Parts:
        """Codes of p bits, one after the other."""
        largest = 2 ** (self.p - 1) - 1
        codes = (x.double().reshape(len(x), -1) * 2.0**self.fraction_bits).round().clamp(-largest, largest)
        return {"codes": _pack_codes(codes.long() + largest, self.p)}

    def unpack(self, parts: Parts, shape: tuple[int, ...]) -> Float[Tensor, "b ..."]:
        """Codes over 2^f."""
        codes = _unpack_codes(parts["codes"], self.p, prod(shape[1:])) - (2 ** (self.p - 1) - 1)
        return (codes.double() / 2.0**self.fraction_bits).reshape(shape)


QUANTISERS: MappingProxyType[str, AbstractQuantiser] = MappingProxyType(
    {
        quantiser.name: quantiser
        for quantiser in (
            Rounded(torch.float64),
            Rounded(torch.float32),
            Rounded(torch.bfloat16),
            Integers(8),
            Integers(4),
            *(FixedPoint(p) for p in range(3, 54, 2)),
        )
    }
)


def quantiser_of(name: str) -> AbstractQuantiser:
    """The quantiser called `name`.

    Raises:
        ConfigError: there is none of that name.

    >>> quantiser_of("int4").bits
    4
    """
    return lookup(QUANTISERS, name, what="quantiser")


def _by_channel(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Rows, channels of a row, numbers of a channel; one number a row is one channel."""
    return (shape[0], prod(shape[1:-1]), shape[-1]) if len(shape) > 1 else (shape[0], 1, 1)


def _pack_codes(codes: Int[Tensor, "b n"], bits: int) -> UInt8[Tensor, "b m"]:
    """Each row's codes, from 0 to 2^bits - 1, as `bits` bits each, without gaps."""
    digits = codes.cpu().numpy()[:, :, None] >> np.arange(bits) & 1
    return torch.from_numpy(np.packbits(digits.astype(np.uint8).reshape(len(codes), -1), axis=1, bitorder="little"))


def _unpack_codes(packed: UInt8[Tensor, "b m"], bits: int, n: int) -> Int[Tensor, "b n"]:
    digits = np.unpackbits(packed.numpy(), axis=1, count=n * bits, bitorder="little").reshape(len(packed), n, bits)
    return torch.from_numpy((digits.astype(np.int64) << np.arange(bits)).sum(axis=2))
