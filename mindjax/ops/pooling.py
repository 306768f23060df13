"""Pooling: maxima and averages over windows, and over a fixed number of regions."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Window = tuple[int, ...]


def lowest(dtype: Any) -> Any:
    """Give the number of a dtype that every other wins against."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.asarray(-np.inf, dtype)
    return np.asarray(jnp.iinfo(dtype).min, dtype)


def placed(values: tuple[Any, ...], rank: int, layout: str, filling: Any) -> tuple[Any, ...]:
    """Put one value a spatial axis into a tuple over all axes."""
    first = 1 if layout == "NHWC" else rank - len(values)
    full = [filling] * rank
    full[first : first + len(values)] = values
    return tuple(full)


def max_windows(x: Array, kernel: Window, stride: Window, padding: Any, layout: str) -> Array:
    """Take maxima over windows of the spatial axes; ``padding`` is lax's."""
    return lax.reduce_window(
        x,
        lowest(x.dtype),
        lax.max,
        placed(kernel, x.ndim, layout, 1),
        placed(stride, x.ndim, layout, 1),
        padding,
    )


def sum_windows(x: Array, kernel: Window, stride: Window, padding: Any, layout: str) -> Array:
    """Add up windows of the spatial axes; ``padding`` is lax's."""
    return lax.reduce_window(
        x,
        np.asarray(0, x.dtype),
        lax.add,
        placed(kernel, x.ndim, layout, 1),
        placed(stride, x.ndim, layout, 1),
        padding,
    )


def check_rank(x: Array, rank: int, owner: str) -> None:
    """Raise a ValueError if an image has not so many axes."""
    if x.ndim != rank:
        raise located(
            ValueError,
            f"For primitive[{owner}], the length of input must be equal to {rank}, but got "
            f"{x.ndim}.",
        )


def check_fit(x: Array, out: Array, kernel: Window, owner: str) -> None:
    """Raise a ValueError if no window fits into an axis that is not empty."""
    if 0 in out.shape and 0 not in x.shape:
        raise located(
            ValueError,
            f"For '{owner}', the each element of the output shape must be larger than 0, but got "
            f"output shape: {out.shape}. The input shape: {x.shape}, kernel size: {kernel}.",
        )


def window_pads(
    sizes: Window,
    kernel: Window,
    stride: Window,
    pads: tuple[Any, ...] | str,
    dilation: Window,
    ceil_mode: bool,
) -> tuple[tuple[int, int], ...]:
    """Give both pads of every axis; a window that starts past the input and pad is dropped.

    Args:
        sizes: of the input's spatial axes.
        kernel: size of a window.
        stride: step between windows.
        pads: an int or a (low, high) an axis, or ``"SAME"`` or ``"VALID"``.
        dilation: distance of a window's elements.
        ceil_mode: count windows that only begin inside.

    Returns:
        (low, high) an axis; the far pad reaches as far as the last window.
    """
    if isinstance(pads, str):
        reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
        return tuple((int(a), int(b)) for a, b in lax.padtype_to_pads(sizes, reach, stride, pads))
    padding = []
    for n, k, s, p, d in zip(sizes, kernel, stride, pads, dilation, strict=True):
        low, high = p if isinstance(p, tuple) else (p, p)
        reach = d * (k - 1) + 1
        room = n + low + high - reach
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= n + low:
            count -= 1
        far = max((count - 1) * s + reach - n - low, 0) if ceil_mode else high
        padding.append((low, far))
    return tuple(padding)


class MaxPool(Primitive):
    """Maxima over windows (MindSpore: ``ops.MaxPool``).

    Args:
        kernel_size: int or (height, width).
        strides: int or (height, width).
        pad_mode: ``"valid"`` or ``"same"``, in either case.
        data_format: ``"NCHW"`` or ``"NHWC"``.
    """

    kernel_size: Any = 1
    strides: Any = 1
    pad_mode: str = "valid"
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        _prepare_pool(self, "MaxPool")

    def compute(self, x: Array) -> Array:
        """Pool (N, C, H, W)."""
        check_rank(x, 4, "MaxPool")
        out = max_windows(x, self.kernel_size, self.strides, self.pad_mode, self.data_format)
        check_fit(x, out, self.kernel_size, "MaxPool")
        return out


