"""Covariances, sorted places, interpolation, counts and histograms."""

from __future__ import annotations

import math
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    boolean,
    cast_result,
    is_array_like,
    leading_axes,
    to_tensor,
)
from mindjax.numpy.array_creation import linspace
from mindjax.numpy.reduction import average
from mindjax.tensor import Tensor


def _samples(m: Any, rowvar: Any) -> Tensor:
    """Bring observations to Float32, one variable a row."""
    x = to_tensor(m)
    if len(x.shape) > 2:
        raise located(ValueError, f"input array has dimension more than 2: {x.shape}.")
    if not x.size:
        raise located(ValueError, f"input array must not be empty, but got shape {x.shape}.")
    boolean("rowvar", rowvar, "cov")
    x = leading_axes(ops.cast(x, float32), 2)
    return x if rowvar or x.shape[0] == 1 else ops.transpose(x, (1, 0))


def _weights(weights: Any, count: int) -> Tensor:
    x = to_tensor(weights)
    if x.dtype.kind != "int":
        raise located(TypeError, f"weights must be integer, but got {x.dtype}.")
    if len(x.shape) > 1:
        raise located(RuntimeError, f"cannot handle multidimensional weights: {x.shape}.")
    if x.shape != (count,):
        raise located(
            RuntimeError, f"incompatible numbers of samples and weights: {count}, {x.shape}."
        )
    return ops.abs(ops.cast(x, float32))


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Tensor:
    """Estimate covariances (MindSpore: ``numpy.cov``).

    Args:
        m: 1-d or 2-d array-like of observations, computed in Float32.
        y: more variables in the same form.
        rowvar: whether each row is a variable, not each column.
        bias: whether to divide by the number of observations, not by one less.
        ddof: what is taken from that number instead.
        fweights: array-like of integers: how often each observation occurs.
        aweights: array-like of integers: how much each observation weighs.
        dtype: MindSpore dtype of the result, Float32 by default.

    Returns:
        Matrix of covariances; of one variable a 0-d Tensor.

    Raises:
        TypeError: an argument has another type.
        ValueError: an argument is empty or has more than two axes.
        RuntimeError: the weights are not as many as the observations.
    """
    x = _samples(m, rowvar)
    if y is not None:
        x = ops.cat([x, _samples(y, rowvar)], 0)
    count = x.shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    times = None if fweights is None else _weights(fweights, count)
    heavy = None if aweights is None else _weights(aweights, count)
    both = times if heavy is None else heavy if times is None else ops.mul(times, heavy)
    middle = average(x, axis=1, weights=both)
    around = ops.sub(x, ops.expand_dims(middle, -1))
    factor: Any = count - less
    scaled = around
    if both is not None:
        scaled = ops.mul(around, both)
        total = ops.sum(both)
        factor = total if heavy is None else ops.div(ops.sum(ops.mul(both, heavy)), total)
        factor = ops.sub(total, ops.mul(factor, less) if heavy is not None else less)
    product = ops.matmul(around, ops.transpose(scaled, (1, 0)))
    return cast_result(ops.squeeze(ops.div(product, factor)), dtype)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Tensor:
    """Estimate correlations (MindSpore: ``numpy.corrcoef``).

    Args:
        x: 1-d or 2-d array-like of observations, computed in Float32.
        y: more variables in the same form.
        rowvar: whether each row is a variable, not each column.
        dtype: MindSpore dtype of the result, Float32 by default.

    Returns:
        Matrix of numbers from -1 to 1; of one variable a 0-d Tensor.

    Raises:
        TypeError: an argument has another type.
        ValueError: an argument is empty or has more than two axes.
    """
    covariance = cov(x, y, rowvar)
    if not covariance.shape:
        return cast_result(ops.div(covariance, covariance), dtype)
    spread = ops.sqrt(covariance.diagonal())
    out = ops.div(ops.div(covariance, ops.expand_dims(spread, -1)), ops.expand_dims(spread, 0))
    return cast_result(ops.clip(out, -1.0, 1.0), dtype)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Find where elements belong in a sorted vector (MindSpore: ``numpy.searchsorted``).

    Args:
        a: 1-d array-like in ascending order, compared in Float32.
        v: array-like of elements.
        side: ``"left"`` for the first possible place, ``"right"`` for the last.
        sorter: integer array-like that would sort ``a``.

    Returns:
        Int32 Tensor of the shape of ``v``.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: ``side`` is unknown, or ``a`` or ``sorter`` not 1-d.
    """
    if side not in ("left", "right"):
        raise located(ValueError, f'invalid value for keyword "side": {side!r}.')
    line, value = ops.cast(to_tensor(a), float32), to_tensor(v)
    if len(line.shape) != 1:
        raise located(ValueError, f"`a` should be 1-D array, but got shape {line.shape}.")
    if sorter is not None:
        order = to_tensor(sorter)
        if order.shape != line.shape:
            raise located(
                ValueError,
                f"sorter must be 1-D array with the same size as `a`, but got {order.shape}.",
            )
        line = ops.gather(line, order, 0)
    return _places(line, value, side == "right")


def _places(line: Tensor, value: Tensor, right: bool) -> Tensor:
    wide = ops.cast(value, line.dtype)
    return ops.searchsorted(line, wide, out_int32=True, right=right)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Find the bin of each element (MindSpore: ``numpy.digitize``).

    Args:
        x: array-like.
        bins: 1-d array-like of bounds, ascending or descending.
        right: whether the right bound belongs to a bin, not the left one.

    Returns:
        Int32 Tensor of the shape of ``x``.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: ``bins`` is not 1-d.
    """
    value, bounds = to_tensor(x), to_tensor(bins)
    if len(bounds.shape) != 1:
        raise located(ValueError, f"bins should be 1-dimensional, but got shape {bounds.shape}.")
    if not value.size:
        return value
    if not bounds.size:
        return ops.zeros(value.shape, int32)
    side = "left" if right else "right"
    upward = searchsorted(bounds, value, side)
    turned = searchsorted(ops.flip(bounds, (0,)), value, side)
    downward = ops.sub(bounds.size, turned)
    return ops.where(ops.le(bounds[0], bounds[-1]), upward, downward)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
    """Interpolate linearly (MindSpore: ``numpy.interp``).

    Args:
        x: array-like of places.
        xp: 1-d array-like of known places, ascending.
        fp: 1-d array-like of their values.
        left: value for places before the first; its value by default.
        right: value for places behind the last; its value by default.

    Returns:
        Float32 Tensor of the shape of ``x``.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: ``xp`` and ``fp`` are not two vectors of one length.
    """
    place, known, values = to_tensor(x), to_tensor(xp), to_tensor(fp)
    if len(known.shape) != 1 or len(values.shape) != 1:
        raise located(ValueError, "xp and fp must be 1-d sequences.")
    if known.size != values.size:
        raise located(ValueError, "the y-coordinates must have the same length as `xp`.")
    known, values = ops.cast(known, float32), ops.cast(values, float32)
    last = known.size - 1
    after = ops.clip(searchsorted(known, place), 0, last)
    before = ops.clip(ops.sub(after, 1), 0, last)
    x0, x1, y0, y1 = (
        ops.gather(line, index, 0) for line in (known, values) for index in (before, after)
    )
    same = ops.eq(x0, x1)
    width = ops.where(same, 1.0, ops.sub(x1, x0))
    slope = ops.div(ops.sub(y1, y0), width)
    out = ops.where(same, y0, ops.add(y0, ops.mul(ops.sub(place, x0), slope)))
    ends = (
        ops.cast(to_tensor(values[0] if left is None else left), float32),
        ops.cast(to_tensor(values[-1] if right is None else right), float32),
    )
    out = ops.where(ops.lt(place, known[0]), ends[0], out)
    return ops.where(ops.gt(place, known[-1]), ends[1], out)


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """Count how often each number from 0 up occurs (MindSpore: ``numpy.bincount``).

    Args:
        x: 1-d array-like of Int; negative numbers count as 0.
        weights: array-like of the same length, added up in place of counting.
        minlength: least length of the result.
        length: length of the result; larger numbers do not count. A compiled function needs it.

    Returns:
        1-d Float32 Tensor.

    Raises:
        TypeError: ``x`` holds no integers.
        ValueError: ``x`` is not 1-d, or ``weights`` has another shape.
    """
    value = to_tensor(x)
    if len(value.shape) != 1:
        raise located(ValueError, f"`x` should be one-dimensional, but got shape {value.shape}.")
    if value.dtype.kind != "int":
        raise located(TypeError, f"`x` should be an array of ints, but got {value.dtype}.")
    value = ops.maximum(value, 0)
    if length is None:
        longest = int(ops.amax(value).asnumpy()) + 1 if value.size else 0
        length = max(longest, minlength)
    amounts = ops.ones(value.shape, float32)
    if weights is not None:
        amounts = to_tensor(weights)
        if amounts.shape != value.shape:
            raise located(
                ValueError,
                f"`x` and `weights` must have the same length, but got {value.shape} and "
                f"{amounts.shape}.",
            )
    return _counts(value, ops.cast(amounts, float32), length)


