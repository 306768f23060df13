"""`vmap`: functions of Tensors mapped over an axis, and ensembles of Cells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.autodiff.differentiate import _tensors
from mindjax.autodiff.traced import Traced, programs_of, run
from mindjax.core.context import graph_mode
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.state import Wide
from mindjax.graph.control.raising import ErrorState, merge_mapped
from mindjax.graph.program import is_tracing_outside
from mindjax.tensor.tensor import Tensor


def vmap(fn: Any, in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Map a function over an axis of its arguments (MindSpore: ``vmap``).

    Args:
        fn: function of Tensors, Cell, or list of Cells of one structure: the i-th Cell gets the
            i-th slice, with its own Parameters.
        in_axes: mapped axis, of all arguments or one an argument, nested as they are; None for
            those not mapped.
        out_axes: where the mapped axis stands, in all outputs or one an output; None for outputs
            that do not depend on mapped arguments.

    Returns:
        The mapped function. Random ops draw the same numbers for every slice.

    Raises:
        RuntimeError: at the call: ``fn`` is not callable, or an axis is no int, is out of range, or
            does not fit the arguments or outputs, or all are None; a Parameter that the slices
            share is written with a value that differs between them.
    """
    return _Mapped(fn, in_axes, out_axes)


class _Vmap:
    """Make mapped functions (MindSpore: ``ops.composite._Vmap``)."""

    def __call__(self, fn: Any, in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
        """Map a function as `vmap` does."""
        return vmap(fn, in_axes, out_axes)


class _Mapped:
    """What `vmap` returns."""

    def __init__(self, fn: Any, in_axes: Any, out_axes: Any) -> None:
        # A CellList or a plain list of Cells; a SequentialCell has a construct of its own.
        ensemble = isinstance(fn, list | tuple) or getattr(fn, "cls_name", "") == "CellList"
        self.cells: list[Any] = list(fn) if ensemble else []
        self.fn: Any = self.cells[0] if self.cells else fn
        self.in_axes, self.out_axes = _listed(in_axes), _listed(out_axes)
        functools.update_wrapper(self, self.fn, assigned=("__name__", "__qualname__"), updated=())
        self._programs = programs_of(self.fn, self._compute)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the mapped function."""
        if not callable(self.fn):
            raise located(
                RuntimeError,
                f"'VmapOperation' arg0 must be a 'Function' or 'Cell', but got {self.fn!r}.",
            )
        if graph_mode() and current.frame is None and not is_tracing_outside():
            return self._programs.call(args, kwargs)
        return run(self.fn, self._compute, args, kwargs)

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        in_axes = self.in_axes
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise located(
                RuntimeError,
                "When vmap`s 'in_axes' is a tuple or list, and its size must be equal to the "
                f"number of arguments of 'fn': {len(args)}, but got size: {len(in_axes)}.",
            )
        args = _tensors_of_arrays(args)
        tensors, axes = _spread(args, in_axes)
        if all(a is None for a in axes) and not self.cells:
            raise located(
                RuntimeError,
                "The 'in_axes' of 'vmap' cannot be all None while 'fn' is not a 'CellList', but "
                f"got {self.in_axes}.",
            )
        if self.out_axes is None and not self.cells:
            raise located(
                RuntimeError,
                "The 'out_axes' of 'vmap' cannot be a single None while 'fn' is not a 'CellList'.",
            )
        size = self._size(tensors, axes)
        slices = [_slice(t, a) for t, a in zip(tensors, axes, strict=True)]
        members = self._members()
        own = members[0] if members else []
        with Wide():
            shapes = [*slices, *(_slice(p, None) for p in own)]
            traced = Traced(self.fn, args, kwargs, shapes, own)
            stacked = [jnp.stack([m[i].array for m in members]) for i in range(len(own))]
            every = [*traced.inputs, *stacked]
            places = self._places(traced, size)
            written = [
                0 if h in set(own) or isinstance(h, ErrorState) else None
                for h in traced.pure.written
            ]
            others = [None] * traced.pure.traced_attributes
            mapped = jax.vmap(
                lambda arrays: traced.call(arrays),
                in_axes=([*axes, *[0] * len(own)],),
                out_axes=(places, [*written, *others]),
                axis_size=size,
            )
            try:
                outs, writes = mapped(every)
            except ValueError as error:
                if "out_axes" not in str(error):
                    raise
                raise self._unmapped(traced) from None
            writes = merge_mapped(traced.pure.written, writes)
        self._write(traced, members, writes)
        return traced.build(outs)

    def _unmapped(self, traced: Traced) -> RuntimeError:
        """Say which value depends on a mapped argument and has no axis for it."""
        if traced.pure.written and not self.cells:
            names = [getattr(h, "name", "a Tensor") for h in traced.pure.written]
            return located(
                RuntimeError,
                f"For 'vmap', the function writes {names}, with values that may differ between the "
                "slices which share it: return them instead.",
            )
        return located(
            RuntimeError,
            "For 'vmap', an output depends on a mapped argument, but its axis in 'out_axes' is "
            f"None: {self.out_axes}.",
        )

    def _size(self, tensors: list[Any], axes: list[Any]) -> int:
        sizes = [t.shape[a] for t, a in zip(tensors, axes, strict=True) if a is not None]
        if self.cells:
            sizes.append(len(self.cells))
        for size in sizes:
            if size != sizes[0]:
                raise located(
                    RuntimeError,
                    "The 'axis_size' of each argument in the scope of 'vmap' should be equal, but "
                    f"got {sizes[0]} and {size}.",
                )
        return sizes[0]

    def _members(self) -> list[list[Any]]:
        """List the Parameters of each Cell of an ensemble."""
        members = [list(cell.get_parameters()) for cell in self.cells]
        kinds = [[(p.shape, p.dtype) for p in m] for m in members]
        if any(k != kinds[0] for k in kinds):
            raise located(
                RuntimeError,
                "For 'vmap', the cells of a 'CellList' must have the same structure, but their "
                "parameters differ in number, shape or dtype.",
            )
        return members

    def _places(self, traced: Traced, size: int) -> list[Any]:
        """Give the place of the mapped axis in each flat output."""
        out_axes = self.out_axes
        count = len(traced.out) if isinstance(traced.out, tuple | list) else 1
        if isinstance(out_axes, tuple) and len(out_axes) != count:
            raise located(
                RuntimeError,
                f"The size of vmap's 'out_axes' should be equal to the result size: {count}, but "
                f"got size: {len(out_axes)}.",
            )
        if isinstance(out_axes, tuple) and not isinstance(traced.out, tuple | list):
            out_axes = out_axes[0]
        return [_checked(a, "out_axes") for a in _axes(traced.out, out_axes, "out_axes")]

    def _write(self, traced: Traced, members: list[list[Any]], writes: Sequence[Any]) -> None:
        if not members:
            traced.pure.write_back(writes)
            return
        position = {p: i for i, p in enumerate(members[0])}
        for handle, value in zip(traced.pure.written, writes, strict=False):
            if handle not in position:
                handle.assign_value(value)
                continue
            for k, member in enumerate(members):
                member[position[handle]].assign_value(value[k])


def _listed(axes: Any) -> Any:
    return tuple(map(_listed, axes)) if isinstance(axes, list | tuple) else axes


def _tensors_of_arrays(value: Any) -> Any:
    if isinstance(value, jax.Array):
        return Tensor._from_array(value)
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(_tensors_of_arrays(v) for v in value)
    return value


def _checked(axis: Any, what: str) -> Any:
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
        raise located(
            RuntimeError,
            f"The axis in vmap`s '{what}' can only be of type Int or None, but got {axis!r}.",
        )
    return axis


def _axes(value: Any, axes: Any, what: str) -> list[Any]:
    """Give the axis of each Tensor in a tree."""
    if isinstance(axes, tuple):
        if not isinstance(value, tuple | list) or len(value) != len(axes):
            raise located(
                RuntimeError,
                f"For 'vmap', the '{what}' {axes} does not fit the structure of its values.",
            )
        return [a for v, x in zip(value, axes, strict=True) for a in _axes(v, x, what)]
    if isinstance(value, tuple | list):
        return [a for v in value for a in _axes(v, axes, what)]
    if isinstance(value, dict):
        return [a for v in value.values() for a in _axes(v, axes, what)]
    if isinstance(value, Tensor):
        return [axes]
    if what == "in_axes" and _checked(axes, what) is not None:
        raise located(
            RuntimeError,
            f"For 'vmap', only Tensors can be mapped, but the 'in_axes' of {value!r} is {axes}; it "
            "must be None.",
        )
    return []


def _spread(args: tuple[Any, ...], in_axes: Any) -> tuple[list[Any], list[Any]]:
    """List the Tensors of the arguments and their axes, which are checked and made positive."""
    tensors, axes = _tensors(args), []
    for tensor, axis in zip(tensors, _axes(args, in_axes, "in_axes"), strict=True):
        ndim = tensor.ndim
        if _checked(axis, "in_axes") is None:
            axes.append(None)
            continue
        if not -ndim <= axis < ndim:
            raise located(
                RuntimeError,
                f"The axis: {axis} in 'in_axes' is out of bounds for array of dimension "
                f"[{-ndim},{ndim}).",
            )
        axes.append(axis % ndim)
    return tensors, axes


def _slice(tensor: Any, axis: int | None) -> Any:
    shape = tensor.shape if axis is None else (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    return jax.ShapeDtypeStruct(shape, tensor.value_dtype)
