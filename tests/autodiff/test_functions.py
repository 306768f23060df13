"""Functions with their own backward, regions without gradients, hooks on what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.core.caches import compilations

BOTH = pytest.mark.parametrize("graph", [False, True])


def in_mode(graph: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    return ms.jit(function) if graph else function


def vector(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.asnumpy().tolist()


X, Y = (1.0, 2.0), (3.0, 4.0)


class Product(ms._Function):
    """A scaled product, with a gradient by its first factor that is ten times too large."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, k: Any) -> Any:
        ctx.save_for_backward(a, b)
        ctx.k = k
        return a * b * k

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, b = ctx.saved_tensors
        return g * b * ctx.k * 10, g * a * ctx.k, None


class Separate(ms._Function):
    """Forward without a context."""

    @staticmethod
    def forward(a: Any, b: float = 2.0) -> Any:
        return a * b

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.b = inputs[1]
        ctx.half = output / 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.b * ctx.half, None


class Two(ms._Function):
    """Two outputs, the second without a gradient."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        first, second = a * 2, a * 3
        ctx.mark_non_differentiable(second)
        return first, second

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        return first * 7


class Few(ms._Function):
    """Forgets a gradient."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a * b

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


class Cube(ms._Function):
    """A cube whose backward can be differentiated."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a)
        return a**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (a,) = ctx.saved_tensors
        return g * 3 * a * a


class InPlace(ms._Function):
    """Doubles its argument in place."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        a.mul_(vector(2.0))
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 5


# The original's PYNATIVE gives these numbers.
GRADIENTS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "product": (lambda x: Product.apply(x, vector(*Y), 2), [60, 80]),
    "second factor": (lambda x: Product.apply(vector(*Y), x, 2), [6, 8]),
    "separate context": (lambda x: Separate.apply(x), [2, 4]),
    "two outputs": (lambda x: Two.apply(x)[0] + Two.apply(x)[1], [7, 7]),
    "second order": (lambda x: ms.grad(lambda a: Cube.apply(a).sum())(x), [6, 12]),
    "no_grad": (lambda x: without(x) * x, [1, 4]),
    "no_grad decorator": (lambda x: decorated(x) + x, [1, 1]),
}


def without(x: Any) -> Any:
    with ms._no_grad():
        return x * x


@ms._no_grad()
def decorated(x: Any) -> Any:
    return x * x


@BOTH
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, graph: bool) -> None:
    function, want = GRADIENTS[name]
    assert plain(in_mode(graph, ms.grad(function))(vector(*X))) == want


def test_in_place() -> None:
    def function(x: Any) -> Any:
        inner = x * 1
        return InPlace.apply(inner).sum() + inner.sum()

    assert plain(ms.grad(function)(vector(*X))) == [10, 10]


def test_gradients_that_are_missing() -> None:
    with pytest.raises(RuntimeError, match="'backward' must return a gradient for each of the 2"):
        ms.grad(lambda x: Few.apply(x, vector(*Y)))(vector(*X))


@BOTH
def test_without_a_gradient_only_forward_runs(graph: bool) -> None:
    assert plain(in_mode(graph, lambda x: Product.apply(x, vector(*Y), 3))(vector(*X))) == [9, 24]


def test_a_parameter_written_where_there_is_no_gradient() -> None:
    w = ms.Parameter(vector(2.0, 3.0), name="w")

    def function(x: Any) -> Any:
        with ms._no_grad():
            ops.assign(w, w * 2)
        return (x * w).sum()

    assert plain(ms.grad(function, 0, w)(vector(*X))) == [[4, 6], [1, 2]]


def test_hooks_on_what_the_tape_keeps() -> None:
    seen: list[Any] = []

    def pack(x: Any) -> Any:
        seen.append(("pack", plain(x)))
        return (x + 1).asnumpy()

    def unpack(kept: Any) -> Any:
        seen.append(("unpack", kept.tolist()))
        return ms.Tensor(kept)

    def function(x: Any, y: Any) -> Any:
        with ms.saved_tensors_hooks(pack, unpack):
            out = x * y
        return out * 2

    out, grads = ms.value_and_grad(function, (0, 1))(vector(*X), vector(*Y))
    assert plain(out) == [6, 16]
    assert plain(grads) == [[8, 10], [4, 6]]
    assert [s for s in seen if s[0] == "pack"] == [("pack", [1, 2]), ("pack", [3, 4])]
    assert [s for s in seen if s[0] == "unpack"] == [("unpack", [2, 3]), ("unpack", [4, 5])]


@BOTH
def test_hooks_on_what_a_graph_keeps(graph: bool) -> None:
    @ms.register_saved_tensors_hooks(lambda x: x + 1, lambda x: x)
    def function(x: Any, y: Any) -> Any:
        return x * y

    gradient = in_mode(graph, ms.grad(function, (0, 1)))
    assert plain(gradient(vector(*X), vector(*Y))) == [[4, 5], [2, 3]]


def test_hooks_that_are_wrong() -> None:
    with pytest.raises(TypeError, match="'pack_hook' must be callable"):
        ms.saved_tensors_hooks(3, 4)

    def inside(x: Any) -> Any:
        with ms.saved_tensors_hooks(lambda a: a, lambda a: a):
            return x * 2

    with pytest.raises(RuntimeError, match="works in PYNATIVE_MODE only"):
        ms.jit(inside)(vector(*X))


class Noisy(nn.Cell):
    """Weighs its input, counts its calls and drops half."""

    def __init__(self) -> None:
        super().__init__()
        self.w = ms.Parameter(vector(2.0, 3.0), name="w")
        self.calls = ms.Parameter(vector(0.0), name="calls", requires_grad=False)
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x: Any) -> Any:
        ops.assign_add(self.calls, vector(1.0))
        return self.dropout(ops.sin(x * self.w))


@BOTH
def test_recompute(graph: bool) -> None:
    net = Noisy()
    net.set_train()
    x = ms.Tensor(np.full((8, 2), 0.5, np.float32))

    def function(x: Any) -> Any:
        return ms.recompute(net, x)

    run = in_mode(graph, ms.value_and_grad(function, 0, [net.w]))
    out, (by_input, (by_weight,)) = run(x)
    kept = out.asnumpy() != 0
    assert 0 < kept.sum() < kept.size
    slope = 2 * np.cos(0.5 * np.array([2, 3])) * kept
    np.testing.assert_allclose(by_input.asnumpy(), slope * [2, 3], rtol=1e-5)
    np.testing.assert_allclose(by_weight.asnumpy(), slope.sum(0) * 0.5, rtol=1e-5)
    assert plain(net.calls) == [1]
    before = compilations()
    run(x)
    assert plain(net.calls) == [2]
    assert compilations() == before


def test_recompute_takes_cells() -> None:
    with pytest.raises(TypeError, match="inherited from Cell"):
        ms.recompute(lambda x: x, vector(*X))
    with pytest.raises(NotImplementedError, match="'context_fn'"):
        ms.recompute(Noisy(), vector(*X), use_reentrant=False, context_fn=lambda: (None, None))
