"""A user's function as an operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops


def same(args: Any) -> Any:
    return args


def times_three(x: Tensor) -> Tensor:
    return x * 3


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients(compiled: bool) -> None:
    plain = ops.Morph(times_three, same, same)
    own = ops.Morph(times_three, same, same, lambda x, out, dout: (dout * 7,))

    def both(x: Tensor) -> Tensor:
        return (plain(x) + own(x)).sum()

    slope = ms.grad(both)
    slope = ms.jit(slope) if compiled else slope
    np.testing.assert_array_equal(slope(Tensor([1.0, 2.0])).asnumpy(), [10, 10])


def test_what_is_told_is_checked() -> None:
    x = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="infer_shape"):
        ops.Morph(lambda x: x.sum(), same, same)(x)
    with pytest.raises(TypeError, match="infer_dtype"):
        ops.Morph(lambda x: x.astype(ms.int32), same, same)(x)
    with pytest.raises(TypeError, match="bprop_fn"):
        ops.Morph(times_three, same, same, 3)
