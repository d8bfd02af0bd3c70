"""A deterministic one-tape Turing machine, read from YAML: who may be where, and what happens there.

    name: increment
    description: adds one to a binary number, least significant bit last
    blank: _
    alphabet: ["0", "1"]                # symbols that an input word may hold
    start: right
    accept: [done]
    reject: []
    transitions:
      right:                            # state: {symbol read: [symbol written, L | R | S, next state]}
        "0": ["0", R, right]
        ...

Symbols are single characters. The tape symbols are the blank, the alphabet and whatever a transition writes. Every
state that does not halt has a transition for every tape symbol, so that a run never stops for want of a rule. The tape
is infinite in both directions; the head starts on cell 1, the first symbol of the word.

Reference: Turing (1936), On computable numbers, https://doi.org/10.1112/plms/s2-42.1.230
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, final

import yaml

from recherche.errors import InputError

Move = Literal["L", "R", "S"]
MOVES: tuple[Move, ...] = ("L", "R", "S")
STEP_OF_MOVE: Mapping[Move, int] = MappingProxyType({"L": -1, "R": 1, "S": 0})
FIELDS = ("name", "description", "blank", "alphabet", "start", "accept", "reject", "transitions")


@final
@dataclass(frozen=True, slots=True)
class Transition:
    """What a machine does in one step: write a symbol, move the head, change the state."""

    write: str
    move: Move
    state: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A Turing machine whose transition table is total.

    Attributes:
        blank: the symbol on every cell that nobody has written.
        alphabet: symbols that an input word may hold.
        transitions: (state, symbol read) -> what happens; for every state that does not halt and every tape symbol.

    Raises:
        InputError: a state or symbol is unknown, or a transition is missing.
    """

    name: str
    description: str
    blank: str
    alphabet: tuple[str, ...]
    start: str
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    transitions: Mapping[tuple[str, str], Transition]

    def __post_init__(self) -> None:
        _check_symbols(self)
        _check_states(self)
        _check_total(self)

    @property
    def halting(self) -> tuple[str, ...]:
        """States in which the machine stops."""
        return self.accept + self.reject

    @property
    def working(self) -> tuple[str, ...]:
        """States in which the machine goes on, the start state first."""
        others = {state: None for state, _ in self.transitions if state != self.start}
        return (() if self.start in self.halting else (self.start,)) + tuple(others)

    @property
    def states(self) -> tuple[str, ...]:
        """All states, the working ones first."""
        return self.working + self.halting

    @property
    def symbols(self) -> tuple[str, ...]:
        """All tape symbols, the blank first."""
        written = (transition.write for transition in self.transitions.values())
        return tuple(dict.fromkeys((self.blank, *self.alphabet, *written)))

    def check_word(self, word: str) -> None:
        """Refuse a word that holds a symbol outside the input alphabet.

        Raises:
            InputError: the word holds another symbol.
        """
        strange = sorted(set(word) - set(self.alphabet))
        if strange:
            raise InputError(
                f"A word of machine {self.name!r} is written in {' '.join(self.alphabet) or 'no symbols'}, got "
                f"{word!r} with {' '.join(strange)}; use only the symbols of its alphabet."
            )


def _check_symbols(machine: Machine) -> None:
    for symbol in machine.symbols:
        if len(symbol) != 1 or symbol.isspace():
            raise InputError(
                f"Symbols of machine {machine.name!r} are single visible characters, got {symbol!r}; rename the symbol."
            )
    if machine.blank in machine.alphabet:
        raise InputError(
            f"The alphabet of machine {machine.name!r} holds its blank {machine.blank!r}, so a word would have no end; "
            "take the blank out of the alphabet."
        )


def _check_states(machine: Machine) -> None:
    both = sorted(set(machine.accept) & set(machine.reject))
    if both:
        raise InputError(f"Machine {machine.name!r} both accepts and rejects in {', '.join(both)}; choose one.")
    known = {state for state, _ in machine.transitions} | set(machine.halting)
    if machine.start not in known:
        raise InputError(
            f"Machine {machine.name!r} starts in {machine.start!r}, which has no transitions; "
            f"its states are {', '.join(sorted(known)) or 'none'}."
        )
    if not machine.halting:
        raise InputError(f"Machine {machine.name!r} has no accept or reject state, so it cannot halt; name one.")
    for (state, symbol), transition in machine.transitions.items():
        if state in machine.halting:
            raise InputError(
                f"Machine {machine.name!r} halts in {state!r} but has a transition from it; remove one of the two."
            )
        if transition.state not in known:
            raise InputError(
                f"In machine {machine.name!r}, state {state!r} reading {symbol!r} goes to {transition.state!r}, "
                "which is neither a state with transitions nor an accept or reject state; define it or fix the name."
            )


