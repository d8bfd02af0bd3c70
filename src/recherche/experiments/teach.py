"""Teach a language model of transformers to search: a folder in, a folder out that loads by itself.

OUT/config.json, model.safetensors, tokenizer files      what AutoModelForCausalLM and AutoTokenizer load
OUT/teaching.json       what was taught, losses, accuracies on the way, loss of prose before and after, versions
OUT/checkpoints/        while it runs; the same command goes on from the last one
"""

import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from recherche._files import replacing_folder
from recherche._rng import torch_generator
from recherche.errors import ConfigError
from recherche.experiments.cell import Stopped
from recherche.experiments.files import read_json, write_json
from recherche.experiments.versions import device_name, versions
from recherche.lm.adapters import merged, with_adapters
from recherche.lm.folder import load_language_model
from recherche.lm.lesson_loss import Read, prose_loss
from recherche.lm.lesson_mixture import LessonMixture, collate
from recherche.lm.lessons import Lesson, LessonWriter
from recherche.lm.markers import add_search_tokens
from recherche.lm.own_kernels import OwnKernels, own_kernels
from recherche.lm.teacher import Goals, Surroundings, Teacher
from recherche.lm.teaching import Teaching
from recherche.lm.teaching_measures import Measured, accuracy, measured, require_fit

RECORD = "teaching.json"
EVALUATED = "eval_"
"""Trainer's prefix of what was measured."""

PROSE_PIECES = 32
"""Pieces of held-out prose on which the old ability is measured."""


class Pupil(NamedTuple):
    """A model that is taught, and all that was made for it.

    Attributes:
        original: the model of transformers; with search tokens, and in float32 where all its weights are trained.
        trained: what Trainer trains: the original, adapters around it, or a copy on our kernels.
        way: how that is called in the record.
        dtype: number type of the folder.
        num_tokens: size of the vocabulary without search tokens.
    """

    original: Any
    trained: Any
    tokenizer: Any
    way: str
    dtype: torch.dtype
    num_tokens: int

    def read(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """Logits after each token."""
        return self.trained(input_ids=ids, use_cache=False).logits

    def read_before(self, ids: Int[Tensor, "b t"]) -> Float[Tensor, "b t v"]:
        """The same without search tokens: what the folder says, before anything is taught."""
        return self.read(ids)[..., : self.num_tokens]

    def writing(self) -> Any:
        """The model of transformers that generates, with the weights of now."""
        if isinstance(self.trained, OwnKernels):
            self.trained.write_back(self.original)
        return self.original.eval()


class Material(NamedTuple):
    """What it is taught and measured with.

    Attributes:
        prose: pieces that are not taught.
        kinds: what is measured, by name.
    """

    mixture: LessonMixture
    prose: list[Lesson]
    kinds: dict[str, Measured]
    search_start: int


def teach(folder: Path, out: Path, teaching: Teaching, *, surroundings: Surroundings | None = None) -> dict[str, Any]:
    """Teach the model of a folder, and return what `OUT/teaching.json` holds.

    The same call goes on where an earlier one was stopped, and does nothing where one was finished.

    Args:
        surroundings: device, trackers, and who may stop it.

    Raises:
        ConfigError: the folder, the teaching or `out` cannot be used.
        CodecError: the tokenizer cannot write the lessons.
        Stopped: it was asked to stop, and has saved.
    """
    surroundings = surroundings or Surroundings()
    record = _claim(folder, out, teaching)
    if record["finished"]:
        return record
    started = time.perf_counter()
    pupil = _load(folder, teaching, surroundings.device)
    material = _material(pupil, teaching)
    if "prose_loss" not in record:
        record["prose_loss"] = {"before": _prose_loss(pupil.read_before, pupil, material, teaching)}
        write_json(out / RECORD, record)
    teacher = Teacher(
        pupil.trained,
        material.mixture,
        teaching=teaching,
        surroundings=surroundings,
        folder=out,
        goals=Goals(material.search_start, lambda: _measure(pupil, material, teaching)),
    )
    teacher.teach()
    record["seconds"] = record.get("seconds", 0.0) + time.perf_counter() - started
    if teacher.state.global_step < teaching.steps:
        write_json(out / RECORD, record)
        raise Stopped
    record["prose_loss"]["after"] = _prose_loss(pupil.read, pupil, material, teaching)
    history = teacher.state.log_history
    record |= {
        "way": pupil.way,
        "num_parameters": sum(weight.numel() for weight in pupil.original.parameters()),
        "num_trained": sum(weight.numel() for weight in pupil.trained.parameters() if weight.requires_grad),
        "losses": [{"step": row["step"], "loss": row["loss"]} for row in history if "loss" in row],
        "evaluations": [_evaluation(row) for row in history if any(name.startswith(EVALUATED) for name in row)],
        "versions": versions(),
        "device": device_name(str(teacher.args.device)),
        "finished": True,
    }
    _save(pupil, material, out, record)
    return record


def _claim(folder: Path, out: Path, teaching: Teaching) -> dict[str, Any]:
    """The record of `out`, a new one if there is none.

    Raises:
        ConfigError: `out` holds another teaching, or something else.
    """
    fresh = {"folder": str(folder), "config": teaching.model_dump(mode="json"), "finished": False}
    if not (out / RECORD).is_file():
        if out.exists() and any(out.iterdir()):
            raise ConfigError(f"{out} holds files already, and no {RECORD}; choose a new folder for what is taught.")
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / RECORD, fresh)
        return fresh
    record = read_json(out / RECORD)
    found = record.get("config", {}) | {"folder": record.get("folder")}
    wanted = teaching.model_dump(mode="json") | {"folder": str(folder)}
    if other := [name for name in wanted if found.get(name) != wanted[name]]:
        raise ConfigError(
            f"{out} holds another teaching: {other[0]} was {found.get(other[0])!r}, and {wanted[other[0]]!r} is asked; "
            "give the same command to go on, or another folder."
        )
    return record


