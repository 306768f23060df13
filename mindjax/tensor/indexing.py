"""What ``x[...]`` and ``x[...] = v`` mean: from a Python index to the ops that read and write."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.resident import index_array, number_array
from mindjax.ops.gather import AdvancedIndex, check_range
from mindjax.ops.masking import NonZero
from mindjax.ops.scatter import AdvancedUpdate, MaskUpdate
from mindjax.ops.sequence import stack, unstack
from mindjax.ops.shape import shape_of
from mindjax.ops.slicing import (
    ALL,
    INT,
    NEW,
    index_record,
    out_of_bounds,
    slice_entry,
    slice_plan,
    update_record,
)
from mindjax.ops.state import write

_FIRST = index_record((INT,))
_SET_FIRST = update_record((INT,))
_KINDS = "list, int, float, tuple, slice, ellipsis, None, array, bool, or Tensor"


class Selection:
    """An index, axis by axis.

    Attributes:
        plan: entries of the basic part; axes with an index array are whole in it.
        starts: lowest index of each entry that takes one.
        arrays: index array of each axis of the basic part's result that has one, with its size.
        empty: whether a False was among the indices, which selects nothing.
    """

    def __init__(self) -> None:
        self.plan: list[tuple[Any, ...]] = []
        self.starts: list[int] = []
        self.arrays: list[tuple[int, Any, int]] = []
        self.empty = False

    def operands(self) -> Any:
        """Give the starts as the operand of a plan's record."""
        return np.asarray(self.starts, np.int32) if self.starts else None

    def basic(self) -> tuple[tuple[Any, ...], Any]:
        """Give the plan without the whole axes at its end, and its operand."""
        plan = self.plan
        while plan and plan[-1] is ALL:
            plan.pop()
        return tuple(plan), self.operands()


def getitem(x: Any, index: Any) -> Any:
    """Read ``x[index]``.

    Args:
        x: Tensor.
        index: integers, slices, None, Ellipsis, True, integer and Bool Tensors, arrays and lists,
            or a tuple of these.

    Returns:
        Tensor: in PYNATIVE a view of ``x`` for integers, slices, None and Ellipsis; else a copy.

    Raises:
        IndexError: an integer is out of range, there are too many indices, or one is of no such
            kind.
        TypeError: ``x`` has no axes.
        ValueError: index Tensors do not broadcast together, a mask does not fit, or a step is 0.
        RuntimeError: an index in a Tensor is out of range (in PYNATIVE on the CPU).
    """
    if type(index) is slice:
        shape = x.value_shape
        if shape:
            return _first_axis(x, shape[0], index)
    elif type(index) is int:
        shape = x.value_shape
        if not shape:
            raise located(TypeError, "Cannot iterate over a scalar tensor.")
        size = shape[0]
        if not -size <= index < size:
            raise out_of_bounds(index, size)
        return _FIRST(x, index_array(index if index >= 0 else index + size))
    if index is Ellipsis:
        return x
    found = _parse(x, index, "get")
    if found.empty:
        raise located(
            IndexError,
            "When tensor is indexed by a bool object, the value only support 'True', but got "
            "'False'.",
        )
    part = x
    if found.plan or not found.arrays:
        plan, starts = found.basic()
        if plan or not found.arrays:
            part = index_record(plan)(x, starts)
    if not found.arrays:
        return part
    for _, array, size in found.arrays:
        check_range("Gather", array, size)
    axes = tuple(axis for axis, _, _ in found.arrays)
    return AdvancedIndex(axes)(part, *(array for _, array, _ in found.arrays))


def _first_axis(x: Any, size: int, index: slice) -> Any:
    """Read a slice of the first axis."""
    start, stop, step = index.start, index.stop, index.step
    if start is not None and type(start) is not int:
        start = _bound(start)
    if stop is not None and type(stop) is not int:
        stop = _bound(stop)
    if step is not None and type(step) is not int:
        step = _bound(step)
    record, low = _first_axis_record(start, stop, step, size)
    return record(x, None if low is None else index_array(low))


@functools.lru_cache(maxsize=4096)
def _first_axis_record(start: Any, stop: Any, step: Any, size: int) -> tuple[Any, int | None]:
    """Give the record of a slice of the first axis, and the lowest index."""
    low, count, step = slice_plan(start, stop, step, size)
    if count == size and step == 1:
        return index_record(()), None
    return index_record((slice_entry(count, step),)), low


