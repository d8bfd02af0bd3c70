"""Theorem 5.2: Index, AR, c-gram retrieval and Counting by RNNs that search."""

import pytest

from recherche.constructions.compiler import compile_program
from recherche.constructions.construction import Sizes
from recherche.constructions.proof import complete, prove
from recherche.constructions.theorem_5_2 import CONSTRUCTIONS
from recherche.retrieval.session import read_pattern


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_every_problem_of_up_to_two_tokens_and_some_larger_ones_are_right(construction):
    for proof in prove(construction, Sizes(2, ((40, 3),))):
        assert proof.failures == 0, proof.messages
        assert proof.cases > 0
        assert proof.margin > 0
        assert proof.audited_registers > 0


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda construction: construction.name)
def test_the_default_sizes_are_right(construction):
    for proof in prove(construction, construction.sizes):
        assert proof.failures == 0, proof.messages


def test_the_model_writes_the_template_of_each_query():
    written = {
        "index-rag": ("^(?:[^ ]+ ){2}([^ ]+) [^ ]", ("<s>", "1", "1", "2")),
        "ar-rag": ("(?:^| )1 ([^ ]+) [^ ]", ("<s>", "1", "2", "1")),
        "3gram-rag": ("(?:^| )1 2 ([^ ]+)(?: [^ ]+){2}", ("<s>", "1", "2", "1", "1", "2")),
        "counting-rag": ("^(?:(?:[^ ]+ )*?1 ){2}(?:[^ ]+ )*?(1) [^ ]+ [^ ]", ("<s>", "1", "1", "1", "2")),
    }
    for construction in CONSTRUCTIONS:
        pattern, prompt = written[construction.name]
        (text,) = complete(construction, compile_program(construction.program(48)), [prompt], [32])
        assert read_pattern(text[1 : text.index("<EndSearch>")]) == pattern
