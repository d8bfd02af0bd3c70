"""What every test runs under: one thread, no display, no network, and randomness that repeats."""

import os

import hypothesis

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "Agg"
os.environ["HF_HUB_OFFLINE"] = "1"

hypothesis.settings.register_profile("house", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("house")
