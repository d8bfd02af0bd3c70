import math

import pytest
import torch

from recherche._rng import torch_generator
from recherche.models.embeddings import LearnedEmbedding, NormalEmbedding, OrthogonalEmbedding, SinusoidalEmbedding

EMBEDDINGS = (SinusoidalEmbedding(), OrthogonalEmbedding(), NormalEmbedding(), LearnedEmbedding())


def table(embedding, vocab_size=10, d_model=16, seed=0):
    return embedding.table(vocab_size, d_model, torch_generator(seed, "embedding"))


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda e: e.kind)
@pytest.mark.parametrize(("vocab_size", "d_model"), [(10, 16), (33, 16), (5, 7)])
def test_every_token_has_a_vector(embedding, vocab_size, d_model):
    vectors = table(embedding, vocab_size, d_model)
    assert vectors.shape == (vocab_size, d_model)
    assert vectors.dtype == torch.float32
    assert torch.equal(vectors, table(embedding, vocab_size, d_model))


def test_the_sinusoidal_embedding_is_the_papers_formula():
    vectors = table(SinusoidalEmbedding())
    assert vectors[7, 4].item() == pytest.approx(math.sin(7 / 10_000 ** (4 / 16)), abs=1e-6)
    assert vectors[7, 5].item() == pytest.approx(math.cos(7 / 10_000 ** (4 / 16)), abs=1e-6)


def test_orthogonal_rows_have_norm_root_d():
    vectors = table(OrthogonalEmbedding(), vocab_size=33)
    torch.testing.assert_close(vectors[:16] @ vectors[:16].t(), 16 * torch.eye(16), rtol=0, atol=1e-4)
    torch.testing.assert_close(vectors.norm(dim=1), torch.full((33,), 4.0))


@pytest.mark.parametrize("embedding", EMBEDDINGS[1:], ids=lambda e: e.kind)
def test_random_embeddings_depend_on_the_generator(embedding):
    assert not torch.equal(table(embedding, seed=0), table(embedding, seed=1))
