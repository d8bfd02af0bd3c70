import pytest
import torch

from recherche.errors import ConfigError
from recherche.experiments.cell import run_cell
from recherche.experiments.export import export_run
from recherche.experiments.presets import Recipe, quick_config
from recherche.experiments.runs import load_run
from recherche.training.curriculum import Fixed

PROMPT = "<s> 1 ~ 2 2 ~ 3 3 ~ 4 4 ~ 5 5 ~ 6 <d>"
RECIPE = Recipe(4, 4, Fixed(), 4)


@pytest.mark.parametrize("architecture", ["mamba", "transformer"])
def test_a_cell_becomes_a_folder_that_reads_the_same_text(architecture, tmp_path):
    import transformers

    config = quick_config(architecture, "retrieval", 6, RECIPE).replace(("evaluation.num_validation=4",))
    run_cell(config, tmp_path / "cells" / "it")
    export_run(tmp_path, tmp_path / "hf", cell="it")
    ids = transformers.AutoTokenizer.from_pretrained(tmp_path / "hf")(PROMPT, return_tensors="pt").input_ids
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hf").eval()
    run = load_run(tmp_path, cell="it")
    assert ids[0].tolist() == run.task.vocab.encode(PROMPT.split()).tolist()
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, run.model(ids), rtol=1e-5, atol=1e-5)


def test_a_hybrid_cell_is_refused(tmp_path):
    config = quick_config("hybrid", "cot", 6, RECIPE).replace(("evaluation.num_validation=4",))
    run_cell(config, tmp_path / "run")
    with pytest.raises(ConfigError, match="layers are all alike"):
        export_run(tmp_path / "run", tmp_path / "hf")
    assert not (tmp_path / "hf").exists()
