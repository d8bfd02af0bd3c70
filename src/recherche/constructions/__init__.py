"""Theorems as programs: hand-set weights that run, and the checks that hold them to their statements."""