def _load(folder: Path, teaching: Teaching, device: str) -> Pupil:
    model, tokenizer = load_language_model(folder, device=device)
    dtype, num_tokens = model.dtype, model.get_input_embeddings().num_embeddings
    rank = teaching.lora_rank(sum(weight.numel() for weight in model.parameters()))
    if rank is None:
        model.float()
    add_search_tokens(model, tokenizer)
    if rank is not None:
        markers, generator = LessonWriter(tokenizer).markers, torch_generator(teaching.seed, "adapters")
        adapted = with_adapters(model, rank=rank, tokens=markers, generator=generator)
        return Pupil(model, adapted, tokenizer, f"LoRA of rank {rank}", dtype, num_tokens)
    if (copy := own_kernels(model)) is not None and teaching.precision == "float32":
        return Pupil(model, copy, tokenizer, "all weights, own kernels", dtype, num_tokens)
    return Pupil(model, model, tokenizer, "all weights", dtype, num_tokens)


def _material(pupil: Pupil, teaching: Teaching) -> Material:
    writer = LessonWriter(pupil.tokenizer)
    mixture, kinds = LessonMixture(teaching, writer), measured(teaching, writer)
    require_fit(pupil.original, kinds)
    return Material(mixture, mixture.held_out_prose(PROSE_PIECES), kinds, writer.markers.start)


def _prose_loss(read: Read, pupil: Pupil, material: Material, teaching: Teaching) -> float:
    pupil.trained.eval()
    return prose_loss(read, material.prose, batch_size=teaching.batch_size, device=pupil.original.device)


def _measure(pupil: Pupil, material: Material, teaching: Teaching) -> dict[str, float]:
    model = pupil.writing()
    return {"prose_loss": _prose_loss(pupil.read, pupil, material, teaching)} | {
        name: accuracy(model, pupil.tokenizer, kind, batch_size=teaching.batch_size)
        for name, kind in material.kinds.items()
    }


def _evaluation(row: dict[str, Any]) -> dict[str, Any]:
    found = {name.removeprefix(EVALUATED): value for name, value in row.items() if name.startswith(EVALUATED)}
    return {"step": row["step"], **found}


def _save(pupil: Pupil, material: Material, out: Path, record: dict[str, Any]) -> None:
    """The model as it loads by itself, its tokenizer, the record; checkpoints are not needed any more."""
    model = pupil.writing()
    if pupil.trained is not model and not isinstance(pupil.trained, OwnKernels):
        model = merged(pupil.trained, collate(material.prose[:2])["input_ids"])
    with replacing_folder(out) as draft:
        model.to(pupil.dtype).save_pretrained(draft)
        pupil.tokenizer.save_pretrained(draft)
    write_json(out / RECORD, record)
    for checkpoint in out.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
