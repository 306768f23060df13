"""`NPUGetFloatStatus` sees gradients that are not finite, as scripts for Ascend use it."""

from __future__ import annotations

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, ParameterTuple, Tensor, nn, ops


class Step(nn.Cell):
    """The gradient of a product and whether it overflowed."""

    def __init__(self, get_by_list: bool) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.ones(3, np.float32)), name="w")
        self.alloc, self.clear = ops.NPUAllocFloatStatus(), ops.NPUClearFloatStatus()
        self.get, self.sum = ops.NPUGetFloatStatus(), ops.ReduceSum(keep_dims=False)
        self.gradient = ops.GradOperation(get_by_list=get_by_list)

    def product(self, x: Tensor) -> Tensor:
        return (self.w * x * x).sum()

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        flag = self.alloc()
        x = ops.depend(x, self.clear(flag))
        weights = ParameterTuple([self.w]) if self.gradient.get_by_list else None
        gradients = self.gradient(self.product, weights)(x)
        flag = ops.depend(flag, gradients)
        flag = ops.depend(flag, self.get(flag))
        return self.sum(flag, (0,)), flag


@pytest.mark.parametrize("by_list", [True, False])
def test_overflow_is_seen(mode: int, by_list: bool) -> None:
    step = Step(by_list)
    for value, overflow in ((1.0, 0.0), (np.inf, 8.0), (np.nan, 8.0), (2.0, 0.0)):
        total, flag = step(Tensor(np.full(3, value, np.float32)))
        assert total.asnumpy() == overflow
        assert flag.asnumpy().tolist() == [overflow / 8] * 8


@pytest.mark.parametrize("call", ["NPUGetFloatStatus", "NPUClearFloatStatus"])
def test_a_flag_is_float(call: str) -> None:
    with pytest.raises(TypeError, match=f"{call}.*Float16 or Float32"):
        getattr(ops, call)()(Tensor([1, 2]))


def test_it_is_cleared_first(mode: int) -> None:
    flag = ops.NPUAllocFloatStatus()()
    ops.NPUClearFloatStatus()(flag)
    ops.NPUGetFloatStatus()(flag)
    with pytest.raises(RuntimeError, match="NPUClearFloatStatus"):
        ops.NPUGetFloatStatus()(flag)


def test_a_trace_that_never_asks_leaves_nothing() -> None:
    @ms.jit
    def begin(x: Tensor) -> Tensor:
        ops.NPUClearFloatStatus()(ops.NPUAllocFloatStatus()())
        return x + 1

    begin(Tensor([1.0]))
    assert ms.grad(lambda x: (x * x).sum())(Tensor([3.0])).asnumpy().tolist() == [6.0]
