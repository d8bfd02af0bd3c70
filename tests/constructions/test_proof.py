"""Running a construction: what passes, what fails, and that a broken weight is seen."""

import pytest
import torch

from recherche.constructions.catalogue import CONSTRUCTIONS
from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Case, Sizes
from recherche.constructions.proof import batches, checked_cases, decode_margin, difference, prove
from recherche.errors import ConfigError

TINY = Sizes(2, ((6, 2),))


def test_exhaustive_and_sampled_problems_are_counted_apart():
    small, sampled = prove(CONSTRUCTIONS["ar-transformer"], TINY)
    assert (small.exhaustive, small.cases, small.failures, small.n_max) == (True, 4, 0, 2)
    assert (sampled.exhaustive, sampled.cases, sampled.failures, sampled.n_max) == (False, 2, 0, 6)
    assert small.num_layers == 3
    assert small.margin >= 1


@pytest.mark.parametrize("name", ["index-transformer", "ar-hybrid", "index-rag"])
def test_a_broken_weight_makes_the_proof_fail(name):
    def compile_and_break(suite):
        model = compile_program(suite.program)
        block = model.blocks[len(model.blocks) - 1]
        with torch.no_grad():
            block.feed_forward.W_3 *= -1
        return model

    (proof,) = prove(CONSTRUCTIONS[name], Sizes(2, ()), compile_suite=compile_and_break)
    assert proof.failures > 0
    assert "the oracle has" in proof.messages[0]


def test_a_weight_that_is_off_by_a_little_is_seen_by_the_audit():
    def compile_and_nudge(suite):
        model = compile_program(suite.program)
        with torch.no_grad():
            model.blocks[0].feed_forward.b_3 *= 1 + 1e-12
        return model

    (proof,) = prove(CONSTRUCTIONS["ar-transformer"], Sizes(2, ()), compile_suite=compile_and_nudge)
    assert any("register one should be 1" in message for message in proof.messages)


def test_a_size_without_problems_is_refused():
    with pytest.raises(ConfigError, match="3gram-hybrid has no problems of size 2"):
        prove(CONSTRUCTIONS["3gram-hybrid"], Sizes(0, ((2, 5),)))


def test_json_lines_have_every_field_that_is_promised():
    (proof,) = prove(CONSTRUCTIONS["ar-hybrid"], Sizes(2, ()))
    promised = "theorem program architecture cases exhaustive failures n_max num_layers d_model nonzeros max_abs_weight"
    assert set(promised.split()) | {"seconds"} <= set(proof.as_json())


def test_batches_hold_similar_lengths_and_every_case_once():
    cases = [Case(("<s>",) * n, ("YES",)) for n in (9000, 3, 20000, 4, 30000)]
    groups = list(batches(cases))
    assert sorted(len(case.text) for group in groups for case in group) == sorted(len(case.text) for case in cases)
    assert [len(group) for group in groups] == [2, 1, 1, 1] or [len(group) for group in groups] == [3, 1, 1]


def test_the_shortest_and_the_longest_case_that_is_not_too_long_are_checked():
    cases = [Case(("<s>",) * n, ("YES",)) for n in (5, 9, 2, 5000)]
    assert [len(case.text) for case in checked_cases(cases)] == [3, 10]
    assert checked_cases([cases[3]]) == []


def test_a_difference_names_the_first_wrong_token():
    case = Case(("<s>", "1"), ("2", "3", "YES"))
    assert difference(case, ("2", "4", "YES")).endswith("token 2 of the completion is 4, the oracle has 3")
    assert difference(case, ("2",)).endswith("token 2 of the completion is missing, the oracle has 3")


def test_the_margin_is_the_smallest_lead():
    assert decode_margin(torch.tensor([[0.0, 3.0, 1.0], [5.0, 4.5, 0.0]])) == 0.5
