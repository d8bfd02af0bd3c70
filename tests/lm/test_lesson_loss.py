import pytest
import torch

from recherche._rng import torch_generator
from recherche.lm.lesson_loss import lesson_loss, prose_loss
from recherche.lm.lesson_mixture import IGNORED, collate
from recherche.lm.lessons import Lesson

V, START = 11, 4
LESSONS = [
    Lesson((1, 2, 4, 7, 9, 3, 5), (False, False, True, True, False, False, True), True),
    Lesson((1, 6, 2, 8), (False, False, True, True), False),
    Lesson((2, 3, 3, 9, 10), (True,) * 5, True),
]


def slowly(logits, lessons):
    """The definition, token by token."""
    means = []
    for row, lesson in enumerate(lessons):
        losses = []
        for t in range(1, len(lesson.ids)):
            if not lesson.written[t]:
                continue
            weights = {token: float(logits[row, t - 1, token].exp()) for token in range(V)}
            if not lesson.may_search:
                del weights[START]
            losses.append(-torch.tensor(weights[lesson.ids[t]] / sum(weights.values())).log())
        means.append(sum(losses) / len(losses))
    return sum(means) / len(means)


def loss_of(logits, lessons):
    batch = collate(lessons)
    return lesson_loss(logits, batch["labels"], batch["may_search"], start=START)


@pytest.mark.parametrize("lessons", [LESSONS, LESSONS[:1], LESSONS[1:2]], ids=["mixture", "search", "direct"])
def test_the_loss_is_that_of_the_definition(lessons):
    longest = max(len(lesson.ids) for lesson in lessons)
    logits = torch.randn(len(lessons), longest, V, generator=torch_generator(0, "logits"))
    assert float(loss_of(logits, lessons)) == pytest.approx(float(slowly(logits, lessons)), rel=1e-5)


def test_only_tokens_that_are_written_have_a_gradient():
    logits = torch.randn(3, 7, V, generator=torch_generator(0, "logits")).requires_grad_()
    loss_of(logits, LESSONS).backward()
    moved = logits.grad.abs().sum(-1) > 0
    for row, lesson in enumerate(LESSONS):
        expected = [t + 1 < len(lesson.ids) and lesson.written[t + 1] for t in range(7)]
        assert moved[row].tolist() == expected
    assert (logits.grad[1, :, START] == 0).all()
    assert (logits.grad[0, moved[0], START] != 0).all()


def test_a_lesson_without_a_loss_does_no_harm():
    logits = torch.randn(2, 2, V, generator=torch_generator(0, "logits")).requires_grad_()
    loss = loss_of(logits, [Lesson((1, 2), (False, True), True), Lesson((3,), (True,), True)])
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()


def test_the_loss_of_prose_counts_tokens_alike():
    logits = torch.randn(7, V, generator=torch_generator(0, "logits")).log_softmax(-1)

    def read(ids):
        return logits[: ids.shape[1]].expand(len(ids), -1, -1)

    lessons = [Lesson((2, 3, 3, 9, 10), (True,) * 5, True), Lesson((5, 1), (True,) * 2, True)] * 3
    losses = [-logits[t - 1, lesson.ids[t]] for lesson in lessons for t in range(1, len(lesson.ids))]
    found = prose_loss(read, lessons, batch_size=4, device=torch.device("cpu"))
    assert found == pytest.approx(float(sum(losses) / len(losses)), rel=1e-5)


def test_padding_has_no_label():
    batch = collate(LESSONS)
    assert batch["input_ids"].shape == (3, 7)
    assert (batch["labels"][1] == IGNORED).tolist() == [True, True, False, False, True, True, True]
