"""exp2, log1p, softplus and sigmoid as polynomials, so that a loop over them becomes vector instructions.

A call of the C library's `expf` inside a loop keeps the compiler from vectorising it, and costs more than all the rest
of a scan. Here, with x = i + f, i the integer part towards 0 and f in (-1, 0] for x <= 0,

    2^x = 2^i p(f)                                   2^i by writing i into the exponent's bits
    log(1 + u) = s q(s^2),  s = u / (2 + u)          the series of 2 artanh(s), for u in [0, 1]

with p and q minimax polynomials (Remez), whose relative error is far below a unit in the last place: 1.9e-9 and 4e-9
in float32, 4e-20 and 1.3e-18 in float64. p(0) rounds to exactly 1: a state that does not decay stays as it is.

The two polynomials are emitted as machine-independent instructions for the type of their argument; compiled loops of
float32 and float64 arrays therefore share one source.
"""

import math
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recherche.kernels.compiled import inlined

LOG2_E = math.log2(math.e)

_EXP2 = {
    32: (
        0.99999999814420227091,
        0.69314701278396894406,
        0.2402239671752567659,
        0.055489422444568829336,
        0.009577011616348046251,
        0.0012730520577730466596,
        0.00010851127840260154715,
    ),
    64: (
        0.99999999999999999996,
        0.6931471805599452963,
        0.24022650695910000659,
        0.055504108664806572178,
        0.0096181291074618167742,
        0.0013333558135365857264,
        0.00015403529920174415915,
        0.000015252720188312870452,
        1.3215217528317490333e-6,
        1.0174411454607444364e-7,
        7.0207985460280404882e-9,
        4.2384212430401273144e-10,
        1.8118492214903666436e-11,
    ),
}
_ARTANH = {
    32: (
        2.0000000079210470626,
        0.66666314681902749858,
        0.40024910285460243126,
        0.27960602708820474361,
        0.28178335104822859153,
    ),
    64: (
        2.0000000000000000025,
        0.66666666666666134233,
        0.40000000000190326312,
        0.28571428544925052454,
        0.2222222411177660321,
        0.18181739787647019128,
        0.15386635455152859487,
        0.13300102506503592831,
        0.12112248977230667937,
        0.083156844344301689064,
        0.17060062052906367096,
    ),
}
_MANTISSA_BITS = {32: 23, 64: 52}
_EXPONENT_BIAS = {32: 127, 64: 1023}


def _horner(builder: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """c0 + x (c1 + x (c2 + ...)), in fused multiply-adds."""
    value = ir.Constant(x.type, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = builder.fma(value, x, ir.Constant(x.type, coefficient))
    return value


@intrinsic
def exp2_nonpositive(typing_context: Any, x: Any) -> Any:
    """2^x for x <= 0; 2^x below the smallest normal number gives that number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        bits = signature.return_type.bitwidth
        word, bias = ir.IntType(bits), _EXPONENT_BIAS[bits]
        lowest = ir.Constant(value.type, float(1 - bias))
        value = builder.select(builder.fcmp_ordered(">", value, lowest), value, lowest)
        integer = builder.fptosi(value, word)
        fraction = builder.fsub(value, builder.sitofp(integer, value.type))
        exponent = builder.shl(builder.add(integer, ir.Constant(word, bias)), ir.Constant(word, _MANTISSA_BITS[bits]))
        return builder.fmul(_horner(builder, fraction, _EXP2[bits]), builder.bitcast(exponent, value.type))

    return x(x), generate


@intrinsic
def log1p_unit(typing_context: Any, u: Any) -> Any:
    """log(1 + u) for u in [0, 1]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        s = builder.fdiv(value, builder.fadd(value, ir.Constant(value.type, 2.0)))
        return builder.fmul(s, _horner(builder, builder.fmul(s, s), _ARTANH[signature.return_type.bitwidth]))

    return u(u), generate


@intrinsic
def like(typing_context: Any, value: Any, x: Any) -> Any:
    """The number `value` in the type of `x`: without it, a literal would turn single precision into double."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], signature.args[0], signature.return_type)

    return x(types.float64, x), generate


@inlined
def exp_minus_abs(x: float) -> float:
    """exp(-|x|), in (0, 1]."""
    return exp2_nonpositive(like(-LOG2_E, x) * abs(x))


@inlined
def softplus(x: float) -> float:
    """log(1 + exp(x))."""
    return max(x, like(0.0, x)) + log1p_unit(exp_minus_abs(x))


@inlined
def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x))."""
    e = exp_minus_abs(x)
    return (like(1.0, x) if x >= like(0.0, x) else e) / (like(1.0, x) + e)
