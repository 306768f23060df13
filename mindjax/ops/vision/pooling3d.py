"""Pooling of volumes, maxima with their places, and pooling by powers."""

from __future__ import annotations

import itertools
import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import Type, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops import pooling
from mindjax.ops.arithmetic import mul
from mindjax.ops.arithmetic import pow as power
from mindjax.ops.bound import BoundPrimitive, set_fields
from mindjax.ops.pooling import as_tuple, avg_pool_nd, check_ranks, max_pool_nd
from mindjax.ops.shape import expand_dims, shape_of, squeeze

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Pads = tuple[tuple[int, int], ...]


def _six_pads(name: str, value: Any, owner: str) -> Pads:
    """Check one int, or six, and give a pair an axis."""
    checks.of_type(name, value, (int, tuple, list), owner)
    values = (value,) * 6 if isinstance(value, int) else tuple(value)
    if len(values) != 6:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be an int or a tuple of 6 ints, but got {value}.",
        )
    values = tuple(checks.non_negative_int(name, v, owner) for v in values)
    return ((values[0], values[1]), (values[2], values[3]), (values[4], values[5]))


def _prepare(record: Any, pads_name: str) -> dict[str, Any]:
    """Check what both pooling ops of volumes share, and give the values in their final form."""
    owner = record.name
    checks.of_type("pad_mode", record.pad_mode, str, owner)
    mode = checks.one_of("pad_mode", record.pad_mode.upper(), ("SAME", "VALID", "PAD"), owner)
    checks.of_type("data_format", record.data_format, str, owner)
    checks.one_of("data_format", record.data_format, ("NCDHW",), owner)
    sizes = {}
    for name in ("kernel_size", "strides"):
        value = as_tuple(getattr(record, name))
        if isinstance(value, tuple) and len(value) == 5 and value[:2] == (1, 1):
            value = value[2:]
        sizes[name] = checks.pool_sizes(name, value, 3, owner)
    pads = _six_pads(pads_name, getattr(record, pads_name), owner)
    if mode != "PAD" and any(map(any, pads)):
        raise located(
            ValueError,
            f"For '{owner}', the '{pads_name}' must be zero or (0, 0, 0, 0, 0, 0) when 'pad_mode' "
            f"is not \"PAD\", but got '{pads_name}' is {getattr(record, pads_name)} and 'pad_mode' "
            f"is {record.pad_mode}.",
        )
    if any(a + b > k for (a, b), k in zip(pads, sizes["kernel_size"], strict=True)):
        raise located(
            ValueError,
            f"For '{owner}', the sum of both pads of an axis must be at most its kernel size, but "
            f"got '{pads_name}' {pads} and kernel {sizes['kernel_size']}.",
        )
    return {"pad_mode": mode, pads_name: pads, **sizes}


def _check_volume(x: Array, owner: str) -> None:
    if x.ndim != 5:
        raise located(
            ValueError,
            f"For primitive[{owner}], the x_rank must be equal to 5, but got {x.ndim}.",
        )
    checks.floating("x", x.dtype, owner)


class AvgPool3D(Primitive):
    """Averages over windows of volumes (MindSpore: ``ops.AvgPool3D``).

    Args:
        kernel_size: int or (depth, height, width).
        strides: int or (depth, height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        pad: int or (head, tail, top, bottom, left, right), with ``"pad"`` only.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by; 0 for the number of elements.
        data_format: only ``"NCDHW"``.
    """

    kernel_size: Any = 1
    strides: Any = 1
    pad_mode: str = "valid"
    pad: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int = 0
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        checks.boolean("ceil_mode", self.ceil_mode, "AvgPool3D")
        checks.boolean("count_include_pad", self.count_include_pad, "AvgPool3D")
        checks.of_type("divisor_override", self.divisor_override, int, "AvgPool3D")
        set_fields(self, **_prepare(self, "pad"))

    def compute(self, x: Array) -> Array:
        """Pool (N, C, D, H, W)."""
        _check_volume(x, "AvgPool3D")
        kernel, stride = self.kernel_size, self.strides
        given = "SAME" if self.pad_mode == "SAME" else self.pad
        window = (x.shape[2:], kernel, stride, given, (1, 1, 1), self.ceil_mode)
        pads = pooling.window_pads(*window)
        counted = pads if self.pad_mode == "SAME" else self.pad
        full = ((0, 0), (0, 0), *pads)
        total = pooling.sum_windows(x, kernel, stride, full, "NCHW")
        pooling.check_fit(x, total, kernel, "AvgPool3D")
        if self.divisor_override:
            return total / np.asarray(self.divisor_override, x.dtype)
        counts = [
            pooling.window_counts(n, k, s, low, high, not self.count_include_pad)
            for n, k, s, (low, high) in zip(x.shape[2:], kernel, stride, counted, strict=True)
        ]
        return total / pooling.count_array(counts, total, 2)


