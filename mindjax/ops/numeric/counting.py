"""Counting: histograms, occurrences, confusion matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, float32, from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.cast import cast
from mindjax.ops.gather import known_values
from mindjax.ops.masking import need_values
from mindjax.ops.numeric.kinds import FLOATS, REAL, accept, accept_alike
from mindjax.ops.promotion import convert
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _tally(places: Array, size: int, weights: Array) -> Array:
    """Add weights at places; places out of range count for nothing."""
    places = jnp.where((places < 0) | (places >= size), size, places)
    return jnp.zeros((size,), weights.dtype).at[places].add(weights, mode="drop")


def _histogram(x: Array, bins: int, low: float, high: float) -> Array:
    wide = np.float64 if x.dtype == np.float64 or not _is_float(x) else np.float32
    values = convert(x, wide).reshape(-1)
    first, last = jnp.asarray(low, wide), jnp.asarray(high, wide)
    if low == high and values.size:
        first, last = jnp.min(values), jnp.max(values)
    one = jnp.where(first == last, 1, 0).astype(wide)
    first, last = first - one, last + one
    inside = (values >= first) & (values <= last)
    place = jnp.floor((values - first) * bins / (last - first))
    place = jnp.where(inside, jnp.minimum(place, bins - 1), -1).astype(np.int32)
    return _tally(place, bins, jnp.ones(values.shape, np.int32))


def _is_float(x: Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


class Histogram(Primitive):
    """Numbers of elements in bins of equal width (MindSpore: ``ops.Histogram``).

    Args:
        bins: number of bins.
        min: lower end; equal ends stand for the smallest and the largest element.
        max: upper end, which belongs to the last bin.
    """

    bins: int = 100
    min: float = 0.0
    max: float = 0.0

    def __post_init__(self) -> None:
        checks.of_type("bins", self.bins, int, "Histogram")
        checks.of_type("min", self.min, float, "Histogram")
        checks.of_type("max", self.max, float, "Histogram")
        checks.positive_int("bins", self.bins, "Histogram")
        if self.min > self.max:
            raise located(
                ValueError,
                f"For 'Histogram', the 'min' should be <= max: {self.max}, but got {self.min}.",
            )

    def compute(self, x: Array) -> Array:
        """Count the elements; Int32 for Int32, else Float32."""
        accept("Histogram", "x", x, ("Float16", "Float32", "Int32"))
        out = _histogram(x, self.bins, self.min, self.max)
        return out if x.dtype == np.int32 else out.astype(np.float32)


class HistcExt(Primitive):
    """`Histogram` of every real dtype, which the result keeps (MindSpore: ``HistcExt``)."""

    bins: int
    min: float
    max: float

    def compute(self, x: Array) -> Array:
        """Count the elements."""
        if jnp.issubdtype(x.dtype, jnp.complexfloating) or x.dtype == np.bool_:
            raise located(
                TypeError,
                "For 'histc', the input must hold real numbers, but got "
                f"Tensor[{from_np(x.dtype).name}].",
            )
        return _histogram(x, self.bins, self.min, self.max).astype(x.dtype)


def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Count the elements in bins of equal width (MindSpore: ``ops.histc``).

    Args:
        input: Float16, Float32 or Int32 Tensor of any shape.
        bins: number of bins.
        min: lower end; equal ends stand for the smallest and the largest element.
        max: upper end, which belongs to the last bin. What lies outside is not counted.

    Returns:
        Tensor of shape (bins,), Int32 for Int32, else Float32.

    Raises:
        TypeError: ``input`` has another dtype, ``bins`` is no int, an end is no number.
        ValueError: ``bins`` is not above 0, or ``min`` above ``max``.
    """
    return Histogram(bins, *_ends(min, max))(input)


def _ends(low: Any, high: Any) -> tuple[float, float]:
    for name, value in (("min", low), ("max", high)):
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise located(
                TypeError,
                f"For 'histc', parameter '{name}' must be an int or float, but got {value!r}.",
            )
    return float(low), float(high)


