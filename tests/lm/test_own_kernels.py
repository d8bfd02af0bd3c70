import pytest
import torch

from recherche._rng import torch_generator
from recherche.lm.own_kernels import OwnKernels, own_kernels
from tests.lm.taught import tiny_pupil

RECURRENT = {"mamba": {}, "mamba, head of its own": {"tie_word_embeddings": False}, "mamba2": {}}


@pytest.mark.parametrize("name", RECURRENT)
def test_the_copy_computes_the_same_and_gives_its_weights_back(name):
    model = tiny_pupil(name.partition(",")[0], **RECURRENT[name]).model
    tokens = torch.randint(model.config.vocab_size, (2, 19), generator=torch_generator(0, "tokens"))
    copy = own_kernels(model)
    with torch.no_grad():
        before = model(tokens).logits
        torch.testing.assert_close(copy(input_ids=tokens, use_cache=False).logits, before, rtol=1e-4, atol=1e-4)
        for weight in copy.parameters():
            weight.mul_(1.1)
        assert torch.equal(model(tokens).logits, before)
        copy.write_back(model)
        torch.testing.assert_close(model(tokens).logits, copy(tokens).logits, rtol=1e-4, atol=1e-4)
        assert not torch.allclose(model(tokens).logits, before, rtol=1e-2)


def test_gradients_are_those_of_the_library():
    model = tiny_pupil("mamba").model
    tokens = torch.randint(model.config.vocab_size, (2, 7), generator=torch_generator(0, "tokens"))
    copy = own_kernels(model)
    (copy(tokens).logits ** 2).mean().backward()
    (model(tokens).logits ** 2).mean().backward()
    theirs = model.backbone.layers[0].mixer.dt_proj.weight.grad
    torch.testing.assert_close(copy.model.layers[0].mixer.dt_weight.grad, theirs, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "settings", "dtype"),
    [
        ("llama", {}, torch.float32),
        ("jamba", {}, torch.float32),
        ("mamba", {"use_bias": True}, torch.float32),
        ("mamba", {}, torch.bfloat16),
    ],
)
def test_other_models_are_trained_as_they_are(family, settings, dtype):
    assert own_kernels(tiny_pupil(family, **settings).model.to(dtype)) is None
    assert isinstance(own_kernels(tiny_pupil("mamba").model), OwnKernels)
