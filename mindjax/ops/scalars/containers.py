"""Tuples, lists, dictionaries, slices and shapes, under the names of graph code."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable
from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops.composite import HyperMap
from mindjax.ops.sparse.formats import RowTensorInner
from mindjax.ops.sparse.parts import row_tensor_add


def _item(op: str, items: Any, index: Any) -> Any:
    checks.of_type("x", items, (tuple, list), op)
    index = checks.integer("index", index, op)
    if not -len(items) <= index < len(items):
        raise located(
            IndexError,
            f"{op} evaluator index should be in range[-{len(items)}, {len(items)}), but got "
            f"{index}.",
        )
    return index


def tuple_getitem(x: Any, index: Any) -> Any:
    """Give an element of a tuple (MindSpore: ``ops.tuple_getitem``).

    Args:
        x: tuple.
        index: its place.

    Returns:
        The element.

    Raises:
        IndexError: there is none.
    """
    return x[_item("TupleGetItem", x, index)]


def list_getitem(x: Any, index: Any) -> Any:
    """Give an element of a list; as `tuple_getitem` (MindSpore: ``ops.list_getitem``).

    Args:
        x: list.
        index: its place.

    Returns:
        The element.

    Raises:
        IndexError: there is none.
    """
    return x[_item("ListGetItem", x, index)]


def tuple_setitem(x: Any, index: Any, value: Any) -> Any:
    """Copy a tuple with another element (MindSpore: ``ops.tuple_setitem``).

    Args:
        x: tuple.
        index: the place.
        value: the element.

    Returns:
        A new tuple.

    Raises:
        IndexError: there is no such place.
    """
    place = _item("TupleSetItem", x, index)
    items = list(x)
    items[place] = value
    return tuple(items)


def list_setitem(x: Any, index: Any, value: Any) -> Any:
    """Copy a list with another element (MindSpore: ``ops.list_setitem``).

    Args:
        x: list.
        index: the place.
        value: the element.

    Returns:
        A new list.

    Raises:
        IndexError: there is no such place.
    """
    return list(tuple_setitem(x, index, value))


def tuple_len(x: Any) -> int:
    """Give the number of elements (MindSpore: ``ops.tuple_len``).

    Args:
        x: tuple or list.

    Returns:
        Number of elements.
    """
    return len(checks.of_type("x", x, (tuple, list), "sequence_len"))


def list_len(x: Any) -> int:
    """Give the number of elements (MindSpore: ``ops.list_len``).

    Args:
        x: tuple or list.

    Returns:
        Number of elements.
    """
    return tuple_len(x)


def tuple_reversed(x: Any) -> Any:
    """Turn a tuple round (MindSpore: ``ops.tuple_reversed``).

    Args:
        x: tuple.

    Returns:
        A new tuple.
    """
    return tuple(checks.of_type("x", x, tuple, "tuple_reversed")[::-1])


def tuple_equal(x: Any, y: Any) -> bool:
    """Tell whether two tuples hold the same (MindSpore: ``ops.tuple_equal``).

    Args:
        x: tuple.
        y: tuple.

    Returns:
        Whether they are equally long and their elements equal.
    """
    for name, value in (("x", x), ("y", y)):
        checks.of_type(name, value, (tuple, list), "tuple_equal")
    return len(x) == len(y) and all(bool(operator.eq(a, b)) for a, b in zip(x, y, strict=True))


def list_equal(x: Any, y: Any) -> bool:
    """Tell whether two lists hold the same (MindSpore: ``ops.list_equal``).

    Args:
        x: list.
        y: list.

    Returns:
        Whether they are equally long and their elements equal.
    """
    return tuple_equal(x, y)


def tuple_div(x: Any, y: Any) -> Any:
    """Divide the integers of a tuple by those of another (MindSpore: ``ops.tuple_div``).

    Args:
        x: tuple of integers.
        y: tuple of as many integers.

    Returns:
        Tuple of the quotients.

    Raises:
        ValueError: the lengths differ.
        RuntimeError: a quotient is no integer.
    """
    for name, value in (("x", x), ("y", y)):
        checks.of_type(name, value, tuple, "tuple_div")
    checks.same_shape("tuple_div", x=(len(x),), y=(len(y),))
    for a, b in zip(x, y, strict=True):
        if b == 0 or a % b:
            raise located(
                RuntimeError,
                "The inputs of 'tuple_div' operator should be divisible, but they are not "
                f"divisible now, the dividend is {a}, the divisor is {b}.",
            )
    return tuple(a // b for a, b in zip(x, y, strict=True))


def dict_getitem(x: Any, key: Any) -> Any:
    """Give the value of a key (MindSpore: ``ops.dict_getitem``).

    Args:
        x: dictionary.
        key: the key.

    Returns:
        The value.

    Raises:
        ValueError: there is no such key.
    """
    if not isinstance(key, Hashable):
        raise located(RuntimeError, f"For 'dict_getitem', the key {key!r} cannot be one.")
    if not in_dict(key, x):
        raise located(ValueError, f"For 'dict_getitem', there is no key {key!r} in {list(x)}.")
    return x[key]


def dict_setitem(x: Any, key: Any, value: Any) -> Any:
    """Copy a dictionary with another value of a key (MindSpore: ``ops.dict_setitem``).

    Args:
        x: dictionary.
        key: the key.
        value: the value.

    Returns:
        A new dictionary.
    """
    return {**checks.of_type("x", x, dict, "dict_setitem"), key: value}


def in_dict(key: Any, x: Any) -> bool:
    """Tell whether a dictionary has a key (MindSpore: ``ops.in_dict``).

    Args:
        key: the key.
        x: dictionary.

    Returns:
        Whether it has.
    """
    checks.of_type("x", x, dict, "in_dict")
    return isinstance(key, Hashable) and key in x


def not_in_dict(key: Any, x: Any) -> bool:
    """Tell whether a dictionary lacks a key (MindSpore: ``ops.not_in_dict``).

    Args:
        key: the key.
        x: dictionary.

    Returns:
        Whether it lacks it.
    """
    return not in_dict(key, x)


def make_tuple(*items: Any) -> Any:
    """Make a tuple (MindSpore: ``ops.make_tuple``).

    Args:
        items: the elements.

    Returns:
        Tuple.
    """
    return items


def make_list(*items: Any) -> Any:
    """Make a list (MindSpore: ``ops.make_list``).

    Args:
        items: the elements.

    Returns:
        List.
    """
    return list(items)


def make_dict(keys: Any, values: Any) -> Any:
    """Make a dictionary (MindSpore: ``ops.make_dict``).

    Args:
        keys: sequence of the keys.
        values: sequence of as many values.

    Returns:
        Dictionary.

    Raises:
        ValueError: the lengths differ.
    """
    for name, value in (("keys", keys), ("values", values)):
        checks.of_type(name, value, (tuple, list), "make_dict")
    checks.same_shape("make_dict", keys=(len(keys),), values=(len(values),))
    return dict(zip(keys, values, strict=True))


def make_range(*limits: Any) -> Any:
    """List integers as Python's ``range`` does (MindSpore: ``ops.make_range``).

    Args:
        limits: end; start and end; or start, end and step.

    Returns:
        Tuple of integers.

    Raises:
        TypeError: there are none or too many, or one is no integer.
        ValueError: the step is 0.
    """
    if not 1 <= len(limits) <= 3:
        raise located(TypeError, f"For 'make_range', 1 to 3 inputs are taken, not {len(limits)}.")
    values = [checks.integer("limit", v, "make_range") for v in limits]
    if len(values) == 3 and values[2] == 0:
        raise located(RuntimeError, "For 'make_range', the step must not be 0.")
    try:
        return tuple(range(*values))
    except (MemoryError, OverflowError):
        raise located(
            RuntimeError, f"For 'make_range', no memory holds the range of {tuple(values)}."
        ) from None


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """Make a slice (MindSpore: ``ops.make_slice``).

    Args:
        start: first place, or None.
        stop: place after the last, or None.
        step: distance, or None.

    Returns:
        Slice.
    """
    return slice(start, stop, step)


def shape_mul(input_data: Any) -> Any:
    """Multiply the sizes of a shape (MindSpore: ``ops.shape_mul``).

    Args:
        input_data: tuple of integers.

    Returns:
        The product; 1 of none.
    """
    return math.prod(checks.integers("input_data", input_data, "shape_mul"))


def reduced_shape(shape: Any, axis: Any) -> Any:
    """Give a shape with size 1 on the axes that are reduced (MindSpore: ``ops.reduced_shape``).

    Args:
        shape: tuple of integers.
        axis: int, or tuple of int; none means all.

    Returns:
        Tuple of integers.

    Raises:
        ValueError: there is no such axis.
    """
    sizes = checks.integers("shape", shape, "reduced_shape")
    axes = checks.reduced_axes(
        checks.axis_or_axes("axis", axis, "reduced_shape"), len(sizes), "reduced_shape"
    )
    return tuple(1 if i in axes else size for i, size in enumerate(sizes))


def broadcast_gradient_args(x_shape: Any, y_shape: Any) -> Any:
    """Give the axes over which gradients are summed after a broadcast.

    MindSpore: ``ops.broadcast_gradient_args``.

    Args:
        x_shape: tuple of integers.
        y_shape: tuple of integers.

    Returns:
        Pair of tuples: the axes of the common shape that each shape was repeated along.

    Raises:
        RuntimeError: the shapes do not broadcast together.
    """
    x_shape = checks.integers("x_shape", x_shape, "broadcast_gradient_args")
    y_shape = checks.integers("y_shape", y_shape, "broadcast_gradient_args")
    rank = max(len(x_shape), len(y_shape))
    x, y = ((1,) * (rank - len(s)) + tuple(s) for s in (x_shape, y_shape))
    if any(a != b and 1 not in (a, b) for a, b in zip(x, y, strict=True)):
        raise located(
            RuntimeError,
            "Not compatible shape input for BroadcastGradientArgs: "
            f"{tuple(x_shape)} and {tuple(y_shape)}.",
        )

    def repeated(own: Any, other: Any, length: int) -> Any:
        added = rank - length
        return tuple(
            i
            for i, (a, b) in enumerate(zip(own, other, strict=True))
            if i < added or (a == 1 and b != 1)
        )

    return repeated(x, y, len(x_shape)), repeated(y, x, len(y_shape))


def _sum(x: Any, y: Any) -> Any:
    if isinstance(x, RowTensorInner):
        return row_tensor_add(x, y)
    if isinstance(y, RowTensorInner):
        return row_tensor_add(y, x)
    if not isinstance(x, Handle | int | float | complex):
        raise located(
            TypeError,
            f"unsupported operand type(s) for +: '{type(x).__name__}' and '{type(y).__name__}'",
        )
    checks.of_type("y", y, (Handle, int, float, complex), "hyper_add")
    return x + y


hyper_add = HyperMap(_sum)


def iter_converter(x: Any) -> Any:
    """Give the elements that a loop goes through (MindSpore: ``ops.iter_converter``).

    Args:
        x: sequence, dictionary or Tensor.

    Returns:
        Tuple of the elements; of a dictionary, its keys.

    Raises:
        TypeError: it has no elements.
    """
    try:
        return tuple(x)
    except TypeError:
        raise located(TypeError, f"For 'iter', {x!r} is not iterable.") from None


def ms_hasnext(x: Any) -> bool:
    """Tell whether elements are left (MindSpore: ``ops.ms_hasnext``).

    Args:
        x: sequence or Tensor.

    Returns:
        Whether there is one.
    """
    return len(x) > 0


def ms_next(x: Any) -> Any:
    """Give the first element and those that are left (MindSpore: ``ops.ms_next``).

    Args:
        x: sequence or Tensor.

    Returns:
        Pair of the element and of the rest.

    Raises:
        StopIteration: there is none.
    """
    if not ms_hasnext(x):
        raise located(StopIteration, "For 'ms_next', no element is left.")
    return x[0], x[1:]


def zip_operation(*sequences: Any) -> Any:
    """Pair the elements of sequences, as far as the shortest goes (MindSpore: ``zip_operation``).

    Args:
        sequences: sequences or Tensors.

    Returns:
        Tuple of tuples.
    """
    return tuple(zip(*sequences, strict=False))
