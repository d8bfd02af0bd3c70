"""The assembler: what it schedules, and the contracts that it refuses to break."""

from fractions import Fraction

import pytest

from recherche.constructions.layout import Hybrid, LinearRNN, Transformer
from recherche.constructions.program import Program
from recherche.errors import CertificateError


def transformer(*specials: str, capacity: int = 32) -> Program:
    return Program("example", ("<s>", *specials), capacity, Transformer())


def test_operations_go_to_the_first_layer_that_can_hold_them():
    p = transformer()
    previous = p.copy(p.number, 1)
    found = p.match(keys=previous, queries=p.number, values=p.number)
    p.emit_number(found)
    assert [form.registers[0].stage for form in (previous, found)] == [3, 5]
    assert p.n_layers == 3


def test_a_register_is_squared_once():
    p = transformer()
    p.square(p.position - 1)
    p.square(3 * p.position + 2)
    assert sum(str(placed).startswith("position^2") for placed in p.registers.placed) == 1


def test_a_lag_is_kept_once():
    p = Program("lags", ("<s>",), 32, LinearRNN())
    assert p.lag(p.number, 2).key == p.lag(p.number, 2).key
    assert len(p.registers.placed) == 1 + 3


def test_codes_and_kinds_of_tokens_are_forms_over_the_embedding():
    p = transformer("a", "b", "c")
    assert p.code_of(("a", "b", "c")).high == 2
    assert p.one_of(("a", "b")).flag
    assert p.is_number().flag


def test_a_key_that_does_not_vanish_at_the_first_token_is_refused():
    p = transformer()
    with pytest.raises(CertificateError, match="key position is 1 at <s>, where it must be 0"):
        p.match(keys=p.position, queries=p.number, values=p.number)


def test_a_condition_that_is_no_flag_is_refused():
    p = transformer()
    with pytest.raises(CertificateError, match=r"must be 0 or 1, but number lies in \[0, 32\]"):
        p.all_of(p.number)
    with pytest.raises(CertificateError, match="claim its interval with `assume`"):
        p.emit("<s>", when=p.special("<s>") + p.is_zero(p.number))


def test_a_fractional_key_is_refused_by_the_name_of_its_register():
    p = transformer()
    share = p.count_inverse(keys=p.number, queries=p.number, name="share")
    with pytest.raises(CertificateError, match=r"share\^2 may be fractional"):
        p.match(keys=p.number, queries=share, values=p.number)
    with pytest.raises(CertificateError, match="compute the integer first"):
        p.is_zero(share)


def test_scores_that_float64_cannot_hold_are_refused():
    p = transformer(capacity=1 << 20)
    with pytest.raises(CertificateError, match=r"float64 holds integers only below 2\^53"):
        p.match(keys=p.number, queries=p.number, values=p.position, select="nearest", near=p.position)


def test_a_second_attention_layer_is_refused_in_a_hybrid():
    p = Program("hybrid", ("<s>",), 32, Hybrid(recurrent=2))
    found = p.copy(p.number, 1)
    with pytest.raises(CertificateError, match="needs attention after stage 5"):
        p.copy(found, 1)


def test_a_factor_that_may_be_negative_is_refused():
    p = transformer("YES")
    with pytest.raises(CertificateError, match="ReLU would cut it off"):
        p.emit_product("YES", p.number - 1, p.number)


@pytest.mark.parametrize("specials", [(), ("YES", "<s>")], ids=["none", "not first"])
def test_a_program_needs_its_first_token(specials):
    with pytest.raises(CertificateError, match="first special token is <s>"):
        Program("example", specials, 32, Transformer())


def test_an_unknown_special_token_is_refused():
    with pytest.raises(CertificateError, match="has no special token 'MAYBE'"):
        transformer().emit("MAYBE")


def test_a_program_is_shown_by_layer_and_part():
    p = Program("shown", ("<s>", "YES"), 32, LinearRNN())
    p.emit("YES", when=p.is_zero(p.lag(p.number, 2, name="number") - 3, name="three"))
    p.decay(p.number, Fraction(1, 2), name="trace")
    assert str(p).splitlines() == [
        "shown: 2 layers, 11 coordinates, N = 32",
        "layer 1  linear        number[0] = number",
        "                       number[-1] ... number[-2] = one token ago each",
        "                       trace = sum of (number), decaying by 1/2",
        "layer 1  feed-forward  one = 1",
        "                       three = [number[-2] - 3 = 0]",
        "layer 2  feed-forward  emit YES if three",
    ]
