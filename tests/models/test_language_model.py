import pytest
import torch

from recherche._rng import torch_generator
from recherche.errors import StateError
from recherche.mixers import MIXERS
from recherche.mixers.state import select_rows, state_bits
from recherche.models.config import AttentionLayer, LanguageModelConfig, MambaLayer
from recherche.models.embeddings import LearnedEmbedding, LearnedHead, SinusoidalEmbedding, TiedHead
from recherche.models.language_model import LanguageModel

V, D = 11, 16
PATTERNS = {name: (layer(), layer()) for name, layer in MIXERS.items()} | {
    "hybrid": (MambaLayer(d_state=4), AttentionLayer(n_heads=2, d_ffn=32)),
    "attention first": (AttentionLayer(n_heads=2, d_ffn=32), MambaLayer(d_state=4)),
}


def model(layers=PATTERNS["hybrid"], seed=0, **fields):
    config = LanguageModelConfig(d_model=D, vocab_size=V, layers=layers, **fields)
    return LanguageModel(config, torch_generator(seed, "model")).double()


def tokens(b=3, t=13):
    return torch.randint(V, (b, t), generator=torch_generator(0, "tokens"))


@pytest.mark.parametrize("layers", PATTERNS.values(), ids=PATTERNS)
def test_reading_token_by_token_gives_the_same_logits(layers):
    lm, x = model(layers), tokens()
    expected = lm(x)
    logits, state = lm.prefill(x[:, :5])
    torch.testing.assert_close(logits, expected[:, 4], rtol=1e-10, atol=1e-10)
    for i in range(5, 9):
        logits, state = lm.step(x[:, i], state)
        torch.testing.assert_close(logits, expected[:, i], rtol=1e-10, atol=1e-10)
    logits, _ = lm.prefill(x[:, 9:], state)
    torch.testing.assert_close(logits, expected[:, -1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("layers", PATTERNS.values(), ids=PATTERNS)
def test_a_text_read_in_two_parts_gets_the_same_logits_everywhere(layers):
    lm, x = model(layers), tokens()
    first, state = lm.read(x[:, :6], lm.init_state(len(x)))
    second, _ = lm.read(x[:, 6:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), lm(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("layers", PATTERNS.values(), ids=PATTERNS)
def test_prompts_of_different_lengths_are_read_as_if_alone(layers):
    lm, x, lengths = model(layers), tokens(), torch.tensor([13, 4, 9])
    with torch.inference_mode():
        logits, state = lm.prefill(x, lengths=lengths)
        after, _ = lm.step(x[:, 0], state)
        for row, length in enumerate(lengths.tolist()):
            alone, own = lm.prefill(x[row : row + 1, :length])
            torch.testing.assert_close(logits[row], alone[0], rtol=1e-10, atol=1e-10)
            torch.testing.assert_close(after[row], lm.step(x[row : row + 1, 0], own)[0][0], rtol=1e-10, atol=1e-10)


def test_rows_that_leave_the_batch_do_not_disturb_the_rest():
    lm, x = model(), tokens()
    with torch.inference_mode():
        _, state = lm.prefill(x)
        whole, _ = lm.step(x[:, 0], state)
        kept = torch.tensor([2, 0])
        part, _ = lm.step(x[kept, 0], select_rows(state, kept))
    torch.testing.assert_close(part, whole[kept], rtol=1e-12, atol=1e-12)


def test_single_precision_follows_double():
    lm, x = model(), tokens()
    expected = lm(x)
    torch.testing.assert_close(lm.float()(x).double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("fields", "frozen"),
    [
        ({"embedding": SinusoidalEmbedding(), "head": TiedHead()}, V * D),
        ({"embedding": SinusoidalEmbedding(), "head": LearnedHead()}, V * D),
        ({"embedding": LearnedEmbedding(), "head": TiedHead()}, 0),
        ({"embedding": LearnedEmbedding(), "head": LearnedHead()}, 0),
    ],
)
def test_parameters_are_the_weights_that_train(fields, frozen):
    lm = model(**fields)
    stored = sum(tensor.numel() for tensor in lm.state_dict().values())
    assert lm.num_parameters == stored - frozen
    lm(tokens()).sum().backward()
    assert all(weight.grad is not None for weight in lm.parameters())


def test_a_tied_head_is_the_embedding():
    lm = model(embedding=LearnedEmbedding(), head=TiedHead())
    assert lm.head is None
    assert "head" not in lm.state_dict()


def test_weights_are_a_function_of_the_generator():
    before = torch.get_rng_state()
    first, again, other = (model(seed=seed).state_dict() for seed in (0, 0, 1))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head"], other["head"])


def test_fused_weights_name_their_blocks():
    sizes = [matrix_blocks for _, matrix_blocks in model().hidden_matrices()]
    assert sizes == [(32, 32), (9,), (16,), (16, 16, 16), (16,), (32, 32), (16,)]
    assert all(weight.shape[0] == sum(parts) for weight, parts in model().hidden_matrices())


def test_residual_branches_shrink_with_depth():
    shallow, deep = model((MambaLayer(),)), model((MambaLayer(),) * 4)
    ratio = shallow.layers[0].mixer.out_proj.weight / deep.layers[0].mixer.out_proj.weight
    torch.testing.assert_close(ratio, torch.full_like(ratio, 2.0))


def test_a_state_of_another_model_is_refused():
    lm, x = model(), tokens()
    with pytest.raises(StateError, match="has 2 parts, one for each layer, got 1"):
        lm.step(x[:, 0], lm.init_state(3)[:1])


OTHERS = {
    "another kind": (PATTERNS["attention first"], r"Layer 0 has a state of \w+State .*, got KVState"),
    "another size": (
        (MambaLayer(d_state=5), AttentionLayer(n_heads=2, d_ffn=32)),
        r"Layer 0 has a state of .*4\), got .*5\)",
    ),
    "other heads": (
        (MambaLayer(d_state=4), AttentionLayer(n_heads=4, d_ffn=32)),
        r"Layer 1 has a state of KVState \(2, 0, 8\) \(2, 0, 8\), got KVState \(4, 13, 4\)",
    ),
}


@pytest.mark.parametrize(("layers", "message"), OTHERS.values(), ids=OTHERS)
def test_a_state_of_another_kind_of_model_is_refused(layers, message):
    _, state = model(layers).prefill(tokens())
    with pytest.raises(StateError, match=message):
        model().step(tokens()[:, 0], state)


def test_a_state_of_another_batch_is_refused():
    lm, x = model(), tokens()
    with pytest.raises(StateError, match="holds 2 rows, got tokens of 3"):
        lm.prefill(x, lm.init_state(2))


def test_the_state_is_that_of_all_layers():
    lm = model()
    assert state_bits(lm.init_state(1)) == sum(state_bits(part) for part in lm.init_state(1))
    assert state_bits(lm.prefill(tokens())[1]) == (32 * (3 + 4) + 2 * 13 * 16) * 64


def test_a_model_says_where_it_lies():
    assert model().device == torch.device("cpu")
