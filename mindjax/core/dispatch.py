"""The one dispatch point of PYNATIVE, (record, handles) -> handles, and the engines behind it."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import jax_private
from mindjax.core.checks import not_a_tensor
from mindjax.core.deferred import defer, learn, settled
from mindjax.core.dtype import Number, as_dtype, from_np, promote_scalar, promote_types
from mindjax.core.engine import settings
from mindjax.core.errors import located
from mindjax.core.executable import Executable, executable, execute, note_direct, refuse
from mindjax.core.handle import TRACK, Handle, Tracer, current, track, wrap
from mindjax.core.layouts import in_order
from mindjax.core.number import TracedNumber, traced_array
from mindjax.core.partition import spreading
from mindjax.core.pending import Aval, Pending
from mindjax.core.precision import CastTo, prepared
from mindjax.core.primitive import Primitive, _Engine
from mindjax.core.recording import MOST_OPS, MOST_UNREAD, NOT_DEFERRED
from mindjax.core.resident import RESIDENT, number, number_array
from mindjax.core.tape import Backward, Node, pack
from mindjax.core.trie import leaf_place
from mindjax.core.view import View

ArrayImpl, untraced = jax_private.ArrayImpl, jax_private.untraced
trace_state, no_trace = jax_private.trace_state, jax_private.no_trace
debug_nans, debug_infs = jax_private.debug_nans, jax_private.debug_infs
_swap_x64, _set_x64 = jax_private.swap_x64, jax_private.set_x64
_new = object.__new__
_SEQUENCES = (tuple, list)
_BOTH = (0, 1)
_PYTHON_NUMBERS = (bool, int, float, complex)


def called(record: Primitive, *inputs: Any) -> Any:
    """Run a primitive that is called, as `dispatch` does.

    What nearly every op is like goes a short way here: no trace, no tape, Tensors that hold arrays.
    """
    here = current
    if here.special or trace_state.value is not no_trace:
        return _dispatched(record, inputs, settings.deferred)
    if settings.deferred:
        recording = here.recording
        if recording is None:
            return _dispatched(record, inputs, True)
        at_once = recording.at_once
        if at_once and recording.unread < (MOST_OPS if at_once > 0 else MOST_UNREAD):
            # As `stays_at_once` does, without a call.
            recording.unread += 1
        elif not at_once or not recording.stays_at_once():
            result = _at_once(record, inputs, recording, here.tape)
            return result if result is not NOT_DEFERRED else _dispatched(record, inputs, True)
    if here.tape is not None or settings.waits:
        return _dispatched(record, inputs, False)
    arrays: list[Any] = []
    handles = numbers = False
    # Whether each input is an array, and no tuple of such.
    plain = True
    for x in inputs:
        if isinstance(x, Handle):
            value = x._value
            if type(value) is not ArrayImpl or x._frame is not None:
                break
            view = x._view
            if view is not None and view.follows and view.base_version() != view.seen:
                break
            handles = True
            arrays.append(value)
        elif x is None:
            plain = False
            arrays.append(None)
        elif type(x) is np.ndarray:
            kept = RESIDENT.get(id(x))
            if kept is None:
                plain = False
            arrays.append(x if kept is None else kept[1])
        elif type(x) is tuple:
            plain = False
            items = [_held(v) for v in x]
            if not all(type(v) is ArrayImpl for v in items):
                break
            handles = handles or bool(items)
            arrays.append(tuple(items))
        elif type(x) in _PYTHON_NUMBERS:
            numbers = True
            arrays.append(x)
        else:
            break
    else:
        if handles:
            if numbers:
                plain = _numbers_to_device(record, arrays) and plain
            found = record._executable or executable(record)
            key: Any = None
            call, flat = None, arrays
            direct = found.direct
            if direct is not None:
                if plain:
                    key = tuple([id(a.aval) for a in arrays])
                else:
                    key, flat = _flat_key(arrays)
                if key is not None and not (debug_nans.value or debug_infs.value):
                    call = direct.get(key)
            try:
                if call is not None:
                    (out,) = call(flat)
                else:
                    old = _swap_x64(True)
                    try:
                        out = found.alone(*arrays)
                    finally:
                        _set_x64(old)
                    if key is not None:
                        note_direct(found, key, arrays, flat, out)
            except Exception as error:
                return wrap(refuse(error, found, inputs, arrays))
            if type(out) is ArrayImpl:
                result = _new(Handle.tensor_class)
                result._value = out
                result._frame = result._node = result._view = None
                result._version = 0
                if TRACK:
                    track(result)
            else:
                result = wrap(out)
            if found.view:
                _link_views(record, inputs, result)
            return result
    return _dispatched(record, inputs, False)


def _flat_key(arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Give what tells the kinds of an op's inputs, None and tuples among them, and all its arrays.

    Returns:
        The key, None where one is still on the host; the arrays.
    """
    key: list[int] = []
    flat: list[Any] = []
    for array in arrays:
        if array is None:
            key.append(0)
        elif type(array) is tuple:
            key.append(-1 - len(array))
            flat += array
            key += [id(a.aval) for a in array]
        elif type(array) is np.ndarray:
            return None, flat
        else:
            key.append(id(array.aval))
            flat.append(array)
    return tuple(key), flat


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
    return called(record, *inputs)


