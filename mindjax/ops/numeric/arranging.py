"""Products and combinations of elements, masks of lengths, mirrored borders, integrals."""

from __future__ import annotations

import itertools
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, float16, float32, float64, from_np, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.masking import need_values
from mindjax.ops.numeric.kinds import FLOATS, accept
from mindjax.ops.ranges import logspace
from mindjax.ops.sequence import meshgrid, stack
from mindjax.ops.shape import reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """Pair every element of a vector with all of the others (MindSpore: ``ops.cartesian_prod``).

    Args:
        inputs: Tensors with one axis and of one dtype.

    Returns:
        Tensor (number of combinations, number of inputs), the last input changing fastest.

    Raises:
        TypeError: an input is no Tensor.
        ValueError: an input has not one axis, the dtypes differ, or there are no inputs.
    """
    for x in inputs:
        if not hasattr(x, "dtype"):
            raise located(
                TypeError, f"For 'cartesian_prod', the inputs must be Tensors, but got {x!r}."
            )
        if len(shape_of(x)) != 1 or x.dtype != inputs[0].dtype:
            raise located(
                ValueError,
                "For 'cartesian_prod', the inputs must have one axis and one dtype, but got shape "
                f"{shape_of(x)} and {x.dtype} beside {inputs[0].dtype}.",
            )
    if not inputs:
        raise located(ValueError, "For 'cartesian_prod', there must be an input.")
    columns = meshgrid(*inputs, indexing="ij") if len(inputs) > 1 else inputs
    return reshape(stack(tuple(columns), -1), (-1, len(inputs)))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Choose elements of a vector in every way, in order (MindSpore: ``ops.combinations``).

    Args:
        input: Tensor with one axis.
        r: how many elements are chosen.
        with_replacement: whether an element may be chosen again.

    Returns:
        Tensor (number of combinations, r).

    Raises:
        TypeError: ``r`` is no int.
        ValueError: ``input`` has not one axis, or ``r`` is negative.
    """
    if not isinstance(r, int) or isinstance(r, bool):
        raise located(TypeError, f"For 'combinations', 'r' must be an integer, but got {r!r}.")
    if len(shape_of(input)) != 1:
        raise located(
            ValueError,
            f"For 'combinations', the dimension 'x' must be 1, but got {len(shape_of(input))}.",
        )
    if r < 0:
        raise located(ValueError, f"For 'combinations', 'r' must not be negative, but got {r}.")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(shape_of(input)[0]), r))
    return _Rows(len(rows), r)(input, np.asarray(rows, np.int32).reshape(-1))


class _Rows(Primitive, register=False):
    """Elements taken by index into rows."""

    rows: int
    columns: int

    def compute(self, x: Array, places: Array) -> Array:
        if not x.size:
            return jnp.zeros((self.rows, self.columns), x.dtype)
        return jnp.take(x, places, mode="clip").reshape(self.rows, self.columns)


class _SequenceMask(Primitive, register=False):
    """Whether a position lies within a length."""

    maxlen: int

    def compute(self, lengths: Array) -> Array:
        return jnp.arange(self.maxlen, dtype=lengths.dtype) < lengths[..., None]


class _Longest(Primitive, register=False):
    """The largest length."""

    concrete: ClassVar[bool] = True

    def compute(self, lengths: Array) -> Array:
        need_values("sequence_mask", "give 'maxlen'", lengths)
        host = np.asarray(lengths)
        return jnp.asarray(int(host.max()) if host.size else 0, np.int64)


def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Tensor:
    """Mark the first positions of each sequence (MindSpore: ``ops.sequence_mask``).

    Args:
        lengths: Int32 or Int64 Tensor of any shape.
        maxlen: number of positions; None takes the largest length.

    Returns:
        Bool Tensor of shape ``lengths.shape + (maxlen,)``.

    Raises:
        TypeError: ``lengths`` has another dtype, or ``maxlen`` is no int.
        ValueError: ``maxlen`` is not above 0.
        RuntimeError: a compiled program asks without ``maxlen``.
    """
    checks.tensors("sequence_mask", lengths=lengths)
    if lengths.dtype not in (int32, int64) and lengths.dtype not in (np.int32, np.int64):
        raise located(
            TypeError,
            f"The 'lengths' of sequence_mask doesn't support '{lengths.dtype}' and expect to "
            "receive [mindspore.int64, mindspore.int32].",
        )
    if maxlen is None:
        size = int(checks.python_value(_Longest()(lengths)))
    else:
        if not isinstance(maxlen, int) or isinstance(maxlen, bool):
            raise located(
                TypeError,
                "For 'sequence_mask', the 'maxlen' must be 'int', but got "
                f"'{type(maxlen).__name__}'.",
            )
        checks.in_range("maxlen", maxlen, 0, 2**31 - 1, "sequence_mask", "(]")
        size = maxlen
    return _SequenceMask(max(size, 0))(lengths)


class LogSpace(Primitive):
    """Numbers whose logarithms are evenly spaced; call: ``LogSpace()(start, end)``.

    Args:
        steps: how many.
        base: of the powers, not negative.
        dtype: Float16, Float32 or Float64.
    """

    steps: int = 10
    base: int = 10
    dtype: Number = float32

    def __post_init__(self) -> None:
        for name in ("steps", "base"):
            checks.of_type(name, getattr(self, name), int, "LogSpace")
            checks.non_negative_int(name, getattr(self, name), "LogSpace")
        if self.dtype not in (float16, float32, float64):
            raise located(
                TypeError,
                "For 'LogSpace', the 'dtype' should be one of [mindspore.float16, "
                f"mindspore.float32, mindspore.float64], but got '{self.dtype}'.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Make the numbers.

        Raises:
            TypeError: a limit is no float Tensor.
        """
        start, end = inputs
        for name, value in (("start", start), ("end", end)):
            if not hasattr(value, "dtype"):
                raise located(
                    TypeError, f"For 'LogSpace', '{name}' must be a Tensor, but got {value!r}."
                )
            accept("LogSpace", name, _Typed(value), FLOATS)
        return logspace(start, end, self.steps, self.base, dtype=self.dtype)