def avg_pool3d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """Take averages over windows of volumes (MindSpore: ``ops.avg_pool3d``).

    Args:
        input_x: (N, C, D, H, W), float.
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width).
        padding: int or (head, tail, top, bottom, left, right).
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by; 0 for the number of elements.

    Returns:
        Tensor (N, C, D', H', W').

    Raises:
        TypeError: an argument or ``input_x`` is of a wrong type.
        ValueError: a value or the rank does not fit.
    """
    pads = _six_pads("padding", padding, "avg_pool3d")
    flat = tuple(itertools.chain.from_iterable(pads))
    record = AvgPool3D(
        kernel_size, stride, "pad", flat, ceil_mode, count_include_pad, divisor_override
    )
    return record(input_x)


class MaxPool3D(Primitive):
    """Maxima over windows of volumes (MindSpore: ``ops.MaxPool3D``).

    Args:
        kernel_size: int or (depth, height, width).
        strides: int or (depth, height, width).
        pad_mode: ``"VALID"``, ``"SAME"`` or ``"PAD"``, in either case.
        pad_list: int or (head, tail, top, bottom, left, right), with ``"PAD"`` only.
        ceil_mode: count windows that only begin inside; with ``"PAD"`` only.
        data_format: only ``"NCDHW"``.
    """

    kernel_size: Any = 1
    strides: Any = 1
    pad_mode: str = "VALID"
    pad_list: Any = 0
    ceil_mode: bool | None = None
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        values = _prepare(self, "pad_list")
        if self.ceil_mode is not None:
            checks.boolean("ceil_mode", self.ceil_mode, "MaxPool3D")
            if values["pad_mode"] != "PAD":
                raise located(
                    ValueError,
                    "For 'MaxPool3D', when the 'pad_mode' is 'same' or 'valid', the 'ceil_mode' "
                    f"only supports 'None', but got {self.ceil_mode}.",
                )
        set_fields(self, **values)

    def compute(self, x: Array) -> Array:
        """Pool (N, C, D, H, W)."""
        _check_volume(x, "MaxPool3D")
        pads = "SAME" if self.pad_mode == "SAME" else self.pad_list
        window = (x.shape[2:], self.kernel_size, self.strides, pads)
        full = ((0, 0), (0, 0), *pooling.window_pads(*window, (1, 1, 1), bool(self.ceil_mode)))
        out = pooling.max_windows(x, self.kernel_size, self.strides, full, "NCHW")
        pooling.check_fit(x, out, self.kernel_size, "MaxPool3D")
        return out


