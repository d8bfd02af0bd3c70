"""What is forced is read at the pace of the others, and in one pass where all are forced."""

from typing import Any

import pytest
import torch
from transformers import MaxTimeCriteria, StoppingCriteria, StoppingCriteriaList

from recherche.games.hf_subjects import tiny_subject
from recherche.lm.decode_loop import EndReason
from tests.lm.scripted import Scripted, random_rows
from tests.lm.test_custom_generate import generate


def passes_of(family: str, scripts: list[dict[int, list[int]]], **options: Any) -> list[int]:
    """Lengths of the passes that generating makes through a model."""
    model, lengths = tiny_subject(family).model, []
    rows = random_rows([6] * len(scripts))
    generate(model, rows, [Scripted({}) for _ in rows], max_new_tokens=1)  # what holds for the family is measured here
    forward = model.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        lengths.append(kwargs["input_ids"].shape[1])
        return forward(*args, **kwargs)

    model.forward = counted
    # `generate` looks at the arguments of forward
    counted.__wrapped__ = forward  # type: ignore[attr-defined]
    generate(model, rows, [Scripted(script) for script in scripts], max_new_tokens=10, **options)
    return lengths


@pytest.mark.parametrize(
    ("family", "scripts", "passes"),
    [
        pytest.param("llama", [{2: [7] * 5}], [6, 1, 6, 1, 1], id="one row, right in chunks"),
        pytest.param("mamba", [{2: [7] * 5}], [6] + [1] * 9, id="one row, wrong in chunks"),
        pytest.param("llama", [{2: [7] * 5}, {}], [6] + [1] * 9, id="another row samples"),
        pytest.param("llama", [{2: [7] * 5}, {2: [8] * 3}], [6, 1, 4] + [1] * 4, id="all rows as far as all wait"),
        pytest.param("rwkv", [{2: [7] * 5}], [6, 1, 6, 1, 1], id="a row alone of a family that mixes rows"),
    ],
)
def test_chunks_are_read_where_every_row_waits_and_the_family_is_right(
    family: str, scripts: list[dict[int, list[int]]], passes: list[int]
) -> None:
    assert passes_of(family, scripts) == passes


def test_where_every_step_is_asked_for_every_step_is_made() -> None:
    assert passes_of("llama", [{2: [7] * 5}], output_logits=True) == [6] + [1] * 9


def test_an_insertion_is_cut_where_the_budget_of_tokens_ends() -> None:
    [row] = random_rows([6])
    output = generate(tiny_subject("llama").model, [row], [Scripted({2: [7] * 50})], max_new_tokens=10)
    assert output.rows.lengths == [10]
    assert output.rows.reasons == [EndReason.LENGTH]
    assert output.sequences[0, 8:].tolist() == [7] * 8


class _AfterFour(StoppingCriteria):
    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        return torch.full((len(input_ids),), input_ids.shape[1] >= 10)


@pytest.mark.parametrize(
    ("criterion", "reason"),
    [
        pytest.param(MaxTimeCriteria(0.0), EndReason.TIME, id="time"),
        pytest.param(_AfterFour(), EndReason.CRITERION, id="a criterion of the user"),
    ],
)
def test_the_reason_why_a_row_stopped_is_named(criterion: StoppingCriteria, reason: EndReason) -> None:
    [row] = random_rows([6])
    output = generate(
        tiny_subject("llama").model, [row], [Scripted({})], stopping_criteria=StoppingCriteriaList([criterion])
    )
    assert output.rows.reasons == [reason]