def _dispatched(record: Primitive, inputs: tuple[Any, ...], deferring: bool) -> Any:
    """Run a primitive on whatever inputs; record it if that is asked for and possible."""
    if current.mixed is not None and not isinstance(record, CastTo):
        inputs = prepared(current.mixed, record.name, inputs)
    arrays: list[Any] = []
    handles = raw = numbers = traced = False
    for x in inputs:
        if isinstance(x, Handle):
            x = x.peek()
            handles = True
            if type(x) is not ArrayImpl and isinstance(x, Tracer):
                traced = True
        elif isinstance(x, jax.Array):
            raw = True
            if isinstance(x, Tracer):
                traced = True
            else:
                x = in_order(x)
        elif x is None:
            pass
        elif isinstance(x, _PYTHON_NUMBERS):
            numbers = True
        elif isinstance(x, tuple | list):
            x, kinds = _nested(record, x)
            handles, raw, traced = handles | kinds[0], raw | kinds[1], traced | kinds[2]
        elif isinstance(x, np.ndarray | np.generic):
            numbers = numbers or isinstance(x, np.generic)
        elif isinstance(x, TracedNumber):
            numbers = traced = True
        elif type(x) is not Pending:
            kind = "a Tensor or a number" if record.promotes else "a Tensor"
            raise not_a_tensor(x, record.name.lstrip("_"), kind=kind)
        arrays.append(x)
    if numbers:
        _numbers_to_arrays(record, arrays)
    frame = current.frame
    if record.concrete and frame is not None:
        for x in inputs:
            if isinstance(x, Handle) and x._frame is None:
                frame.note_concrete(x)
    found = record._executable or executable(record)
    alone = frame is None and not traced
    deferring = deferring and alone and (handles or not raw)
    if current.tape is not None and handles:
        return _recorded(found, inputs, arrays, deferring)
    if traced and current.no_grad:
        arrays = jax.tree.map(jax.lax.stop_gradient, arrays)
    sharded = traced and spreading(record)
    if sharded:
        arrays = sharded.constrain(record, arrays)
        found = executable(sharded.spread(record, arrays))
    out = _run(found, inputs, arrays, deferring, traced)
    if sharded:
        out = sharded.constrain_outputs(record, arrays, out)
    if raw and not handles:
        return out
    result = wrap(out)
    if record.view and alone:
        _link_views(record, inputs, result)
    return result