def _check_total(machine: Machine) -> None:
    for state in machine.working:
        for symbol in machine.symbols:
            if (state, symbol) not in machine.transitions:
                raise InputError(
                    f"Machine {machine.name!r} has no transition for state {state!r} reading {symbol!r}; add "
                    f'{{"{symbol}": [write, L|R|S, next]}} to its row (a reject state if it cannot happen).'
                )
    for state, symbol in machine.transitions:
        if symbol not in machine.symbols:
            raise InputError(
                f"Machine {machine.name!r}, state {state!r}, has a transition for {symbol!r}, which is not in the "
                "alphabet and never written; remove the transition or add the symbol to the alphabet."
            )


def read_machine(path: Path) -> Machine:
    """The machine that a YAML file describes.

    Raises:
        InputError: the file is missing, is not YAML, lacks a field, has an unknown one, or describes a bad machine.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the machine file {path}: {error}; give the path of a YAML file.") from error
    return parse_machine(text, where=str(path))


def parse_machine(text: str, *, where: str) -> Machine:
    """The machine that YAML text describes; `where` names the text in messages.

    Raises:
        InputError: as for `read_machine`.
    """
    try:
        data = yaml.load(text, Loader=_TextLoader)
    except yaml.YAMLError as error:
        raise InputError(
            f"{where} is not YAML: {error}; for the format see `recherche machine show increment`."
        ) from error
    if not isinstance(data, dict):
        raise InputError(f"{where} holds no mapping of fields; a machine file needs {', '.join(FIELDS)}.")
    unknown, missing = sorted(set(data) - set(FIELDS)), [name for name in FIELDS if name not in data]
    if unknown:
        raise InputError(
            f"{where} has unknown fields {', '.join(unknown)}; a machine file has only {', '.join(FIELDS)}."
        )
    if missing:
        raise InputError(f"{where} lacks the fields {', '.join(missing)}; a machine file has {', '.join(FIELDS)}.")
    return Machine(
        name=_text(data, "name", where),
        description=_text(data, "description", where),
        blank=_text(data, "blank", where),
        alphabet=_names(data, "alphabet", where),
        start=_text(data, "start", where),
        accept=_names(data, "accept", where),
        reject=_names(data, "reject", where),
        transitions=_transitions(data["transitions"], where),
    )


class _TextLoader(yaml.SafeLoader):
    """YAML in which 0, yes, ~ and a repeated key mean what a machine's author means: names, and a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise InputError(f"Line {node.start_mark.line + 1} of the machine file lists {key!r} twice; keep one.")
        return super().construct_mapping(node, deep=deep)


_TextLoader.yaml_implicit_resolvers = {}


def _text(data: Mapping[str, Any], field: str, where: str) -> str:
    if not isinstance(data[field], str) or not data[field]:
        raise InputError(f"{where}: the field {field} is a text, got {data[field]!r}.")
    return data[field]


def _names(data: Mapping[str, Any], field: str, where: str) -> tuple[str, ...]:
    names = data[field]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}: the field {field} is a list of names, got {names!r}; write it as [a, b].")
    if len(set(names)) != len(names):
        raise InputError(f"{where}: the field {field} lists a name twice: {names!r}; keep one.")
    return tuple(names)


def _transitions(table: Any, where: str) -> Mapping[tuple[str, str], Transition]:
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise InputError(f"{where}: transitions are {{state: {{symbol: [write, move, next]}}}}, got {table!r}.")
    transitions = {}
    for state, row in table.items():
        for symbol, entry in row.items():
            if not isinstance(entry, list) or len(entry) != 3 or not all(isinstance(part, str) for part in entry):
                raise InputError(
                    f"{where}: state {state!r} reading {symbol!r} needs [write, move, next], got {entry!r}."
                )
            write, move, next_state = entry
            if move not in MOVES:
                raise InputError(f"{where}: state {state!r} reading {symbol!r} moves {move!r}; use L, R or S.")
            transitions[state, symbol] = Transition(write, move, next_state)
    return MappingProxyType(transitions)