class MaxPool3DWithArgmax(Primitive):
    """Maxima over windows of volumes and their places (MindSpore: ``ops.MaxPool3DWithArgmax``).

    Args:
        ksize: int or (depth, height, width).
        strides: int or (depth, height, width).
        pads: int or (depth, height, width), at most half of the kernel.
        dilation: int or (depth, height, width).
        ceil_mode: count windows that only begin inside.
        data_format: only ``"NCDHW"``.
        argmax_type: Int64 or Int32.
    """

    ksize: Any
    strides: Any
    pads: Any
    dilation: Any = (1, 1, 1)
    ceil_mode: bool = False
    data_format: str = "NCDHW"
    argmax_type: Any = int64

    def __post_init__(self) -> None:
        owner = "MaxPool3DWithArgmax"
        checks.one_of("data_format", self.data_format, ("NCDHW",), owner)
        if not isinstance(self.argmax_type, Type) or self.argmax_type not in (int32, int64):
            raise located(
                ValueError,
                f"For '{owner}', the 'argmax_type' must be Int32 or Int64, but got "
                f"{self.argmax_type}.",
            )
        arguments = pooling.PoolArguments(
            self.ksize, self.strides, self.pads, self.dilation, self.ceil_mode
        )
        values = pooling.explicit_window(arguments, 3, owner)
        set_fields(self, ksize=values.pop("kernel_size"), **values)

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Pool (N, C, D, H, W).

        Returns:
            The maxima, and their places in the flattened (D, H, W).
        """
        if x.ndim != 5:
            raise located(
                ValueError,
                "For primitive[MaxPool3DWithArgmax], the input x rank must be equal to 5, but got "
                f"{x.ndim}.",
            )
        window = (self.ksize, self.strides, self.pads, self.dilation, self.ceil_mode)
        out = pooling.MaxPoolND(*window).compute(x)
        places = pooling.argmax_windows(x, out.shape, *window)
        return out, places.astype(self.argmax_type.np)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take maxima over windows of volumes (MindSpore: ``ops.max_pool3d``).

    Args:
        x: (N, C, D, H, W).
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width); None for ``kernel_size``.
        padding: int or (depth, height, width), at most half of the kernel.
        dilation: int or (depth, height, width).
        ceil_mode: count windows that only begin inside.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, D', H', W'); with ``return_indices`` also their places in the flattened
        (D, H, W), Int64.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: an argument or the rank does not fit.
    """
    owner = "MaxPool3DWithArgmax"
    checks.boolean("return_indices", return_indices, "max_pool3d")
    if return_indices:
        strides = kernel_size if stride is None else stride
        return MaxPool3DWithArgmax(kernel_size, strides, padding, dilation, ceil_mode)(x)
    check_ranks(x, (5,), owner)
    return max_pool_nd(x, 3, kernel_size, stride, padding, dilation, ceil_mode, owner)


class MaxPoolWithArgmax(Primitive):
    """Maxima over windows of images and their places (MindSpore: ``ops.MaxPoolWithArgmax``).

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
        record = pooling.MaxPool(self.kernel_size, self.strides, self.pad_mode, self.data_format)
        names = ("kernel_size", "strides", "pad_mode")
        set_fields(self, **{name: getattr(record, name) for name in names})

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Pool (N, C, H, W).

        Returns:
            The maxima, and their places in (C, H, W), or (H, W, C), flattened, Int32.
        """
        if x.ndim != 4:
            raise located(
                ValueError,
                "For primitive[MaxPoolWithArgmax], the length of input must be equal to 4, but got "
                f"{x.ndim}.",
            )
        last = self.data_format == "NHWC"
        x = jnp.moveaxis(x, -1, 1) if last else x
        channels, size = x.shape[1], math.prod(x.shape[2:])
        window = (self.kernel_size, self.strides, self.pad_mode, (1, 1), False)
        out = pooling.MaxPoolND(*window).compute(x)
        places = pooling.argmax_windows(x, out.shape, *window)
        channel = lax.broadcasted_iota(np.int32, places.shape, 1)
        if last:
            places = places * np.int32(channels) + channel
            return jnp.moveaxis(out, 1, -1), jnp.moveaxis(places, 1, -1)
        return out, places + channel * np.int32(size)