def setitem(x: Any, index: Any, value: Any) -> None:
    """Write ``x[index] = value``; what views ``x``, and what ``x`` views, changes with it.

    Args:
        x: Tensor or Parameter.
        index: as in `getitem`; False selects nothing.
        value: number, Tensor, or nested sequence of numbers, cast to the dtype of ``x`` and
            broadcast to the part that is written.

    Raises:
        IndexError: as in `getitem`.
        TypeError: ``value`` is none of these.
        ValueError: ``value`` does not broadcast to the part.
    """
    value = _value(x, value)
    if type(index) is int:
        shape = x.value_shape
        if shape and -shape[0] <= index < shape[0]:
            starts = np.asarray([index if index >= 0 else index + shape[0]], np.int32)
            write(x, _SET_FIRST(x, value, starts), reaches=False)
            return
    mask = _lone_mask(index)
    if mask is not None and is_traced(unwrap(mask)):
        write(x, MaskUpdate()(x, value, mask), reaches=False)
        return
    if mask is not None and not shape_of(value):
        _check_mask(mask, shape_of(x), 0)
        write(x, MaskUpdate()(x, value, mask), reaches=False)
        return
    found = _parse(x, index, "set")
    if found.empty:
        return
    plan, starts = found.basic()
    if not found.arrays:
        write(x, update_record(plan)(x, value, starts), reaches=False)
        return
    for _, array, size in found.arrays:
        check_range("TensorScatterUpdate", array, size, ValueError)
    axes = tuple(axis for axis, _, _ in found.arrays)
    arrays = [array for _, array, _ in found.arrays]
    if not plan:
        write(x, AdvancedUpdate(axes)(x, value, *arrays), reaches=False)
        return
    part = AdvancedUpdate(axes)(index_record(plan)(x, starts), value, *arrays)
    write(x, update_record(plan)(x, part, starts), reaches=False)


def _value(x: Any, value: Any) -> Any:
    if isinstance(value, Handle):
        return value
    dtype = x.value_dtype
    if isinstance(value, bool | int | float | complex | np.generic):
        if isinstance(value, complex) and dtype.kind != "c":
            raise located(
                IndexError,
                f"A complex number cannot be written into a {from_np(dtype).name} Tensor.",
            )
        return number_array(value, dtype)
    if isinstance(value, tuple | list | np.ndarray):
        if isinstance(value, tuple | list) and any(isinstance(v, Handle) for v in value):
            return stack([v if isinstance(v, Handle) else _tensor(v) for v in value])
        return _tensor(value)
    if isinstance(value, jax.Array):
        return value
    raise located(
        IndexError if isinstance(value, str) else TypeError,
        f"only support numbers, Tensor, tuple, list as value, but got {value!r} with type "
        f"{type(value)}",
    )


def _tensor(value: Any) -> Any:
    return Handle.tensor_class(value)


def _array_of(item: Any) -> Any:
    """Give an index array with its dtype for what stands for one, None for other kinds."""
    if isinstance(item, Handle):
        return item, item.value_dtype
    if isinstance(item, np.ndarray | jax.Array):
        return item, np.dtype(item.dtype)
    return None


def _lone_mask(index: Any) -> Any:
    """Give the mask if the index is a Bool array and nothing else."""
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if isinstance(index, list) and index and all(type(v) is bool for v in index):
        return np.asarray(index)
    found = _array_of(index)
    return index if found is not None and found[1] == np.bool_ and shape_of(index) else None


def _items(index: Any) -> list[Any]:
    """Give the entries of an index; a list that holds more than integers counts as a tuple."""
    if isinstance(index, tuple):
        return list(index)
    if isinstance(index, list) and any(
        v is None
        or v is Ellipsis
        or isinstance(v, slice | list | tuple | Handle | np.ndarray | jax.Array)
        for v in index
    ):
        return list(index)
    return [index]


def _axes_taken(item: Any) -> int:
    """Count the axes that an entry takes."""
    if item is None or item is Ellipsis or isinstance(item, bool | np.bool_):
        return 0
    found = _array_of(item)
    return len(shape_of(item)) if found is not None and found[1] == np.bool_ else 1


def _parse(x: Any, index: Any, what: str) -> Selection:
    shape = x.value_shape
    items = [_entry(item, what) for item in _items(index)]
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise located(IndexError, "An index can only have a single ellipsis('...')")
    taken = sum(map(_axes_taken, items))
    if taken > len(shape):
        if not shape and isinstance(index, slice):
            raise located(ValueError, "A slice needs an axis, but the Tensor has none.")
        raise located(IndexError, f"too many indices for tensor of dimension {len(shape)}")
    if not ellipses:
        items.append(Ellipsis)
    advanced = any(_array_of(item) is not None for item in items)
    found = Selection()
    axis = 0
    for item in items:
        axis += _add(found, item, shape, axis, len(shape) - taken, advanced, what)
    return found


def _entry(item: Any, what: str) -> Any:
    """Bring lists to arrays and numpy integers to Python's, and refuse other kinds."""
    if type(item) is int or item is None or item is Ellipsis or isinstance(item, slice | bool):
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, list | tuple):
        return _listed(item, what)
    if isinstance(item, Handle | np.ndarray | jax.Array):
        dtype = _array_of(item)[1]
        if dtype != np.bool_ and dtype.kind != "i":
            raise located(
                IndexError,
                f"The tensor index must be int or bool type, but got {from_np(dtype).name}",
            )
        if isinstance(item, np.ndarray) and item.ndim == 0:
            return item.item()
        return item
    if isinstance(item, float):
        raise located(
            IndexError,
            "Only support integers, slices(`:`), ellipsis(`...`), None, bool, tensor, int, list "
            f"and tuple as index, but got {item!r} with type {type(item)}",
        )
    raise located(
        IndexError,
        f"Unsupported Python object type received: {type(item)}. Supported types for tensor "
        f"indexing are: {_KINDS}. Received value: {item!r}",
    )


