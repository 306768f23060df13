"""Coordinates and windows: meshgrid, mgrid, indices, triangles' indices, Hamming and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import boolean, constant, need_tensors
from mindjax.numpy.array_creation import arange, asarray, linspace, ones
from mindjax.numpy.dtypes import pi
from mindjax.tensor import Tensor


def meshgrid(*xi: Tensor, sparse: bool = False, indexing: str = "xy") -> Any:
    """Make coordinate matrices of coordinate vectors (MindSpore: ``numpy.meshgrid``).

    Args:
        xi: Tensors, each taken as one axis.
        sparse: whether the results keep size 1 along the other axes.
        indexing: ``"xy"``: the first vector runs along the second axis; ``"ij"``: along the first.

    Returns:
        List of Tensors; one Tensor of ones of the common shape if that is empty.

    Raises:
        TypeError: an argument is no Tensor, ``sparse`` no bool, or ``indexing`` unknown.
    """
    need_tensors(*xi)
    boolean("sparse", sparse, "meshgrid")
    if indexing not in ("xy", "ij"):
        raise located(
            TypeError, f"Valid values for `indexing` are 'xy' and 'ij', but got {indexing!r}."
        )
    sizes = [x.size for x in xi]
    if 0 in sizes:
        return ones(sizes)
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = [1, 0]
    shape = tuple(sizes[places.index(axis)] for axis in range(len(xi)))
    grids = []
    for x, place in zip(xi, places, strict=True):
        line = ops.reshape(x, tuple(-1 if a == place else 1 for a in range(len(xi))))
        grids.append(line if sparse else ops.broadcast_to(line, shape))
    return grids


class _Grid:
    """Coordinates of a lattice, asked for by slices: ``grid[0:3, 0:1:5j]``."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, keys: Any) -> Any:
        lines = [self._line(k) for k in (keys if isinstance(keys, tuple) else (keys,))]
        grids = meshgrid(*lines, sparse=self.sparse, indexing="ij")
        if len(lines) == 1:
            return grids[0]
        if self.sparse:
            return grids
        whole = float32 if any(g.dtype is float32 for g in grids) else int32
        return ops.stack([ops.cast(g, whole) for g in grids])

    @staticmethod
    def _line(key: slice) -> Tensor:
        if not isinstance(key.start, int) or not isinstance(key.stop, int):
            raise located(TypeError, f"slice indices must be integers, but got {key}.")
        step = key.step or 1
        if isinstance(step, complex):
            return linspace(key.start, key.stop, int(abs(step)))
        return arange(key.start, key.stop, step)


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)


def indices(dimensions: Any, dtype: Any = int32, sparse: bool = False) -> Any:
    """Give the indices of every place of a shape (MindSpore: ``numpy.indices``).

    Args:
        dimensions: tuple or list of sizes.
        dtype: dtype, its name or a Python type.
        sparse: whether the results keep size 1 along the other axes.

    Returns:
        List of Tensors, one an axis.

    Raises:
        TypeError: ``dimensions`` is no tuple or list.
    """
    if not isinstance(dimensions, tuple | list):
        raise located(
            TypeError, f"Shape of the grid must be tuple or list, but got {dimensions!r}."
        )
    lines = [arange(size, dtype=dtype) for size in dimensions]
    return meshgrid(*lines, sparse=sparse, indexing="ij")


