"""Python's own syntax around control flow: functions, containers, classes, Cells.

Like `control_programs`, which it adds to, the file runs beside MindJAX and beside the original.
"""

from __future__ import annotations

# ruff: noqa: SIM102
from collections.abc import Callable
from typing import Any

from tests.graph.control_programs import PROGRAMS, i, ms, n, ops, runs, t

nn = ms.nn


# -- functions --


def _clip(x, low=-1.0, high=1.0):
    if x > high:
        return x * 0 + high
    if x < low:
        return x * 0 + low
    return x


@runs(n(3), n(-3), n(0.5))
def user_function(x):
    return _clip(x) + _clip(x, high=2.0)


@runs(n(3), n(-3))
def closure_and_lambda(x):
    k = 3

    def inner(u):
        if u > 0:
            return u * k
        return u - x

    double = lambda v, w=2: v * w if v > 0 else v  # noqa: E731
    return inner(x) + double(x), [f(x) for f in (inner, double)]


@runs((n(3), n(1), n(2)), (n(-3),))
def variadic(x, *rest, scale=2.0, **more):
    def inside(a, *args, k=1, **kw):
        if a > 0:
            return a + len(args) + k + kw["z"]
        return a

    return inside(x, *rest, k=5, z=10) * scale


def _factorial(m):
    return 1 if m <= 1 else m * _factorial(m - 1)


@runs(n(2), n(-2))
def recursion_on_constants(x):
    if x > 0:
        x = x * _factorial(4)
    return x


def _halve(x, depth):
    if depth == 0:
        return x
    if x > 1:
        return _halve(x / 2, depth - 1)
    return x


@runs(n(9), n(0.5))
def recursion_of_bounded_depth(x):
    return _halve(x, 5)


@runs(n(3), n(-3))
def nonlocal_in_a_branch(x):
    total = x * 0

    def add(v):
        nonlocal total
        total = total + v

    if x > 0:
        add(x)
        add(x)
    else:
        add(x * 10)
    return total


@runs(n(3), n(-3))
def builtins_of_traced(x):
    a = max(x, x * 2)
    b = min(x, x - 1) if x > 0 else min(x, -x)
    return a, b, abs(x), sum([x, x])


@runs(t(1.5, -2, 3))
def numbers_of_tensors(x):
    k = int(x[0])
    f = float(x[1])
    return k, f, bool(x[0] > 0), x.sum().item() + 1


@runs((i(1), n(10), n(20)), (i(0), n(10), n(20)), (i(-1), n(10), n(20)))
def index_of_a_tuple(k, a, b):
    return (a, b)[k], [a + 1, b + 1][k]


@runs(n(3), n(-3))
def comprehension_with_calls(x):
    values = [_clip(x * k) for k in range(3) if k != 1]
    return sum(values), {str(k): _clip(x) for k in range(2)}["1"]


@runs((n(3), [n(1), n(2)]), (n(2), [n(1), n(2)]))
def membership(x, values):
    if x in values:
        return x * 10
    return x


@runs(n(4), n(-4))
def try_around_constants(x):
    try:
        k = int("12")
        y = x / k
    except ValueError:
        y = x
    else:
        y = y + 1
    finally:
        x = x + 1
    if x > 0:
        return y * 2
    return y


class _Manager:
    def __init__(self):
        self.entered = 0

    def __enter__(self):
        self.entered += 1
        return 3

    def __exit__(self, *exc):
        return False


@runs(n(4), n(-4))
def return_inside_with(x):
    with _Manager() as v:
        if x > 0:
            return x + v
        x = x - v
    return x * 2


@runs(n(4), n(-4))
def walrus(x):
    if (k := x.ndim) == 0:
        x = x + k
    if (y := x * 2) > 0:
        return y
    return x


@runs(n(4), n(-4))
def match_of_constants(x):
    match x.ndim:
        case 0:
            if x > 0:
                return x + 1
        case _:
            return x
    return x * 2


class Plain:
    def __init__(self, v):
        self.v = v

    def add(self, x):
        if x > 0:
            self.v = self.v + 1
            return x + self.v
        return x - self.v


@runs(n(4), n(-4))
def plain_object(x):
    p = Plain(6)
    y = p.add(x)
    return y, p.add(y), x * p.v


@runs(n(4), n(-4))
def augmented(x):
    y = x * 1
    k = 2
    if x > 0:
        y += 3
        k *= 5
    else:
        y -= 1
        k **= 3
    return y, x * k


@runs(t(1, 2, 3), t(-1, -2, -3))
def setitem_in_a_branch(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 10
    else:
        y[1:] = 0
    return y


@runs(t(1, 2, 3))
def setitem_in_a_loop(x):
    y = x * 0
    k = 0
    while k < 3:
        y[k] = x[k] * x.sum()
        k = k + 1
    total = i(0)
    while total < 3:
        y[total] = y[total] + 1
        total = total + 1
    return y


@runs(n(4), n(-4))
def string_of_a_branch(x):
    name = "abc"
    key = f"{name}_{len(name)}".upper().split("_")[1]
    table = {"3": x, "4": x * 2}
    if x > 0:
        table["3"] = x + 5
    return table[key]


@runs(n(4), n(-4))
def isinstance_and_hasattr(x):
    if isinstance(x, ms.Tensor) and hasattr(x, "shape") and not hasattr(x, "nothing"):
        if x > 0:
            return getattr(x, "ndim", 7) + x
    return x


# -- Cells --


class _State(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = ms.Parameter(t(1, 2), name="p")
        self.count = 0
        self.layers = nn.CellList([nn.ReLU(), nn.Sigmoid()])

    def construct(self, x):
        if x.sum() > 0:
            ops.assign(self.p, x)
            self.count = self.count + 1
        else:
            ops.assign_add(self.p, x)
        k = i(0)
        while k < 3:
            ops.assign_add(self.p, x)
            k = k + 1
        for layer in self.layers:
            if x.sum() > -1:
                x = layer(x)
        return x, self.p * 1


def _state_run(*inputs):
    net = _State()
    return [net(x) for x in inputs], net.p.asnumpy().tolist(), int(net.count)


def parameters_and_attributes():
    return _state_run(t(1, 1), t(-1, -1), t(2, 2))


class _Base(nn.Cell):
    def helper(self, x):
        if x > 0:
            return x + 1
        return x

    def construct(self, x):
        return self.helper(x) * 2


class _Derived(_Base):
    def __init__(self):
        super().__init__()
        self.__hidden = 3.0

    def construct(self, x):
        if x > self.__hidden:
            return super().construct(x)
        return super().construct(-x) + self.__hidden


def inherited():
    net = _Derived()
    return [net(n(5)), net(n(1)), net(n(-5))]


NETS: dict[str, Callable[[], Any]] = {
    "parameters_and_attributes": parameters_and_attributes,
    "inherited": inherited,
}

# -- gradients: of the program with respect to its first argument --

GRADIENTS = (
    *("elif_chain", "returns_in_nested_branches", "return_under_one_of_two_conditions"),
    *("while_counts", "while_with_break_and_continue", "while_returns", "for_with_break"),
    *("for_returns", "collatz", "newton", "many_turns", "user_function", "conditional_expression"),
    *("setitem_in_a_branch", "for_over_many_rows", "ops_in_branches", "containers_in_branches"),
    *("recursion_of_bounded_depth", "traced_range", "many_turns_with_a_break", "while_true"),
)

__all__ = ["GRADIENTS", "NETS", "PROGRAMS"]
