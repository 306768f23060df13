"""The inverse of max pooling: values back at the places that they came from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields
from mindjax.ops.gather import check_range
from mindjax.ops.pooling import as_tuple
from mindjax.ops.shape import expand_dims, shape_of, squeeze

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...]


def _window(name: str, value: Any, count: int, owner: str, low: int) -> Sizes:
    """Check an int, or one an axis."""
    value = as_tuple(value)
    checks.of_type(name, value, (int, tuple), owner)
    values = (value,) * count if isinstance(value, int) else value
    if len(values) == 1:
        values = values * count
    if len(values) != count or not all(type(v) is int and v >= low for v in values):
        raise located(
            ValueError,
            f"For '{owner}' attr '{name}' must be an int of at least {low} or a tuple of {count} "
            f"such ints, but got {value}",
        )
    return values


def _prepare(record: Any, count: int, formats: tuple[str, str]) -> None:
    owner = record.name
    checks.of_type("data_format", record.data_format, str, owner)
    checks.one_of("data_format", record.data_format, formats, owner)
    kernel = _window("ksize", record.ksize, count, owner, 1)
    strides = _window("strides", record.strides, count, owner, 0)
    shape = checks.integers("output_shape", as_tuple(record.output_shape), owner)
    if len(shape) not in (0, count + 2):
        raise located(
            ValueError,
            f"{owner}: Output_shape size must be 0 or {count + 2}, but got {shape}.",
        )
    set_fields(
        record,
        ksize=kernel,
        strides=tuple(s or k for s, k in zip(strides, kernel, strict=True)),
        pads=_window("pads", record.pads, count, owner, 0),
        output_shape=shape,
    )


def _space(
    sizes: Sizes, kernel: Sizes, strides: Sizes, pads: Sizes, given: Sizes, op: str
) -> Sizes:
    """Give the output's sizes: those that are given, if they are near the computed ones."""
    rows = zip(sizes, kernel, strides, pads, strict=True)
    computed = tuple((n - 1) * s - 2 * p + k for n, k, s, p in rows)
    if not given:
        return computed
    if not all(c - s < g < c + s for c, g, s in zip(computed, given, strides, strict=True)):
        low = [c - s for c, s in zip(computed, strides, strict=True)]
        high = [c + s for c, s in zip(computed, strides, strict=True)]
        raise located(
            ValueError,
            f"{op}: The sizes of output_shape must be between {low} and {high}, but got {given}.",
        )
    return given


def _unpooled(record: MaxUnpool2D | MaxUnpool3D, x: Array, places: Array, rank: int) -> Array:
    op = record.name
    if x.ndim != rank:
        raise located(
            ValueError, f"For primitive[{op}], the rank of x must be equal to {rank}, not {x.ndim}."
        )
    if places.dtype not in (np.int32, np.int64):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[argmax] must be a type of "
            f"{{Tensor[Int32], Tensor[Int64]}}, but got Tensor[{from_np(places.dtype)}].",
        )
    if x.shape != places.shape:
        raise located(
            ValueError,
            f"For primitive[{op}], the x_shape: {x.shape} must be equal to the argmax_shape: "
            f"{places.shape}.",
        )
    last = record.data_format[-1] == "C"
    given = record.output_shape
    if last:
        x, places = jnp.moveaxis(x, -1, 1), jnp.moveaxis(places, -1, 1)
        given = (given[0], given[-1], *given[1:-1]) if given else ()
    space = _space(x.shape[2:], record.ksize, record.strides, record.pads, given[2:], op)
    rows, size = math.prod(x.shape[:2]), math.prod(space)
    flat = jnp.zeros((rows, size), x.dtype)
    values, indices = x.reshape(rows, -1), places.reshape(rows, -1)
    put = jax.vmap(lambda row, i, v: row.at[i].set(v, mode="drop"))
    out = put(flat, indices, values).reshape(*x.shape[:2], *space)
    return jnp.moveaxis(out, 1, -1) if last else out


class MaxUnpool2D(Primitive):
    """Inverse of max pooling of images (MindSpore: ``ops.MaxUnpool2D``).

    Args:
        ksize: int or (height, width) of the windows.
        strides: int or (height, width); 0 for ``ksize``.
        pads: int or (height, width).
        output_shape: shape of the result, or () to compute it.
        data_format: ``"NCHW"`` or ``"NHWC"``.
    """

    ksize: Any
    strides: Any = 0
    pads: Any = 0
    output_shape: Any = ()
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        _prepare(self, 2, ("NCHW", "NHWC"))

    def compute(self, x: Array, argmax: Array) -> Array:
        """Put (N, C, H, W) at its places in the flattened (H', W'), and zeros elsewhere."""
        return _unpooled(self, x, argmax, 4)