def ix_(*args: Tensor) -> tuple[Tensor, ...]:
    """Lay vectors along axes of their own, to index a block (MindSpore: ``numpy.ix_``).

    Args:
        args: 1-d Tensors.

    Returns:
        Tuple of Tensors.

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: one is not 1-d.
    """
    need_tensors(*args)
    for x in args:
        if len(x.shape) != 1:
            raise located(ValueError, f"Cross index must be 1 dimensional, but got {x.shape}.")
    count = len(args)
    return tuple(
        ops.reshape(x, tuple(x.size if a == i else 1 for a in range(count)))
        for i, x in enumerate(args)
    )


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Give the indices of the main diagonal (MindSpore: ``numpy.diag_indices``).

    Args:
        n: size of each axis.
        ndim: number of axes.

    Returns:
        Tuple of ``ndim`` Int32 Tensors.

    Raises:
        TypeError: an argument is no integer.
        ValueError: ``n`` is not positive.
    """
    if not isinstance(n, int) or not isinstance(ndim, int):
        raise located(TypeError, f"input must be integers, but got {n!r} and {ndim!r}.")
    return tuple(arange(n) for _ in range(ndim))


def _triangle(n: Any, k: Any, m: Any, upper: bool) -> tuple[Tensor, Tensor]:
    m = n if m is None else m
    for name, value in (("n", n), ("k", k), ("m", m)):
        if not isinstance(value, int | float):
            raise located(TypeError, f"Input {name} must be a number, but got {value!r}.")
    try:
        rows = np.arange(math.ceil(n))[:, None]
        columns = np.arange(math.ceil(m))
        places = np.nonzero(columns >= rows + k if upper else columns <= rows + k)
    except (MemoryError, ValueError, OverflowError):
        raise located(
            RuntimeError, f"There is no memory for the places of a triangle of {n} by {m}."
        ) from None
    return constant(places[0], int32), constant(places[1], int32)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Give the indices of an upper triangle (MindSpore: ``numpy.triu_indices``).

    Args:
        n: number of rows.
        k: diagonal at which it begins.
        m: number of columns, ``n`` by default.

    Returns:
        Int32 row and column indices.

    Raises:
        TypeError: an argument is no number.
    """
    return _triangle(n, k, m, True)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Give the indices of a lower triangle (MindSpore: ``numpy.tril_indices``).

    Args:
        n: number of rows.
        k: diagonal at which it ends.
        m: number of columns, ``n`` by default.

    Returns:
        Int32 row and column indices.

    Raises:
        TypeError: an argument is no number.
    """
    return _triangle(n, k, m, False)


def _matrix_shape(arr: Any) -> tuple[int, int]:
    shape = asarray(arr).shape
    if len(shape) != 2:
        raise located(ValueError, f"input array must be 2-d, but got shape {shape}.")
    return shape[0], shape[1]


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Give the indices of a matrix's upper triangle (MindSpore: ``numpy.triu_indices_from``).

    Args:
        arr: 2-d array-like.
        k: diagonal at which it begins.

    Returns:
        Int32 row and column indices.

    Raises:
        TypeError: ``arr`` is no array-like, or ``k`` no number.
        ValueError: ``arr`` is not 2-d.
    """
    rows, columns = _matrix_shape(arr)
    return _triangle(rows, k, columns, True)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Give the indices of a matrix's lower triangle (MindSpore: ``numpy.tril_indices_from``).

    Args:
        arr: 2-d array-like.
        k: diagonal at which it ends.

    Returns:
        Int32 row and column indices.

    Raises:
        TypeError: ``arr`` is no array-like, or ``k`` no number.
        ValueError: ``arr`` is not 2-d.
    """
    rows, columns = _matrix_shape(arr)
    return _triangle(rows, k, columns, False)


def _window(M: Any, *weights: float) -> Tensor:
    """Sum cosines of the angle that runs from 0 to 2 pi over a window."""
    if not _wide(M):
        return ones(max(0, M))
    angle = ops.mul(arange(M, dtype=float32), 2 * pi / (M - 1))
    out = ops.full_like(angle, weights[0])
    for order, weight in enumerate(weights[1:], 1):
        out = ops.add(out, ops.mul(ops.cos(ops.mul(angle, float(order))), weight))
    return out


def _wide(M: Any) -> bool:
    if not isinstance(M, int):
        raise located(TypeError, f"the number of points should be an int, but got {M!r}.")
    return M > 1


def bartlett(M: int) -> Tensor:
    """Make the Bartlett window, a triangle (MindSpore: ``numpy.bartlett``).

    Args:
        M: number of points.

    Returns:
        Float32 Tensor of shape (M,), empty if ``M`` is not positive.

    Raises:
        TypeError: ``M`` is no integer.
    """
    if not _wide(M):
        return ones(max(0, M))
    half = (M - 1) / 2
    return ops.sub(1.0, ops.div(ops.abs(ops.sub(arange(M, dtype=float32), half)), half))


def blackman(M: int) -> Tensor:
    """Make the Blackman window (MindSpore: ``numpy.blackman``).

    Args:
        M: number of points.

    Returns:
        Float32 Tensor of shape (M,), empty if ``M`` is not positive.

    Raises:
        TypeError: ``M`` is no integer.
    """
    return _window(M, 0.42, -0.5, 0.08)


def hamming(M: int) -> Tensor:
    """Make the Hamming window (MindSpore: ``numpy.hamming``).

    Args:
        M: number of points.

    Returns:
        Float32 Tensor of shape (M,), empty if ``M`` is not positive.

    Raises:
        TypeError: ``M`` is no integer.
    """
    return _window(M, 0.54, -0.46)


def hanning(M: int) -> Tensor:
    """Make the Hann window (MindSpore: ``numpy.hanning``).

    Args:
        M: number of points.

    Returns:
        Float32 Tensor of shape (M,), empty if ``M`` is not positive.

    Raises:
        TypeError: ``M`` is no integer.
    """
    return _window(M, 0.5, -0.5)
