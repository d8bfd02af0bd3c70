import inspect

import pytest

from recherche import errors

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_one_except_clause_catches_every_error(kind: type[Exception]):
    assert issubclass(kind, errors.RechercheError)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_tree_in_the_docstring_shows_every_error(kind: type[Exception]):
    assert kind.__name__ in (errors.__doc__ or "")


def test_a_bug_is_not_a_refusal():
    assert not issubclass(ValueError, errors.RechercheError)
