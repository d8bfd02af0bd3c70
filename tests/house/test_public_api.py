"""The names that the package promises: pinned here, so that a change of them is a decision."""

import ast
import importlib
import re

import pytest

import recherche
from tests.house.source import PACKAGE

PUBLIC = [
    "MIXERS",
    "PRESETS",
    "TASKS",
    "AttentionLayer",
    "Direct",
    "EulerTour",
    "IsTree",
    "LanguageModel",
    "LanguageModelConfig",
    "MambaLayer",
    "RechercheError",
    "RetrievalTour",
    "Retriever",
    "Run",
    "RunConfig",
    "Vocab",
    "evaluate_generated",
    "generate",
    "load_run",
]


def homes_for_type_checkers() -> dict[str, str]:
    """Name -> module, as written in the branch of the root module that only a type checker reads."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    [branch] = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {str(alias.asname): str(node.module) for node in imports for alias in node.names}


def test_the_public_names_are_these():
    assert recherche.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_the_one_of_its_home(name: str):
    home = importlib.import_module(homes_for_type_checkers()[name])
    assert getattr(recherche, name) is getattr(home, name)


def test_type_checkers_see_what_runs():
    assert homes_for_type_checkers() == dict(recherche._HOME_OF)


def test_names_are_listed_before_they_are_loaded():
    assert dir(recherche) == sorted([*PUBLIC, "__version__"])


def test_the_version_is_a_number():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", recherche.__version__)


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Is_Tree'"):
        _ = recherche.Is_Tree