class AvgPool(Primitive):
    """Averages over windows; what is padded does not count (MindSpore: ``ops.AvgPool``).

    Args:
        kernel_size: int or (height, width).
        strides: int or (height, width).
        pad_mode: ``"valid"`` or ``"same"``, in either case.
        data_format: ``"NCHW"`` or ``"NHWC"``.
    """

    kernel_size: Any = 1
    strides: Any = 1
    pad_mode: str = "VALID"
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        _prepare_pool(self, "AvgPool")

    def compute(self, x: Array) -> Array:
        """Pool (N, C, H, W)."""
        check_rank(x, 4, "AvgPool")
        kernel, stride, layout = self.kernel_size, self.strides, self.data_format
        total = sum_windows(x, kernel, stride, self.pad_mode, layout)
        check_fit(x, total, kernel, "AvgPool")
        if self.pad_mode == "VALID":
            return total / np.asarray(np.prod(kernel), x.dtype)
        first = 1 if layout == "NHWC" else 2
        sizes = x.shape[first : first + 2]
        pads = window_pads(sizes, kernel, stride, "SAME", (1, 1), False)
        counts = [
            window_counts(n, k, s, low, 0, True)
            for n, k, s, (low, _) in zip(sizes, kernel, stride, pads, strict=True)
        ]
        return total / count_array(counts, total, first)


def _prepare_pool(record: Any, owner: str) -> None:
    checks.of_type("pad_mode", record.pad_mode, str, owner)
    mode = checks.one_of("pad_mode", record.pad_mode.upper(), ("VALID", "SAME"), owner)
    checks.one_of("format", record.data_format, ("NCHW", "NHWC"), owner)
    sizes = {}
    for name in ("kernel_size", "strides"):
        value = getattr(record, name)
        if isinstance(value, tuple) and len(value) == 4:
            value = value[1:3] if record.data_format == "NHWC" else value[2:]
        sizes[name] = checks.pool_sizes(name, value, 2, owner)
    set_fields(record, pad_mode=mode, **sizes)


def window_counts(n: int, k: int, s: int, low: int, high: int, inside: bool) -> Any:
    """Count, for each window of one axis, the elements that the average divides by."""
    starts = np.arange(0, n + low + high + s, s) - low
    ends = np.minimum(starts + k, n if inside else n + high)
    return np.maximum(ends - (np.maximum(starts, 0) if inside else starts), 1)


def count_array(counts: list[Any], out: Array, first: int) -> Array:
    """Multiply the counts of every axis, as a constant that broadcasts against the output."""
    total = np.ones((1,) * out.ndim)
    for i, count in enumerate(counts):
        shape = [1] * out.ndim
        shape[first + i] = out.shape[first + i]
        total = total * count[: out.shape[first + i]].reshape(shape)
    if (total == total.flat[0]).all():
        total = total.flat[0]
    return jnp.asarray(total, out.dtype)


class MaxPoolND(Primitive, register=False):
    """Maxima over windows of the last axes, with a pad an axis or ``"SAME"``."""

    kernel_size: Window
    strides: Window
    pads: Window | str
    dilation: Window
    ceil_mode: bool

    def compute(self, x: Array) -> Array:
        """Pool the last axes."""
        first = x.ndim - len(self.kernel_size)
        pads = window_pads(
            x.shape[first:],
            self.kernel_size,
            self.strides,
            self.pads,
            self.dilation,
            self.ceil_mode,
        )
        out = lax.reduce_window(
            x,
            lowest(x.dtype),
            lax.max,
            placed(self.kernel_size, x.ndim, "NCHW", 1),
            placed(self.strides, x.ndim, "NCHW", 1),
            placed(pads, x.ndim, "NCHW", (0, 0)),
            window_dilation=placed(self.dilation, x.ndim, "NCHW", 1),
        )
        check_fit(x, out, self.kernel_size, "MaxPool")
        return out if max(self.dilation, default=1) == 1 else self._gathered(x, out.shape)

    def _gathered(self, x: Array, shape: Window) -> Array:
        """Pool by places: XLA differentiates no window with gaps."""
        first = x.ndim - len(self.kernel_size)
        count = math.prod(x.shape[:first])
        image, out = (1, count, *x.shape[first:]), (1, count, *shape[first:])
        window = (self.kernel_size, self.strides, self.pads, self.dilation, self.ceil_mode)
        places = argmax_windows(x.reshape(image), out, *window).reshape(count, -1)
        found = jnp.take_along_axis(x.reshape(count, -1), places, axis=1)
        return found.reshape(shape)


