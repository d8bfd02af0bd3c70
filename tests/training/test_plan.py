import pytest
from pydantic import ValidationError

from recherche.training.curriculum import Fixed
from recherche.training.optimizers import Adam
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import Cosine

VALUES = {"num_steps": 3, "batch_size": 2, "optimizer": {"kind": "adam", "lr": 0.1}, "schedule": {"kind": "cosine"}}


def test_a_plan_is_read_from_plain_values():
    plan = TrainingPlan.model_validate(VALUES)
    assert (plan.optimizer, plan.schedule, plan.curriculum) == (Adam(lr=0.1), Cosine(), Fixed())
    assert TrainingPlan.model_validate(plan.model_dump(mode="json")) == plan


@pytest.mark.parametrize(
    "wrong", [{"num_steps": 0}, {"batch_size": 0}, {"clip_norm": 0.0}, {"optimizer": {"kind": "sgd"}}, {"epochs": 1}]
)
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ValidationError):
        TrainingPlan.model_validate(VALUES | wrong)
