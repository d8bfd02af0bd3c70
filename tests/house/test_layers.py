"""Imports point strictly down the ranks, and never in a circle inside a package."""

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.source import Module, package_modules, target_of

RANKS = {
    name: rank
    for rank, names in enumerate(
        (
            "errors",
            "_files _lookup _rng _tensors precision vocab queries text_queries",
            "kernels machines",
            "tasks texts mixers retrieval",
            "models batching",
            "decoding",
            "constructions games evaluation",
            "training lm",
            "experiments report",
            "cli",
        )
    )
    for name in names.split()
}
ROOT_TABLE = ""  # recherche/__init__.py loads nothing by itself, so it may name anything and anything may name it
WITHOUT_TORCH = (
    *("errors", "_lookup", "vocab", "queries", "text_queries", "machines"),
    *("tasks", "texts", "retrieval", "report"),
)


def illegal_imports(modules: dict[str, Module]) -> list[str]:
    """Sentences about imports that do not point down."""
    problems = []
    for module in modules.values():
        for imported in module.imports():
            target = target_of(imported, set(modules))
            there = modules[target].top if target else ROOT_TABLE
            if ROOT_TABLE in (module.top, there) or there == module.top:
                continue
            if RANKS[there] >= RANKS[module.top]:
                problems.append(f"{module.name} (rank {RANKS[module.top]}) imports {imported} (rank {RANKS[there]})")
    return problems


def circle(modules: dict[str, Module]) -> list[str]:
    """A circle of imports, if there is one."""
    known = set(modules)
    graph = {
        name: {target_of(imported, known) for imported in module.imports_when_run()} - {"", name, "recherche"}
        for name, module in modules.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def torch_importers(modules: dict[str, Module]) -> list[str]:
    """Modules that must do without torch and import it."""
    return [
        module.name
        for module in modules.values()
        if module.top in WITHOUT_TORCH and any(name.split(".")[0] == "torch" for name in module.imports())
    ]


def made_up(**texts: str) -> dict[str, Module]:
    """Modules that exist only in a test; `tasks__x` stands for `recherche.tasks.x`."""
    names = {f"recherche.{key.replace('__', '.')}": text for key, text in texts.items()}
    return {name: Module(name, text) for name, text in names.items()}


def test_every_top_level_name_has_a_rank():
    assert {module.top for module in package_modules().values()} - {ROOT_TABLE} <= set(RANKS)


def test_imports_point_strictly_down():
    assert illegal_imports(package_modules()) == []


def test_no_file_imports_itself_through_others():
    assert circle(package_modules()) == []


def test_tasks_retrieval_and_reports_do_without_torch():
    assert torch_importers(package_modules()) == []


@pytest.mark.parametrize(
    ("here", "imported"),
    [
        pytest.param("tasks__x", "recherche.models", id="upwards"),
        pytest.param("tasks__x", "recherche.retrieval", id="sideways"),
        pytest.param("games__x", "recherche.constructions.primitives", id="games never import constructions"),
    ],
)
def test_an_import_that_does_not_point_down_is_named(here: str, imported: str):
    target = imported.removeprefix("recherche.").replace(".", "__")
    modules = made_up(**{here: f"def late():\n    from {imported} import thing\n", target: ""})
    assert len(illegal_imports(modules)) == 1


def test_a_circle_for_type_checkers_only_is_none():
    modules = made_up(tasks__a="import recherche.tasks.b", tasks__b="if TYPE_CHECKING:\n    import recherche.tasks.a")
    assert circle(modules) == []


def test_a_circle_inside_a_package_is_named():
    modules = made_up(tasks__a="import recherche.tasks.b", tasks__b="from recherche.tasks.a import thing")
    assert set(circle(modules)) == {"recherche.tasks.a", "recherche.tasks.b"}


def test_a_task_that_imports_torch_is_named():
    assert torch_importers(made_up(tasks__a="from torch import nn")) == ["recherche.tasks.a"]
