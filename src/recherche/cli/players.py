"""Who plays the streaming game: trained runs, a theorem's programs, a folder of transformers.

Each is a function from a size and a quantiser to what one game shows, with what a table and a figure need to know.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recherche._lookup import lookup
from recherche.errors import ConfigError

if TYPE_CHECKING:
    from recherche.constructions.construction import Construction
    from recherche.games.capacity import Capacity
    from recherche.games.quantisers import AbstractQuantiser
    from recherche.tasks.base import AbstractTask


class Game(NamedTuple):
    """What all players of one command share.

    Attributes:
        num_texts: texts at each size.
    """

    seed: int
    num_texts: int

    def generator(self, n: int) -> Any:
        """What draws the texts of a size; the same for every player."""
        from recherche._rng import numpy_generator

        return numpy_generator(self.seed, f"capacity-{n}")


class Player(NamedTuple):
    """A model that plays.

    Attributes:
        facts: `label`, `architecture`, `task` and where it comes from, for each line.
        sizes: the n that are played unless others are named.
    """

    facts: dict[str, str]
    sizes: tuple[int, ...]
    play: "Callable[[int, AbstractQuantiser, Game], Capacity]"


def players_of(runs: Sequence[Path], programs: Sequence[str], hf: Sequence[str]) -> list[Player]:
    """All that were named; runs in a folder of a sweep or a grid are all its cells.

    Raises:
        ConfigError: none, or one that is not there, or they play different games.
    """
    found = [_trained(cell) for folder in runs for cell in cells_of(folder)]
    found += [_construction(name) for name in programs]
    found += [_pretrained(path) for path in hf]
    labels = [player.facts["label"] for player in found]
    for player in found:
        if labels.count(player.facts["label"]) > 1:
            player.facts["label"] = player.facts.get("run", player.facts["label"])
    tasks = sorted({player.facts["task"] for player in found})
    if not found:
        raise ConfigError("Nobody plays; name a --run, a --program or a folder of transformers with --hf.")
    if len(tasks) > 1:
        raise ConfigError(f"One picture is about one task, but these play {' and '.join(tasks)}; play each apart.")
    return found


def cells_of(folder: Path) -> list[Path]:
    """The folder of a run itself, or all runs of the sweep or grid in it."""
    if (folder / "config.json").is_file():
        return [folder]
    return sorted(path.parent for path in (folder / "cells").glob("*/config.json")) or [folder]


def _trained(folder: Path) -> Player:
    from recherche.experiments.runs import load_run
    from recherche.games.capacity import measure_capacity
    from recherche.tasks.base import affordable

    run = load_run(folder)
    chosen = run.config

    def play(n: int, quantiser: "AbstractQuantiser", game: Game) -> "Capacity":
        return measure_capacity(
            run.model,
            affordable(run.task.at_size(n)),
            quantiser=quantiser,
            generator=game.generator(n),
            num_texts=game.num_texts,
        )

    label = chosen.architecture if folder.parent.name == "cells" else run.folder.name
    facts = {"label": label, "architecture": chosen.architecture, "task": chosen.task.name, "run": str(run.folder)}
    return Player(facts, (run.task.size,), play)


def _construction(name: str) -> Player:
    from recherche.constructions.catalogue import CONSTRUCTIONS
    from recherche.constructions.compiler import compile_program
    from recherche.games.capacity import measure_capacity
    from recherche.games.deals import deal

    construction = lookup(CONSTRUCTIONS, name, what="program")
    key = task_key_of(construction)

    def play(n: int, quantiser: "AbstractQuantiser", game: Game) -> "Capacity":
        task = task_of(key, n)
        model = compile_program(construction.program(deal(task, game.generator(n), 1).length))
        return measure_capacity(
            model,
            task,
            quantiser=quantiser,
            generator=game.generator(n),
            num_texts=game.num_texts,
            vocab=model.vocab,
        )

    facts = {"label": name, "architecture": construction.architecture, "task": key, "program": name}
    return Player(facts, (8, 16, 32), play)


def task_key_of(construction: "Construction") -> str:
    """The task that a program solves.

    Raises:
        ConfigError: none that has a game, or it searches its own text.
    """
    kind = construction.name.rpartition("-")[0]
    games = {"index": "index", "ar": "recall", "3gram": "cgram", "counting": "counting", "istree": "istree"}
    if construction.read_query is not None or kind not in games:
        raise ConfigError(
            f"{construction.name} plays no game: it searches its text, or solves none of {', '.join(games.values())}; "
            "choose a program such as index-transformer or index-hybrid."
        )
    return games[kind]


def task_of(key: str, n: int) -> "AbstractTask":
    """A program's task: lists of n tokens, or trees on n vertices with a chain of thought."""
    from recherche.tasks import TASKS
    from recherche.tasks.base import affordable

    return affordable(TASKS[key].configured(n=n, protocol="cot" if key == "istree" else "direct"))


def _pretrained(path: str) -> Player:
    from recherche.games.phone_book import load_reader

    reader = load_reader(path)

    def play(n: int, quantiser: "AbstractQuantiser", game: Game) -> "Capacity":
        return reader.play(n, quantiser=quantiser, generator=game.generator(n), num_texts=game.num_texts)

    facts = {"label": Path(path).name, "architecture": reader.family, "task": "phone book", "hf": path}
    return Player(facts, (8, 16, 32), play)


def rows_of(players: Sequence[Player], sizes: Sequence[int], quantisers: Sequence[str], game: Game) -> Iterator[dict]:
    """A line for each player, quantiser and size, as soon as it has been played."""
    from recherche.evaluation import wilson_interval
    from recherche.games.quantisers import quantiser_of

    chosen = [quantiser_of(name) for name in quantisers]
    for player in players:
        for quantiser in chosen:
            for n in sizes or player.sizes:
                found = player.play(n, quantiser, game)
                low, high = wilson_interval(found.accuracy * found.num_texts, found.num_texts)
                yield player.facts | found.as_json() | {"accuracy_low": low, "accuracy_high": high}