def _listed(item: Any, what: str) -> Any:
    if not len(item) and what == "get":
        raise located(IndexError, "When tensor is indexed by list, the list can't be empty.")
    if any(isinstance(v, Handle) for v in item):
        return stack([v if isinstance(v, Handle) else _tensor(v) for v in item])
    array = np.asarray(item) if len(item) else np.zeros(0, np.int32)
    if array.dtype != np.bool_ and array.dtype.kind != "i":
        raise located(IndexError, f"The list index must hold integers or bools, but got {item!r}")
    return array


def _add(
    found: Selection,
    item: Any,
    shape: tuple[int, ...],
    axis: int,
    free: int,
    advanced: bool,
    what: str,
) -> int:
    """Add an entry of the index; give the number of axes it took."""
    plan = found.plan
    if item is Ellipsis:
        plan += [ALL] * free
        return free
    if item is None:
        plan.append(NEW)
        return 0
    if isinstance(item, bool):
        plan.append(NEW)
        found.empty = found.empty or not item
        return 0
    kind = _array_of(item)
    if kind is not None and kind[1] == np.bool_:
        return _add_mask(found, item, shape, axis)
    size = shape[axis]
    if isinstance(item, slice):
        start, stop, step = (_bound(v) for v in (item.start, item.stop, item.step))
        low, count, step = slice_plan(start, stop, step, size)
        if count == size and step == 1:
            plan.append(ALL)
        else:
            plan.append(slice_entry(count, step))
            found.starts.append(low)
        return 1
    if isinstance(item, int):
        if not -size <= item < size:
            if what == "set":
                raise located(
                    IndexError, f"Index {item} is out of bounds for axis {axis} with size {size}"
                )
            raise out_of_bounds(item, size)
        if advanced:
            found.arrays.append((len(_result_axes(plan)), np.asarray(item % size, np.int32), size))
            plan.append(ALL)
        else:
            plan.append(INT)
            found.starts.append(item % size)
        return 1
    if isinstance(item, np.ndarray) and item.size:
        worst = int(item.max() if item.max() >= size else item.min())
        if not -size <= worst < size:
            raise located(IndexError, f"index {worst} out of bounds for dimension with size {size}")
        item = item.astype(np.int32)
    found.arrays.append((len(_result_axes(plan)), item, size))
    plan.append(ALL)
    return 1


def _result_axes(plan: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [entry for entry in plan if entry is not INT]


def _bound(value: Any) -> int | None:
    """Give a bound of a slice as an integer."""
    if value is None or type(value) is int:
        return value
    try:
        return value.__index__()
    except AttributeError:
        raise located(
            RuntimeError, f"Slice index type must be int, tensor or none, but got {value!r}."
        ) from None


def _check_mask(mask: Any, shape: tuple[int, ...], axis: int) -> None:
    sizes = shape_of(mask)
    for i, size in enumerate(sizes):
        if axis + i >= len(shape) or size != shape[axis + i]:
            raise located(
                ValueError,
                f"The shape of index {sizes} does not match the shape of the indexed data {shape} "
                f"at dim index {i}",
            )


def _add_mask(found: Selection, mask: Any, shape: tuple[int, ...], axis: int) -> int:
    """Add the index arrays of a mask's true elements, one an axis of it."""
    _check_mask(mask, shape, axis)
    count = len(shape_of(mask))
    if count == 0:
        found.plan.append(NEW)
        found.empty = found.empty or not bool(mask)
        return 0
    columns: Any
    if isinstance(mask, np.ndarray):
        columns = [c.astype(np.int32) for c in np.nonzero(mask)]
    else:
        columns = unstack(NonZero()(mask), 1)
    for i, column in enumerate(columns):
        found.arrays.append((len(_result_axes(found.plan)), column, shape[axis + i]))
        found.plan.append(ALL)
    return count


def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Write by index Tensors, one an axis, in a copy (MindSpore: ``Tensor.index_put``).

    Args:
        x: Tensor.
        indices: tuple or list of integer or Bool Tensors for the leading axes.
        values: Tensor that broadcasts to the elements.
        accumulate: whether to add instead of replacing.

    Returns:
        Tensor like ``x``.

    Raises:
        TypeError: ``indices`` is no sequence of Tensors.
        IndexError: there are more than ``x`` has axes.
    """
    if not isinstance(indices, tuple | list):
        raise located(
            TypeError, f"For 'index_put', 'indices' must be a tuple of Tensors, got {indices!r}."
        )
    found = _parse(x, tuple(indices), "set")
    for _, array, size in found.arrays:
        check_range("IndexPut", array, size)
    axes = tuple(axis for axis, _, _ in found.arrays)
    record = AdvancedUpdate(axes, "add" if accumulate else "update")
    return record(x, _value(x, values), *(array for _, array, _ in found.arrays))
