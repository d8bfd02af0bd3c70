import subprocess
import sys

import pytest
import torch

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


def test_a_new_process_hands_its_logits_back() -> None:
    source = 'logits = torch.tensor([[float((folder / "number").read_text())]])'
    assert in_new_process(source, lambda folder: (folder / "number").write_text("4.5")).tolist() == [[4.5]]


def test_a_new_process_that_fails_is_refused_with_its_last_line() -> None:
    with pytest.raises(Refusal, match="ValueError: so it is"):
        in_new_process('raise ValueError("so it is")', lambda folder: None)


def test_only_right_padding_exists_here() -> None:
    real = torch.tensor([[True, True], [False, True]])
    with pytest.raises(Refusal, match="padded on the right"):
        subject().padded(torch.ones(2, 2, dtype=torch.long), real)


@pytest.mark.slow
def test_the_script_runs_alone_and_prints_the_error() -> None:
    done = subprocess.run([sys.executable, "-c", subject().script(3)], capture_output=True, text=True, check=True)
    assert float(done.stdout.replace("tensor(", "").replace(")", "")) < 1e-5
