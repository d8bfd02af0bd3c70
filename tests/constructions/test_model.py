"""Embedding, tied head and state of the paper's model."""

import pytest
import torch

from recherche.constructions.model import BlockShape, ModelShape, PaperModel

SHAPE = ModelShape(specials=("<s>", "YES"), n_numbers=9, d_model=16, blocks=(BlockShape(mixer="linear", width=0),))


def readout(**coordinates: float) -> torch.Tensor:
    x = torch.zeros(1, SHAPE.d_model, dtype=torch.float64)
    for name, value in coordinates.items():
        x[0, {"number": 0, "square": 1, "yes": 3}[name]] = value
    return x


@pytest.mark.parametrize("v", range(1, 10))
def test_the_head_decodes_every_number_with_margin_one(v):
    logits = PaperModel(SHAPE)._logits(readout(number=2 * v, square=-1))[0]
    best, second = logits.topk(2).values
    assert SHAPE.vocab.tokens[int(logits.argmax())] == str(v)
    assert best - second >= 1


def test_the_printed_head_is_linear_and_knows_only_two_numbers():
    """Appendix A.3 embeds number i as i w_1: the logit is linear in i, so the argmax lies at one of the ends."""
    numbers = torch.arange(1, 10, dtype=torch.float64)
    decoded = {int((scale * numbers).argmax()) + 1 for scale in torch.linspace(-5, 5, 100, dtype=torch.float64)}
    assert decoded == {1, 9}


def test_a_special_token_is_decoded_by_its_flag():
    assert SHAPE.vocab.tokens[int(PaperModel(SHAPE)._logits(readout(yes=1.0)).argmax())] == "YES"


def test_the_embedding_holds_number_square_flag_and_position():
    x = PaperModel(SHAPE)._embed(torch.tensor([[0, 4]]), torch.tensor([[1, 2]]))[0]
    assert x[0, [0, 1, 2, 3, -1]].tolist() == [0, 0, 1, 0, 1]
    assert x[1, [0, 1, 2, 3, -1]].tolist() == [3, 9, 0, 0, 2]


def test_prefill_of_padded_rows_is_that_of_each_row_alone():
    model = PaperModel(SHAPE)
    padded, state = model.prefill(torch.tensor([[0, 4, 5], [0, 6, 0]]), lengths=torch.tensor([3, 2]))
    alone, alone_state = model.prefill(torch.tensor([[0, 6]]))
    assert torch.equal(padded[1], alone[0])
    assert state.position.tolist() == [3, 2]
    assert alone_state.position.tolist() == [2]


@pytest.mark.parametrize("read", [PaperModel.prefill, PaperModel.residual_stream], ids=["prefill", "residual_stream"])
@pytest.mark.parametrize("change", [lambda parts: parts[:-1], lambda parts: (*parts, parts[-1])], ids=["less", "more"])
def test_a_state_with_another_number_of_parts_is_refused(read, change):
    model, tokens = PaperModel(SHAPE.model_copy(update={"blocks": SHAPE.blocks * 2})), torch.tensor([[0, 3]])
    state = model.init_state(1, dtype=torch.float64)
    read(model, tokens, state)
    with pytest.raises(ValueError, match="zip"):
        read(model, tokens, state._replace(blocks=change(state.blocks)))
