"""A refutation on paper: two texts in one state, and a question with two right answers; anyone can check it.

    claim     "this model, rounded so, solves the task at this n"
    checked   the automaton is the one that is named; both texts are problems of the task; both end in the state that
              is recorded; the right answers to the question differ by the task's own definition: one answer is wrong

Reference: Wen, Dang & Lyu (2024), Section 4.2, https://arxiv.org/abs/2402.18510
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from recherche._lookup import lookup
from recherche.errors import CertificateError
from recherche.games.automaton import Automaton
from recherche.games.collisions import end_of
from recherche.games.families import Symbols, family_of, right_answer
from recherche.games.protocol import StatefulModel, fingerprint
from recherche.games.quantisers import quantiser_of
from recherche.tasks import TASKS
from recherche.tasks.base import AbstractTask

VERSION = 1


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Two texts in one state.

    Attributes:
        claim: what is refuted, in words.
        task: `name`, `n`, `protocol` and `options` of the task.
        step: `model` (fingerprint) and `quantiser` of the automaton, and where its run was found.
        inputs: the two texts, in tokens.
        state: SHA-256 of the state that both end in.
        query: a question about either.
        answers: the right answer to it for each.
    """

    version: int
    claim: str
    task: dict[str, Any]
    n: int
    step: dict[str, Any]
    inputs: tuple[tuple[str, ...], tuple[str, ...]]
    state: str
    query: tuple[str, ...]
    answers: tuple[str, str]

    def to_json(self) -> str:
        """The certificate as a JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate in a JSON text.

        Raises:
            CertificateError: no certificate, or one of another version.
        """
        try:
            facts = json.loads(text)
            version, (one, other), answers = facts["version"], facts.pop("inputs"), tuple(facts.pop("answers"))
            certificate = cls(
                inputs=(tuple(one), tuple(other)), query=tuple(facts.pop("query")), answers=answers, **facts
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CertificateError(
                f"This is no certificate ({error}); give a file that a search has written."
            ) from error
        if version != VERSION:
            raise CertificateError(
                f"Certificates of version {VERSION} can be checked, this one has version {version}; "
                "use the release that wrote it."
            )
        return certificate

    def build_task(self) -> AbstractTask:
        """The task that the claim is about.

        Raises:
            ConfigError: there is no such task.
        """
        kind = lookup(TASKS, self.task["name"], what="task")
        return kind.configured(n=self.n, protocol=self.task["protocol"], **self.task["options"])


def certify(
    automaton: Automaton, pair: tuple[Symbols, Symbols], *, task: dict[str, Any], n: int, source: str
) -> Certificate:
    """The certificate for two texts that end in the same state.

    Args:
        task: `name`, `protocol` and `options` of the task.
        source: where the model was found, for people.
    """
    built = lookup(TASKS, task["name"], what="task").configured(n=n, protocol=task["protocol"], **task["options"])
    family, vocab = family_of(built), built.vocab
    texts = [vocab.decode(family.text(symbols)) for symbols in pair]
    query = vocab.decode(family.question(*pair))
    return Certificate(
        version=VERSION,
        claim=f"{source} with its state rounded to {automaton.quantiser.name} after every token solves "
        f"{task['name']} at n = {n}",
        task=task,
        n=n,
        step={
            "model": fingerprint(automaton.model),
            "quantiser": automaton.quantiser.name,
            "state_bits": automaton.state_bits,
            "source": source,
        },
        inputs=(texts[0], texts[1]),
        state=end_of(automaton, family.text(pair[0])),
        query=query,
        answers=(right_answer(built, texts[0] + query), right_answer(built, texts[1] + query)),
    )


def verify(certificate: Certificate, model: StatefulModel) -> str:
    """Check every statement of a certificate by running it; what the automaton answers to both texts.

    Raises:
        CertificateError: a statement does not hold.
    """
    named, found = certificate.step["model"], fingerprint(model)
    _demand(found == named, f"it is about model {named}, this is model {found}; give its own run")
    automaton = Automaton(model, quantiser_of(certificate.step["quantiser"]))
    task = certificate.build_task()
    _demand(certificate.inputs[0] != certificate.inputs[1], "its two texts are the same")
    num_tokens = len(family_of(task).text(np.zeros(family_of(task).length, dtype=np.int64)))
    said = []
    for text, answer in zip(certificate.inputs, certificate.answers, strict=True):
        _demand(
            len(text) == num_tokens, f"a text of the task has {num_tokens} tokens, one of its texts has {len(text)}"
        )
        right = right_answer(task, text + certificate.query)
        _demand(right == answer, f"the right answer is {right}, it states {answer}")
        ids = task.vocab.encode(text)
        _demand(end_of(automaton, ids) == certificate.state, "a text does not end in the state that it names")
        logits, _ = automaton.read(
            automaton.start(1), np.concatenate([ids, task.vocab.encode(certificate.query)])[None]
        )
        said.append(task.vocab.tokens[int(logits.argmax())])
    _demand(certificate.answers[0] != certificate.answers[1], "both texts have the same right answer")
    _demand(said[0] == said[1], "the model tells the two texts apart")
    return said[0]


def _demand(condition: bool, failure: str) -> None:
    if not condition:
        raise CertificateError(f"The certificate does not hold: {failure}.")