def _at_once(record: Primitive, inputs: tuple[Any, ...], recording: Any, tape: Any) -> Any:
    """Record an op on Tensors that are seen before; the way that nearly every op goes.

    It does what `dispatch` does without what such an op does not need, and changes nothing where
    it gives NOT_DEFERRED. No frame, cast or trace of jax's may be active.
    """
    found = record._executable or executable(record)
    if not found.defers or recording.pressed:
        return NOT_DEFERRED
    key: list[Any] = [found]
    places = recording.places
    # For the tape: what the inputs hold, and where they stand on it.
    values: list[Any] = []
    parents: list[Any] = []
    tracked = False
    lock = recording.lock
    lock.acquire()
    try:
        for x in inputs:
            if isinstance(x, Handle):
                view = x._view
                if view is not None and view.follows and view.base_version() != view.seen:
                    return NOT_DEFERRED
                value = x._value
                if tape is not None:
                    if x.is_parameter:
                        position = tape.parameters.get(x)
                    else:
                        position = x._node
                        if position is not None and position[0].tape is not tape:
                            position = None
                    if position is not None:
                        tracked = True
                    values.append(value)
                    parents.append(position)
                if type(value) is Pending:
                    # None is traced here: the handle belongs to no frame.
                    if value.value is None:
                        if value.recording is not recording:
                            return NOT_DEFERRED
                        key.append(value.place)
                        continue
                    value = value.value
                    if type(value) is not ArrayImpl:
                        return NOT_DEFERRED
                    x._value = value
                elif type(value) is not ArrayImpl or x._frame is not None:
                    return NOT_DEFERRED
                reference = places.get(id(value)) or recording.leaf(value)
                if not reference:
                    return NOT_DEFERRED
                key.append(reference)
                continue
            if x is None:
                key.append(None)
                continue
            if type(x) is np.ndarray:
                reference = recording.leaf(x)
            elif type(x) in _SEQUENCES and tape is None:
                items = tuple([_held(v) for v in x])
                reference = NOT_DEFERRED if None in items else recording.refer(items, [])
                if type(reference) is not tuple:
                    return NOT_DEFERRED
                key.append(reference)
                continue
            elif type(x) in _PYTHON_NUMBERS and len(inputs) == 2 and record.promotes == _BOTH:
                other = inputs[0] if len(key) == 2 else inputs[1]
                if not isinstance(other, Handle):
                    return NOT_DEFERRED
                dtype = _np_dtype_beside(other._value.dtype, type(x), record.keeps_unsigned)
                reference = recording.leaf(number(x, dtype))
            else:
                return NOT_DEFERRED
            if not reference:
                return NOT_DEFERRED
            key.append(reference)
            if tape is not None:
                values.append(recording.leaves[leaf_place(reference)])
                parents.append(None)
        op = tuple(key)
        step = recording.step.next.get(op)
        if step is None:
            out = recording.follow(op)
            if out is NOT_DEFERRED:
                return out
        elif type(step.made) is Aval and step.number < MOST_OPS:
            # As `advance` does.
            out = Pending()
            out.aval, out.recording, out.place, out.value = step.made, recording, step.place, None
            recording.outputs[step.place] = out
            recording.step = step
        else:
            out = recording.advance(step)
        filling = recording.filling
    finally:
        lock.release()
    if type(out) is Pending:
        result: Any = _new(Handle.tensor_class)
        result._value = out
        result._frame = result._node = result._view = None
        result._version = 0
        if TRACK:
            track(result)
    else:
        result = wrap(out)
    if tracked and not record.constant:
        _note_at_once(tape, record, values, parents, key, filling, result)
    if found.view:
        _link_views(record, inputs, result)
    return result


def _held(value: Any) -> Any:
    """Give what a Tensor in a sequence holds, None where that takes more than a look."""
    if not isinstance(value, Handle) or value._frame is not None or value._view is not None:
        return None
    held = value._value
    return held if type(held) is Pending or type(held) is ArrayImpl else None


