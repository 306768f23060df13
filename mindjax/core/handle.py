"""Handles: mutable objects on immutable arrays. `Tensor` and `Parameter` add the public faces."""

from __future__ import annotations

import importlib
import os
import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np
from jax.core import Tracer as Tracer

from mindjax.core import jax_private, world
from mindjax.core.errors import located
from mindjax.core.pending import Pending

if TYPE_CHECKING:
    from mindjax.core.state import StateFrame
    from mindjax.core.tape import Node, Tape
    from mindjax.core.view import View

_new = object.__new__
_SEQUENCES = (tuple, list)
Array = jax.Array
ArrayImpl = jax_private.ArrayImpl
_HELD = (ArrayImpl, Pending)
Numeric = (bool, int, float, complex, np.generic)


_set = threading.local.__setattr__
_SPECIAL = frozenset({"frame", "mixed", "recorder"})


class Current(threading.local):
    """What is active in this thread."""

    frame: StateFrame | None = None
    tape: Tape | None = None
    # Floating-point dtype that Parameters are cast to on use, set by `Cell.to_float`.
    mixed: Any = None
    # x64 setting of the user's code while a MindJAX trace runs around it.
    user_x64: Any = None
    # Whether ops that a graph holds take their inputs as constants.
    no_grad: bool = False
    # Functions that pack and unpack what the tape keeps.
    saved_hooks: Any = None
    # What notes gradients for `NPUGetFloatStatus`, outside graphs; see `StateFrame.overflow`.
    overflow: Any = None
    # Ops of this thread that wait to be run as one program.
    recording: Any = None
    # What gives the programs of records, in place of the executables' own, for an export.
    recorder: Any = None
    # What spreads this thread's programs over devices, in place of the context's choice.
    partitioner: Any = None
    # Whether a frame, a cast or a recorder is active: ops then do not go the short way.
    special: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value)
        if name in _SPECIAL:
            special = not (self.frame is None and self.mixed is None and self.recorder is None)
            _set(self, "special", special)


current = Current()

# Held from the check that a buffer has one owner until the donating program has written back, and
# by whoever takes a reference to a buffer from another thread. Reading a value needs no lock.
state_lock = threading.RLock()

TRACK = bool(os.environ.get("MINDJAX_TRACK_HANDLES"))
_LIVE: weakref.WeakSet[Handle] = weakref.WeakSet()


def track(handle: Handle) -> None:
    """Note a handle that was made without `_init_handle`, for `live_handles`."""
    _LIVE.add(handle)


def live_handles() -> list[Handle]:
    """List live handles; recorded only under the variable MINDJAX_TRACK_HANDLES."""
    return list(_LIVE)


class _LateTensor:
    """Stands for the class `Tensor` until it is first needed, and loads it then."""

    def __get__(self, instance: Any, owner: type[Handle]) -> Any:
        importlib.import_module("mindjax.tensor")
        return owner.__dict__["tensor_class"]


