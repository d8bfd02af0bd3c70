"""Every family can be made; and for each one that fails, repairing the place that docs/contract.md names repairs it."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.nn import functional

from recherche.games.contract_checks import findings
from recherche.games.hf_subjects import HFSubject, tiny_subject
from recherche.games.tiny_families import AUTO_CLASSES, SHARED, TINY_FAMILIES

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_every_family_is_a_configuration_of_the_installed_library(family: str) -> None:
    config = transformers.AutoConfig.for_model(family, **(dict(SHARED) | TINY_FAMILIES[family]))
    assert config.get_text_config().vocab_size == 50
    auto_class = getattr(transformers, AUTO_CLASSES.get(family, "AutoModelForCausalLM"))
    assert type(config) in auto_class._model_mapping


def source_of(family: str) -> ModuleType:
    return importlib.import_module(f"transformers.models.{family}.modeling_{family}")


def scan_from(states: list[Any]) -> Callable[..., Any]:
    """The selective scan of transformers, from a first state (the next of `states`) instead of from zero."""

    def scan(x: Any, dt: Any, A: Any, B: Any, C: Any, *, D: Any, z: Any, delta_bias: Any, **others: Any) -> Any:
        dt = functional.softplus(dt + delta_bias[:, None])
        decay = torch.exp(A[:, None] * dt[..., None])
        inputs = dt[..., None] * B.mT[:, None] * x[..., None]
        hidden, outputs = states.pop(0) if states else torch.zeros_like(decay[:, :, 0]), []
        for t in range(x.shape[2]):
            hidden = decay[:, :, t] * hidden + inputs[:, :, t]
            outputs.append((hidden * C[:, None, :, t]).sum(-1))
        y = (torch.stack(outputs, dim=-1) + D[:, None] * x) * functional.silu(z)
        return (y, hidden) if others["return_last_state"] else y

    return scan


def repair_scan(family: str, patch: pytest.MonkeyPatch) -> None:
    """Chunks of two or more tokens: `mamba_selective_scan` starts from the cached state."""
    source, states = source_of(family), []  # type: ignore[var-annotated]
    names = {"mamba": "MambaMixer", "falcon_mamba": "FalconMambaMixer", "jamba": "JambaMambaMixer"}
    mixer = getattr(source, names.get(family, "ZambaMambaMixer"))
    forward = mixer.forward

    def keeping(self: Any, hidden_states: Any, cache: Any = None, **given: Any) -> Any:
        state = None if cache is None else cache.get_recurrent_state(self.layer_idx, state_idx=0)
        states[:] = [] if state is None else list(state.clone().unbind(1)) if family == "zamba" else [state.clone()]
        return forward(self, hidden_states, cache=cache, **given)

    patch.setattr(mixer, "forward", keeping)
    patch.setattr(source, "mamba_selective_scan", scan_from(states))


def repair_step_size(family: str, patch: pytest.MonkeyPatch) -> None:
    """One token: `mamba2_selective_state_update` clamps the step size from below, as the chunked form does."""
    source = source_of(family)
    update = source.mamba2_selective_state_update

    def clamped(state: Any, x: Any, dt: Any, *given: Any, dt_bias: Any, dt_softplus: bool, **others: Any) -> Any:
        return update(state, x, functional.softplus(dt + dt_bias).clamp(min=0.001), *given, **others)

    patch.setattr(source, "mamba2_selective_state_update", clamped)


def repair_shift(family: str, patch: pytest.MonkeyPatch) -> None:
    """One token: the shifted input, (batch, width), gets its axis of time, without which it is (1, batch, width)."""
    source = source_of(family)
    for block, method in (("RwkvSelfAttention", "extract_key_value"), ("RwkvFeedForward", "forward")):
        original = getattr(getattr(source, block), method)

        def two_tokens(self: Any, hidden: Any, state: Any = None, *, original: Any = original) -> Any:
            if hidden.shape[1] != 1 or state is None:
                return original(self, hidden, state)
            place = 0 if original.__name__ == "forward" else 1
            earlier = state[place][:, :, self.layer_id][:, None]
            *outputs, after = original(self, torch.cat([earlier, hidden], dim=1), state)
            return (*(output[:, 1:] for output in outputs), after)

        patch.setattr(getattr(source, block), method, two_tokens)


def repair_lengths(family: str, patch: pytest.MonkeyPatch) -> None:
    """`MiniMaxCache` reads lengths from the first layer that holds keys, and not from an empty layer 0."""
    cache = source_of(family).MiniMaxCache
    for method in ("get_seq_length", "get_mask_sizes"):
        original = getattr(transformers.DynamicCache, method)

        def of_first_filled(self: Any, *given: Any, original: Any = original, layer_idx: int = 0) -> Any:
            filled = [place for place, layer in enumerate(self.layers) if layer.is_initialized]
            return original(self, *given[: 1 if original.__name__ == "get_mask_sizes" else 0], min(filled, default=0))

        patch.setattr(cache, method, of_first_filled)


def repair_convolution(family: str, patch: pytest.MonkeyPatch) -> None:
    """Cached chunks: the convolution starts from `conv1d_state`."""
    block = source_of(family).RecurrentGemmaRecurrentBlock
    forward = block.forward

    def from_state(self: Any, x: Any, position_ids: Any, use_cache: bool = True, **given: Any) -> Any:
        if not use_cache or x.shape[1] == 1 or not position_ids.all():
            return forward(self, x, position_ids, use_cache=use_cache, **given)
        window = torch.cat([self.conv1d_state, self.linear_x(x).mT], dim=-1)
        self.conv1d_state = window[..., 1 - self.conv1d_width :]
        weight, bias = self.conv_1d.weight, self.conv_1d.bias
        hidden = self.rg_lru(functional.conv1d(window, weight, bias, groups=window.shape[1]).mT, position_ids)
        return self.linear_out(hidden * self.act_fn(self.linear_y(x))), None

    patch.setattr(block, "forward", from_state)


def repair_window(family: str, patch: pytest.MonkeyPatch) -> None:
    """The mask has the sliding window that the cache has."""
    from transformers.masking_utils import create_sliding_window_causal_mask

    patch.setattr(source_of(family), "create_causal_mask", create_sliding_window_causal_mask)


CHUNKED = {"chunks of 7", "chunks of 64"}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("family", "repair", "checks"),
    [
        ("mamba", repair_scan, CHUNKED),
        ("falcon_mamba", repair_scan, CHUNKED),
        ("jamba", repair_scan, CHUNKED),
        ("zamba", repair_scan, CHUNKED),
        ("zamba2", repair_step_size, {"token by token", "on after left padding"}),
        ("nemotron_h", repair_step_size, {"token by token"}),
        ("rwkv", repair_shift, {"token by token", "chunks of 2"}),
        ("minimax", repair_lengths, {*CHUNKED, "positions by default", "on after left padding"}),
        ("recurrent_gemma", repair_convolution, CHUNKED),
        ("moshi", repair_window, {"token by token", *CHUNKED, "on after left padding", "generate"}),
    ],
)
def test_repairing_the_cause_repairs_the_checks(
    family: str, repair: Any, checks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = tiny_subject(family)
    assert {found.check for found in findings(subject, sorted(checks)) if found.passed is False} == checks
    repair(family, monkeypatch)
    assert [found for found in findings(subject, sorted(checks)) if found.passed is False] == []


def change_by_other_padding(subject: HFSubject) -> float:
    """How far the logits of a row move when only its padding is exchanged for other tokens."""
    real = torch.arange(23)[None] >= 7
    text, none = torch.arange(4, 27)[None], torch.ones(1, 0, dtype=torch.long)
    with torch.inference_mode():
        one, other = (subject.padded(torch.where(real, text, filler), real, none) for filler in (30, 40))
    return float((one - other).abs().max() / one.abs().max())


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("family", "leaks"), [("mamba2", False), ("llama", False), ("deepseek_v4", True), ("recurrent_gemma", True)]
)
def test_what_the_padding_is_reaches_the_logits_of_models_that_do_not_mask_it(family: str, leaks: bool) -> None:
    assert (change_by_other_padding(tiny_subject(family)) > 1e-3) == leaks


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("family", ["mamba2", "bamba", "falcon_h1", "granitemoehybrid"])
def test_a_limit_of_the_step_size_is_kept_by_chunks_and_not_by_steps(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the default limit, none, these families pass."""
    settings = TINY_FAMILIES[family] | {"time_step_limit": (0.5, 1.0)}
    monkeypatch.setitem(
        vars(importlib.import_module("recherche.games.hf_subjects")), "TINY_FAMILIES", {family: settings}
    )
    by_check = {
        found.check: found.passed for found in findings(tiny_subject(family), ["token by token", "chunks of 7"])
    }
    assert by_check == {"token by token": False, "chunks of 7": True}