class MaxPoolWithArgmaxV2(Primitive):
    """Maxima over windows and their places (MindSpore: ``ops.MaxPoolWithArgmaxV2``).

    Args:
        kernel_size: int or (height, width).
        strides: int or (height, width); None for ``kernel_size``.
        pads: int or (height, width), at most half of the kernel.
        dilation: int or (height, width).
        ceil_mode: count windows that only begin inside.
        argmax_type: Int64 or Int32.
    """

    kernel_size: Any
    strides: Any = None
    pads: Any = 0
    dilation: Any = (1, 1)
    ceil_mode: bool = False
    argmax_type: Any = int64

    def __post_init__(self) -> None:
        set_fields(self, **explicit_window(self, 2, "MaxPoolWithArgmaxV2"))

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Pool (N, C, H, W).

        Returns:
            The maxima, and their places in the flattened (H, W).
        """
        if x.ndim != 4:
            raise located(
                ValueError,
                "For primitive[MaxPoolWithArgmaxV2], the input x rank must be equal to 4, but got "
                f"{x.ndim}.",
            )
        window = (self.kernel_size, self.strides, self.pads, self.dilation)
        out = MaxPoolND(*window, self.ceil_mode).compute(x)
        place = argmax_windows(x, out.shape, *window, self.ceil_mode)
        return out, place.astype(self.argmax_type.np)


def argmax_windows(
    x: Array,
    out: Window,
    kernel: Window,
    stride: Window,
    pads: Any,
    dilation: Window,
    ceil_mode: bool,
) -> Array:
    """Find the places of the maxima of windows in the flattened axes after the first two.

    Args:
        x: (N, C, sizes).
        out: shape of the maxima.
        kernel: size of a window.
        stride: step between windows.
        pads: as `window_pads` takes them.
        dilation: distance of a window's elements.
        ceil_mode: count windows that only begin inside.

    Returns:
        Int32 array of the shape ``out``.
    """
    x = lax.stop_gradient(x)
    sizes = x.shape[2:]
    edges = [(a, b, 0) for a, b in window_pads(sizes, kernel, stride, pads, dilation, ceil_mode)]
    padded = lax.pad(x, lowest(x.dtype), [(0, 0, 0)] * 2 + edges)
    flat = np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)
    places = lax.pad(jnp.asarray(flat), np.int32(-1), edges)
    best, found = None, None
    for offsets in itertools.product(*(range(k) for k in kernel)):
        start = tuple(i * d for i, d in zip(offsets, dilation, strict=True))
        limit = tuple(a + (n - 1) * s + 1 for a, n, s in zip(start, out[2:], stride, strict=True))
        value = lax.slice(padded, (0, 0, *start), (*out[:2], *limit), (1, 1, *stride))
        place = jnp.broadcast_to(lax.slice(places, start, limit, stride), value.shape)
        if best is None or found is None:
            best, found = value, place
        else:
            nan = (value != value) & (best == best)
            better = (value > best) | nan | ((found < 0) & (place >= 0))
            best, found = jnp.where(better, value, best), jnp.where(better, place, found)
    assert found is not None
    return found


def explicit_window(record: Any, count: int, owner: str) -> dict[str, Any]:
    """Bring sizes, strides, pads and dilation to one int an axis, and check the pads."""
    kernel = checks.pool_sizes("kernel_size", as_tuple(record.kernel_size), count, owner)
    strides = kernel if record.strides is None else as_tuple(record.strides)
    pads = half_pads(record.pads, kernel, owner)
    return {
        "kernel_size": kernel,
        "strides": checks.pool_sizes("strides", strides, count, owner),
        "pads": pads,
        "dilation": checks.pool_sizes("dilation", as_tuple(record.dilation), count, owner),
        "ceil_mode": checks.boolean("ceil_mode", record.ceil_mode, owner),
    }


def half_pads(padding: Any, kernel: Window, owner: str) -> Window | str:
    """Bring pads to one int an axis, at most half of the kernel; ``"SAME"`` stays."""
    if padding == "SAME":
        return padding
    checks.of_type("padding", padding, (int, tuple, list), owner)
    pads = (padding,) * len(kernel) if isinstance(padding, int) else tuple(padding)
    for p in pads:
        checks.non_negative_int("padding", p, owner)
    if len(pads) != len(kernel) or any(2 * p > k for p, k in zip(pads, kernel, strict=True)):
        raise located(
            ValueError,
            f"For '{owner}', it is required that the `pads` is no more than half of the "
            f"`kernel_size`, but gets pads{pads} and kernel_size{kernel}.",
        )
    return pads


def as_tuple(value: Any) -> Any:
    """Turn a list into a tuple."""
    return tuple(value) if isinstance(value, list) else value


class PoolArguments:
    """The arguments of a max pooling function, in the form that `explicit_window` checks."""

    def __init__(
        self, kernel_size: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: Any
    ) -> None:
        self.kernel_size, self.strides, self.pads = kernel_size, strides, pads
        self.dilation, self.ceil_mode = dilation, ceil_mode


def max_pool_nd(
    x: Any,
    count: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    owner: str,
) -> Any:
    """Take maxima over windows of the last ``count`` axes, whatever the rank."""
    arguments = PoolArguments(kernel_size, stride, padding, dilation, ceil_mode)
    return MaxPoolND(**explicit_window(arguments, count, owner))(x)


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Take maxima over windows of images (MindSpore: ``ops.max_pool2d``).

    Args:
        x: (N, C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width), at most half of the kernel.
        dilation: int or (height, width).
        return_indices: give the places of the maxima too.
        ceil_mode: count windows that only begin inside.

    Returns:
        Tensor (N, C, H', W'); with ``return_indices`` also their places in the flattened (H, W),
        Int64.

    Raises:
        ValueError: an argument or the rank does not fit.
    """
    checks.boolean("return_indices", return_indices, "max_pool2d")
    if return_indices:
        return MaxPoolWithArgmaxV2(kernel_size, stride, padding, dilation, ceil_mode)(x)
    checks.tensors("max_pool2d", x=x)
    if len(x.shape) != 4:
        raise located(
            ValueError,
            "For primitive[MaxPoolWithArgmaxV2], the input x rank must be equal to 4, but got "
            f"{len(x.shape)}.",
        )
    owner = "MaxPoolWithArgmaxV2"
    return max_pool_nd(x, 2, kernel_size, stride, padding, dilation, ceil_mode, owner)