def _note_at_once(
    tape: Any,
    record: Primitive,
    values: list[Any],
    parents: list[Any],
    key: list[Any],
    filling: int,
    result: Any,
) -> None:
    """Add an op to the tape whose inputs hold no sequences."""
    hooks = current.saved_hooks
    node = _new(Node)
    node.tape, node.record, node.parents = tape, record, parents
    node.inputs = values if hooks is None else pack(values, *hooks)
    node.custom = node.residuals = node.leaf = None
    if len(values) == len(key) - 1:
        node.tree = _flat_tree(len(values))
    else:
        node.tree = _tree_of(tuple([reference is None for reference in key[1:]]))
    nodes = tape.nodes
    node.number = len(nodes)
    nodes.append(node)
    if type(result) is not tuple:
        held = result._value
        node.outputs, node.places = -1, (filling, key, held.place)
        if held.aval.real or (held.dtype != np.bool_ and _whole(parents, values)):
            result._node = (node, 0)
    else:
        node.outputs, node.places = len(result), (filling, key, result[0]._value.place)
        whole = _whole(parents, values)
        for i, tensor in enumerate(result):
            aval = tensor._value.aval
            if aval.real or (whole and aval.dtype != np.bool_):
                tensor._node = (node, i)


def _whole(parents: list[Any], values: list[Any]) -> bool:
    """Tell whether an integer input is differentiated."""
    return any(p is not None and not _inexact(v) for p, v in zip(parents, values, strict=True))


@functools.cache
def _flat_tree(count: int) -> Any:
    return jax.tree.structure((0,) * count)


@functools.cache
def _tree_of(missing: tuple[bool, ...]) -> Any:
    return jax.tree.structure(tuple(None if m else 0 for m in missing))


def _run(
    found: Executable,
    inputs: tuple[Any, ...],
    arrays: list[Any],
    deferring: bool,
    traced: bool = False,
) -> Any:
    """Record an op, or run it if it cannot wait."""
    if deferring and found.defers and untraced():
        out = defer(found, arrays)
        if out is not NOT_DEFERRED:
            return out
        arrays[:] = [settled(a) for a in arrays]
        out = execute(found, inputs, arrays, False)
        learn(found, arrays, out)
        return out
    arrays[:] = [settled(a) for a in arrays]
    out = execute(found, inputs, arrays, traced)
    if settings.waits and not traced:
        _wait_for(found, out)
    return out


def _wait_for(found: Executable, out: Any) -> None:
    """Wait for an op, and raise an error if its result holds a NaN and that is asked for.

    Raises:
        RuntimeError: it does.
    """
    for array in jax.tree.leaves(out):
        if not isinstance(array, jax.Array) or isinstance(array, Tracer):
            continue
        array.block_until_ready()
        if settings.check_nan and _inexact(array) and np.isnan(np.asarray(array)).any():
            record, where = found.record, ""
            while isinstance(record, Backward):
                record, where = record.record, "the gradient of "
            raise located(
                RuntimeError,
                f"The result of {where}'{record.name}', of shape {tuple(array.shape)}, holds NaN.",
            )


def _nested(record: Primitive, items: Any) -> tuple[tuple[Any, ...], tuple[bool, bool, bool]]:
    out, handles, raw, traced = [], False, False, False
    for x in items:
        if isinstance(x, Handle):
            handles, x = True, x.peek()
        elif isinstance(x, jax.Array):
            raw = True
        elif isinstance(x, tuple | list):
            x, kinds = _nested(record, x)
            handles, raw, traced = handles | kinds[0], raw | kinds[1], traced | kinds[2]
        elif isinstance(x, _PYTHON_NUMBERS):
            x = np.asarray(x, as_dtype(type(x)).np)
        elif isinstance(x, TracedNumber):
            traced, x = True, x.array.astype(as_dtype(x.kind).np)
        elif type(x) is not Pending and not isinstance(x, np.ndarray | np.generic):
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
    if isinstance(value, TracedNumber):
        return value.kind
    if isinstance(value, np.generic):
        value = value.item()
    return type(value) if isinstance(value, _PYTHON_NUMBERS) else None