class _Typed:
    """The numpy dtype of a Tensor or array."""

    def __init__(self, value: Any) -> None:
        self.dtype = getattr(value.dtype, "np", value.dtype)


class InvertPermutation(Primitive):
    """The inverse of a permutation of Python integers; call: ``InvertPermutation()((2, 0, 1))``."""

    def __call__(self, *inputs: Any) -> Any:
        """Invert.

        Raises:
            TypeError: the input is no tuple or list of int.
            ValueError: it is no permutation, or a Tensor.
        """
        (order,) = inputs
        if hasattr(order, "dtype"):
            raise located(
                ValueError,
                "For 'InvertPermutation', the value of 'input_x' must be non-Tensor, but got "
                f"Tensor[{from_np(getattr(order.dtype, 'np', order.dtype)).name}].",
            )
        checks.of_type("shape", order, (tuple, list), "InvertPermutation")
        for i, value in enumerate(order):
            checks.of_type(f"input[{i}]", value, int, "InvertPermutation")
        if sorted(order) != list(range(len(order))):
            raise located(
                ValueError,
                f"For 'InvertPermutation', the 'input_x' must hold each of 0 to {len(order) - 1} "
                f"once, but got {tuple(order)}.",
            )
        inverse = [0] * len(order)
        for place, value in enumerate(order):
            inverse[value] = place
        return tuple(inverse)


