"""What is known of the installed transformers is found again, by the check that it belongs to; what is right passes."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch

from recherche.errors import ConfigError
from recherche.games.contract import Finding, Refusal
from recherche.games.contract_checks import CHECKS, TOLERANCE, findings
from recherche.games.hf_subjects import HFSubject, folder_subject, tiny_subject

pytest.importorskip("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

QUICK = ("token by token", "chunks of 7", "positions by default", "left padding", "right padding")
QUICK = (*QUICK, "on after left padding", "fork", "generate")


def outcome(subject: HFSubject, check: str) -> Finding:
    (finding,) = findings(subject, [check])
    return finding


@pytest.mark.parametrize(
    ("family", "failures"),
    [
        ("llama", set()),
        ("mamba2", set()),
        ("qwen3_next", set()),
        ("mamba", {"chunks of 7"}),
        ("jamba", {"chunks of 7"}),
        ("bamba", {"positions by default"}),
        ("zamba2", {"token by token", "on after left padding"}),
        ("minimax", {"chunks of 7", "positions by default", "on after left padding"}),
        ("rwkv", {"token by token", "left padding", "on after left padding"}),
        ("recurrent_gemma", {"chunks of 7", "left padding", "on after left padding", "fork"}),
        ("moshi", {"token by token", "chunks of 7", "on after left padding", "generate"}),
    ],
)
def test_each_family_fails_what_it_is_known_to_fail_and_nothing_else(family: str, failures: set[str]) -> None:
    assert {found.check for found in findings(tiny_subject(family), QUICK) if found.passed is False} == failures


@pytest.mark.parametrize(
    ("family", "check", "place"),
    [("mamba", "chunks of 2", (2, 0)), ("bamba", "positions by default", (1, 1)), ("moshi", "token by token", (8, 0))],
)
def test_a_failure_names_its_first_position_and_layer(family: str, check: str, place: tuple[int, int]) -> None:
    """The second chunk of a Mamba, the second token at bamba's attention layer, the first behind moshi's window."""
    finding = outcome(tiny_subject(family), check)
    assert (finding.position, finding.layer) == place


def test_a_single_row_that_is_right_is_said() -> None:
    assert outcome(tiny_subject("rwkv"), "token by token").note == "a single row is right"


def test_going_on_after_right_padding_is_not_promised() -> None:
    finding = outcome(tiny_subject("mamba2"), "on after right padding")
    assert finding.passed is None
    assert finding.error > 100 * TOLERANCE
    assert finding.note == "transformers asks for padding on the left"
    assert outcome(tiny_subject("llama"), "on after right padding").passed


def test_a_cache_under_a_wrong_name_is_seen_to_be_swallowed() -> None:
    finding = outcome(tiny_subject("mamba2"), "wrong name")
    assert finding.passed is False
    assert "is swallowed without an error" in finding.note


def test_a_model_that_refuses_all_wrong_names_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = tiny_subject("llama")
    forward = type(subject.model).forward

    def strict(self: Any, *args: Any, **given: Any) -> Any:
        if extra := {"past_key_values", "cache_params", "state"} & set(given):
            raise TypeError(f"unexpected {extra}")
        return forward(self, *args, **given)

    strict.__signature__ = __import__("inspect").signature(forward)  # type: ignore[attr-defined]
    monkeypatch.setattr(type(subject.model), "forward", strict)
    assert outcome(subject, "wrong name").note == "every other name is refused"


def test_a_model_that_ignores_the_mask_of_right_padding_is_right_all_the_same() -> None:
    """A causal model has not read what stands on the right."""
    assert outcome(tiny_subject("rwkv"), "right padding").passed


@pytest.mark.parametrize(
    ("family", "growth"), [("mamba", "constant"), ("llama", "linear, 2,048 bits a token"), ("mistral", "capped at")]
)
def test_growth_is_told(family: str, growth: str) -> None:
    assert outcome(tiny_subject(family), "growth").note.startswith(growth)


def test_a_cache_is_resumed_in_a_new_process() -> None:
    assert outcome(tiny_subject("qwen3_next"), "new process").passed


def test_a_state_that_lives_in_the_model_is_lost_in_a_new_process() -> None:
    assert outcome(tiny_subject("recurrent_gemma"), "new process").passed is False


@pytest.mark.parametrize(
    ("family", "check"),
    [
        ("mamba", "chunks of 2"),
        ("bamba", "positions by default"),
        ("rwkv", "token by token"),
        ("rwkv", "left padding"),
        ("minimax", "on after left padding"),
        ("mamba2", "on after right padding"),
        ("recurrent_gemma", "chunks of 3"),
        ("recurrent_gemma", "fork"),
        ("recurrent_gemma", "new process"),
        ("mamba2", "wrong name"),
        ("moshi", "generate"),
    ],
)
def test_the_bug_report_of_a_failure_shows_it(family: str, check: str) -> None:
    assert printed_by(tiny_subject(family).script(check)) > 10 * TOLERANCE


@pytest.mark.parametrize("check", [check for check in CHECKS if check not in ("growth", "wrong name")])
def test_the_bug_report_of_a_check_shows_nothing_where_nothing_is_wrong(check: str) -> None:
    assert printed_by(tiny_subject("llama").script(check)) < TOLERANCE


def printed_by(script: str) -> float:
    """The last number that a program prints; it needs nothing but torch and transformers."""
    assert "recherche" not in script
    enabled, out = torch.is_grad_enabled(), io.StringIO()
    try:
        with redirect_stdout(out), torch.random.fork_rng():
            exec(script, {})
    finally:
        torch.set_grad_enabled(enabled)
    return float(out.getvalue().split()[-1])


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
        tiny_subject("xlstm").padded(
            torch.full((1, 3), 7), torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 0, dtype=torch.long)
        )


def test_a_model_without_positions_cannot_leave_them_out() -> None:
    with pytest.raises(Refusal, match="takes no positions"):
        tiny_subject("mamba").extend_by_default(torch.full((1, 3), 7), None)
