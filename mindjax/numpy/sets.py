"""Distinct elements, and sets of them."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.errors import located
from mindjax.numpy.arguments import need_tensors, promoted, to_tensor
from mindjax.tensor import Tensor


def unique(x: Tensor, return_inverse: bool = False) -> Any:
    """Find the distinct elements, in the order of their first places (MindSpore: ``numpy.unique``).

    Args:
        x: Tensor.
        return_inverse: whether to give for each element the place of its equal too.

    Returns:
        1-d Tensor, and with ``return_inverse`` the Int32 places.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    need_tensors(x)
    found = ops.unique(ops.reshape(x, (-1,)))
    return found if return_inverse else found[0]


def in1d(ar1: Any, ar2: Any, invert: bool = False) -> Tensor:
    """Tell which elements are among others (MindSpore: ``numpy.in1d``).

    Args:
        ar1: array-like.
        ar2: array-like to look in.
        invert: whether to tell which are not.

    Returns:
        1-d Bool Tensor.

    Raises:
        TypeError: an argument is no array-like.
    """
    elements, pool = (ops.reshape(to_tensor(x), (-1,)) for x in (ar1, ar2))
    found = ops.any(ops.eq(ops.expand_dims(elements, -1), pool), -1)
    return ops.logical_not(found) if invert else found


def isin(element: Any, test_elements: Any, invert: bool = False) -> Tensor:
    """Tell which elements are among others (MindSpore: ``numpy.isin``).

    Args:
        element: array-like.
        test_elements: array-like to look in.
        invert: whether to tell which are not.

    Returns:
        Bool Tensor of the shape of ``element``.

    Raises:
        TypeError: an argument is no array-like.
    """
    value = to_tensor(element)
    return ops.reshape(in1d(value, test_elements, invert), value.shape)


def _need_bools(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise located(TypeError, f"{name} is not bool type, but {type(value).__name__}.")


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    """Find the elements that are not among others (MindSpore: ``numpy.setdiff1d``).

    Args:
        ar1: array-like.
        ar2: array-like to look in.
        assume_unique: whether the elements differ already; they then keep their order.

    Returns:
        1-d Tensor, sorted unless ``assume_unique``.

    Raises:
        TypeError: an argument has another type.
    """
    _need_bools(assume_unique=assume_unique)
    elements, pool = to_tensor(ar1), to_tensor(ar2)
    elements = ops.reshape(elements, (-1,))
    if not assume_unique:
        elements = ops.sort(ops.unique(elements)[0])[0]
    return ops.masked_select(elements, in1d(elements, pool, invert=True))


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Find the elements that two Tensors share (MindSpore: ``numpy.intersect1d``).

    Args:
        ar1: array-like.
        ar2: array-like.
        assume_unique: whether each one's elements differ already.
        return_indices: whether to give the places in both too.

    Returns:
        Sorted 1-d Tensor; with ``return_indices`` also the Int32 places of the first equals.

    Raises:
        TypeError: an argument has another type.
    """
    _need_bools(assume_unique=assume_unique, return_indices=return_indices)
    first, second = promoted([ops.reshape(to_tensor(x), (-1,)) for x in (ar1, ar2)])
    left, places = _sorted_distinct(first, assume_unique)
    shared = in1d(left, second)
    out = ops.masked_select(left, shared)
    if not return_indices:
        return out
    right, others = _sorted_distinct(second, assume_unique)
    return (
        out,
        ops.masked_select(places, shared),
        ops.masked_select(others, in1d(right, first)),
    )


def _sorted_distinct(x: Tensor, distinct: bool) -> tuple[Tensor, Tensor]:
    """Sort, keep the first of equal elements, and give the places that they had."""
    values, places = ops.sort(x)
    if distinct or x.size < 2:
        return values, places
    new = ops.ne(values[1:], values[:-1])
    keep = ops.cat([ops.ones_like(new[:1]), new], 0)
    return ops.masked_select(values, keep), ops.masked_select(places, keep)