class MirrorPad(BoundPrimitive):
    """Mirrored elements around an array; call: ``MirrorPad(mode)(x, paddings)``.

    Args:
        mode: ``"REFLECT"`` leaves out the element at the border, ``"SYMMETRIC"`` repeats it.
    """

    mode: str = "REFLECT"
    statics: ClassVar[tuple[str, ...]] = ("paddings",)
    paddings: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        checks.one_of("mode", self.mode, ["REFLECT", "SYMMETRIC"], "MirrorPad")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the paddings."""
        paddings = statics["paddings"]
        fits = isinstance(paddings, tuple) and all(
            isinstance(p, tuple | list) and len(p) == 2 and all(type(v) is int for v in p)
            for p in paddings
        )
        if not fits:
            raise located(
                ValueError,
                f"For 'MirrorPad', the shape of 'paddings' must be (n, 2), but got {paddings!r}.",
            )
        if any(v < 0 for p in paddings for v in p):
            raise located(
                ValueError,
                f"For 'MirrorPad', all elements of paddings must be >= 0, but got {paddings}.",
            )
        return {"paddings": tuple(tuple(p) for p in paddings)}

    def compute(self, x: Array) -> Array:
        """Pad each axis."""
        if len(self.paddings) != x.ndim:
            raise located(
                ValueError,
                "For 'MirrorPad', paddings.shape[0] must equal to input's rank, but got "
                f"{len(self.paddings)} vs {x.ndim}.",
            )
        spare = 1 if self.mode == "REFLECT" else 0
        for size, pair in zip(x.shape, self.paddings, strict=True):
            if max(pair) > max(size - spare, 0):
                raise located(
                    ValueError,
                    "For 'MirrorPad', paddings must be no greater than the dimension size: "
                    f"{pair} for shape {x.shape} and mode {self.mode}.",
                )
        return jnp.pad(x, self.paddings, mode=self.mode.lower())


def mirror_pad(input_x: Tensor, paddings: Tensor, mode: str) -> Tensor:
    """Put mirrored elements around a Tensor (MindSpore: ``ops.mirror_pad``).

    Args:
        input_x: Tensor of rank r.
        paddings: integer Tensor (r, 2): elements in front of and behind each axis.
        mode: ``"REFLECT"`` leaves out the element at the border, ``"SYMMETRIC"`` repeats it.

    Returns:
        Tensor of the same rank and dtype.

    Raises:
        TypeError: ``paddings`` is no Tensor.
        ValueError: ``mode`` is unknown, or a padding is negative or longer than its axis.
    """
    record = MirrorPad(mode)
    if not hasattr(paddings, "dtype"):
        raise located(
            TypeError, f"For 'mirror_pad', 'paddings' must be a Tensor, but got {paddings!r}."
        )
    return record(input_x, paddings)


class Padding(Primitive):
    """A last axis of size 1 filled up with zeros (MindSpore: ``ops.Padding``).

    Args:
        pad_dim_size: the new size.
    """

    pad_dim_size: int = 8

    def __post_init__(self) -> None:
        checks.of_type("pad_dim_size", self.pad_dim_size, int, "Padding")
        checks.positive_int("pad_dim_size", self.pad_dim_size, "Padding")

    def compute(self, x: Array) -> Array:
        """Pad."""
        if x.ndim < 2:
            raise located(
                ValueError,
                "For primitive[Padding], the x rank must be greater than or equal to 2, but got "
                f"{x.ndim}.",
            )
        if x.shape[-1] != 1:
            raise located(
                ValueError,
                f"For 'Padding', the last dimension of 'x' must be 1, but got: {x.shape[-1]}.",
            )
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, self.pad_dim_size - 1)])


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """Fill up a last axis of size 1 with zeros (MindSpore: ``ops.padding``).

    Args:
        x: Tensor of rank 2 or more whose last axis has size 1.
        pad_dim_size: the new size.

    Returns:
        Tensor of the same dtype.

    Raises:
        TypeError: ``pad_dim_size`` is no int.
        ValueError: it is not above 0, or the last axis has another size.
    """
    return Padding(pad_dim_size)(x)
