"""What the package never does: unpickle, draw from global generators, run text."""

import ast

import pytest

from tests.house.source import Module, package_modules

FORBIDDEN_IMPORTS = {"pickle", "dill", "joblib", "cloudpickle"}
FORBIDDEN_CALLS = {
    "torch.save": "weights are safetensors",
    "torch.load": "weights are safetensors",
    "torch.manual_seed": "generators are passed, never global",
    "torch.seed": "generators are passed, never global",
    "np.random.seed": "generators are passed, never global",
    "np.random.default_rng": "`recherche._rng` is the only place where a seed becomes randomness",
    "eval": "text is parsed, never run",
    "exec": "text is parsed, never run",
}
ALLOWED = {  # module -> (call, the reason)
    "recherche.games.hf_subjects": ("exec", "the recipe that a report prints is the code that made the model"),
}


def forbidden(modules: dict[str, Module]) -> list[str]:
    """Sentences about forbidden imports and calls."""
    problems = []
    for name, module in modules.items():
        found = FORBIDDEN_IMPORTS & {imported.split(".")[0] for imported in module.imports()}
        problems += [f"{name} imports {imported}" for imported in sorted(found)]
        calls = {ast.unparse(node.func) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
        calls -= set(ALLOWED.get(name, ())[:1])
        problems += [f"{name} calls {call}: {FORBIDDEN_CALLS[call]}" for call in sorted(FORBIDDEN_CALLS.keys() & calls)]
    return problems


def test_nothing_forbidden_is_imported_or_called():
    assert forbidden(package_modules()) == []


@pytest.mark.parametrize(
    "text",
    ["import pickle", "from joblib import dump", "import torch\ntorch.load('x')", "np.random.seed(0)", "eval('1')"],
)
def test_a_forbidden_line_is_named(text: str):
    assert len(forbidden({"recherche.x": Module("recherche.x", text)})) == 1
