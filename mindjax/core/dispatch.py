"""The one dispatch point of PYNATIVE, (record, handles) -> handles; an executable a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import jax_private
from mindjax.core.caches import Cache, count_compilation
from mindjax.core.checks import not_a_tensor
from mindjax.core.dtype import as_dtype, from_np, promote_scalar, promote_types
from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, current, wrap
from mindjax.core.precision import CastTo, prepared
from mindjax.core.primitive import Primitive, _Engine, computation
from mindjax.core.tape import Backward, Node, pack
from mindjax.core.translate import translate
from mindjax.core.view import View

_PYTHON_NUMBERS = (bool, int, float, complex)
_swap_x64, _set_x64 = jax_private.swap_x64, jax_private.set_x64


class Executable:
    """A record's compiled programs, one a signature inside jax's own cache."""

    __slots__ = ("call", "record", "trace", "vjp")

    def __init__(self, record: Primitive) -> None:
        self.record = record
        self.renew()

    def renew(self) -> None:
        """Make the programs anew."""
        record = self.record
        function = computation(record)
        kind = "backward" if isinstance(record, Backward) else "op"

        def traced(*arrays: Any) -> Any:
            if not record.concrete:
                count_compilation(kind)
            return function(*arrays)

        traced.__name__ = traced.__qualname__ = f"ms_{record.name}"
        self.call: Callable[..., Any] = traced if record.concrete else jax.jit(traced)

        def with_residuals(*arrays: Any) -> Any:
            count_compilation(kind)
            return jax.vjp(function, *arrays)

        self.vjp: Callable[..., Any] = jax.jit(with_residuals)


_EXECUTABLES: Cache[Executable] = Cache("op executables", 4096)
_backward = jax.jit(lambda vjp, cotangents: vjp(cotangents))


def executable(record: Primitive) -> Executable:
    """Look up, or make, the programs of a record."""
    found = record.__dict__.get("_executable")
    if found is not None:
        return found
    if _owner(record).own_executable:
        found = Executable(record)
    else:
        key = record.key
        found = _EXECUTABLES.get(key)
        if found is None:
            found = _EXECUTABLES.put(key, Executable(record))
    record.__dict__["_executable"] = found
    return found


def _owner(record: Primitive) -> Primitive:
    """Give the record that a backward, perhaps of a backward, belongs to."""
    while isinstance(record, Backward):
        record = record.record
    return record


def run_backward(vjp: Any, cotangents: list[Any]) -> Any:
    """Run a kept vjp; missing cotangents are zeros."""
    residual, outputs, nested = vjp
    full = [
        np.zeros(o.shape, o.dtype if jnp.issubdtype(o.dtype, jnp.inexact) else jax.dtypes.float0)
        if c is None
        else c
        for c, o in zip(cotangents, outputs, strict=True)
    ]
    old = _swap_x64(True)
    try:
        gradients = _backward(residual, tuple(full) if nested else full[0])
    finally:
        _set_x64(old)
    return jax.tree.leaves(gradients)


def dispatch(record: Primitive, inputs: tuple[Any, ...]) -> Any:
    """Run a primitive.

    Args:
        record: the primitive with its attributes.
        inputs: Tensors, Python numbers, numpy or jax arrays, None, or tuples and lists of these.

    Returns:
        A Tensor or a tuple of Tensors; raw arrays for raw jax arrays without a Tensor.

    Raises:
        TypeError: an input is none of these, or its dtype does not mix with the others'.
    """
    if current.mixed is not None and not isinstance(record, CastTo):
        inputs = prepared(current.mixed, record.name, inputs)
    arrays: list[Any] = []
    handles = raw = numbers = traced = False
    for x in inputs:
        if isinstance(x, Handle):
            x = x.array
            handles = True
            if isinstance(x, Tracer):
                traced = True
        elif isinstance(x, jax.Array):
            raw = True
            if isinstance(x, Tracer):
                traced = True
        elif x is None:
            pass
        elif isinstance(x, _PYTHON_NUMBERS):
            numbers = True
        elif isinstance(x, tuple | list):
            x, kinds = _nested(record, x)
            handles, raw, traced = handles | kinds[0], raw | kinds[1], traced | kinds[2]
        elif not isinstance(x, np.ndarray | np.generic):
            kind = "a Tensor or a number" if record.promotes else "a Tensor"
            raise not_a_tensor(x, record.name.lstrip("_"), kind=kind)
        arrays.append(x)
    if numbers or any(isinstance(a, np.generic) for a in arrays):
        _numbers_to_arrays(record, arrays)
    if record.concrete and current.frame is not None:
        for x in inputs:
            if isinstance(x, Handle) and x._frame is None:
                current.frame.note_concrete(x)
    found = record.__dict__.get("_executable") or executable(record)
    tape = current.tape
    if tape is not None and handles:
        return _recorded(found, inputs, arrays)
    if traced and current.no_grad:
        arrays = jax.tree.map(jax.lax.stop_gradient, arrays)
    out = _execute(found, inputs, arrays, traced)
    if raw and not handles:
        return out
    result = wrap(out)
    if record.view and current.frame is None and not traced:
        _link_views(record, inputs, result)
    return result


def _execute(
    found: Executable,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    traced: bool,
    program: Callable[..., Any] | None = None,
) -> Any:
    """Run a record's program, or another of its programs, with 64-bit types."""
    old = _swap_x64(True)
    try:
        return (program or found.call)(*arrays)
    except RecursionError as error:
        # Ctrl-C in the middle of jax's tracing leaves its cache entry as if it still ran.
        if not str(error).startswith("Recursively calling"):
            raise
        found.renew()
        return (found.vjp if program else found.call)(*arrays)
    except RuntimeError as error:
        # Another thread's step may have donated a buffer between our reading it and using it.
        if "deleted" in str(error) and not traced:
            raise located(
                RuntimeError,
                f"For '{found.record.name}', an input was replaced by another thread while it was "
                "read: take a copy of the Tensor first.",
            ) from None
        _raise_translated(error, found.record, inputs, arrays)
    except Exception as error:
        _raise_translated(error, found.record, inputs, arrays)
    finally:
        _set_x64(old)