class MaxUnpool3D(Primitive):
    """Inverse of max pooling of volumes (MindSpore: ``ops.MaxUnpool3D``).

    Args:
        ksize: int or (depth, height, width) of the windows.
        strides: int or (depth, height, width); 0 for ``ksize``.
        pads: int or (depth, height, width).
        output_shape: shape of the result, or () to compute it.
        data_format: ``"NCDHW"`` or ``"NDHWC"``.
    """

    ksize: Any
    strides: Any = 0
    pads: Any = 0
    output_shape: Any = ()
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        _prepare(self, 3, ("NCDHW", "NDHWC"))

    def compute(self, x: Array, argmax: Array) -> Array:
        """Put (N, C, D, H, W) at its places in the flattened (D', H', W'), zeros elsewhere."""
        return _unpooled(self, x, argmax, 5)


def _unpool(
    x: Any, indices: Any, window: tuple[Any, Any, Any], output_size: Any, count: int
) -> Any:
    """Unpool one sample or a batch; one axis counts as images of width 1."""
    owner = f"max_unpool{count}d"
    kernel_size, stride, padding = window
    shape = shape_of(x)
    if len(shape) not in (count + 1, count + 2):
        raise located(
            ValueError,
            f"For '{owner}', the rank of 'x' must be {count + 1} or {count + 2}, but got shape "
            f"{shape}.",
        )
    if shape_of(indices) != shape:
        raise located(
            ValueError,
            f"For '{owner}', the shapes of 'x' and 'indices' must be equal, but got {shape} and "
            f"{shape_of(indices)}.",
        )
    kernel = _window("kernel_size", kernel_size, count, owner, 1)
    strides = _window("stride", 0 if stride is None else stride, count, owner, 0)
    strides = tuple(s or k for s, k in zip(strides, kernel, strict=True))
    pads = _window("padding", padding, count, owner, 0)
    if output_size is not None:
        output_size = checks.integers("output_size", as_tuple(output_size), owner)
        if len(output_size) not in (0, count, count + 1, count + 2):
            raise located(
                ValueError,
                f"For '{owner}', the length of 'output_size' must be 0, {count}, {count + 1} or "
                f"{count + 2}, but got {output_size}.",
            )
    given = tuple(output_size or ())[-count:]
    space = _space(shape[-count:], kernel, strides, pads, given, owner)
    check_range(owner, indices, math.prod(space))
    single = len(shape) == count + 1
    if single:
        x, indices = expand_dims(x, 0), expand_dims(indices, 0)
    batch = (shape_of(x)[0], shape_of(x)[1])
    if count == 1:
        x, indices = expand_dims(x, 3), expand_dims(indices, 3)
        record = MaxUnpool2D((*kernel, 1), (*strides, 1), (*pads, 0), (*batch, *space, 1))
        out = squeeze(record(x, indices), 3)
    else:
        kind = MaxUnpool2D if count == 2 else MaxUnpool3D
        out = kind(kernel, strides, pads, (*batch, *space))(x, indices)
    return squeeze(out, 0) if single else out


def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Invert max pooling of sequences (MindSpore: ``ops.max_unpool1d``).

    Args:
        x: (N, C, L) or (C, L).
        indices: places of the values in L', Int32 or Int64, of the same shape.
        kernel_size: int or (int,), size of the windows.
        stride: int or (int,); None or 0 for ``kernel_size``.
        padding: int or (int,).
        output_size: (N, C, L'), (C, L') or (L',); None to compute it.

    Returns:
        Tensor (N, C, L') or (C, L'), zeros elsewhere.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size or the rank does not fit.
        RuntimeError: a place is out of range (in PYNATIVE on the CPU).
    """
    return _unpool(x, indices, (kernel_size, stride, padding), output_size, 1)


def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Invert max pooling of images (MindSpore: ``ops.max_unpool2d``).

    Args:
        x: (N, C, H, W) or (C, H, W).
        indices: places of the values in the flattened (H', W'), of the same shape.
        kernel_size: int or (height, width) of the windows.
        stride: int or (height, width); None or 0 for ``kernel_size``.
        padding: int or (height, width).
        output_size: (N, C, H', W'), (C, H', W') or (H', W'); None to compute it.

    Returns:
        Tensor (N, C, H', W') or (C, H', W'), zeros elsewhere.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size or the rank does not fit.
        RuntimeError: a place is out of range (in PYNATIVE on the CPU).
    """
    return _unpool(x, indices, (kernel_size, stride, padding), output_size, 2)


def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Invert max pooling of volumes (MindSpore: ``ops.max_unpool3d``).

    Args:
        x: (N, C, D, H, W) or (C, D, H, W).
        indices: places of the values in the flattened (D', H', W'), of the same shape.
        kernel_size: int or (depth, height, width) of the windows.
        stride: int or (depth, height, width); None or 0 for ``kernel_size``.
        padding: int or (depth, height, width).
        output_size: (N, C, D', H', W'), (C, D', H', W') or (D', H', W'); None to compute it.

    Returns:
        Tensor (N, C, D', H', W') or (C, D', H', W'), zeros elsewhere.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size or the rank does not fit.
        RuntimeError: a place is out of range (in PYNATIVE on the CPU).
    """
    return _unpool(x, indices, (kernel_size, stride, padding), output_size, 3)