class AdaptiveAvgPool3D(Primitive):
    """Averages over a fixed number of regions of volumes (MindSpore: ``ops.AdaptiveAvgPool3D``).

    Args:
        output_size: int or (depth, height, width); None keeps the input's size.
    """

    output_size: Any

    def __post_init__(self) -> None:
        size = as_tuple(self.output_size)
        set_fields(self, output_size=pooling.regions(size, 3, "AdaptiveAvgPool3D"))

    def compute(self, x: Array) -> Array:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        if x.ndim not in (4, 5):
            raise located(
                ValueError,
                "For primitive[AdaptiveAvgPool3D], the the rank of x must be in [4,5], but got "
                f"{x.ndim}.",
            )
        checks.floating("x", x.dtype, "AdaptiveAvgPool3D")
        return pooling.adaptive_average(x, self.output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """Average over regions of volumes (MindSpore: ``ops.adaptive_avg_pool3d``).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W), float.
        output_size: int or (depth, height, width); None keeps the input's size.

    Returns:
        Tensor (N, C, depth, height, width).

    Raises:
        TypeError: ``input`` or ``output_size`` is of a wrong type.
        ValueError: the size or the rank does not fit.
    """
    return AdaptiveAvgPool3D(output_size)(input)


def adaptive_avg_pool2d_ext(input: Any, output_size: Any) -> Tensor:
    """Average over regions of images (MindSpore: ``ops.adaptive_avg_pool2d_ext``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: int or (height, width); None keeps the input's size.

    Returns:
        Tensor (N, C, height, width).

    Raises:
        ValueError: the size or the rank does not fit.
    """
    return pooling.adaptive_avg_pool2d(input, output_size)


class AdaptiveMaxPool3D(BoundPrimitive):
    """Maxima over a fixed number of regions of volumes, and their places.

    Call: ``AdaptiveMaxPool3D()(x, output_size)``. MindSpore: ``ops.AdaptiveMaxPool3D``.
    """

    statics: ClassVar[tuple[str, ...]] = ("output_size",)
    output_size: Any = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the numbers of regions."""
        sizes = pooling.regions(as_tuple(statics.get("output_size")), 3, "AdaptiveMaxPool3D")
        if any(n is not None and n < 1 for n in sizes):
            raise located(
                ValueError,
                "For 'AdaptiveMaxPool3D', 'output_size' should be a vector with all positive item, "
                f"but got {sizes}.",
            )
        return {"output_size": sizes}

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Pool (N, C, D, H, W) or (C, D, H, W).

        Returns:
            The maxima, and their places in the flattened (D, H, W), Int32.
        """
        if x.ndim not in (4, 5):
            raise located(
                ValueError,
                f"For 'AdaptiveMaxPool3D', the rank of 'x' must be 4 or 5, but got {x.ndim}.",
            )
        return pooling.adaptive_maxima(x, self.output_size)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Take maxima over regions of volumes (MindSpore: ``ops.adaptive_max_pool3d``).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        output_size: int or (depth, height, width); None keeps the input's size.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, depth, height, width); with ``return_indices`` also their places in the
        flattened (D, H, W), Int32.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the size or the rank does not fit.
    """
    checks.boolean("return_indices", return_indices, "adaptive_max_pool3d")
    out = AdaptiveMaxPool3D()(input, output_size)
    return out if return_indices else out[0]


def _powers(
    x: Any, count: int, norm_type: Any, kernel_size: Any, stride: Any, ceil_mode: Any
) -> Any:
    """Take the p-norm over windows; the sum of a window that reaches past the end is scaled."""
    owner = f"lp_pool{count}d"
    if not isinstance(norm_type, int | float) or isinstance(norm_type, bool):
        raise located(
            TypeError,
            f"For {owner}, the type of 'norm_type' must be float or int, but got "
            f"{type(norm_type).__name__}.",
        )
    if norm_type == 0:
        raise located(ValueError, f"For {owner}, the value of 'norm_type' can not be 0.")
    kernel = checks.pool_sizes("kernel_size", as_tuple(kernel_size), count, owner)
    if math.isinf(norm_type):
        return max_pool_nd(x, count, kernel, stride, 0, 1, ceil_mode, owner)
    means = avg_pool_nd(
        power(x, float(norm_type)), count, kernel, stride, 0, ceil_mode, True, None, owner
    )
    return power(mul(means, math.prod(kernel)), 1.0 / norm_type)


def lp_pool1d(
    x: Any, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
) -> Tensor:
    """Take p-norms over windows of sequences (MindSpore: ``ops.lp_pool1d``).

    Args:
        x: (N, C, L) or (C, L), float.
        norm_type: p, not 0; infinity takes the maximum.
        kernel_size: int.
        stride: int; None for ``kernel_size``.
        ceil_mode: count windows that only begin inside.

    Returns:
        Tensor (N, C, L').

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value or the rank does not fit.
    """
    check_ranks(x, (2, 3), "lp_pool1d")
    if len(shape_of(x)) == 2:
        whole = _powers(expand_dims(x, 0), 1, norm_type, kernel_size, stride, ceil_mode)
        return squeeze(whole, 0)
    return _powers(x, 1, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """Take p-norms over windows of images (MindSpore: ``ops.lp_pool2d``).

    Args:
        x: (N, C, H, W), float.
        norm_type: p, not 0; infinity takes the maximum.
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        ceil_mode: count windows that only begin inside.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value or the rank does not fit.
    """
    check_ranks(x, (4,), "lp_pool2d")
    return _powers(x, 2, norm_type, kernel_size, stride, ceil_mode)
