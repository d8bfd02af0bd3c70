"""Every module says what it is; those that come from a paper say from which."""

import ast
import re

from tests.house.source import Module, package_modules

CITED = ("tasks", "mixers", "constructions", "games")
REFERENCE = re.compile(r"^References?: .*https?://", re.MULTILINE | re.DOTALL)
UNCITED = {  # module -> the reason why no paper is its source
    "recherche.mixers": "a table",
    "recherche.mixers.base": "our own contract",
    "recherche.mixers.contract": "checks of our own contract",
    "recherche.mixers.kv_cache": "a buffer",
    "recherche.mixers.new_process": "a check of our own contract",
    "recherche.mixers.projection": "a linear map",
    "recherche.mixers.state": "what can be done with any state",
    "recherche.tasks": "a table",
    "recherche.tasks.base": "our own contract",
    "recherche.tasks.edge_lists": "a file format",
    "recherche.tasks.grams": "random lists",
    "recherche.tasks.number_task": "what several tasks share",
    "recherche.tasks.rows": "padding",
    "recherche.tasks.symbols": "ids of tokens",
}


def undocumented(modules: dict[str, Module]) -> list[str]:
    """Modules without a docstring."""
    return [name for name, module in modules.items() if not ast.get_docstring(module.tree)]


def unreferenced(modules: dict[str, Module]) -> list[str]:
    """Modules of the cited packages whose docstring names no paper."""
    return [
        name
        for name, module in modules.items()
        if module.top in CITED and not REFERENCE.search(ast.get_docstring(module.tree) or "")
    ]


def test_every_module_says_what_it_is():
    assert undocumented(package_modules()) == []


def test_modules_that_come_from_a_paper_cite_it():
    assert unreferenced(package_modules()) == sorted(UNCITED)


def test_a_silent_module_and_one_without_a_reference_are_named():
    silent = Module("recherche.tasks.silent", "x = 1")
    uncited = Module("recherche.games.uncited", '"""A game without a source."""')
    modules = {module.name: module for module in (silent, uncited)}
    assert undocumented(modules) == [silent.name]
    assert unreferenced(modules) == [silent.name, uncited.name]
