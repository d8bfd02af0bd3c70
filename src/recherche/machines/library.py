"""The machines that ship with the package, read from `library/*.yaml`."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from recherche._lookup import lookup
from recherche.machines.machine import Machine, parse_machine, read_machine


@cache
def shipped_files() -> Mapping[str, str]:
    """The text of every shipped machine's file by the machine's name, in alphabetical order."""
    folder = resources.files("recherche.machines") / "library"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    return MappingProxyType({file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in files})


@cache
def shipped_machines() -> Mapping[str, Machine]:
    """Every shipped machine by name, in alphabetical order."""
    machines = (parse_machine(text, where=f"{name}.yaml") for name, text in shipped_files().items())
    return MappingProxyType({machine.name: machine for machine in machines})


def find_machine(name_or_path: str) -> Machine:
    """A shipped machine by its name, or the machine in a YAML file.

    Raises:
        ConfigError: no machine ships under that name.
        InputError: the file cannot be read or describes a bad machine.
    """
    if name_or_path.endswith((".yaml", ".yml")) or Path(name_or_path).is_file():
        return read_machine(Path(name_or_path))
    return lookup(shipped_machines(), name_or_path, what="machine")