class Handle:
    """A mutable handle on an immutable array.

    The value may still be numpy (nothing is put on a device before it is used). A handle belongs to
    the frame in which it was made; other frames see it through their overlays.
    """

    __slots__ = ("__dict__", "__weakref__", "_frame", "_node", "_value", "_version", "_view")

    # tensor.py writes the class itself here: ops make Tensors, Tensor's methods are ops.
    tensor_class: ClassVar[Any] = _LateTensor()
    is_parameter: ClassVar[bool] = False
    # Whether `store` does more than to keep the value.
    stores: ClassVar[bool] = False

    _value: Any
    _frame: StateFrame | None
    _node: tuple[Node, int] | None
    _version: int
    _view: View | None

    def _init_handle(self, value: Any) -> None:
        self._value = value
        self._frame = current.frame
        self._node = None
        self._view = None
        self._version = 0
        if TRACK:
            _LIVE.add(self)

    __hash__ = object.__hash__

    @property
    def array(self) -> Any:
        """The array behind the handle, as the active frame sees it."""
        frame = current.frame
        if frame is not self._frame:
            if frame is None:
                return self._escaped()
            return frame.read(self)
        return self.local_value()

    def local_value(self) -> Any:
        """Give the handle's own value, past any overlay, on the device if it is not traced."""
        value = self._local()
        if type(value) is Pending:
            array = value.concrete()
            if self._value is value:
                self._value = array
            return array
        return value

    def _local(self) -> Any:
        """Give the handle's own value, which may be pending."""
        view = self._view
        if view is not None:
            view.refresh(self)
        value = self._value
        if type(value) is np.ndarray:
            if self._frame is not None:
                return value
            value = self._value = upload(value)
        return value

    def peek(self) -> Any:
        """Give what `array` gives, but leave a value pending that is recorded and not computed."""
        if current.frame is not None or self._frame is not None:
            return self.array
        return self._local()

    def _escaped(self) -> Any:
        if not isinstance(self._value, Tracer):
            self._frame = None
            return self.local_value()
        raise located(
            RuntimeError,
            "A Tensor made while a graph was compiled is used after it: return it from construct, "
            "or assign it to an attribute of the Cell.",
        )

    def assign_value(self, value: Any, node: tuple[Node, int] | None = None) -> Handle:
        """Replace the value, in the active frame if there is one.

        Args:
            value: array of any shape and dtype, or handle.
            node: tape position of the value, if it is being differentiated.

        Returns:
            The handle itself.

        Raises:
            RuntimeError: a jax trace that MindJAX did not start is running.
        """
        if isinstance(value, Handle):
            value, node = value.peek(), value._node
        if self.is_parameter:
            # MindSpore: what is written into a Parameter is a constant for gradients.
            node = None
            if isinstance(value, Tracer):
                value = jax.lax.stop_gradient(value)
        frame = current.frame
        if frame is not self._frame:
            if frame is None:
                self._escaped()
            else:
                frame.write(self, value)
                return self
        if frame is None and self.is_parameter and jax_private.tracing():
            raise located(
                RuntimeError,
                f"Parameter '{getattr(self, 'name', '')}' is written inside a jax transformation "
                "that MindJAX did not start: use mindjax.interop.functional(cell), which returns "
                "written Parameters as results.",
            )
        self._version += 1
        if self._view is not None:
            self._view.write(self, value, node)
            return self
        self._value = value
        tape = current.tape
        if tape is not None:
            tape.rebind(self, node)
        elif self._node is not None:
            self._node = None
        return self

    def store(self, value: Any) -> None:
        """Replace the value outside every frame and tape: a program's way to write back."""
        if self._view is not None:
            self.assign_value(value)
            return
        self._version += 1
        self._value, self._node = value, None

    def note_in_place(self) -> None:
        """Note that an in-place method writes: in a graph it reaches the caller's argument."""
        if current.frame is not None:
            current.frame.root_frame().in_place[self] = None

    def unlink(self) -> Handle:
        """Cut the alias to what this handle views, and give the handle."""
        if self._view is not None:
            self._view.refresh(self)
            self._view = None
        return self

    @property
    def value_shape(self) -> tuple[int, ...]:
        """Shape without putting anything on a device."""
        plain = current.frame is self._frame and self._view is None
        return (self._value if plain else self._raw()).shape

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """Numpy dtype without putting anything on a device."""
        return self._raw().dtype

    def _raw(self) -> Any:
        if current.frame is not self._frame:
            return self.array
        if self._view is not None:
            return self._local()
        return self._value


def upload(array: np.ndarray[Any, Any]) -> Array:
    """Put a numpy array on the default device, with its dtype as it is.

    Args:
        array: array of any dtype that jax knows; it is copied.

    Returns:
        The device array.
    """
    from mindjax.core.allocator import MAPPED_BYTES, fresh, prepare
    from mindjax.core.device import placement

    if array.nbytes < MAPPED_BYTES:
        copied = np.array(array, copy=True, order="C")
    else:  # XLA takes memory over that begins at a page: numpy's own would be copied once more
        copied = fresh(array.shape, array.dtype)
        np.copyto(copied, array)
    world.join()
    prepare()
    old = jax_private.swap_x64(True)
    try:
        with jax.ensure_compile_time_eval():
            return jax.device_put(copied, placement())
    finally:
        jax_private.set_x64(old)


def whole(array: Any) -> np.ndarray[Any, Any]:
    """Give an array's values on the host, without a copy where that is possible.

    Those that lie on several processes' devices are gathered: each process must ask.

    Args:
        array: numpy or jax array.
    """
    if not isinstance(array, jax.Array) or array.is_fully_addressable:
        return np.asarray(array)
    if array.is_fully_replicated:
        return np.asarray(array.addressable_data(0))
    gather = importlib.import_module("jax.experimental.multihost_utils").process_allgather
    with world.transport.waiting("a value that lies on several processes' devices"):
        return np.asarray(gather(array, tiled=True))


