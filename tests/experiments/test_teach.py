import json
import subprocess
import sys
import warnings

import pytest
import torch

from recherche.errors import ConfigError
from recherche.experiments.cell import Stopped
from recherche.experiments.teach import teach
from recherche.lm.folder import load_language_model
from recherche.lm.markers import markers_of
from recherche.lm.teacher import Surroundings
from tests.lm.taught import tiny_teaching
from tests.lm.tiny_models import tiny_folder

WAYS = {
    "mamba": ("mamba", {}, "all weights, own kernels"),
    "llama": ("llama", {}, "all weights"),
    "llama by adapters": ("llama", {"lora": 2, "rate": 1e-2}, "LoRA of rank 2"),
    "llama by adapters, bfloat16": (
        "llama",
        {"lora": 2, "rate": 1e-2, "precision": "bfloat16", "accumulation": 2},
        "LoRA of rank 2",
    ),
    "llama, bfloat16": ("llama", {"precision": "bfloat16"}, "all weights"),
}


def taught(folder, out, **fields):
    """What `teach` returns, without what two libraries say to each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return teach(folder, out, tiny_teaching(num_evaluated=1, **fields))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("folders")
    return {family: tiny_folder(root / family, family) for family in ("mamba", "llama")}


@pytest.mark.parametrize(("family", "fields", "way"), WAYS.values(), ids=WAYS)
def test_a_taught_folder_loads_by_itself_and_has_learnt(family, fields, way, folders, tmp_path):
    record = taught(folders[family], tmp_path / "out", **fields)
    assert record == json.loads((tmp_path / "out" / "teaching.json").read_text())
    assert record["way"] == way
    assert not [*(tmp_path / "out").glob("checkpoint-*")]
    model, tokenizer = load_language_model(tmp_path / "out")
    before = load_language_model(folders[family]).model
    assert type(model) is type(before)
    assert markers_of(tokenizer) is not None
    assert model.get_input_embeddings().weight.shape[0] == len(tokenizer)
    changed = [name for name, weight in before.state_dict().items() if "layers" in name and weight.dim() == 2]
    found = model.state_dict()
    assert any(not torch.equal(found[name], before.state_dict()[name]) for name in changed)
    assert [row["step"] for row in record["evaluations"]] == [4, 6]
    rounding = 1e-2 if "precision" in fields else 1e-6
    assert set(record["evaluations"][0]) == {"step", "prose_loss", "phonebook_n3_direct", "phonebook_n3_search"}
    assert record["prose_loss"]["after"] == pytest.approx(record["evaluations"][-1]["prose_loss"], rel=rounding)
    assert [row["step"] for row in record["losses"]] == [1, 2, 3, 4, 5, 6]
    assert {"torch", "transformers"} <= set(record["versions"])


@pytest.mark.slow
def test_no_more_than_transformers_is_needed_to_load_it(folders, tmp_path):
    taught(folders["llama"], tmp_path / "out", lora=2)
    code = (
        "import sys; from transformers import AutoModelForCausalLM; "
        f"m, i = AutoModelForCausalLM.from_pretrained({str(tmp_path / 'out')!r}, output_loading_info=True); "
        "assert not any(i.values()), i; assert not any('lora' in n for n, _ in m.named_parameters()); "
        "assert 'recherche' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_what_was_stopped_goes_on_with_the_same_numbers(folders, tmp_path):
    whole = taught(folders["llama"], tmp_path / "whole", lora=2)
    asked = iter([False, True])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with pytest.raises(Stopped):
            teach(
                folders["llama"],
                tmp_path / "parts",
                tiny_teaching(num_evaluated=1, lora=2),
                surroundings=Surroundings(stop=lambda: next(asked)),
            )
    assert not (tmp_path / "parts" / "config.json").exists()
    parts = taught(folders["llama"], tmp_path / "parts", lora=2)
    for name in ("losses", "evaluations", "prose_loss", "num_trained"):
        assert parts[name] == whole[name]
    weights = [load_language_model(tmp_path / name).model.state_dict() for name in ("whole", "parts")]
    assert all(torch.equal(weights[1][name], weight) for name, weight in weights[0].items())


def test_what_is_finished_is_not_done_again(folders, tmp_path):
    first = taught(folders["llama"], tmp_path / "out", steps=1)
    written = (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns
    assert taught(folders["llama"], tmp_path / "out", steps=1) == first
    assert (tmp_path / "out" / "model.safetensors").stat().st_mtime_ns == written


def test_tensorboard_keeps_what_it_was_told(folders, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        surroundings = Surroundings(report_to=("tensorboard",))
        teach(folders["llama"], tmp_path / "out", tiny_teaching(steps=1, num_evaluated=1), surroundings=surroundings)
    [events] = (tmp_path / "out" / "runs").glob("*/events.*")
    assert b"phonebook_n3_search" in events.read_bytes()


def test_the_number_type_of_the_folder_is_kept(tmp_path):
    folder = tiny_folder(tmp_path / "in", "llama")
    load_language_model(folder).model.bfloat16().save_pretrained(folder)
    taught(folder, tmp_path / "out", steps=1)
    assert load_language_model(tmp_path / "out").model.dtype == torch.bfloat16


def test_another_teaching_in_the_folder_is_refused(folders, tmp_path):
    taught(folders["llama"], tmp_path / "out", steps=1)
    with pytest.raises(ConfigError, match="another teaching: steps was 1, and 2 is asked"):
        taught(folders["llama"], tmp_path / "out", steps=2)


def test_files_of_others_are_not_overwritten(folders, tmp_path):
    with pytest.raises(ConfigError, match="holds files already"):
        taught(folders["llama"], folders["mamba"])


def test_texts_that_do_not_fit_are_refused_before_anything_is_taught(tmp_path):
    folder = tiny_folder(tmp_path / "in", "llama", max_position_embeddings=100)
    with pytest.raises(ConfigError, match="can tell apart 100 positions"):
        taught(folder, tmp_path / "out")
