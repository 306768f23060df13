"""HyperMap, Map, MultitypeFuncGraph and Partial: structures, dispatch by type, both modes.

Expected values were computed by MindSpore 2.10.0.
"""

from __future__ import annotations

from typing import Any

import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops

add = ops.MultitypeFuncGraph("add")
scale = ops.MultitypeFuncGraph("scale")
squares = ops.MultitypeFuncGraph("squares")


@add.register("Tensor", "Tensor")
def add_tensors(x: Any, y: Any) -> Any:
    return ops.add(x, y)


@add.register("Number", "Number")
def add_numbers(x: Any, y: Any) -> Any:
    return x + y


@add.register("Tensor", "Number")
def multiply(x: Any, y: Any) -> Any:
    return x * y


@scale.register("Tensor", "Tensor", "Tensor")
def scaled_sum(s: Any, x: Any, y: Any) -> Any:
    return s * x + y


@squares.register("Tensor")
def square_one(x: Any) -> Any:
    return ops.square(x)


def plain(value: Any) -> Any:
    """Turn tensors into lists."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(v) for v in value)
    return value.asnumpy().tolist() if isinstance(value, Tensor) else value


def one(x: float) -> Tensor:
    """Make a tensor of one element."""
    return Tensor([x], ms.float32)


class Mapped(nn.Cell):
    """Uses HyperMap in construct."""

    def __init__(self) -> None:
        super().__init__()
        self.map = ops.HyperMap()

    def construct(self, factor: Any, x: Any, y: Any) -> Any:
        """Give ``factor * x + y`` of every pair."""
        return self.map(ops.partial(scale, factor), x, y)


PAIRS = (one(1.0), (one(2.0),)), (one(3.0), (one(4.0),))
FLAT = (one(1.0), one(2.0)), (one(3.0), one(4.0))
CALLS: list[tuple[str, Any, Any]] = [
    ("tensors", lambda: add(one(1.0), one(2.0)), [3.0]),
    ("tensor_number", lambda: add(one(2.0), 3), [6.0]),
    ("numbers", lambda: add(1, 2), 3),
    ("hyper_map_nested", lambda: ops.HyperMap(add)(*PAIRS), ([4.0], ([6.0],))),
    ("hyper_map_call", lambda: ops.HyperMap()(add, *PAIRS), ([4.0], ([6.0],))),
    ("hyper_map_list", lambda: ops.HyperMap()(add, [one(1.0)], [one(3.0)]), ([4.0],)),
    ("map", lambda: ops.Map()(add, *FLAT), ([4.0], [6.0])),
    ("map_of", lambda: ops.Map(squares)(FLAT[1]), ([9.0], [16.0])),
    ("partial", lambda: ops.HyperMap()(ops.partial(scale, one(2.0)), *FLAT), ([5.0], [8.0])),
    ("Partial", lambda: ops.HyperMap()(ops.Partial()(scale, one(2.0)), *FLAT), ([5.0], [8.0])),
    ("function", lambda: ops.HyperMap()(ops.square, PAIRS[0]), ([1.0], ([4.0],))),
    ("primitive", lambda: ops.HyperMap()(ops.Mul(), *FLAT), ([3.0], [8.0])),
]


@pytest.mark.parametrize(("name", "run", "want"), CALLS, ids=[c[0] for c in CALLS])
def test_call(name: str, run: Any, want: Any) -> None:
    assert plain(run()) == want


def test_in_construct(mode: int) -> None:
    assert plain(Mapped()(one(2.0), *FLAT)) == ([5.0], [8.0])


def test_gradient_through_hyper_map(mode: int) -> None:
    net = Mapped()

    def f(x: Any) -> Any:
        first, second = net(x, (x, x * 2), FLAT[1])
        return first.sum() + second.sum()

    assert plain(ms.grad(f)(one(3.0))) == [18.0]


def test_no_function_for_the_types() -> None:
    with pytest.raises(ValueError, match="MultitypeFuncGraph"):
        add("a", "b")