def _counts(index: Tensor, amounts: Tensor, length: int) -> Tensor:
    """Add up amounts by index; what is out of range falls into a last place, which is cut off."""
    index = ops.minimum(index, length)
    return ops.unsorted_segment_sum(amounts, index, length + 1)[:length]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """Give the bounds of a histogram's bins (MindSpore: ``numpy.histogram_bin_edges``).

    Args:
        a: array-like.
        bins: number of bins, or 1-d array-like of their bounds.
        range: lowest and highest bound; those of the elements by default.
        weights: array-like of the shape of ``a``; without effect on equal bins.

    Returns:
        1-d Tensor, Float32 unless ``bins`` is given as bounds.

    Raises:
        TypeError: an argument is no array-like.
        NotImplementedError: ``bins`` is a name.
        ValueError: ``bins``, ``range`` or ``weights`` has another form.
    """
    value = to_tensor(a)
    if weights is not None and to_tensor(weights).shape != value.shape:
        raise located(ValueError, "weights should have the same shape as a.")
    if isinstance(bins, tuple | list | Tensor):
        bounds = to_tensor(bins)
        if len(bounds.shape) != 1:
            raise located(ValueError, f"`bins` must be 1d, when an array, not {bounds.shape}.")
        return bounds
    if isinstance(bins, str):
        raise located(NotImplementedError, f"string value for `bins` not implemented: {bins!r}.")
    checks.of_type("bins", bins, int, "histogram")
    if range is None:
        flat = ops.cast(ops.reshape(value, (-1,)), float32)
        start, end = ops.amin(flat), ops.amax(flat)
    else:
        if not isinstance(range, list | tuple) or len(range) != 2:
            raise located(
                ValueError, f"`range` should take the form (start, end), but got {range!r}."
            )
        if range[0] > range[1]:
            raise located(
                ValueError, f"max must be larger than min in range parameter, but got {range}."
            )
        start, end = (ops.cast(to_tensor(v), float32) for v in range)
    nothing = ops.cast(ops.eq(start, end), float32)
    half = ops.mul(nothing, 0.5)
    return linspace(ops.sub(start, half), ops.add(end, half), bins + 1)


