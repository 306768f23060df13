"""Names that the original's documentation calls in its examples, though its modules lack them."""

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, mint, nn, ops
from mindjax.ops.operations import _csr_ops


@pytest.mark.parametrize(
    ("ours", "meant"),
    [
        (ops.empty_like, mint.empty_like),
        (ops.relu_, mint.nn.functional.relu_),
        (ops.threshold_, mint.nn.functional.threshold_),
        (ops.auto_generate.clone, mint.clone),
        (ops.auto_generate.kthvalue, mint.kthvalue),
        (nn.Fold, mint.nn.Fold),
        (nn.SoftmaxExt, mint.nn.Softmax),
        (nn.UpsampleExt, mint.nn.Upsample),
        (nn.UpsamplingNearest2d, mint.nn.UpsamplingNearest2d),
    ],
)
def test_they_are_those_of_mint(ours: object, meant: object) -> None:
    assert ours is meant


def test_inner_classes_of_sparse_matrices() -> None:
    """A 2 by 4 matrix with 1 at (0, 0) and (1, 1), as rows that start at 0 and 1."""
    starts, columns = Tensor([0, 1, 2], ms.int32), Tensor([0, 1], ms.int32)
    assert _csr_ops.COO2CSR()(Tensor([0, 1], ms.int32), 2).asnumpy().tolist() == [0, 1, 2]
    assert _csr_ops.CSR2COO()(starts, 2).asnumpy().tolist() == [0, 1]
    dense = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    assert _csr_ops.CSRGather()(starts, columns, dense, (2, 4)).asnumpy().tolist() == [0, 5]


def test_a_sum_of_all_has_one_element_in_ops_and_no_axis_in_mint() -> None:
    x = Tensor([1.0, 2.0, 4.0])
    assert ops.einsum("i->", x).shape == ops.Einsum("i->")((x,)).shape == (1,)
    assert mint.einsum("i->", x).shape == ()
    assert ops.einsum("i->", x).asnumpy()[0] == mint.einsum("i->", x).item() == 7


def test_the_class_is_printed_by_the_originals_path() -> None:
    class Mine(Tensor):
        """A user's class keeps its name."""

    assert repr(Tensor) == "<class 'mindspore.common.tensor.Tensor'>"
    assert str(ms.Parameter) == "<class 'mindspore.common.parameter.Parameter'>"
    assert "Mine" in repr(Mine) and "mindspore" not in repr(Mine)
