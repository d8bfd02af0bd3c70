"""A certificate stands up to an independent checker, and a false one falls."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import networkx
import numpy as np
import pytest

from recherche.errors import CertificateError
from recherche.games.automaton import Automaton
from recherche.games.certificates import Certificate, NamedTask, certify, verify
from recherche.games.collisions import find_collision
from recherche.games.families import family_of
from recherche.games.quantisers import quantiser_of
from recherche.tasks import Index


class Definition(NamedTuple):
    """A task, its size and options, and its right answer by definition, from the tokens of text and query."""

    name: str
    n: int
    options: dict[str, int | str]
    answer: Callable[[list[str], list[str]], str]


def after_gram(text: list[str], query: list[str]) -> str:
    return next(text[i + len(query)] for i in range(len(text)) if text[i : i + len(query)] == query)


def is_tree(text: list[str], query: list[str]) -> str:
    names = [token for token in text + query if token.isdecimal()]
    return "YES" if networkx.is_tree(networkx.Graph(zip(names[::2], names[1::2], strict=True))) else "NO"


DEFINITIONS = [
    Definition("index", 6, {"n_symbols": 2}, lambda text, query: text[int(query[0]) - 1]),
    Definition("recall", 12, {}, after_gram),
    Definition("cgram", 9, {}, after_gram),
    Definition(
        "mqar", 16, {"num_pairs": 4}, lambda text, query: dict(zip(text[::2], text[1::2], strict=True))[query[0]]
    ),
    Definition("counting", 8, {}, lambda text, query: "YES" if text.count(query[0]) > int(query[1]) else "NO"),
    Definition("copying", 4, {}, lambda text, query: text[len(query) - 1]),
    Definition("istree", 8, {}, is_tree),
]


def certificate_of(definition: Definition, model: Any) -> Certificate:
    task = NamedTask(name=definition.name, protocol="direct", options=definition.options)
    automaton = Automaton(model, quantiser_of("float32"))
    pair = find_collision(automaton, family_of(task.build(definition.n)), generator=np.random.default_rng(0))
    assert pair is not None
    return certify(automaton, pair, task=task, n=definition.n, source="a window of three tokens")


@pytest.fixture
def model(last_tokens: Any) -> Any:
    return last_tokens(3)


@pytest.fixture
def certificate(model: Any) -> Certificate:
    return certificate_of(DEFINITIONS[0], model)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_a_certificate_stands_up_to_an_independent_check(definition: Definition, model: Any) -> None:
    """Nothing of the package but the file and the vocabulary: the window and the task are written down again."""
    certificate = certificate_of(definition, model)
    facts = json.loads(certificate.to_json())
    ids = {token: i for i, token in enumerate(certificate.build_task().vocab.tokens)}

    def state_after(tokens: list[str]) -> str:
        window = [0, 0, 0]
        for token in tokens:
            window = [*window[1:], ids[token]]
        return hashlib.sha256(np.array(window, dtype=np.float32).tobytes()).hexdigest()

    one, other = facts["inputs"]
    assert state_after(one) == state_after(other) == facts["state"]
    assert [definition.answer(text[1:], facts["query"]) for text in (one, other)] == facts["answers"]
    assert facts["answers"][0] != facts["answers"][1]
    assert (facts["version"], facts["n"], facts["task"]["name"]) == (1, definition.n, definition.name)
    assert facts["step"]["state_bits"] == 3 * 32
    assert verify(Certificate.from_json(certificate.to_json()), model) in ids


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
        (lambda c: {"inputs": (c.inputs[0], c.inputs[1][:-1])}, "has 7 tokens, this one has 6"),
        (lambda c: {"state": "0" * 64}, "does not end in the state"),
        (lambda c: {"answers": c.answers[::-1]}, "the right answer is"),
        (lambda c: {"query": ("6",), "answers": (c.inputs[0][6], c.inputs[1][6])}, "asks something else"),
        (lambda c: {"inputs": (("nonsense", *c.inputs[0][1:]), c.inputs[1])}, "nonsense"),
        (lambda c: {"inputs": (("<s>", "6", *c.inputs[0][2:]), c.inputs[1])}, "cannot stand where it does"),
        (lambda c: {"claim": "P is not NP"}, "claims another thing"),
        (lambda c: {"step": c.step.model_copy(update={"state_bits": 5})}, "has 96 bits, not 5"),
        (lambda c: {"step": c.step.model_copy(update={"model": "of another one"})}, "is about model of another one"),
    ],
    ids=[
        "same text",
        "another text",
        "short text",
        "state",
        "answers",
        "query",
        "token",
        "symbol",
        "claim",
        "bits",
        "model",
    ],
)
def test_a_false_certificate_is_refused(certificate: Certificate, model: Any, change: Any, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        verify(certificate.model_copy(update=change(certificate)), model)


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
        Certificate.from_json(certificate.model_copy(update={"version": 7}).to_json())