def _raise_translated(
    error: Exception, record: Primitive, inputs: tuple[Any, ...], arrays: list[Any]
) -> NoReturn:
    made = translate(error, record, inputs, tuple(arrays))
    if made is error:
        raise error
    raise made from error


def _nested(record: Primitive, items: Any) -> tuple[tuple[Any, ...], tuple[bool, bool, bool]]:
    out, handles, raw, traced = [], False, False, False
    for x in items:
        if isinstance(x, Handle):
            handles, x = True, x.array
        elif isinstance(x, jax.Array):
            raw = True
        elif isinstance(x, tuple | list):
            x, kinds = _nested(record, x)
            handles, raw, traced = handles | kinds[0], raw | kinds[1], traced | kinds[2]
        elif isinstance(x, _PYTHON_NUMBERS):
            x = np.asarray(x, as_dtype(type(x)).np)
        elif not isinstance(x, np.ndarray | np.generic):
            raise located(
                TypeError,
                f"For '{record.name}', the elements of a sequence must be Tensors, but got "
                f"'{type(x).__name__}'.",
            )
        traced = traced or isinstance(x, Tracer)
        out.append(x)
    return tuple(out), (handles, raw, traced)


def _number_type(value: Any) -> type | None:
    """Give the Python type that a number counts as; numpy scalars count as Python numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    return type(value) if isinstance(value, _PYTHON_NUMBERS) else None


def _numbers_to_arrays(record: Primitive, arrays: list[Any]) -> None:
    """Replace Python numbers by 0-d arrays of the dtype that promotion gives them."""
    common = None
    for i in record.promotes:
        if i < len(arrays) and isinstance(arrays[i], jax.Array | np.ndarray):
            dtype = from_np(arrays[i].dtype)
            common = dtype if common is None else promote_types(common, dtype)
    for i, x in enumerate(arrays):
        kind = None if x is None or isinstance(x, jax.Array) else _number_type(x)
        if kind is None:
            continue
        if common is not None and i in record.promotes:
            kept = record.keeps_unsigned and kind is int and common.kind == "uint"
            dtype = common.np if kept else promote_scalar(common, kind).np
        else:
            dtype = as_dtype(kind).np
        arrays[i] = number_array(x, dtype)


def number_array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Make a 0-d array of a number; integers that do not fit wrap around, as in the original.

    Args:
        value: Python or numpy number.
        dtype: numpy dtype.

    Returns:
        0-d numpy array.
    """
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        value = (value + 2**63) % 2**64 - 2**63 if dtype.kind != "f" else float(value)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(value).astype(dtype)