class _AvgPoolNd(Primitive, register=False):
    """Averages over windows of the last axes, with a pad an axis or ``"SAME"``."""

    kernel_size: Window
    strides: Window
    pads: Window | str
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: int

    def compute(self, x: Array) -> Array:
        first = x.ndim - len(self.kernel_size)
        kernel, stride = self.kernel_size, self.strides
        ones = (1,) * len(kernel)
        sizes = x.shape[first:]
        pads = window_pads(sizes, kernel, stride, self.pads, ones, self.ceil_mode)
        total = sum_windows(x, kernel, stride, placed(pads, x.ndim, "NCHW", (0, 0)), "NCHW")
        check_fit(x, total, kernel, "AvgPool")
        if self.divisor_override:
            return total / np.asarray(self.divisor_override, x.dtype)
        inside = not self.count_include_pad or self.pads == "SAME"
        # Past the far pad, where a window of ceil_mode reaches, nothing counts.
        counts = [
            window_counts(n, k, s, low, low, inside)
            for n, k, s, (low, _) in zip(sizes, kernel, stride, pads, strict=True)
        ]
        return total / count_array(counts, total, first)


def avg_pool_nd(
    x: Any,
    count: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    owner: str,
) -> Any:
    """Take averages over windows of the last ``count`` axes, whatever the rank."""
    kernel = checks.pool_sizes("kernel_size", as_tuple(kernel_size), count, owner)
    if divisor_override is not None:
        checks.of_type("divisor_override", divisor_override, int, owner)
    record = _AvgPoolNd(
        kernel,
        kernel if stride is None else checks.pool_sizes("stride", as_tuple(stride), count, owner),
        half_pads(padding, kernel, owner),
        checks.boolean("ceil_mode", ceil_mode, owner),
        checks.boolean("count_include_pad", count_include_pad, owner),
        divisor_override or 0,
    )
    return record(x)


def check_ranks(x: Any, ranks: tuple[int, ...], owner: str) -> None:
    """Raise a ValueError if an input has none of some ranks."""
    checks.tensors(owner, input=x)
    if len(x.shape) not in ranks:
        raise located(
            ValueError,
            f"For '{owner}', the input must have {' or '.join(map(str, ranks))} dims, but got "
            f"shape {tuple(x.shape)}.",
        )


