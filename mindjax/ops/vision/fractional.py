"""Fractional pooling (Graham 2015): windows whose steps are drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key, seeded
from mindjax.ops.bound import set_fields
from mindjax.ops.pooling import lowest
from mindjax.ops.shape import expand_dims, shape_of, squeeze

if TYPE_CHECKING:
    pass

Array = jax.Array
Sizes = tuple[int, ...]


def _sizes(name: str, value: Any, count: int, owner: str) -> Sizes:
    """Check an int, or one an axis, all above 0."""
    checks.of_type(name, value, (int, tuple), owner)
    values = (value,) * count if isinstance(value, int) else value
    if len(values) != count:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be an int or a tuple of {count} ints, but got "
            f"{value}.",
        )
    return tuple(checks.positive_int(f"{name} item", v, owner) for v in values)


def _starts(sample: Array, n: int, out: int, k: int) -> Array:
    """Give where the windows of an axis begin, for samples of any shape."""
    if out == 1:
        return jnp.full((*sample.shape, 1), n - k, np.int32)
    step = jnp.asarray((n - k) / (out - 1), sample.dtype)
    steps = jnp.arange(out - 1).astype(sample.dtype)
    moved = ((steps + sample[..., None]) * step).astype(np.int32)
    inner = moved - (sample[..., None] * step).astype(np.int32)
    last = jnp.full((*sample.shape, 1), n - k, np.int32)
    return jnp.concatenate([inner, last], -1)


def _fractional_maxima(
    record: Any, x: Array, samples: Array, order: tuple[int, ...]
) -> tuple[Array, Array]:
    """Take maxima of (N, C, sizes) over windows that begin where the samples say."""
    owner, kernel, out = record.name, record.ksize, record.output_shape
    count = len(kernel)
    if samples.dtype.kind != "f" and from_np(samples.dtype).kind != "float":
        raise located(
            TypeError,
            f"For '{owner}', the dtype of 'random_samples' must be a float, but got "
            f"{from_np(samples.dtype)}.",
        )
    if samples.ndim != 3 or samples.shape[2] != count:
        raise located(
            ValueError,
            f"For '{owner}', 'random_samples' must be (N, C, {count}), but got shape "
            f"{samples.shape}.",
        )
    for i, name in enumerate(("first", "second")):
        if samples.shape[i] != x.shape[i]:
            raise located(
                ValueError,
                f"For '{owner}', the {name} dimension size of input_x and random_samples must be "
                f"equal, but got {x.shape} and {samples.shape}.",
            )
    if any(k + o - 1 > n for k, o, n in zip(kernel, out, x.shape[2:], strict=True)):
        raise located(
            ValueError,
            f"For '{owner}', ksize + output_shape - 1 must be at most the input's sizes, but got "
            f"ksize {kernel}, output_shape {out} and input of shape {x.shape}.",
        )
    places = jnp.zeros((1,) * count, np.int32)
    windows = x
    for i, (k, o) in enumerate(zip(kernel, out, strict=True)):
        n = x.shape[2 + i]
        begin = _starts(samples[..., order[i]], n, o, k)
        index = (begin[..., None] + jnp.arange(k, dtype=np.int32)).reshape(*x.shape[:2], o * k)
        shape = [*x.shape[:2], *([1] * count)]
        shape[2 + i] = o * k
        index = index.reshape(shape)
        windows = jnp.take_along_axis(windows, index, 2 + i)
        places = places * np.int32(n) + index
    places = jnp.broadcast_to(places, windows.shape)
    split = list(x.shape[:2])
    for k, o in zip(kernel, out, strict=True):
        split += [o, k]
    outer = [2 + 2 * i for i in range(count)]
    axes = (0, 1, *outer, *(a + 1 for a in outer))

    def flat(a: Array) -> Array:
        return a.reshape(split).transpose(axes).reshape(*x.shape[:2], *out, math.prod(kernel))

    windows, places = flat(windows), flat(places)
    best = lax.argmax(lax.stop_gradient(windows), windows.ndim - 1, np.int32)[..., None]
    taken = jnp.take_along_axis(windows, best, -1)[..., 0]
    return taken, jnp.take_along_axis(places, best, -1)[..., 0].astype(np.int64)


class FractionalMaxPoolWithFixedKsize(Primitive):
    """Fractional maxima of images, windows of one size.

    MindSpore: ``ops.FractionalMaxPoolWithFixedKsize``.

    Args:
        ksize: int or (height, width) of a window.
        output_shape: int or (height, width) of the output.
        data_format: only ``"NCHW"``.
    """

    ksize: Any
    output_shape: Any
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        owner = "FractionalMaxPoolWithFixedKsize"
        checks.one_of("data_format", self.data_format, ("NCHW",), owner)
        set_fields(
            self,
            ksize=_sizes("ksize", self.ksize, 2, owner),
            output_shape=_sizes("output_shape", self.output_shape, 2, owner),
        )

    def compute(self, x: Array, random_samples: Array) -> tuple[Array, Array]:
        """Pool (N, C, H, W) with samples (N, C, 2) in [0, 1), of width and height.

        Returns:
            The maxima, and their places in the flattened (H, W), Int64.
        """
        if x.ndim != 4:
            raise located(
                ValueError, f"For '{self.name}', the rank of 'input_x' must be 4, but got {x.ndim}."
            )
        return _fractional_maxima(self, x, random_samples, (1, 0))


class FractionalMaxPool3DWithFixedKsize(Primitive):
    """Fractional maxima of volumes, windows of one size.

    MindSpore: ``ops.FractionalMaxPool3DWithFixedKsize``.

    Args:
        ksize: int or (depth, height, width) of a window.
        output_shape: int or (depth, height, width) of the output.
        data_format: ``"NCDHW"`` or ``"NDHWC"``.
    """

    ksize: Any
    output_shape: Any
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        owner = "FractionalMaxPool3DWithFixedKsize"
        checks.one_of("data_format", self.data_format, ("NCDHW", "NDHWC"), owner)
        set_fields(
            self,
            ksize=_sizes("ksize", self.ksize, 3, owner),
            output_shape=_sizes("output_shape", self.output_shape, 3, owner),
        )

    def compute(self, x: Array, random_samples: Array) -> tuple[Array, Array]:
        """Pool (N, C, D, H, W) or (C, D, H, W) with samples (N, C, 3) in [0, 1).

        Returns:
            The maxima, and their places in the flattened (D, H, W), Int64.
        """
        if x.ndim not in (4, 5):
            raise located(
                TypeError, f"For '{self.name}', the rank of 'x' must be 4 or 5, but got {x.ndim}."
            )
        single, last = x.ndim == 4, self.data_format == "NDHWC"
        x = x[None] if single else x
        x = jnp.moveaxis(x, -1, 1) if last else x
        results = _fractional_maxima(self, x, random_samples, (0, 1, 2))
        moved = [jnp.moveaxis(a, 1, -1) if last else a for a in results]
        out, places = [a[0] if single else a for a in moved]
        return out, places


class _Samples(Primitive, register=False):
    """Uniform numbers in [0, 1)."""

    shape: Sizes
    like: Any

    def compute(self, seed: Array, offset: Array) -> Array:
        return jax.random.uniform(key(seed, offset), self.shape, self.like)


def _pool(
    input: Any,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Any,
    count: int,
) -> Any:
    owner = f"fractional_max_pool{count}d"
    checks.boolean("return_indices", return_indices, owner)
    if output_size is None and output_ratio is None:
        raise located(
            ValueError,
            f"For {owner}, 'output_size' and 'output_ratio' can not be None at the same time.",
        )
    shape = shape_of(input)
    if len(shape) not in (count + 1, count + 2):
        raise located(
            TypeError if count == 3 else ValueError,
            f"For '{owner}', the rank of 'input' must be {count + 1} or {count + 2}, but got "
            f"{len(shape)}.",
        )
    if output_size is None:
        ratios = (output_ratio,) * count if isinstance(output_ratio, float) else output_ratio
        checks.of_type("output_ratio", ratios, tuple, owner)
        if len(ratios) != count or not all(0 < r < 1 for r in ratios):
            raise located(
                ValueError,
                f"For '{owner}', the 'output_ratio' must be {count} numbers in (0, 1), but got "
                f"{output_ratio}.",
            )
        output_size = tuple(int(n * r) for n, r in zip(shape[-count:], ratios, strict=True))
    kind = FractionalMaxPoolWithFixedKsize if count == 2 else FractionalMaxPool3DWithFixedKsize
    record = kind(kernel_size, output_size)
    single = len(shape) == count + 1
    x = expand_dims(input, 0) if single else input
    if samples is None:
        dtype = np.dtype(np.float64 if str(input.dtype) == "Float64" else np.float32)
        draw = _Samples((*shape_of(x)[:2], count), dtype)
        samples = draw(*default_generator().next_key())
    out, places = record(x, samples)
    if single:
        out, places = squeeze(out, 0), squeeze(places, 0)
    return (out, places) if return_indices else out


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Take fractional maxima of images (Graham 2015; MindSpore: ``ops.fractional_max_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width) of a window.
        output_size: int or (height, width) of the output.
        output_ratio: the same as a fraction of the input's, in (0, 1).
        return_indices: give the places of the maxima too.
        _random_samples: (N, C, 2), float, in [0, 1); None draws them.

    Returns:
        Tensor (N, C, height, width); with ``return_indices`` also their places in the flattened
        (H, W), Int64.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: neither size nor ratio is given, or a value or shape does not fit.
    """
    return _pool(input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 2)