def spans_processes(array: Any) -> bool:
    """Tell whether parts of a jax array lie on other processes' devices only."""
    return isinstance(array, jax.Array) and not (
        array.is_fully_addressable or array.is_fully_replicated
    )


def own_part(array: Any) -> Any:
    """Give the part of an array that lies on this process's device; all of it in one process.

    Args:
        array: jax array over the devices of all processes.

    Raises:
        NotImplementedError: this process has several devices with parts that differ.
    """
    if not isinstance(array, jax.Array) or array.is_fully_addressable:
        return array
    parts = {str(shard.index): shard.data for shard in array.addressable_shards}
    if len(parts) > 1:
        raise located(
            NotImplementedError,
            f"This process has {len(parts)} parts of an array of shape {array.shape}: save the "
            "whole, with integrated_save=True, or start a process a device.",
        )
    return next(iter(parts.values()))


def joined(like: Any, part: np.ndarray[Any, Any]) -> Any:
    """Make the array over the devices of all processes of which each gives its own part.

    Args:
        like: array that lies as the new one.
        part: what `own_part` would give of the new one.
    """
    shards = [jax.device_put(part, device) for device in like.sharding.addressable_devices]
    return jax.make_array_from_single_device_arrays(like.shape, like.sharding, shards)


def host_view(handle: Handle) -> np.ndarray[Any, Any]:
    """Give a handle's own values as a read-only numpy array, without a copy where they are there.

    Args:
        handle: handle that is not traced.

    Returns:
        An array that must not be written to; it keeps the values alive.
    """
    return whole(handle.local_value())


def wrap(value: Any) -> Any:
    """Make Tensors of arrays, element by element in tuples and lists.

    Args:
        value: array, or tuple or list of such.

    Returns:
        A Tensor, or a tuple of such.
    """
    if isinstance(value, _SEQUENCES):
        return tuple([wrap(v) for v in value])
    if value is None:
        return None
    tensor = _new(Handle.tensor_class)
    # As `_init_handle` does.
    tensor._value, tensor._frame = value, current.frame
    tensor._node = tensor._view = None
    tensor._version = 0
    if TRACK:
        _LIVE.add(tensor)
    return tensor


def unwrap(value: Any) -> Any:
    """Give the arrays behind handles, element by element in tuples, lists and dicts."""
    if isinstance(value, Handle):
        return value.array
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)._make(unwrap(v) for v in value)  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value)(unwrap(v) for v in value)
    if isinstance(value, dict):
        return {k: unwrap(v) for k, v in value.items()}
    return value


def arrays_of(handles: Iterable[Handle]) -> list[Any]:
    """Give the arrays behind handles: many at once, without a call for each that has one."""
    if current.frame is not None:
        return [h.array for h in handles]
    return [
        h._value
        if type(h._value) is ArrayImpl and h._frame is None and h._view is None
        else h.array
        for h in handles
    ]


def peek_all(handles: Iterable[Handle]) -> list[Any]:
    """Give what handles hold, which may be pending, as `Handle.peek` does."""
    if current.frame is not None:
        return [h.array for h in handles]
    return [
        h._value if type(h._value) in _HELD and h._frame is None and h._view is None else h.peek()
        for h in handles
    ]


def store_all(handles: Iterable[Handle], values: Iterable[Any]) -> None:
    """Replace the values of handles, as `Handle.store` does; further values are left alone."""
    for handle, value in zip(handles, values, strict=False):
        if handle._view is not None or handle.stores:
            handle.store(value)
            continue
        handle._version += 1
        handle._value, handle._node = value, None


def peek(value: Any) -> Any:
    """Give what a handle holds, which may be pending; anything else as it is."""
    return value.peek() if isinstance(value, Handle) else value


def leaf(handle: Handle) -> Any:
    """Give what a handle holds, for jax's trees: an array, or whatever jax put in its place."""
    value = handle._value
    return handle.array if value is None or hasattr(value, "dtype") else value


def is_traced(value: Any) -> bool:
    """Tell whether an array is being traced by any jax transformation."""
    return isinstance(value, Tracer)
