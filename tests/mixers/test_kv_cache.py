import pytest
import torch

from recherche._rng import torch_generator
from recherche.mixers.kv_cache import KVState
from recherche.mixers.state import select_rows, state_bits

B, H, K = 2, 3, 4


def columns(t, seed=0):
    draw = torch.randn(2, B, H, t, K, generator=torch_generator(seed, "columns"))
    return draw[0], draw[1]


def empty():
    return KVState(torch.empty(B, H, 0, K), torch.empty(B, H, 0, K))


def appended(num):
    state = empty()
    for i in range(num):
        state = state.append(*columns(1, seed=i))
    return state


def test_columns_come_back_in_order():
    state = appended(40)
    assert torch.equal(state.keys, torch.cat([columns(1, seed=i)[0] for i in range(40)], dim=2))
    assert torch.equal(state.values, torch.cat([columns(1, seed=i)[1] for i in range(40)], dim=2))


def test_appending_copies_at_doublings_only():
    state, buffers = empty(), set()
    for i in range(1000):
        state = state.append(*columns(1, seed=i))
        buffers.add(state.keys.data_ptr())
    assert len(buffers) <= 8


def test_forks_do_not_disturb_each_other():
    trunk = appended(5)
    left, right = trunk.append(*columns(1, seed=10)), trunk.append(*columns(1, seed=11))
    left, right = left.append(*columns(1, seed=12)), right.append(*columns(1, seed=13))
    assert torch.equal(left.keys[:, :, 5:], torch.cat([columns(1, seed=s)[0] for s in (10, 12)], dim=2))
    assert torch.equal(right.keys[:, :, 5:], torch.cat([columns(1, seed=s)[0] for s in (11, 13)], dim=2))
    assert torch.equal(trunk.keys, appended(5).keys)


def test_only_columns_in_use_count_as_state():
    assert state_bits(appended(17)) == 2 * H * 17 * K * 32


def test_equal_rows_need_no_positions():
    state = empty().append(*columns(4), lengths=torch.tensor([4, 4]))
    assert state.positions is None
    assert state.next_positions() == 4


def test_positions_skip_padding():
    state = empty().append(*columns(4), lengths=torch.tensor([4, 2]))
    state = state.append(*columns(2), lengths=torch.tensor([0, 1]))
    state = state.append(*columns(1))
    assert state.positions.tolist() == [[0, 1, 2, 3, -1, -1, 4], [0, 1, -1, -1, 2, -1, 3]]
    assert state.next_positions().tolist() == [[5], [4]]


def test_a_token_sees_earlier_real_columns_and_itself():
    state = empty().append(*columns(2), lengths=torch.tensor([2, 1])).append(*columns(2), lengths=torch.tensor([1, 2]))
    visible = state.visible(2).squeeze(1).int().tolist()
    assert visible[0] == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert visible[1] == [[1, 0, 1, 0], [1, 0, 1, 1]]


def test_rows_can_be_taken():
    state = empty().append(*columns(4), lengths=torch.tensor([4, 2]))
    row = select_rows(state, torch.tensor([1]))
    assert row.positions.tolist() == [[0, 1, -1, -1]]
    assert torch.equal(row.append(*(c[1:] for c in columns(1))).keys[:, :, :4], state.keys[1:])


@pytest.mark.parametrize("grad", [True, False])
def test_gradients_flow_through_appended_columns(grad):
    keys, values = columns(1)
    keys.requires_grad_(grad)
    state = appended(3).append(keys, values)
    assert state.keys.requires_grad is grad
    assert (state.room is None) is grad