def _numbers_to_arrays(record: Primitive, arrays: list[Any]) -> None:
    """Replace Python numbers by 0-d arrays of the dtype that promotion gives them."""
    common = None
    for i in record.promotes:
        if i < len(arrays) and isinstance(arrays[i], jax.Array | np.ndarray | Pending):
            dtype = from_np(arrays[i].dtype)
            common = dtype if common is None else promote_types(common, dtype)
    for i, x in enumerate(arrays):
        kind = None if x is None or isinstance(x, jax.Array | Pending) else _number_type(x)
        if kind is None:
            continue
        if common is not None and i in record.promotes:
            dtype = _dtype_beside(common, kind, record.keeps_unsigned)
        else:
            dtype = as_dtype(kind).np
        if type(x) is kind:
            arrays[i] = number(x, dtype)
        elif isinstance(x, TracedNumber):
            arrays[i] = traced_array(x, dtype)
        else:
            arrays[i] = number_array(x, dtype)


def _numbers_to_device(record: Primitive, arrays: list[Any]) -> bool:
    """Do what `_numbers_to_arrays` does, and put numbers that come again on the device.

    Returns:
        Whether all numbers are there.
    """
    if len(arrays) == 2 and record.promotes == _BOTH:
        place = 0 if type(arrays[1]) is ArrayImpl else 1
        other = arrays[1 - place]
        if type(other) is ArrayImpl:
            x = arrays[place]
            dtype = _np_dtype_beside(other.dtype, type(x), record.keeps_unsigned)
            array = number(x, dtype)
            kept = RESIDENT.get(id(array))
            arrays[place] = array if kept is None else kept[1]
            return kept is not None
    _numbers_to_arrays(record, arrays)
    for i, x in enumerate(arrays):
        kept = RESIDENT.get(id(x))
        if kept is not None:
            arrays[i] = kept[1]
    return np.ndarray not in map(type, arrays)


@functools.cache
def _np_dtype_beside(common: Any, kind: type, keeps_unsigned: bool) -> Any:
    return _dtype_beside(from_np(common), kind, keeps_unsigned)


@functools.cache
def _dtype_beside(common: Number, kind: type, keeps_unsigned: bool) -> Any:
    """Give the dtype of a Python number among Tensors of a dtype."""
    kept = keeps_unsigned and kind is int and common.kind == "uint"
    return common.np if kept else promote_scalar(common, kind).np


def _recorded(
    found: Executable, inputs: tuple[Any, ...], arrays: list[Any], deferring: bool
) -> Any:
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
        arrays = [settled(a) for a in arrays]
        out, vjp = execute(found, inputs, arrays, False, found.vjp)
        nested = isinstance(out, tuple | list)
        residuals = (vjp, list(out) if nested else [out], nested)
    else:
        out = _run(found, inputs, arrays, deferring)
    result = wrap(out)
    if tracked:
        flat, tree = jax.tree.flatten(tuple(arrays))
        _note(tape, record, flat, tree, parents, result, residuals)
    if record.view and current.frame is None:
        _link_views(record, inputs, result)
    return result


def _note(
    tape: Any,
    record: Primitive,
    flat: list[Any],
    tree: Any,
    parents: list[Any],
    result: Any,
    residuals: Any,
) -> None:
    """Add an op to the tape, and tell its outputs their places there."""
    whole = _whole(parents, flat)
    hooks = current.saved_hooks
    if hooks is not None:
        flat = pack(flat, *hooks)
    count = len(result) if isinstance(result, tuple) else -1
    node = tape.add(Node(tape, record, flat, tree, parents, count, residuals=residuals))
    for i, tensor in enumerate(result if count >= 0 else (result,)):
        if isinstance(tensor, Handle) and _differentiable(tensor._value, whole):
            tensor._node = (node, i)


def _inexact(array: Any) -> bool:
    return _is_inexact(array.dtype)


@functools.cache
def _is_inexact(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.inexact))


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
_Engine.install(called)
# They put themselves into the places for them.
importlib.import_module("mindjax.core.pullback")
importlib.import_module("mindjax.core.pair")