def _bins(bounds: Tensor, x: Tensor) -> Tensor:
    """Give for each element 1 more than its bin; the last bound belongs to the last bin."""
    found = searchsorted(bounds, x, "right")
    return ops.where(ops.eq(x, bounds[-1]), bounds.size - 1, found)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """Count the elements in bins (MindSpore: ``numpy.histogram``).

    Args:
        a: array-like.
        bins: number of bins, or 1-d array-like of their bounds.
        range: lowest and highest bound; those of the elements by default.
        weights: array-like of the shape of ``a``, added up in place of counting.
        density: whether to divide by bin width and total.

    Returns:
        Float32 counts, and the bounds.

    Raises:
        TypeError: an argument is no array-like.
        NotImplementedError: ``bins`` is a name.
        ValueError: ``bins``, ``range`` or ``weights`` has another form.
    """
    value = to_tensor(a)
    bounds = histogram_bin_edges(value, bins, range, weights)
    flat = ops.reshape(value, (-1,))
    amounts = None if weights is None else ops.reshape(to_tensor(weights), (-1,))
    counts = bincount(_bins(bounds, flat), amounts, length=bounds.size)[1:]
    if density and counts.size:
        counts = ops.div(ops.div(counts, ops.sub(bounds[1:], bounds[:-1])), ops.sum(counts))
    return counts, bounds


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """Count points in the boxes of a grid (MindSpore: ``numpy.histogramdd``).

    Args:
        sample: Tensor of shape (N, D), or D array-likes of shape (N,).
        bins: number of bins along every axis, or D numbers or 1-d array-likes of bounds.
        range: D pairs of lowest and highest bounds; None for those of the elements.
        weights: array-like of shape (N,), added up in place of counting.
        density: whether to divide by box volume and total.

    Returns:
        Float32 counts with D axes, and a list of D Tensors of bounds.

    Raises:
        TypeError: an argument has another type.
        ValueError: the sizes do not fit.
    """
    if isinstance(sample, tuple | list):
        points = ops.stack([to_tensor(x) for x in sample], -1)
    elif isinstance(sample, Tensor):
        points = sample
    else:
        raise located(TypeError, "sample should be (N, D) array, or (D, N) array_like.")
    if len(points.shape) != 2:
        raise located(
            ValueError, f"when an array, sample should be 2-dimensional, but got {points.shape}."
        )
    ndim = points.shape[1]
    if not isinstance(bins, int) and not is_array_like(bins):
        raise located(TypeError, f"bins should be int or sequence, but got {bins!r}.")
    wanted = [bins] * ndim if isinstance(bins, int) else list(bins)
    if len(wanted) != ndim:
        raise located(
            ValueError,
            "The dimension of bins must be equal to the dimension of the sample, but got "
            f"{len(wanted)} and {ndim}.",
        )
    ranges = [None] * ndim if range is None else list(range)
    if len(ranges) != ndim:
        raise located(
            ValueError, f"range argument must have one entry per dimension, not {len(ranges)}."
        )
    columns = ops.unstack(points, 1)
    bounds = [histogram_bin_edges(column, wanted[i], ranges[i]) for i, column in enumerate(columns)]
    shape = tuple(b.size + 1 for b in bounds)
    places: Any = 0
    for column, edges, size in zip(columns, bounds, shape, strict=True):
        places = ops.add(ops.mul(places, size), _bins(edges, column))
    counts = ops.reshape(bincount(places, weights, length=math.prod(shape)), shape)
    counts = counts[tuple([slice(1, -1)] * ndim)]
    if density:
        total = ops.sum(counts)
        for axis, edges in enumerate(bounds):
            width = ops.sub(edges[1:], edges[:-1])
            line = tuple(-1 if i == axis else 1 for i, _ in enumerate(bounds))
            counts = ops.div(counts, ops.reshape(width, line))
        counts = ops.div(counts, total)
    return counts, bounds


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Count points in the boxes of a plane (MindSpore: ``numpy.histogram2d``).

    Args:
        x: array-like of shape (N,).
        y: array-like of shape (N,).
        bins: number of bins along both axes, or two numbers or 1-d array-likes of bounds.
        range: two pairs of lowest and highest bounds; those of the elements by default.
        weights: array-like of shape (N,), added up in place of counting.
        density: whether to divide by box area and total.

    Returns:
        Float32 counts, the bounds along ``x`` and those along ``y``.

    Raises:
        TypeError: an argument has another type.
        ValueError: the sizes do not fit.
    """
    counts, (first, second) = histogramdd((x, y), bins, range, weights, density)
    return counts, first, second