def _recorded(found: Executable, inputs: tuple[Any, ...], arrays: list[Any]) -> Any:
    """Run an op under a tape and record it if an input is differentiated."""
    tape, record = current.tape, found.record
    assert tape is not None
    parents: list[Any] = []
    tracked = False
    for x, a in zip(inputs, arrays, strict=True):
        if isinstance(x, Handle):
            position = tape.position(x)
            tracked = tracked or position is not None
            parents.append(position)
        elif isinstance(x, tuple | list):
            flat = _flat_handles(x)
            positions = [tape.position(h) if isinstance(h, Handle) else None for h in flat]
            tracked = tracked or any(p is not None for p in positions)
            parents.extend(positions)
        elif a is not None:
            parents.append(None)
    tracked = tracked and not record.constant
    residuals = None
    hooks = current.saved_hooks
    if tracked and record.keep_residuals and tape.depth == 1 and hooks is None:
        out, vjp = _execute(found, inputs, arrays, False, found.vjp)
        nested = isinstance(out, tuple | list)
        residuals = (vjp, list(out) if nested else [out], nested)
    else:
        out = _execute(found, inputs, arrays, False)
    result = wrap(out)
    if tracked:
        flat, tree = jax.tree.flatten(tuple(arrays))
        whole = any(p is not None and not _inexact(a) for p, a in zip(parents, flat, strict=True))
        if hooks is not None:
            flat = pack(flat, *hooks)
        count = len(result) if isinstance(result, tuple) else -1
        node = tape.add(Node(tape, record, flat, tree, parents, count, residuals=residuals))
        for i, tensor in enumerate(result if count >= 0 else (result,)):
            if isinstance(tensor, Handle) and _differentiable(tensor._value, whole):
                tensor._node = (node, i)
    if record.view and current.frame is None:
        _link_views(record, inputs, result)
    return result


def _inexact(array: Any) -> bool:
    return jnp.issubdtype(array.dtype, jnp.inexact)


def _differentiable(output: Any, whole: bool) -> bool:
    """Tell whether gradients flow through an output; integers carry them only between integers.

    Args:
        output: array that an op gave.
        whole: whether an integer input is differentiated.
    """
    return _inexact(output) or (whole and output.dtype != np.bool_)


def _flat_handles(items: Any) -> list[Any]:
    flat: list[Any] = []
    for x in items:
        flat.extend(_flat_handles(x) if isinstance(x, tuple | list) else [x])
    return flat


def _link_views(record: Primitive, inputs: tuple[Any, ...], result: Any) -> None:
    base = inputs[0]
    if not isinstance(base, Handle):
        return
    if isinstance(result, tuple):
        for i, tensor in enumerate(result):
            tensor._view = View(base, record, inputs[1:], i)
    else:
        result._view = View(base, record, inputs[1:])
        result._view.follows = record.view != "write"


_Engine.dispatch = staticmethod(dispatch)
