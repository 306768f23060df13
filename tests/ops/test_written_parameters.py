"""Parameters of a compiled Cell that ops write by index or as optimizers do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops

START = np.array([[4.0, -2.0], [3.0, 8.0], [5.0, 6.0]], np.float32)
ROWS = Tensor(np.array([2, 0, 2], np.int32))
VALUES = Tensor(np.array([[2.0, 3.0], [0.5, 4.0], [10.0, -1.0]], np.float32))


def _adagrad(p: Any) -> Any:
    return ops.ApplyAdagradV2(1e-3)(p, p, 0.1, VALUES)[0]


def _ftrl(p: Any) -> Any:
    return ops.SparseApplyFtrl(0.1, 0.2, 0.3, -0.5)(p, p * p, p * 0, VALUES, ROWS)[0]


CALLS = {
    "scatter_mul": lambda p: ops.scatter_mul(p, ROWS, VALUES),
    "scatter_max": lambda p: ops.scatter_max(p, ROWS, VALUES),
    "scatter_nd_sub": lambda p: ops.scatter_nd_sub(p, ROWS.reshape(3, 1), VALUES),
    "inplace_index_add": lambda p: ops.inplace_index_add(p, ROWS, VALUES, 0),
    "ApplyGradientDescent": lambda p: ops.ApplyGradientDescent()(p, 0.1, VALUES),
    "ApplyAdagradV2": _adagrad,
    "SparseApplyFtrl": _ftrl,
}


class Written(nn.Cell):
    def __init__(self, call: Any) -> None:
        super().__init__()
        self.p = Parameter(Tensor(START), name="p")
        self.call = call

    def construct(self, x: Tensor) -> Tensor:
        self.call(self.p)
        return self.p * x


@pytest.mark.parametrize("name", CALLS)
def test_graph_writes_as_pynative_does(name: str) -> None:
    one = Tensor(np.float32(1))
    results = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net = Written(CALLS[name])
            results.append([net(one).asnumpy(), net.p.asnumpy(), net(one).asnumpy()])
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    assert not np.array_equal(results[0][1], START)
    for eager, compiled in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-6)
