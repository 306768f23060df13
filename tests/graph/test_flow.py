"""Loops over functions: `WhileLoop`, `ForiLoop` and `Scan` in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops

WHILE, FORI, SCAN = ops.WhileLoop(), ops.ForiLoop(), ops.Scan()
BOTH = pytest.mark.parametrize("graph", [False, True])


def in_mode(graph: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    return ms.jit(function) if graph else function


def vector(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def plain(value: Any) -> Any:
    """Turn Tensors into lists, in tuples, lists and dicts."""
    if isinstance(value, tuple | list):
        return type(value)(plain(v) for v in value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.asnumpy().tolist() if isinstance(value, ms.Tensor) else value


def double(v: Any) -> Any:
    return v * 2


def count_and_double(v: Any) -> Any:
    return v[0] + 1, v[1] * 2


def step(carry: Any, x: Any) -> Any:
    return carry + x, carry * x


X = (1.0, 2.0)

# What the original's PYNATIVE gives; its GRAPH gives the same wherever it runs.
ROWS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "while": (lambda x: WHILE(lambda v: v.sum() < 100, double, x), [64.0, 128.0]),
    "while_number": (lambda x: WHILE(lambda v: v < 100, lambda v: v + 1, 10), 100),
    "while_pair": (
        lambda x: WHILE(lambda v: v[0] < 5, count_and_double, (0, x)),
        (5, [32.0, 64.0]),
    ),
    "while_none": (lambda x: WHILE(lambda v: v.sum() < 0, double, x), [1.0, 2.0]),
    "fori": (lambda x: FORI(0, 4, lambda i, v: v + i, x), [7.0, 8.0]),
    "fori_loop": (lambda x: FORI(0, 4, lambda i, v: v + i, x, False), [7.0, 8.0]),
    "fori_tensors": (
        lambda x: FORI(ms.Tensor(0), ms.Tensor(4), lambda i, v: v + i, x),
        [7.0, 8.0],
    ),
    "fori_dict": (
        lambda x: FORI(0, 4, lambda i, v: {"a": v["a"] + i}, {"a": x}),
        {"a": [7.0, 8.0]},
    ),
    "fori_dict_loop": (
        lambda x: FORI(0, 4, lambda i, v: {"a": v["a"] + i}, {"a": x}, False),
        {"a": [7.0, 8.0]},
    ),
    "fori_empty": (lambda x: FORI(4, 0, lambda i, v: v + i, x), [1.0, 2.0]),
    "fori_negative": (lambda x: FORI(-2, 2, lambda i, v: v + i, x, False), [-1.0, 0.0]),
    "fori_number": (lambda x: FORI(0, 4, lambda i, v: v + i, 0), 6),
    "fori_number_to_tensor": (lambda x: FORI(0, 4, lambda i, v: v + x, 0, False), [4.0, 8.0]),
    "scan": (
        lambda x: SCAN(step, x, [x, x, x]),
        ([4.0, 8.0], [[1.0, 4.0], [2.0, 8.0], [3.0, 12.0]]),
    ),
    "scan_loop": (
        lambda x: SCAN(step, x, (x, x, x), None, False),
        ([4.0, 8.0], [[1.0, 4.0], [2.0, 8.0], [3.0, 12.0]]),
    ),
    "scan_length": (
        lambda x: SCAN(lambda c, _: (c * 2, c), x, None, 3, False),
        ([8.0, 16.0], [[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]),
    ),
    "scan_numbers": (lambda x: SCAN(lambda c, e: (c + e, c), 0, [1, 2, 3]), (6, [0, 1, 3])),
    "scan_number_elements": (
        lambda x: SCAN(lambda c, e: (c + e, c), x, [1, 2], None, False),
        ([4.0, 5.0], [[1.0, 2.0], [2.0, 3.0]]),
    ),
    "scan_no_output": (
        lambda x: SCAN(lambda c, e: (c + e, None), x, [x, x], None, False),
        ([3.0, 6.0], [None, None]),
    ),
    "scan_empty": (lambda x: SCAN(step, x, []), ([1.0, 2.0], [])),
}


@BOTH
@pytest.mark.parametrize("name", ROWS)
def test_values(name: str, graph: bool) -> None:
    function, want = ROWS[name]
    assert plain(in_mode(graph, function)(vector(*X))) == want


@BOTH
def test_many_turns(graph: bool) -> None:
    def run(x: Any) -> Any:
        total = FORI(0, 200, lambda i, v: v + i, x)
        last, outs = SCAN(step, x, [vector(1.0, 1.0)] * 100)
        return total, last, len(outs), outs[99]

    total, last, count, final = in_mode(graph, run)(vector(*X))
    assert plain(total) == [19901, 19902] and plain(last) == [101, 102]
    assert count == 100 and plain(final) == [100, 101]


@pytest.mark.parametrize("unroll", [True, False])
@BOTH
def test_gradients(graph: bool, unroll: bool) -> None:
    w = ms.Parameter(vector(2.0, 3.0), name="w")

    def loss(x: Any) -> Any:
        value = FORI(0, 3, lambda i, v: v * w, x, unroll)
        last, outs = SCAN(lambda c, e: (c * e, c), value, [x, x], None, unroll)
        return (last + outs[1]).sum()

    gradient = ms.grad(loss, 0, w)
    got = in_mode(graph, gradient)(vector(*X))
    # d/dx of w**3 * (x**3 + x**2), d/dw of the same.
    np.testing.assert_allclose(got[0].asnumpy(), [8 * 5, 27 * 16])
    np.testing.assert_allclose(got[1].asnumpy(), [12 * 2, 27 * 12])


class Counter(nn.Cell):
    """Counts turns, and draws random numbers."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.turns = ms.Parameter(vector(0.0), requires_grad=False, name="turns")

    def body(self, x: Any) -> Any:
        ops.assign_add(self.turns, vector(1.0))
        return x + self.turns

    def construct(self, x: Any) -> Any:
        if self.kind == "while":
            return WHILE(lambda v: self.turns.sum() < 4, self.body, x)
        if self.kind == "fori":
            return FORI(0, 4, lambda i, v: self.body(v), x, False)
        return SCAN(lambda c, e: (self.body(c), c), x, None, 4, False)[0]