def avg_pool1d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Take averages over windows of sequences (MindSpore: ``ops.avg_pool1d``).

    Args:
        input_x: (N, C, W).
        kernel_size: int.
        stride: int.
        padding: int, at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at the edges too.

    Returns:
        Tensor (N, C, W').

    Raises:
        ValueError: an argument or the rank does not fit.
    """
    check_ranks(input_x, (3,), "avg_pool1d")
    rest = (padding, ceil_mode, count_include_pad, None)
    return avg_pool_nd(input_x, 1, kernel_size, stride, *rest, "avg_pool1d")


def avg_pool2d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = 0,
) -> Tensor:
    """Take averages over windows of images (MindSpore: ``ops.avg_pool2d``).

    Args:
        input_x: (N, C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width).
        padding: int or (height, width), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at the edges too.
        divisor_override: what to divide by; 0 or None for the number of elements.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        ValueError: an argument or the rank does not fit.
    """
    check_ranks(input_x, (4,), "avg_pool2d")
    rest = (padding, ceil_mode, count_include_pad, divisor_override)
    return avg_pool_nd(input_x, 2, kernel_size, stride, *rest, "avg_pool2d")


class AdaptiveAvgPool2D(Primitive):
    """Averages over a fixed number of regions (MindSpore: ``ops.AdaptiveAvgPool2D``).

    Args:
        output_size: int or (height, width); None keeps the input's size.
    """

    output_size: Any

    def __post_init__(self) -> None:
        set_fields(self, output_size=regions(self.output_size, 2, "AdaptiveAvgPool2D"))

    def compute(self, x: Array) -> Array:
        """Pool (N, C, H, W) or (C, H, W)."""
        if x.ndim not in (3, 4):
            raise located(
                ValueError,
                f"For 'AdaptiveAvgPool2D', the input must have 3 or 4 dims, but got {x.ndim}.",
            )
        return adaptive_average(x, self.output_size)


class _AdaptiveAvgPool1D(Primitive, register=False):
    """Averages over a fixed number of regions of the last axis."""

    output_size: Any

    def compute(self, x: Array) -> Array:
        return adaptive_average(x, self.output_size)


class AdaptiveMaxPoolND(Primitive, register=False):
    """Maxima over a fixed number of regions of the last axes."""

    output_size: Any

    def compute(self, x: Array) -> Array:
        """Pool the last axes."""
        first = x.ndim - len(self.output_size)
        for i, size in enumerate(self.output_size):
            n = x.shape[first + i]
            edges = region_edges(n, n if size is None else size)
            parts = [
                jnp.max(lax.slice_in_dim(x, a, b, axis=first + i), first + i, keepdims=True)
                for a, b in edges
            ]
            x = lax.concatenate(parts, first + i)
        return x


class AdaptiveMaxPool2D(Primitive):
    """Maxima over a fixed number of regions, and their places.

    MindSpore: ``ops.AdaptiveMaxPool2D``.

    Args:
        output_size: int or (height, width); None keeps the input's size.
    """

    output_size: Any

    def __post_init__(self) -> None:
        set_fields(self, output_size=regions(self.output_size, 2, "AdaptiveMaxPool2D"))

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Pool (N, C, H, W) or (C, H, W).

        Returns:
            The maxima, and their places in the flattened (H, W), Int64.
        """
        out, places = adaptive_maxima(x, self.output_size)
        return out, places.astype(np.int64)


def adaptive_maxima(x: Array, sizes: tuple[int | None, ...]) -> tuple[Array, Array]:
    """Take maxima over a number of regions of each of the last axes; None keeps an axis.

    Returns:
        The maxima, and the first place of each in these axes flattened, Int32.
    """
    first = x.ndim - len(sizes)
    space = x.shape[first:]
    out = [n if size is None else size for n, size in zip(space, sizes, strict=True)]
    if math.prod(x.shape[:first]) * math.prod(out) >= 2**48:
        # XLA would end the process over what it computes on the way.
        raise located(
            ValueError, f"For 'AdaptiveMaxPool', the output_size {sizes} is too big for any memory."
        )
    places = np.arange(np.prod(space), dtype=np.int32).reshape(space)
    places = jnp.broadcast_to(jnp.asarray(places), x.shape)
    # From the last axis to the first, so that the first of equal elements wins.
    for axis in reversed(range(first, x.ndim)):
        n, size = x.shape[axis], sizes[axis - first]
        # The last element again and again fills regions that are shorter than the longest.
        begin, end = region_bounds(n, n if size is None else size)
        width = np.arange(int((end - begin).max()))
        inside = np.minimum(begin[:, None] + width, end[:, None] - 1)
        parts = jnp.take(x, inside, axis)
        best = lax.argmax(lax.stop_gradient(parts), axis + 1, np.int32)
        best = jnp.expand_dims(best, axis + 1)
        x = jnp.take_along_axis(parts, best, axis + 1).squeeze(axis + 1)
        taken = jnp.take_along_axis(jnp.take(places, inside, axis), best, axis + 1)
        places = taken.squeeze(axis + 1)
    return x, places


def regions(size: Any, count: int, owner: str) -> tuple[int | None, ...]:
    """Check numbers of regions: an int, or one or None for each of ``count`` axes."""
    checks.of_type("output_size", size, (int, tuple), owner)
    sizes = (size,) * count if isinstance(size, int) else size
    if len(sizes) != count:
        raise located(
            ValueError,
            f"For '{owner}', the length of 'output_size' must be {count}, but got {size}.",
        )
    for i, n in enumerate(sizes):
        if n is not None and checks.of_type(f"output_size[{i}]", n, int, owner) < 0:
            raise located(
                ValueError,
                f"For '{owner}', the argument 'output_size[{i}]' must >= 0, but got {n}.",
            )
    return tuple(sizes)


def region_bounds(n: int, regions: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Give the begins and the ends of the regions of an axis of ``n`` elements."""
    place = np.arange(regions, dtype=np.int64)
    return place * n // regions, -(-(place + 1) * n // regions)


def region_edges(n: int, regions: int) -> list[tuple[int, int]]:
    """Give begin and end of each of the regions of an axis of ``n`` elements."""
    begin, end = region_bounds(n, regions)
    return list(zip(begin.tolist(), end.tolist(), strict=True))


def adaptive_average(x: Array, sizes: tuple[int | None, ...]) -> Array:
    """Average over a number of regions of each of the last axes; None keeps an axis."""
    first = x.ndim - len(sizes)
    counts = [x.shape[first + i] if r is None else r for i, r in enumerate(sizes)]
    if all(r and x.shape[first + i] % r == 0 for i, r in enumerate(counts)):
        shape, axes = list(x.shape[:first]), []
        for i, r in enumerate(counts):
            axes.append(len(shape) + 1)
            shape += [r, x.shape[first + i] // r]
        return jnp.mean(x.reshape(shape), tuple(axes))
    for i, r in enumerate(counts):
        axis = first + i
        parts = [
            jnp.mean(lax.slice_in_dim(x, a, b, axis=axis), axis, keepdims=True)
            for a, b in region_edges(x.shape[axis], r)
        ]
        x = lax.concatenate(parts, axis)
    return x


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """Average over ``output_size`` regions of sequences (MindSpore: ``ops.adaptive_avg_pool1d``).

    Args:
        input: (N, C, W) or (C, W).
        output_size: number of regions.

    Returns:
        Tensor (N, C, output_size).

    Raises:
        ValueError: the size or the rank does not fit.
    """
    check_ranks(input, (2, 3), "adaptive_avg_pool1d")
    return _AdaptiveAvgPool1D(regions(output_size, 1, "adaptive_avg_pool1d"))(input)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Average over regions of images (MindSpore: ``ops.adaptive_avg_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: int or (height, width); None keeps the input's size.

    Returns:
        Tensor (N, C, height, width).

    Raises:
        ValueError: the size or the rank does not fit.
    """
    return AdaptiveAvgPool2D(as_tuple(output_size))(input)


def adaptive_max_pool1d(input: Any, output_size: int) -> Tensor:
    """Take maxima over regions of sequences (MindSpore: ``ops.adaptive_max_pool1d``).

    Args:
        input: (N, C, L) or (C, L), float.
        output_size: number of regions.

    Returns:
        Tensor (N, C, output_size) or (C, output_size).

    Raises:
        TypeError: ``output_size`` is no int.
        ValueError: ``input`` has another rank, or ``output_size`` is not positive.
    """
    check_ranks(input, (2, 3), "adaptive_max_pool1d")
    return AdaptiveMaxPoolND(regions(output_size, 1, "adaptive_max_pool1d"))(input)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Take maxima over regions of images (MindSpore: ``ops.adaptive_max_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: int or (height, width); None keeps the input's size.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, height, width); with ``return_indices`` also their places in the flattened
        (H, W), Int64.

    Raises:
        ValueError: the size or the rank does not fit.
    """
    check_ranks(input, (3, 4), "adaptive_max_pool2d")
    if checks.boolean("return_indices", return_indices, "adaptive_max_pool2d"):
        return AdaptiveMaxPool2D(as_tuple(output_size))(input)
    return AdaptiveMaxPoolND(regions(as_tuple(output_size), 2, "adaptive_max_pool2d"))(input)
