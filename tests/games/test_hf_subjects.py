"""What is known of the installed transformers is found again; what is right there passes."""

from pathlib import Path

import pytest
import torch

from recherche.errors import ConfigError
from recherche.games.contract import TOLERANCE, Finding, Refusal, findings
from recherche.games.hf_subjects import HFSubject, folder_subject, tiny_subject, walk

pytest.importorskip("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def outcome(subject: HFSubject, check: str) -> Finding:
    (finding,) = findings(subject, [check])
    return finding


@pytest.mark.parametrize("family", ["mamba", "jamba"])
def test_chunks_from_a_cache_are_known_to_go_wrong(family: str) -> None:
    subject = tiny_subject(family)
    finding = outcome(subject, "chunks of 2")
    assert finding.passed is False
    assert finding.error > 100 * TOLERANCE
    assert (finding.position, finding.layer) == (3, 0)
    assert outcome(subject, "token by token").passed


def test_bamba_is_known_to_go_wrong_at_its_attention_layer() -> None:
    finding = outcome(tiny_subject("bamba"), "token by token")
    assert finding.passed is False
    assert (finding.position, finding.layer) == (1, 1)


@pytest.mark.parametrize("family", ["llama", "mamba2", "qwen3_next", "falcon_h1"])
@pytest.mark.parametrize(
    "check", ["token by token", "chunks of 3", "left padding", "right padding", "fork", "generate"]
)
def test_families_that_are_right_pass(family: str, check: str) -> None:
    assert outcome(tiny_subject(family), check).passed, family


def test_a_cache_under_a_wrong_name_is_seen_to_be_swallowed() -> None:
    finding = outcome(tiny_subject("mamba2"), "wrong name")
    assert finding.passed is False
    assert "is swallowed without an error" in finding.note


@pytest.mark.parametrize(
    ("family", "growth"), [("mamba", "constant"), ("llama", "linear, 2,048 bits a token"), ("mistral", "capped at")]
)
def test_growth_is_told(family: str, growth: str) -> None:
    assert outcome(tiny_subject(family), "growth").note.startswith(growth)


def test_a_cache_is_resumed_in_a_new_process() -> None:
    assert outcome(tiny_subject("qwen3_next"), "new process").passed


def test_the_script_shows_the_failure_alone(capsys: pytest.CaptureFixture[str]) -> None:
    exec(tiny_subject("mamba").script(2), {})
    error = float(capsys.readouterr().out.split()[-1])
    assert error > 100 * TOLERANCE


def test_walking_finds_all_tensors_of_a_cache() -> None:
    subject = tiny_subject("jamba")
    with torch.inference_mode():
        cache = subject.extend(torch.full((1, 5), 7), None).cache
    names = {path.split(".")[2] for path, _ in walk(cache)}
    assert {"keys", "values", "conv_states", "recurrent_states"} <= names


def test_a_model_in_a_folder_is_the_model_that_was_saved(tmp_path: Path) -> None:
    tiny = tiny_subject("llama")
    tiny.model.save_pretrained(tmp_path)
    subject = folder_subject(str(tmp_path))
    tokens = torch.arange(5, 15)[None]
    with torch.inference_mode():
        assert torch.equal(subject.full(tokens)[-1].logits, tiny.full(tokens)[-1].logits)


def test_making_a_tiny_model_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    tiny_subject("llama")
    assert torch.equal(torch.rand(1), expected)


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean mamba"):
        tiny_subject("mambo")
    with pytest.raises(ConfigError, match="transformers cannot make"):
        folder_subject(str(tmp_path / "nowhere"))


def test_a_model_without_a_mask_does_not_take_padding() -> None:
    with pytest.raises(Refusal, match="no attention_mask"):
        tiny_subject("xlstm").padded(torch.full((1, 3), 7), torch.ones(1, 3, dtype=torch.bool))