@pytest.mark.parametrize("kind", ["while", "fori", "scan"])
@BOTH
def test_bodies_that_write_parameters(kind: str, graph: bool) -> None:
    net = Counter(kind)
    if graph:
        net.construct = ms.jit(net.construct)
    assert plain(net(vector(*X))) == [11, 12]
    assert plain(net.turns) == [4]


@BOTH
def test_each_turn_draws_other_numbers(graph: bool) -> None:
    def run(x: Any) -> Any:
        return SCAN(lambda c, e: (c, ops.rand(2)), x, None, 3, False)[1]

    draws = [tuple(plain(d)) for d in in_mode(graph, run)(vector(*X))]
    assert len(set(draws)) == 3


ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "while_cond": (lambda x: WHILE(3, double, x), TypeError, "type of 'cond_func'"),
    "while_body": (lambda x: WHILE(double, 3, x), TypeError, "type of 'loop_func'"),
    "while_arity": (lambda x: WHILE(lambda: 1, double, x), ValueError, "Invalid cond_func"),
    "fori_bound": (lambda x: FORI(0.0, 4, step, x), TypeError, "type of 'lower'"),
    "fori_arity": (lambda x: FORI(0, 4, double, x), ValueError, "Invalid loop_func"),
    "scan_xs": (lambda x: SCAN(step, x, x), TypeError, "type of 'xs'"),
    "scan_length": (lambda x: SCAN(step, x, [x], 5), ValueError, "got: 5 and: 1"),
    "scan_nothing": (lambda x: SCAN(step, x, None), ValueError, "cannot be None"),
    "scan_unroll": (lambda x: SCAN(step, x, [x], None, 1), TypeError, "'unroll'"),
    "scan_pair": (lambda x: SCAN(lambda c, e: c, x, [x]), ValueError, "two elements"),
}


@BOTH
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, graph: bool) -> None:
    function, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        in_mode(graph, function)(vector(*X))


def test_a_value_that_changes_its_kind_in_a_graph() -> None:
    def run(x: Any) -> Any:
        return FORI(0, 4, lambda i, v: ops.concat((v, v)), x, False)

    with pytest.raises(ValueError, match="should maintain the same type and shape"):
        ms.jit(run)(vector(*X))


@BOTH
def test_gradient_of_unknown_length(graph: bool) -> None:
    w = ms.Parameter(vector(2.0, 2.0), name="w")

    def run(x: Any) -> Any:
        return WHILE(lambda v: v.sum() < 100, lambda v: v * w, x).sum()

    got = in_mode(graph, ms.grad(run, 0, w))(vector(*X))
    # Six turns: the derivatives of w**6 x.
    np.testing.assert_allclose(got[0].asnumpy(), [64, 64])
    np.testing.assert_allclose(got[1].asnumpy(), [6 * 32, 6 * 32 * 2])
    # Five turns from x * x.
    twice = in_mode(graph, ms.grad(lambda x: ms.grad(lambda y: run(y * y))(x).sum()))
    np.testing.assert_allclose(twice(vector(*X)).asnumpy(), [64, 64])


@BOTH
def test_gradient_between_bounds_that_are_arguments(graph: bool) -> None:
    def run(x: Any, n: Any) -> Any:
        return FORI(0, n, lambda i, v: v * x, x).sum()

    got = in_mode(graph, ms.grad(run))(vector(*X), ms.Tensor(3))
    np.testing.assert_allclose(got.asnumpy(), [4, 32])
    _, tangent = in_mode(graph, lambda x, n: ms.jvp(lambda y: run(y, n), x, vector(1.0, 1.0)))(
        vector(*X), ms.Tensor(3)
    )
    assert float(tangent) == 36


def test_bounds_that_a_graph_gets_as_arguments() -> None:
    @ms.jit
    def run(n: Any, x: Any) -> Any:
        return FORI(0, n, lambda i, v: v + i, x)

    assert plain(run(ms.Tensor(4), vector(*X))) == [7, 8]
    assert plain(run(ms.Tensor(100), vector(*X))) == [4951, 4952]


def test_an_attribute_written_in_a_loop_of_xla() -> None:
    class Net(nn.Cell):
        """Writes an attribute."""

        def construct(self, x: Any) -> Any:
            def body(i: Any, v: Any) -> Any:
                self.last = v
                return v + 1

            return FORI(0, 4, body, x, False)

    net = Net()
    net.construct = ms.jit(net.construct)
    with pytest.raises(RuntimeError, match="make them Parameters"):
        net(vector(*X))
