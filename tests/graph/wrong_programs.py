"""Wrong programs, each with the class and a part of the message of the error that it gets."""

from __future__ import annotations

# ruff: noqa: SIM108
# Programs are written as users write them.
from collections.abc import Callable
from typing import Any

import mindjax as ms
from mindjax import nn, ops

WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], type[BaseException], str]] = {}


def t(*values: float) -> Any:
    return ms.Tensor(list(values), ms.float32)


def n(value: float) -> Any:
    return ms.Tensor(value, ms.float32)


def wrong(error: type[BaseException], part: str, *arguments: Any) -> Any:
    """Register a program."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        WRONG[function.__name__] = function, arguments, error, part
        return function

    return decorate


# -- shapes and dtypes --


@wrong(ValueError, "shape", t(1, 2), t(1, 2, 3))
def shapes_that_do_not_broadcast(x, y):
    if x.sum() > 0:
        return x + y
    return x


@wrong(ValueError, "Reshape", t(1, 2))
def reshape_to_another_size(x):
    return x.reshape(3, 3)


@wrong(TypeError, "UInt16", ms.Tensor([1], ms.uint16), ms.Tensor([1], ms.int8))
def dtypes_that_do_not_mix(x, y):
    return x + y


@wrong(ValueError, "()", t(1, -1))
def condition_of_two_elements(x):
    if x > 0:
        return x
    return -x


@wrong(ValueError, "()", t(1, -1))
def loop_condition_of_two_elements(x):
    while x < 10:
        x = x * 2
    return x


@wrong(IndexError, "out of bounds", t(1, 2))
def index_out_of_range(x):
    return x[5]


@wrong(RuntimeError, "MatMul", ms.ops.ones((2, 3)), ms.ops.ones((2, 3)))
def product_of_unfit_matrices(x, y):
    return ops.matmul(x, y)


@wrong(TypeError, "range", n(1.5))
def range_of_a_float(x):
    for _ in range(x):
        x = x + 1
    return x


# -- paths that do not join --


@wrong(TypeError, "Int32", n(1))
def dtype_of_branches(x):
    if x > 0:
        y = x.astype(ms.int32)
    else:
        y = x
    return y + 1


@wrong(ValueError, "(2,)", t(1, 2))
def shape_of_branches(x):
    if x.sum() > 0:
        y = ops.concat((x, x))
    else:
        y = x
    return y * 2


@wrong(TypeError, "a tuple of 2", n(1))
def tuple_or_tensor(x):
    if x > 0:
        y = (x, x)
    else:
        y = x
    return y + 1


@wrong(TypeError, "None", n(1))
def none_or_tensor(x):
    y = None
    if x > 0:
        y = x
    return y * 2


@wrong(TypeError, "'sub'", n(1))
def strings_of_branches(x):
    if x > 0:
        name = "add"
    else:
        name = "sub"
    return getattr(ops, name)(x, x)


@wrong(TypeError, "a list of", n(1))
def append_on_one_path(x):
    out = [x]
    if x > 0:
        out.append(x)
    return out


@wrong(TypeError, "a list of", n(1))
def append_in_a_traced_loop(x):
    out = []
    while x < 10:
        out.append(x)
        x = x * 2
    return out


@wrong(TypeError, "a dict of", n(1))
def key_on_one_path(x):
    table = {"a": x}
    if x > 0:
        table["b"] = x
    return table["a"]


@wrong(ValueError, "(1,)", t(1))
def shape_of_turns(x):
    s = x.sum()
    while s < 5:
        x = ops.concat((x, x))
        s = x.sum()
    return x


@wrong(TypeError, "Float32", ms.Tensor(1, ms.int32))
def dtype_of_turns(x):
    while x < 10:
        x = x * 1.5
    return x


@wrong(UnboundLocalError, "'y'", n(-1))
def name_of_one_path(x):
    if x > 0:
        y = x * 2
    return y


@wrong(UnboundLocalError, "'last'", n(50))
def name_of_a_loop_without_turns(x):
    while x < 10:
        last = x
        x = x * 2
    return last


# -- names, attributes, arguments --


@wrong(NameError, "undefined_thing", n(1))
def undefined_name(x):
    return x + undefined_thing  # noqa: F821


@wrong(AttributeError, "no_such_method", n(1))
def undefined_method(x):
    if x > 0:
        return x.no_such_method()
    return x


@wrong(AttributeError, "missing", n(1))
def undefined_attribute(x):
    return _Net()(x)


@wrong(TypeError, "missing 1 required", n(1))
def too_few_arguments(x):
    def inner(a, b):
        if a > 0:
            return b
        return a

    return inner(x)


@wrong(KeyError, "b", n(1))
def missing_key(x):
    table = {"a": 1}
    return x + table["b"]


@wrong(TypeError, "does not support item assignment", n(1))
def write_into_a_tuple(x):
    pair = (x, x)
    pair[0] = x
    return pair


# -- side effects --


_OUTSIDE: list[Any] = []


@wrong(RuntimeError, "used after it", n(1))
def tensor_kept_outside(x):
    _OUTSIDE.append(x * 2)
    return x


@wrong(ValueError, "must have the same shape", t(1, 2, 3))
def parameter_of_another_shape(x):
    net = _Net()
    ops.assign(net.p, x)
    return x


# -- raised when the program runs --


@wrong(ValueError, "too big", n(5))
def raise_in_a_branch(x):
    if x > 3:
        raise ValueError("too big")
    return x


@wrong(AssertionError, "must be positive", n(-1))
def assert_of_a_tensor(x):
    assert x > 0, "must be positive"
    return x


@wrong(RuntimeError, "no end", n(1))
def raise_in_a_loop(x):
    while True:
        x = x + 1
        if x > 10:
            raise RuntimeError("no end")
    return x


class _Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p = ms.Parameter(t(1, 2), name="p")

    def construct(self, x):
        if x > 0:
            return x + self.missing
        return x
