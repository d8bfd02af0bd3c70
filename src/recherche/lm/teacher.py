"""`transformers.Trainer` on lessons: its loop, checkpoints, resuming and reports; our loss, our evaluation.

Nothing is drawn but by the number of the lesson, so that a teaching that was stopped goes on with the same numbers.
"""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn
from transformers import Trainer, TrainerCallback, TrainingArguments
from typing_extensions import override

from recherche._lookup import lookup
from recherche.errors import ConfigError
from recherche.lm.lesson_loss import lesson_loss
from recherche.lm.lesson_mixture import LessonMixture, collate
from recherche.lm.teaching import FULL_RATE, LORA_RATE, Teaching

TRACKERS = MappingProxyType(dict.fromkeys(("tensorboard", "wandb", "trackio"), "a tracker"))
"""What a teaching can report to, by the name of Trainer, which is that of the package too."""

SAVES = 20
"""At least so many during a teaching; what a crash can cost is the time between two of them."""

MOST_BETWEEN = 200
"""Steps between two checkpoints, at most."""


class Surroundings(NamedTuple):
    """What does not change numbers.

    Attributes:
        device: cpu or cuda.
        report_to: trackers of `TRACKERS` that Trainer reports to.
        stop: asked after each step; True ends the teaching after saving it.
    """

    device: str = "cpu"
    report_to: tuple[str, ...] = ()
    stop: Callable[[], bool] = lambda: False


class Goals(NamedTuple):
    """What the loss and the evaluations need to know.

    Attributes:
        search_start: the token that begins a search.
        measure: evaluates the model as it is now, name -> number.
    """

    search_start: int
    measure: Callable[[], dict[str, float]]


@final
class Teacher(Trainer):
    """A Trainer of lessons.

    Args:
        model: what is trained: a model of transformers, with adapters perhaps, or `OwnKernels`.
        folder: where it is saved on the way, in `checkpoint-STEP`, and where reports are.

    Raises:
        ConfigError: a tracker is unknown or not installed.
    """

    def __init__(
        self,
        model: nn.Module,
        lessons: LessonMixture,
        *,
        teaching: Teaching,
        surroundings: Surroundings,
        folder: Path,
        goals: Goals,
    ) -> None:
        for tracker in surroundings.report_to:
            if lookup(TRACKERS, tracker, what="tracker") and find_spec(tracker) is None:
                raise ConfigError(f"Reporting to {tracker} needs the package {tracker}; pip install {tracker}.")
        rate = teaching.rate or (LORA_RATE if hasattr(model, "peft_config") else FULL_RATE)
        super().__init__(
            model=model,
            args=arguments(teaching, surroundings, folder=folder, rate=rate),
            train_dataset=lessons,
            eval_dataset=lessons,  # asked for where evaluations are; `evaluate` has its own
            data_collator=collate,
            callbacks=[StopWhenAsked(surroundings.stop)],
        )
        self.model_accepts_loss_kwargs = False  # each pass has a mean of its own, and a step their mean
        self._goals, self._folder = goals, folder

    def teach(self) -> None:
        """Train from the last checkpoint on, or from the beginning, and evaluate at the end."""
        checkpoint = last_checkpoint(self._folder)
        self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        evaluated = [row["step"] for row in self.state.log_history if any(name.startswith("eval_") for name in row)]
        if self.state.global_step == self.state.max_steps and self.state.global_step not in evaluated:
            self.evaluate()
        # From here on the model computes in the type of its weights again, and not as Trainer has made it.
        self.accelerator.unwrap_model(self.model, keep_fp32_wrapper=False)

    @override
    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Tensor | Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        """`lesson_loss` of a batch.

        Raises:
            ConfigError: it is not a number.
        """
        output = model(input_ids=inputs["input_ids"], use_cache=False)
        loss = lesson_loss(output.logits, inputs["labels"], inputs["may_search"], start=self._goals.search_start)
        if not loss.isfinite():
            raise ConfigError(f"The loss is {float(loss.detach())}; lower the learning rate, or train in float32.")
        return (loss, output) if return_outputs else loss

    @override
    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Measure, and report what was found as Trainer reports."""
        model = self.model
        assert model is not None
        was_training = model.training
        model.eval()
        with torch.random.fork_rng():  # an evaluation must not change what is drawn later
            metrics = {f"eval_{name}": value for name, value in self._goals.measure().items()}
        model.train(was_training)
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


@final
class StopWhenAsked(TrainerCallback):
    """Saves and ends a training after the step in which somebody asked for it."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Ask."""
        if self._stop():
            control.should_save = control.should_training_stop = True
        return control


def arguments(teaching: Teaching, surroundings: Surroundings, *, folder: Path, rate: float) -> TrainingArguments:
    """The teaching in the words of Trainer."""
    return TrainingArguments(
        output_dir=str(folder),
        run_name=folder.name,
        project="recherche",
        max_steps=teaching.steps,
        per_device_train_batch_size=teaching.batch_size,
        gradient_accumulation_steps=teaching.accumulation,
        learning_rate=rate,
        lr_scheduler_type="cosine",
        warmup_steps=0.05,
        weight_decay=0.0,
        bf16=teaching.precision == "bfloat16",
        logging_steps=max(1, teaching.steps // 100),
        save_steps=max(1, min(MOST_BETWEEN, teaching.steps // SAVES)),
        save_total_limit=2,
        eval_strategy="steps",
        eval_steps=teaching.pause,
        seed=teaching.seed,
        train_sampling_strategy="sequential",  # the mixture has its own order
        remove_unused_columns=False,
        dataloader_pin_memory=surroundings.device != "cpu" and torch.cuda.is_available(),
        use_cpu=surroundings.device == "cpu",
        report_to=[*surroundings.report_to] or "none",
    )


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint; Trainer writes its own state last, so a crash leaves none or half of it."""
    found = {int(path.name.partition("-")[2]): path for path in folder.glob("checkpoint-*") if _is_complete(path)}
    return found[max(found)] if found else None


def _is_complete(checkpoint: Path) -> bool:
    try:
        return bool(json.loads((checkpoint / "trainer_state.json").read_text()))
    except (OSError, ValueError):
        return False
