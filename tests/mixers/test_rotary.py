import torch

from recherche._rng import torch_generator
from recherche.mixers.rotary import RotaryTable, rotate


def draw(*shape):
    return torch.randn(*shape, generator=torch_generator(0, "rotary"), dtype=torch.float64)


def test_products_depend_on_distance_alone():
    table = RotaryTable(8, 100.0)
    q, k = draw(1, 1, 1, 8), draw(1, 1, 1, 8).flip(-1)

    def product(i, j):
        angles = table.upto(50, q)
        return float((rotate(q, angles, i) * rotate(k, angles, j)).sum())

    assert abs(product(7, 3) - product(40, 36)) < 1e-12
    assert abs(product(7, 3) - product(7, 4)) > 1e-6


def test_rotation_keeps_norms():
    x = draw(2, 3, 5, 8)
    turned = rotate(x, RotaryTable(8, 10_000.0).upto(9, x), 4)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))


def test_rows_may_start_at_different_positions():
    x = draw(2, 1, 3, 4)
    table = RotaryTable(4, 10.0).upto(20, x)
    both = rotate(x, table, torch.tensor([[2], [9]]))
    torch.testing.assert_close(both[:1], rotate(x[:1], table, 2))
    torch.testing.assert_close(both[1:], rotate(x[1:], table, 9))


def test_a_grown_table_has_the_old_rows():
    table, x = RotaryTable(4, 10.0), draw(1)
    small = table.upto(3, x)
    large = table.upto(1000, x)
    assert torch.equal(large[:, : small.shape[1]], small)
    assert table.upto(1000, x) is large
    assert table.upto(5, x.float()).dtype == torch.float32
