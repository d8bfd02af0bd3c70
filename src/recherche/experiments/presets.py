"""The grids that `recherche reproduce` runs: which cells, of what size, trained how.

    smoke     n = 6, nine cells in under two minutes: does everything work?
    quick     n = 16, the paper's first column, a quarter of an hour on two cores
    laptop    n = 16, 32, 64 by the quick recipe, a few hours on two cores
    paper-16  the n = 16 column of Figures 2 and 5 by the paper's own sizes and recipe (27 cells, a GPU)
    paper     all 108 cells

The quick recipe departs from the paper's where a laptop needs it: Muon + AdamW instead of Adam, a self-paced curriculum
over n, a frozen orthogonal embedding with a learned head, QK-norm, SwiGLU of twice the width, 2 to 4 layers and a Mamba
state of 4.
Within one protocol and n every architecture trains on the same number of samples.

Reference: Wen, Dang & Lyu (2024), Section 6 and Appendix B, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import NamedTuple, final

from recherche._lookup import lookup
from recherche.experiments.config import EvaluationPlan, RunConfig, TaskConfig
from recherche.models.sizes import ARCHITECTURES, model_config
from recherche.training.curriculum import Curriculum, Fixed, SelfPaced
from recherche.training.optimizers import Adam, MuonAdamW
from recherche.training.plan import TrainingPlan
from recherche.training.schedules import Cosine, WarmupStableDecay

PROTOCOLS = ("direct", "cot", "retrieval")
PAPER_SIZES = ("0.5M", "1M", "2M")


@final
class Recipe(NamedTuple):
    """What one protocol at one n costs under the quick recipe: equal for all architectures.

    Attributes:
        num_steps: training steps.
        batch_size: samples a step.
        curriculum: how n grows.
        num_samples: graphs that the accuracy is measured on.
        naming: which names the vertices of graphs below the final n get ("first": 1..n', "random": any).
    """

    num_steps: int
    batch_size: int
    curriculum: Curriculum
    num_samples: int
    naming: str = "first"


@final
class Preset(NamedTuple):
    """A named grid.

    Attributes:
        summary: one line for `--help` and the report.
        cells: name and configuration of every cell, given the seed.
    """

    summary: str
    cells: Callable[[int], Iterator[tuple[str, RunConfig]]]


_COT = SelfPaced(start_n=8, threshold=0.45)
_RETRIEVAL = SelfPaced(start_n=6, threshold=0.2)

_SMOKE = {
    "direct": Recipe(60, 32, Fixed(), 500),
    "cot": Recipe(150, 32, Fixed(), 200),
    "retrieval": Recipe(150, 16, Fixed(), 200),
}
_QUICK = {
    "direct": Recipe(250, 64, Fixed(), 5000),
    "cot": Recipe(2400, 32, _COT, 2000),
    "retrieval": Recipe(500, 16, _RETRIEVAL, 1000),
}
_LAPTOP = {
    16: _QUICK,
    32: {
        "direct": Recipe(500, 64, Fixed(), 5000),
        "cot": Recipe(8000, 32, _COT, 2000),
        "retrieval": Recipe(1500, 16, _RETRIEVAL, 1000),
    },
    64: {
        "direct": Recipe(500, 64, Fixed(), 5000),
        "cot": Recipe(16000, 32, _COT, 1000),
        "retrieval": Recipe(3000, 16, _RETRIEVAL, 500),
    },
}


def _quick_cells(n: int, recipes: dict[str, Recipe], seed: int) -> Iterator[tuple[str, RunConfig]]:
    for protocol in PROTOCOLS:
        for architecture in ARCHITECTURES:
            yield (
                f"{architecture}-{protocol}-n{n}",
                quick_config(architecture, protocol, n, recipes[protocol], seed=seed),
            )


def quick_config(architecture: str, protocol: str, n: int, recipe: Recipe, *, seed: int = 0) -> RunConfig:
    """One cell by the quick recipe."""
    task = TaskConfig(name="istree", n=n, protocol=protocol, options={"naming": recipe.naming})
    size = "quick-retrieval" if protocol == "retrieval" else "quick-cot"
    plan = TrainingPlan(
        num_steps=recipe.num_steps,
        batch_size=recipe.batch_size,
        optimizer=MuonAdamW(),
        schedule=WarmupStableDecay(),
        curriculum=recipe.curriculum,
    )
    return RunConfig(
        architecture=architecture,
        size=size,
        task=task,
        model=model_config(architecture, size, vocab_size=len(task.build().vocab)),
        plans=(plan,),
        evaluation=EvaluationPlan(num_samples=recipe.num_samples),
        seed=seed,
    )


def default_config(architecture: str, protocol: str, n: int, *, seed: int = 0) -> RunConfig:
    """The quick recipe at any n: what `recherche train` starts from.

    Raises:
        ConfigError: an unknown architecture or protocol, or an n that is too small.
    """
    recipe = lookup(_QUICK, protocol, what="protocol")
    return quick_config(architecture, protocol, n, recipe, seed=seed)


def paper_config(architecture: str, protocol: str, n: int, size: str, *, seed: int = 0) -> RunConfig:
    """One cell by the paper's recipe: a million samples, or five where a million leaves validation below 0.97."""
    task = TaskConfig(name="istree", n=n, protocol=protocol)
    adam = Adam(lr=1e-3 if architecture == "transformer" else 3e-4)
    plans = tuple(
        TrainingPlan(num_steps=num_samples // 64, batch_size=64, optimizer=adam, schedule=Cosine(), log_every=100)
        for num_samples in (1_000_000, 5_000_000)
    )
    return RunConfig(
        architecture=architecture,
        size=size,
        task=task,
        model=model_config(architecture, size, vocab_size=len(task.build().vocab)),
        plans=plans,
        evaluation=EvaluationPlan(num_samples=5000),
        seed=seed,
    )


def _paper_cells(sizes_of_graphs: tuple[int, ...], seed: int) -> Iterator[tuple[str, RunConfig]]:
    for n in sizes_of_graphs:
        for protocol in PROTOCOLS:
            for architecture in ARCHITECTURES:
                for size in PAPER_SIZES:
                    name = f"{architecture}-{protocol}-n{n}-{size}"
                    yield name, paper_config(architecture, protocol, n, size, seed=seed)


def _laptop_cells(seed: int) -> Iterator[tuple[str, RunConfig]]:
    for n, recipes in _LAPTOP.items():
        yield from _quick_cells(n, recipes, seed)


PRESETS = MappingProxyType(
    {
        "smoke": Preset("n = 6, nine small cells, under two minutes", lambda seed: _quick_cells(6, _SMOKE, seed)),
        "quick": Preset(
            "n = 16, the paper's first column, 15 minutes on 2 cores", lambda seed: _quick_cells(16, _QUICK, seed)
        ),
        "laptop": Preset("n = 16, 32, 64 by the quick recipe, a few hours on 2 cores", _laptop_cells),
        "paper-16": Preset("n = 16 by the paper's sizes and recipe, 27 cells", lambda seed: _paper_cells((16,), seed)),
        "paper": Preset("all 108 cells of Figures 2 and 5", lambda seed: _paper_cells((16, 32, 64, 128), seed)),
    }
)
