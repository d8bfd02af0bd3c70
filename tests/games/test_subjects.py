import subprocess
import sys

import pytest
import torch

from recherche.errors import StateError
from recherche.games.contract import Refusal
from recherche.games.subjects import OwnSubject, in_new_process
from recherche.models.config import LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel

RECIPE = """
from recherche.models.config import LanguageModelConfig, MambaLayer
from recherche.models.language_model import LanguageModel
config = LanguageModelConfig(d_model=8, vocab_size=20, layers=(MambaLayer(d_state=2),))
model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
"""


def subject() -> OwnSubject:
    config = LanguageModelConfig(d_model=8, vocab_size=20, layers=(MambaLayer(d_state=2),))
    model = LanguageModel(config, torch.Generator().manual_seed(0)).eval()
    return OwnSubject(model=model, label="small", vocab=20, recipe=RECIPE)


@pytest.mark.slow
def test_a_new_process_hands_its_logits_back() -> None:
    source = 'logits = torch.tensor([[float((folder / "number").read_text())]])'
    assert in_new_process(source, lambda folder: (folder / "number").write_text("4.5")).tolist() == [[4.5]]


@pytest.mark.slow
def test_a_new_process_that_fails_is_refused_with_its_last_line() -> None:
    with pytest.raises(StateError, match="it failed: ValueError: so it is"):
        in_new_process('raise ValueError("so it is")', lambda folder: None)


def test_only_right_padding_exists_here() -> None:
    real = torch.tensor([[True, True], [False, True]])
    with pytest.raises(Refusal, match="padded on the right"):
        subject().padded(torch.ones(2, 2, dtype=torch.long), real, torch.ones(2, 0, dtype=torch.long))


def test_a_batch_with_padding_goes_on() -> None:
    """As many readings as tokens come then, and the one of the padded text before them."""
    real, tokens = torch.tensor([[True, True], [True, False]]), torch.tensor([[1, 2], [3, 4]])
    with torch.inference_mode():
        logits = subject().padded(tokens, real, torch.tensor([[5, 6, 7], [8, 9, 10]]))
        alone = subject().full(torch.tensor([[3, 8, 9, 10]]))
    assert logits.shape == (2, 4, 20)
    torch.testing.assert_close(logits[1], torch.cat([reading.logits for reading in alone]), rtol=1e-4, atol=1e-5)


def test_positions_cannot_be_left_to_it() -> None:
    with pytest.raises(Refusal, match="positions are the model's own business"):
        subject().extend_by_default(torch.ones(1, 2, dtype=torch.long), None)


@pytest.mark.slow
def test_the_script_runs_the_check_alone() -> None:
    script = subject().script("chunks of 3")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Finding(check='chunks of 3', passed=True")