def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Take fractional maxima of volumes (Graham 2015; MindSpore: ``ops.fractional_max_pool3d``).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        kernel_size: int or (depth, height, width) of a window.
        output_size: int or (depth, height, width) of the output.
        output_ratio: the same as a fraction of the input's, in (0, 1).
        return_indices: give the places of the maxima too.
        _random_samples: (N, C, 3), float, in [0, 1); None draws them.

    Returns:
        Tensor (N, C, depth, height, width); with ``return_indices`` also their places in the
        flattened (D, H, W), Int64.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: neither size nor ratio is given, or a value or shape does not fit.
    """
    return _pool(input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 3)


class _Fractional(Primitive, register=False):
    """What the two poolings with windows of unequal size share."""

    pooling_ratio: Any
    pseudo_random: bool = False
    overlapping: bool = False
    deterministic: bool = False
    seed: int = 0
    seed2: int = 0

    def __post_init__(self) -> None:
        owner = self.name
        ratio = self.pooling_ratio
        checks.of_type("pooling_ratio", ratio, list, owner)
        for value in ratio:
            checks.of_type("pooling_ratio item", value, float, owner)
        for name in ("pseudo_random", "overlapping", "deterministic"):
            checks.boolean(name, getattr(self, name), owner)
        for name in ("seed", "seed2"):
            checks.of_type(name, getattr(self, name), int, owner)
        if len(ratio) != 4 or ratio[0] != 1 or ratio[3] != 1 or min(ratio[1:3]) < 1:
            raise located(
                ValueError,
                f"For '{owner}', the 'pooling_ratio' must be [1.0, rows, columns, 1.0] with "
                f"numbers of at least 1, but got {ratio}.",
            )
        set_fields(self, pooling_ratio=tuple(ratio))
        if self.seed or self.seed2 or self.deterministic:
            self.__dict__["_generator"] = seeded(self.seed ^ (self.seed2 << 16))

    def __call__(self, x: Any) -> Any:
        """Pool (N, H, W, C).

        Returns:
            The result, and the borders of the windows of rows and columns, Int64.
        """
        generator = self.__dict__.get("_generator")
        if self.deterministic:
            seed = np.asarray((self.seed ^ (self.seed2 << 16)) % 2**32, np.uint32)
            return super().__call__(x, seed, np.asarray(0, np.uint32))
        generator = generator or default_generator()
        return super().__call__(x, *generator.next_key())

    def _borders(self, n: int, ratio: float, draw: Array) -> Array:
        """Draw the borders of the windows of an axis, from 0 to ``n``."""
        out = int(n / ratio)
        whole, rest = divmod(n, out)
        if rest == 0:
            return jnp.arange(out + 1, dtype=np.int64) * np.int64(whole)
        if self.pseudo_random:
            alpha = n / out
            most = min((whole + 2) / alpha - 1, (n + 1 - whole) / alpha - (out - 1))
            start = jax.random.uniform(draw, (), np.float64) * most
            inner = jnp.ceil(alpha * (jnp.arange(1, out) + start)).astype(np.int64) - 1
            ends = jnp.asarray([0, n], np.int64)
            return jnp.concatenate([ends[:1], inner, ends[1:]])
        sizes = jnp.asarray([whole + 1] * rest + [whole] * (out - rest), np.int64)
        sizes = jax.random.permutation(draw, sizes)
        return jnp.concatenate([jnp.zeros(1, np.int64), jnp.cumsum(sizes)])

    def _windows(self, x: Array, axis: int, borders: Array) -> tuple[Array, Array]:
        """Give the windows of an axis, filled up to one size, and which elements count."""
        n, out = x.shape[axis], borders.shape[0] - 1
        # A pseudo-random step is below n / out + 1.
        most = min(math.ceil(n / out) + 2, n)
        begin, end = borders[:-1], borders[1:] + (1 if self.overlapping else 0)
        index = begin[:, None] + jnp.arange(most)
        inside = index < jnp.minimum(end, n)[:, None]
        taken = jnp.take(x, jnp.minimum(index, n - 1).reshape(-1).astype(np.int32), axis)
        shape = (*x.shape[:axis], out, most, *x.shape[axis + 1 :])
        keep = inside.reshape(out, most, *(1,) * (x.ndim - axis - 1))
        return taken.reshape(shape), keep

    def _reduced(
        self, x: Array, seed: Array, offset: Array, reduce: Callable[[Array, Array, int], Array]
    ) -> tuple[Array, Array, Array]:
        owner = self.name
        if x.ndim != 4:
            raise located(TypeError, f"For '{owner}', the rank of 'x' must be 4, but got {x.ndim}.")
        if x.dtype not in (np.float32, np.float64, np.int32, np.int64):
            raise located(
                TypeError,
                f"For primitive[{owner}], the input argument[x] must be a type of "
                f"{{Tensor[Float32], Tensor[Float64], Tensor[Int32], Tensor[Int64]}}, but got "
                f"Tensor[{from_np(x.dtype)}].",
            )
        rows, columns = jax.random.split(key(seed, offset))
        borders = [
            self._borders(x.shape[axis], self.pooling_ratio[axis], draw)
            for axis, draw in ((1, rows), (2, columns))
        ]
        for axis in (1, 2):
            windows, keep = self._windows(x, axis, borders[axis - 1])
            x = reduce(windows, keep, axis + 1)
        return x, borders[0], borders[1]


class FractionalMaxPool(_Fractional):
    """Fractional maxima of images (Graham 2015; MindSpore: ``ops.FractionalMaxPool``).

    Args:
        pooling_ratio: [1.0, rows, columns, 1.0], at least 1.
        pseudo_random: spread the windows evenly from a random start.
        overlapping: neighbouring windows share their border.
        deterministic: use the same windows at every call.
        seed: with ``seed2``, seed of a stream of its own; both 0 for the global stream.
        seed2: see ``seed``.
    """

    def compute(self, x: Array, seed: Array, offset: Array) -> tuple[Array, Array, Array]:
        """Pool (N, H, W, C) with the key of one draw."""

        def maximum(windows: Array, keep: Array, axis: int) -> Array:
            return jnp.max(jnp.where(keep, windows, lowest(windows.dtype)), axis)

        return self._reduced(x, seed, offset, maximum)


class FractionalAvgPool(_Fractional):
    """Fractional averages of images (Graham 2015; MindSpore: ``ops.FractionalAvgPool``).

    Args:
        pooling_ratio: [1.0, rows, columns, 1.0], at least 1.
        pseudo_random: spread the windows evenly from a random start.
        overlapping: neighbouring windows share their border.
        deterministic: use the same windows at every call.
        seed: with ``seed2``, seed of a stream of its own; both 0 for the global stream.
        seed2: see ``seed``.
    """

    def compute(self, x: Array, seed: Array, offset: Array) -> tuple[Array, Array, Array]:
        """Pool (N, H, W, C) with the key of one draw; integers are rounded down to 0."""
        wide = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
        counts = []

        def total(windows: Array, keep: Array, axis: int) -> Array:
            counts.append(jnp.sum(keep.reshape(keep.shape[:2]), 1).astype(wide.dtype))
            return jnp.sum(jnp.where(keep, windows, 0), axis)

        out, rows, columns = self._reduced(wide, seed, offset, total)
        out = out / (counts[0][:, None, None] * counts[1][:, None])
        return out.astype(x.dtype), rows, columns
