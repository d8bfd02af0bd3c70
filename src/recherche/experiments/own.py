"""A run of any task with any mixers: what `recherche train --task ... --mixer ...` starts from.

    --task index                        the quick model of the architecture, on Index
    --mixer gla                         layers of GLA
    --mixer mamba,mamba,mamba,attention these layers, from the first to the last: a hybrid

Everything else is the quick recipe: width 64, a frozen orthogonal embedding, a learned head, SwiGLU of twice the width
after mixers that want one, Muon + AdamW. IsTree keeps its own number of steps and its curriculum; other tasks train
2,000 steps of 64 texts at their full size.
"""

from recherche._lookup import lookup
from recherche.experiments.config import EvaluationPlan, RunConfig, TaskConfig
from recherche.experiments.presets import default_config
from recherche.mixers import MIXERS
from recherche.mixers.base import LayerConfig
from recherche.models.config import LanguageModelConfig
from recherche.models.sizes import model_config
from recherche.tasks import IsTree
from recherche.training.optimizers import MuonAdamW
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import WarmupStableDecay

D_FFN = 128
_STEPS, _BATCH = 2000, 64


def own_config(task: TaskConfig, *, architecture: str = "transformer", mixers: str = "", seed: int = 0) -> RunConfig:
    """The quick recipe for any task and any mixers.

    Args:
        architecture: the model, unless mixers are named.
        mixers: one mixer for all layers, or those of the layers with commas between them.

    Raises:
        ConfigError: an unknown name, or a size or protocol that the task cannot have.
    """
    if task.name == IsTree.key:
        config = default_config(architecture, task.protocol, task.n, seed=seed)
    else:
        plan = TrainingPlan(num_steps=_STEPS, batch_size=_BATCH, optimizer=MuonAdamW(), schedule=WarmupStableDecay())
        size = "quick-retrieval" if task.protocol == "retrieval" else "quick-cot"
        config = RunConfig(
            architecture=architecture,
            size=size,
            task=task,
            model=model_config(architecture, size, vocab_size=len(task.build().vocab)),
            plans=(plan,),
            evaluation=EvaluationPlan(),
            seed=seed,
        )
    if not mixers:
        return config
    layers = layers_of(mixers, num_layers=len(config.model.layers))
    model = LanguageModelConfig.model_validate(dict(config.model) | {"layers": layers})
    return config.model_copy(update={"architecture": mixers, "model": model})


def layers_of(mixers: str, *, num_layers: int) -> tuple[LayerConfig, ...]:
    """The layers that names with commas between them stand for; a single name stands for `num_layers` of them.

    Raises:
        ConfigError: there is no mixer of that name.
    """
    kinds = [lookup(MIXERS, name, what="mixer") for name in mixers.split(",")]
    layers = tuple(kind(d_ffn=None if kind.stands_alone else D_FFN) for kind in kinds)
    return layers * num_layers if len(layers) == 1 else layers
