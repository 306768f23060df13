"""Names of Parameters in containers after every change, as the original 2.10.0 gives them."""

import pytest

from mindjax import nn


def dense():
    return nn.Dense(2, 2, has_bias=False)


def names(cell):
    return [p.name.removesuffix(".weight") for p in cell.get_parameters()]


class Holder(nn.Cell):
    """Owns a list under the name ``l``."""

    def __init__(self):
        super().__init__()
        self.l = nn.CellList([dense(), dense()])


def deleted(c):
    del c[0]


def inserted(c):
    c.insert(1, nn.ReLU())


def replaced(c):
    c[0] = dense()


def changed_in_holder(holder):
    holder.l.append(dense())
    holder.l.insert(0, dense())
    del holder.l[1]


CHANGES = [
    ("list del", lambda: nn.CellList([dense() for _ in range(3)]), deleted, "0 1"),
    ("list append", lambda: nn.CellList([dense()]), lambda c: c.append(dense()), "0 1"),
    ("list insert", lambda: nn.CellList([dense(), dense()]), inserted, "0 2"),
    ("list extend", lambda: nn.CellList([dense()]), lambda c: c.extend([dense()]), "0 1"),
    ("sequence del", lambda: nn.SequentialCell(*[dense() for _ in range(3)]), deleted, "0 1"),
    ("sequence append", lambda: nn.SequentialCell(dense()), lambda c: c.append(dense()), "0 1"),
    ("sequence set", lambda: nn.SequentialCell(dense(), dense()), replaced, "0 1"),
    ("in a holder", Holder, changed_in_holder, "l.0 l.1 l.2"),
]


@pytest.mark.parametrize(("name", "make", "change", "wanted"), CHANGES, ids=[c[0] for c in CHANGES])
def test_names_after_a_change(name, make, change, wanted):
    cell = make()
    change(cell)
    assert names(cell) == wanted.split()
    cell.check_names()


def test_a_slice_leaves_the_names_alone():
    cells = nn.CellList([dense() for _ in range(3)])
    assert names(cells[1:]) == ["1", "2"] and names(cells) == ["0", "1", "2"]
