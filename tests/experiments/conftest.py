import pytest

TINY = """
summary: two models on two tasks
d_model: 8
tasks:
  - {name: mqar, n: [8, 16], options: {n_keys: 4, n_values: 4, n_fillers: 2}}
  - {name: index, n: [4], measured_n: [2, 4], options: {n_symbols: 4, n_numbers: 4}}
models:
  attention: {layers: {mixer: attention, n_heads: 2}}
  linear-rnn: {layers: {mixer: linear-rnn, d_state: [1, 4]}, repeat: 2, training: {num_steps: 3}}
training: {num_steps: 2, batch_size: 4, log_every: 1}
evaluation: {num_samples: 16, batch_size: 16, num_validation: 4}
"""


@pytest.fixture(scope="session")
def tiny_sweep() -> str:
    """The text of a grid of six points, a step or two each."""
    return TINY
