"""What every test runs under: one thread, no display, no network, and randomness that repeats."""

import os
import signal

import hypothesis
import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "Agg"
os.environ["HF_HUB_OFFLINE"] = "1"

hypothesis.settings.register_profile("house", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("house")


@pytest.fixture
def ctrl_c_is_heard():
    """Ctrl-C raises KeyboardInterrupt, also where the tests were started in the background and inherit silence."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
