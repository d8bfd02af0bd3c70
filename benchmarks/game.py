"""The capacity game on Index: Alice reads each text once and Bob starts every question from her state, against reading
the text again for every question, batched as well.

Both sides answer all n questions about the same texts with the same untrained Mamba, one thread. The reference is timed
on fewer texts; its cost per question does not depend on how many there are once a batch is full.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch

from benchmarks.harness import Line, compare
from recherche.games.capacity import ask
from recherche.games.deals import Deal, deal
from recherche.games.protocol import receive, send
from recherche.games.quantisers import quantiser_of
from recherche.models.language_model import LanguageModel
from recherche.models.sizes import model_config
from recherche.tasks import Index

NUM_TEXTS, BATCH = 512, 256


def from_states(model: LanguageModel, task: Index, dealt: Deal) -> int:
    stop_ids = task.vocab.encode(task.answer_tokens).tolist()
    message = send(model, torch.from_numpy(dealt.texts), quantiser_of("float32"))
    state = receive(model, message.data)
    return ask(model, state, dealt.questions, deal=dealt, stop_ids=stop_ids).size


@torch.inference_mode()
def rereading(model: LanguageModel, dealt: Deal) -> int:
    num_questions = dealt.questions.shape[1]
    texts = np.repeat(dealt.texts, num_questions, axis=0)
    prompts = torch.from_numpy(np.concatenate([texts, dealt.questions.reshape(len(texts), -1)], axis=1))
    return sum(len(model.prefill(batch)[0].argmax(dim=1)) for batch in prompts.split(BATCH))


def lines() -> Iterator[Line]:
    for n in (64, 256):
        task = Index(n=n)
        model = LanguageModel(model_config("mamba", "quick-cot", vocab_size=len(task.vocab)))
        dealt = deal(task, np.random.default_rng(0), NUM_TEXTS)
        part = deal(task, np.random.default_rng(0), max(1, BATCH // n))
        yield Line.from_rates(
            "game capacity mamba",
            compare(partial(from_states, model, task, dealt), partial(rereading, model, part), repeats=3),
            reference_name="the whole prompt read again for each question",
            unit="questions/s",
            n=n,
        )
