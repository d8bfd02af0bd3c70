import functools

from recherche.kernels.compiled import compiled


def checked(function):
    @functools.wraps(function)
    def wrapper(*args):
        raise AssertionError("numba should never see this wrapper")

    return wrapper


@compiled
@checked
def double(x: int) -> int:
    return 2 * x


def test_a_wrapped_function_is_compiled_as_written():
    assert double(21) == 42
    assert double.signatures
