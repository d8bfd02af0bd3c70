"""A certificate stands up to an independent checker, and a false one falls."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recherche.errors import CertificateError
from recherche.games.automaton import Automaton
from recherche.games.certificates import Certificate, certify, verify
from recherche.games.collisions import find_collision
from recherche.games.families import family_of
from recherche.games.quantisers import quantiser_of
from recherche.tasks import Index

TASK = {"name": "index", "protocol": "direct", "options": {"n_symbols": 2}}


@pytest.fixture
def model(last_tokens: Any) -> Any:
    return last_tokens(3)


@pytest.fixture
def certificate(model: Any) -> Certificate:
    automaton, family = Automaton(model, quantiser_of("float32")), family_of(Index(n=6, n_symbols=2))
    pair = find_collision(automaton, family, generator=np.random.default_rng(0))
    assert pair is not None
    return certify(automaton, pair, task=TASK, n=6, source="a window of three tokens")


def test_a_certificate_stands_up_to_an_independent_check(certificate: Certificate) -> None:
    """Nothing of the package but the file: the window is written down again, and Index by its definition."""
    facts = json.loads(certificate.to_json())
    vocab = {token: i for i, token in enumerate(Index(n=6).vocab.tokens)}

    def state_after(tokens: list[str]) -> str:
        window = [0, 0, 0]
        for token in tokens:
            window = [*window[1:], vocab[token]]
        return hashlib.sha256(np.array(window, dtype=np.float32).tobytes()).hexdigest()

    def index(tokens: list[str], position: str) -> str:
        return tokens[1:][int(position) - 1]

    one, other = facts["inputs"]
    assert state_after(one) == state_after(other) == facts["state"]
    assert [index(one, *facts["query"]), index(other, *facts["query"])] == facts["answers"]
    assert facts["answers"][0] != facts["answers"][1]
    assert (facts["version"], facts["n"], facts["task"]["name"]) == (1, 6, "index")


def test_a_certificate_is_verified_after_a_round_trip(certificate: Certificate, model: Any) -> None:
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert verify(again, model) in Index(n=6).vocab.tokens


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"inputs": (c.inputs[0], c.inputs[0])}, "two texts are the same"),
        (
            lambda c: {"inputs": (c.inputs[0], (*c.inputs[1][:-1], "1" if c.inputs[1][-1] == "2" else "2"))},
            "not end in",
        ),
        (lambda c: {"inputs": (c.inputs[0], c.inputs[1][:-1])}, "has 7 tokens"),
        (lambda c: {"state": "0" * 64}, "does not end in the state"),
        (lambda c: {"answers": c.answers[::-1]}, "the right answer is"),
        (lambda c: {"query": ("6",), "answers": (c.inputs[0][6], c.inputs[1][6])}, "same right answer"),
        (lambda c: {"step": c.step | {"model": "of another one"}}, "is about model of another one"),
    ],
    ids=["same text", "another text", "short text", "state", "answers", "query", "model"],
)
def test_a_false_certificate_is_refused(certificate: Certificate, model: Any, change: Any, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        verify(replace(certificate, **change(certificate)), model)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no certificate"), ("[]", "no certificate"), ('{"version": 1}', "no certificate"), ("PK", "no certificate")],
    ids=["empty", "a list", "only a version", "no JSON"],
)
def test_a_file_that_is_no_certificate_is_refused(text: str, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        Certificate.from_json(text)


def test_a_certificate_of_another_version_is_refused(certificate: Certificate) -> None:
    with pytest.raises(CertificateError, match="this one has version 7"):
        Certificate.from_json(replace(certificate, version=7).to_json())
