"""A refutation on paper: two texts in one state, and a question with two right answers; anyone can check it.

    claim     "this model, rounded so, solves the task at this n"
    checked   the automaton is the one that is named; both texts are problems of the task; both end in the state that
              is recorded; the right answers to the question differ by the task's own definition: one answer is wrong

Reference: Wen, Dang & Lyu (2024), Section 4.2, https://arxiv.org/abs/2402.18510
"""

from typing import NamedTuple, final

import numpy as np
from jaxtyping import Int
from pydantic import BaseModel, ConfigDict, ValidationError

from recherche._lookup import lookup
from recherche.errors import CertificateError, VocabError
from recherche.games.automaton import Automaton, state_digest
from recherche.games.families import Symbols, family_of, right_answer
from recherche.games.protocol import StatefulModel, fingerprint
from recherche.games.quantisers import quantiser_of
from recherche.tasks import TASKS
from recherche.tasks.base import AbstractTask

VERSION = 1

Tokens = tuple[str, ...]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@final
class NamedTask(_Part):
    """A task but for its size."""

    name: str
    protocol: str
    options: dict[str, int | str]

    def build(self, n: int) -> AbstractTask:
        """The task at size n.

        Raises:
            ConfigError: there is no such task.
        """
        return lookup(TASKS, self.name, what="task").configured(n=n, protocol=self.protocol, **self.options)


@final
class Step(_Part):
    """An automaton.

    Attributes:
        model: fingerprint of its weights and of how they are put together.
        quantiser: what its state is rounded by after every token.
        source: where the model was found.
        state_bits: bits of the state that both texts end in.
    """

    model: str
    quantiser: str
    source: str
    state_bits: int


@final
class Certificate(_Part):
    """Two texts in one state.

    Attributes:
        claim: what is refuted, in words.
        inputs: the two texts, in tokens.
        state: SHA-256 of the state that both end in.
        query: a question about either.
        answers: the right answer to it for each.
    """

    version: int
    claim: str
    task: NamedTask
    n: int
    step: Step
    inputs: tuple[Tokens, Tokens]
    state: str
    query: Tokens
    answers: tuple[str, str]

    def to_json(self) -> str:
        """The certificate as a JSON text."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate in a JSON text.

        Raises:
            CertificateError: no certificate, or one of another version.
        """
        try:
            certificate = cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise CertificateError(
                f"This is no certificate ({where}: {first['msg']}); give a file that a search has written."
            ) from error
        if certificate.version != VERSION:
            raise CertificateError(
                f"Certificates of version {VERSION} can be checked, this one has version {certificate.version}; "
                "use the release that wrote it."
            )
        return certificate

    def build_task(self) -> AbstractTask:
        """The task that the claim is about.

        Raises:
            ConfigError: there is no such task.
        """
        return self.task.build(self.n)


def certify(
    automaton: Automaton, pair: tuple[Symbols, Symbols], *, task: NamedTask, n: int, source: str
) -> Certificate:
    """The certificate for two texts that end in the same state.

    Args:
        source: where the model was found.
    """
    built = task.build(n)
    family, vocab = family_of(built), built.vocab
    ids = [family.text(symbols) for symbols in pair]
    texts, query = [vocab.decode(text) for text in ids], vocab.decode(family.question(*pair))
    end = _read(automaton, ids[0], ids[0][:0]).end
    return Certificate(
        version=VERSION,
        claim=_claim(source, automaton.quantiser.name, task.name, n),
        task=task,
        n=n,
        step=Step(
            model=fingerprint(automaton.model),
            quantiser=automaton.quantiser.name,
            source=source,
            state_bits=end.bits,
        ),
        inputs=(texts[0], texts[1]),
        state=end.digest,
        query=query,
        answers=(right_answer(built, texts[0] + query), right_answer(built, texts[1] + query)),
    )


def verify(certificate: Certificate, model: StatefulModel) -> str:
    """Check every statement of a certificate by running it; what the automaton answers to both texts.

    Raises:
        CertificateError: a statement does not hold.
    """
    step, found = certificate.step, fingerprint(model)
    _demand(found == step.model, f"it is about model {step.model}, this is model {found}; give its own run")
    claim = _claim(step.source, step.quantiser, certificate.task.name, certificate.n)
    _demand(certificate.claim == claim, f"what its statements refute is: {claim}; it claims another thing")
    _demand(certificate.inputs[0] != certificate.inputs[1], "its two texts are the same")
    automaton, task = Automaton(model, quantiser_of(step.quantiser)), certificate.build_task()
    family = family_of(task)
    try:
        ids = [task.vocab.encode(text) for text in certificate.inputs]
        one, other = (family.symbols(text) for text in ids)
    except (CertificateError, VocabError) as error:
        raise CertificateError(f"The certificate does not hold: {error}") from error
    question = family.question(one, other)
    asked = task.vocab.decode(question)
    _demand(certificate.query == asked, f"{' '.join(asked)!r} tells the two texts apart, it asks something else")
    said = []
    for text, answer in zip(ids, certificate.answers, strict=True):
        right = right_answer(task, task.vocab.decode(text) + asked)
        _demand(right == answer, f"the right answer is {right}, it states {answer}")
        reading = _read(automaton, text, question)
        _demand(reading.end.digest == certificate.state, "a text does not end in the state that it names")
        _demand(reading.end.bits == step.state_bits, f"that state has {reading.end.bits} bits, not {step.state_bits}")
        said.append(task.vocab.tokens[reading.said])
    _demand(certificate.answers[0] != certificate.answers[1], "both texts have the same right answer")
    _demand(said[0] == said[1], "the model tells the two texts apart")
    return said[0]


class _End(NamedTuple):
    digest: str
    bits: int


class _Reading(NamedTuple):
    """The state after a text, and the token that the automaton says after text and question."""

    end: _End
    said: int


def _read(automaton: Automaton, text: Int[np.ndarray, " t"], question: Int[np.ndarray, " q"]) -> _Reading:
    logits, state = automaton.read(automaton.start(1), text[None])
    end = _End(state_digest(state), automaton.state_bits(state))
    if len(question):
        logits, _ = automaton.read(state, question[None])
    return _Reading(end, int(logits.argmax()))


def _claim(source: str, quantiser: str, task: str, n: int) -> str:
    return f"{source} with its state rounded to {quantiser} after every token solves {task} at n = {n}"


def _demand(condition: bool, failure: str) -> None:
    if not condition:
        raise CertificateError(f"The certificate does not hold: {failure}.")
