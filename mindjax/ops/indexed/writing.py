"""Rows and slices of a Parameter combined with others: ``scatter_*`` and ``scatter_nd_*``."""

from __future__ import annotations

from typing import Any, ClassVar

import jax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.ops.gather import check_coordinates, check_range, coordinates
from mindjax.ops.scatter import checked_updates, scatter_rows
from mindjax.ops.shape import shape_of
from mindjax.ops.state import ScatterWrite, WritingPrimitive, add_slices, kept_dtype

Array = jax.Array


class ScatterMul(ScatterWrite):
    """Rows of a Parameter multiplied by others."""

    use_locking: bool = False
    how: ClassVar[str] = "mul"


class ScatterDiv(ScatterWrite):
    """Rows of a Parameter divided by others."""

    use_locking: bool = False
    how: ClassVar[str] = "div"


class ScatterMax(ScatterWrite):
    """Rows of a Parameter replaced by the larger of them and others."""

    use_locking: bool = False
    how: ClassVar[str] = "max"


class ScatterMin(ScatterWrite):
    """Rows of a Parameter replaced by the smaller of them and others."""

    use_locking: bool = False
    how: ClassVar[str] = "min"


def scatter_mul(input_x: Any, indices: Any, updates: Any) -> Any:
    """Multiply rows of a Parameter (MindSpore: ``ops.scatter_mul``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of row numbers.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``.

    Raises:
        TypeError: the common dtype is not that of ``input_x``.
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return ScatterMul()(input_x, indices, updates)


def scatter_div(input_x: Any, indices: Any, updates: Any) -> Any:
    """Divide rows of a Parameter (MindSpore: ``ops.scatter_div``); as `scatter_mul`.

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of row numbers.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``; integers are divided towards zero.
    """
    return ScatterDiv()(input_x, indices, updates)


def scatter_max(input_x: Any, indices: Any, updates: Any) -> Any:
    """Keep the larger of rows of a Parameter and others (MindSpore: ``ops.scatter_max``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of row numbers.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_mul`.
    """
    return ScatterMax()(input_x, indices, updates)


def scatter_min(input_x: Any, indices: Any, updates: Any) -> Any:
    """Keep the smaller of rows of a Parameter and others (MindSpore: ``ops.scatter_min``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of row numbers.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_mul`.
    """
    return ScatterMin()(input_x, indices, updates)


class ScatterNdWrite(WritingPrimitive, register=False):
    """Combine slices with those of a Parameter that index tuples name."""

    how: ClassVar[str]
    beyond: ClassVar[type[Exception]] = RuntimeError

    def __call__(self, *inputs: Any) -> Any:
        """Write, after a check of the indices."""
        if len(inputs) == 3:
            check_coordinates(self.name, inputs[1], shape_of(inputs[0]), self.beyond)
        return super().__call__(*inputs)

    def compute(self, variable: Array, indices: Array, updates: Array) -> Array:
        """Give the written array."""
        if indices.ndim < 2:
            raise located(
                ValueError,
                f"For primitive[{self.name}], the dimension of 'indices' must be greater than or "
                f"equal to 2, but got {indices.ndim}.",
            )
        where = coordinates(self.name, indices, variable.shape)
        updates = checked_updates(self.name, variable, where, updates)
        return scatter_rows(variable, where, kept_dtype(variable, updates), self.how)


class ScatterNdUpdate(ScatterNdWrite):
    """Slices of a Parameter replaced by index tuples."""

    use_locking: bool = True
    how: ClassVar[str] = "update"
    beyond: ClassVar[type[Exception]] = ValueError


class ScatterNdAdd(ScatterNdWrite):
    """Slices added to a Parameter by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "add"


class ScatterNdSub(ScatterNdWrite):
    """Slices subtracted from a Parameter by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "sub"


class ScatterNdMul(ScatterNdWrite):
    """Slices of a Parameter multiplied by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "mul"


class ScatterNdDiv(ScatterNdWrite):
    """Slices of a Parameter divided by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "div"


class ScatterNdMax(ScatterNdWrite):
    """The larger of slices of a Parameter and others, by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "max"


class ScatterNdMin(ScatterNdWrite):
    """The smaller of slices of a Parameter and others, by index tuples."""

    use_locking: bool = False
    how: ClassVar[str] = "min"


class ScatterNonAliasingAdd(ScatterNdWrite):
    """Slices added to a Parameter by index tuples; the old name of `ScatterNdAdd`."""

    how: ClassVar[str] = "add"


def scatter_nd_update(input_x: Any, indices: Any, updates: Any) -> Any:
    """Replace slices of a Parameter by index tuples (MindSpore: ``ops.scatter_nd_update``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor, the new value of ``input_x``; the last of equal places wins.

    Raises:
        TypeError: the common dtype is not that of ``input_x``.
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return ScatterNdUpdate()(input_x, indices, updates)


def scatter_nd_add(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Add slices to a Parameter by index tuples (MindSpore: ``ops.scatter_nd_add``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdAdd(_flag(use_locking))(input_x, indices, updates)


def scatter_nd_sub(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Subtract slices from a Parameter by index tuples (MindSpore: ``ops.scatter_nd_sub``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdSub(_flag(use_locking))(input_x, indices, updates)


def scatter_nd_mul(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Multiply slices of a Parameter by index tuples (MindSpore: ``ops.scatter_nd_mul``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdMul(_flag(use_locking))(input_x, indices, updates)


def scatter_nd_div(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Divide slices of a Parameter by index tuples (MindSpore: ``ops.scatter_nd_div``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdDiv(_flag(use_locking))(input_x, indices, updates)


def scatter_nd_max(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Keep the larger of slices of a Parameter and others (MindSpore: ``ops.scatter_nd_max``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdMax(_flag(use_locking))(input_x, indices, updates)


def scatter_nd_min(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
    """Keep the smaller of slices of a Parameter and others (MindSpore: ``ops.scatter_nd_min``).

    Args:
        input_x: Parameter or Tensor, which is written.
        indices: integer Tensor of at least two axes; the last holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.
        use_locking: device tuning only: writes are always whole.

    Returns:
        Tensor, the new value of ``input_x``. Errors are those of `scatter_nd_update`.
    """
    return ScatterNdMin(_flag(use_locking))(input_x, indices, updates)


def _flag(use_locking: Any) -> bool:
    return checks.of_type("use_locking", use_locking, bool, "ScatterNd")


class InplaceIndexAdd(WritingPrimitive):
    """Slices of a Parameter along an axis with others added, by index."""

    axis: int

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, self.name)

    def compute(self, var: Array, indices: Array, updates: Array) -> Array:
        """Give the sum."""
        return add_slices(self.name, var, indices, updates, self.axis)


def inplace_index_add(var: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Add slices to those of a Parameter along an axis (MindSpore: ``ops.inplace_index_add``).

    Args:
        var: Parameter or Tensor, which is written.
        indices: integer vector, of the length of ``updates`` along the axis.
        updates: Tensor like ``var`` but for the axis.
        axis: the axis.

    Returns:
        Tensor, the new value of ``var``.

    Raises:
        TypeError: ``axis`` is no integer, or the common dtype is not that of ``var``.
        ValueError: the shapes do not fit, or there is no such axis.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    record = InplaceIndexAdd(axis)
    shape = shape_of(var)
    if -len(shape) <= axis < len(shape):
        check_range(record.name, indices, shape[axis])
    return record(var, indices, updates)