def histc_ext(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the elements in bins of equal width (MindSpore: ``mint.histc``).

    Args:
        input: real Tensor of any shape.
        bins: number of bins.
        min: lower end; equal ends stand for the smallest and the largest element.
        max: upper end, which belongs to the last bin. What lies outside is not counted.

    Returns:
        Tensor of shape (bins,) and of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is Bool or complex, ``bins`` is no int, an end is no number.
        ValueError: ``bins`` is not above 0, or ``min`` above ``max``.
    """
    record = Histogram(bins, *_ends(min, max))
    return HistcExt(record.bins, record.min, record.max)(input)


class HistogramFixedWidth(Primitive):
    """Numbers of elements in bins; call: ``HistogramFixedWidth(nbins)(x, range)``.

    What lies outside of the range counts in the first or the last bin.

    Args:
        nbins: number of bins.
        dtype: must be ``"int32"``.
    """

    nbins: int
    dtype: str = "int32"

    def __post_init__(self) -> None:
        checks.of_type("nbins", self.nbins, int, "HistogramFixedWidth")
        checks.positive_int("nbins", self.nbins, "HistogramFixedWidth")
        checks.one_of("dtype", self.dtype, ["int32"], "HistogramFixedWidth")

    def compute(self, x: Array, ends: Array) -> Array:
        """Count the elements in Int32."""
        accept_alike("HistogramFixedWidth", ("Float16", *REAL, "Int32"), x=x, range=ends)
        if ends.shape != (2,):
            raise located(
                ValueError,
                f"For 'HistogramFixedWidth', the 'range' must have the shape (2,), but got "
                f"{ends.shape}.",
            )
        wide = np.float64 if x.dtype in (np.float64, np.int32) else np.float32
        low, high = convert(ends, wide)
        place = jnp.floor((convert(x, wide).reshape(-1) - low) / (high - low) * self.nbins)
        place = jnp.where(jnp.isnan(place), -1, jnp.clip(place, 0, self.nbins - 1))
        return _tally(place.astype(np.int32), self.nbins, jnp.ones(place.shape, np.int32))


class Bincount(Primitive):
    """Sums of weights by value; call: ``Bincount()(array, size, weights)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Count; values that are not below ``size`` are left out.

        Raises:
            ValueError: ``size`` is negative.
            RuntimeError: a value is negative (in PYNATIVE on the CPU; else it is left out).
        """
        array, size, weights = inputs
        count = checks.integer("size", size, "Bincount")
        if count < 0:
            raise located(
                ValueError, f"For 'Bincount', the 'size' must not be negative, but got {count}."
            )
        host = known_values(array)
        if host is not None and host.size and host.min() < 0:
            raise located(
                RuntimeError,
                f"For 'Bincount', the input array should be nonnegative, but got {host.min()}.",
            )
        return _Bincount("Bincount", count)(array, weights)


class _Bincount(Primitive, register=False):
    """Sums of weights by value, in the dtype of the weights."""

    op: str
    size: int

    def compute(self, x: Array, weights: Array) -> Array:
        if self.op == "Bincount":
            accept("Bincount", "array", x, ("Int32",))
            accept("Bincount", "weights", weights, ("Int32", "Int64", *REAL))
        if weights.size and weights.shape != x.shape:
            raise located(
                ValueError,
                f"For '{self.op}', `input` and `weights` must have the same length, but got "
                f"{x.shape} and {weights.shape}.",
            )
        if not weights.size:
            weights = jnp.ones(x.shape, weights.dtype)
        return _tally(x.reshape(-1).astype(np.int64), self.size, weights.reshape(-1))


class _Length(Primitive, register=False):
    """One more than the largest element."""

    concrete: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        need_values("bincount", "use ops.Bincount, which is told the size", x)
        host = np.asarray(x)
        return jnp.asarray(int(host.max()) + 1 if host.size else 0, np.int64)


def _counted(op: str, x: Any, weights: Any, minlength: Any, dtype: Number) -> Any:
    if len(shape_of(x)) != 1:
        raise located(
            ValueError,
            f"For '{op}', 'input' should be one-dimensional tensor, but got shape {shape_of(x)}.",
        )
    if not isinstance(minlength, int) or isinstance(minlength, bool):
        raise located(TypeError, f"For '{op}', 'minlength' must be int but got {minlength!r}.")
    if minlength < 0:
        raise located(ValueError, f"For '{op}', 'minlength' should be >= 0 but got {minlength}.")
    if weights is not None and shape_of(weights) != shape_of(x):
        raise located(
            ValueError,
            f"For '{op}', `input` and `weights` must have the same length, but got {shape_of(x)} "
            f"and {shape_of(weights)}.",
        )
    size = max(int(checks.python_value(_Length()(x))), minlength)
    if weights is None:
        return _Counts(max(size, 0), dtype)(x)
    return _Bincount(op, max(size, 0))(x, cast(weights, dtype))


class _Counts(Primitive, register=False):
    """How often each value occurs."""

    size: int
    dtype: Number

    def compute(self, x: Array) -> Array:
        return _tally(x.astype(np.int64), self.size, jnp.ones(x.shape, self.dtype.np))


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each value occurs (MindSpore: ``ops.bincount``).

    Args:
        input: Tensor with one axis, not negative.
        weights: Tensor of the same shape, which is added up instead of counting.
        minlength: least size of the result.

    Returns:
        Float32 Tensor, one longer than the largest value.

    Raises:
        TypeError: ``minlength`` is no int.
        ValueError: ``input`` has not one axis, the shapes differ, or ``minlength`` is negative.
        RuntimeError: a compiled program asks, which cannot know the largest value.
    """
    return _counted("bincount", input, weights, minlength, float32)


def bincount_ext(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each value occurs (MindSpore: ``mint.bincount``).

    Args:
        input: integer Tensor with one axis, not negative.
        weights: Tensor of the same shape, which is added up instead of counting.
        minlength: least size of the result.

    Returns:
        Tensor, one longer than the largest value: Int64, or with weights their dtype (Float64 for
        integers).

    Raises:
        TypeError: ``minlength`` is no int.
        ValueError: ``input`` has not one axis or a negative value, the shapes differ, or
            ``minlength`` is negative.
        RuntimeError: a compiled program asks, which cannot know the largest value.
    """
    host = known_values(input)
    if host is not None and host.size and host.min() < 0:
        raise located(
            ValueError, f"For 'bincount', 'input' must not be negative, but got {host.min()}."
        )
    kind = as_dtype("int64")
    if weights is not None:
        given = as_dtype(weights.dtype)
        kind = given if given.kind == "float" else as_dtype("float64")
    return _counted("bincount", input, weights, minlength, kind)


class ConfusionMatrix(Primitive):
    """Numbers of predictions by label; call: ``ConfusionMatrix(n)(labels, predictions)``.

    Args:
        num_classes: number of classes.
        dtype: name of the element type of the result.
    """

    num_classes: int
    dtype: str = "int32"

    def __post_init__(self) -> None:
        checks.of_type("num_classes", self.num_classes, int, "ConfusionMatrix")
        checks.of_type("dtype", self.dtype, str, "ConfusionMatrix")

    def compute(self, labels: Array, predictions: Array, weights: Array | None = None) -> Array:
        """Count; rows are labels, columns predictions."""
        checks.same_shape("ConfusionMatrix", labels=labels.shape, predictions=predictions.shape)
        size, kind = self.num_classes, as_dtype(self.dtype).np
        inside = (labels >= 0) & (labels < size) & (predictions >= 0) & (predictions < size)
        place = labels.astype(np.int64) * size + predictions.astype(np.int64)
        amount = jnp.ones(labels.shape, kind) if weights is None else weights.astype(kind)
        checks.same_shape("ConfusionMatrix", labels=labels.shape, weights=amount.shape)
        place = jnp.where(inside, place, -1).reshape(-1)
        return _tally(place, size * size, amount.reshape(-1)).reshape(size, size)


class InTopK(Primitive):
    """Whether a label is among the k largest predictions of its row (MindSpore: ``ops.InTopK``).

    Args:
        k: how many count.
    """

    k: int

    def __post_init__(self) -> None:
        checks.of_type("k", self.k, int, "InTopK")

    def compute(self, x1: Array, x2: Array) -> Array:
        """Compare; equal predictions share a place, and a row with NaN or infinity has none."""
        accept("InTopK", "x1", x1, FLOATS)
        if x1.ndim != 2 or x2.ndim != 1:
            raise located(
                ValueError,
                "For primitive[InTopK], the input x1 rank must be equal to 2 and that of x2 to 1, "
                f"but got {x1.ndim} and {x2.ndim}.",
            )
        if not jnp.issubdtype(x2.dtype, jnp.integer):
            raise located(
                TypeError, f"For primitive[InTopK], x2 must be Tensor[Int32], but got {x2.dtype}."
            )
        if x1.shape[0] != x2.shape[0]:
            raise located(
                ValueError,
                "For 'InTopK', the size of x2 should be equal to x1's first dimension, but got x1 "
                f"shape: {x1.shape}, x2 shape: {x2.shape}.",
            )
        inside = (x2 >= 0) & (x2 < x1.shape[1])
        place = jnp.where(inside, x2, 0).astype(np.int32)[:, None]
        if not x1.shape[1]:
            return jnp.zeros(x2.shape, np.bool_)
        mine = jnp.take_along_axis(x1, place, 1, mode="clip")
        larger = jnp.sum(x1 > mine, 1, dtype=np.int32)
        return inside & jnp.all(jnp.isfinite(x1), 1) & (larger < self.k)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Tell whether labels are among the k largest predictions (MindSpore: ``ops.intopk``).

    Args:
        x1: float Tensor (rows, classes): predictions.
        x2: integer Tensor (rows,): labels.
        k: how many count.

    Returns:
        Bool Tensor (rows,).

    Raises:
        TypeError: a dtype is another, or ``k`` is no int.
        ValueError: the shapes do not fit.
    """
    return InTopK(k)(x1, x2)
