"""State: frames that overlay handles while a function is traced; pure bodies."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import eval_jaxpr

from mindjax.core import jax_private, world
from mindjax.core.errors import located
from mindjax.core.handle import Array, Handle, Tracer, current, state_lock, upload, wrap
from mindjax.core.pending import Pending
from mindjax.core.simulation import Blank
from mindjax.core.values import need_values


class _Epoch:
    """Counts changes that compiled programs depend on but do not take as inputs."""

    count = 0


def changed() -> None:
    """Note a change of `requires_grad`, `training` or of a Cell's attributes."""
    _Epoch.count += 1


def epoch() -> int:
    """Give the number of such changes so far."""
    return _Epoch.count


class StateFrame:
    """An overlay of handle values, active while a function is traced.

    Tracers live here and die with the frame. Frames nest: what is not overlaid here is looked up in
    the frame around, down to the handle itself.

    Args:
        values: overlay to begin with.
        root: whether the frame is a program's outermost: what it reads from outside is captured.
    """

    def __init__(self, values: Sequence[tuple[Handle, Any]] = (), root: bool = False) -> None:
        self.values: dict[Handle, Any] = dict(values)
        self.written: dict[Handle, None] = {}
        self.captured: dict[Handle, Array] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, Any]] = {}
        self.guards: dict[Any, None] = {}
        self.in_place: dict[Handle, None] = {}
        self.set_aside: list[tuple[Any, str, Any]] = []
        self.expected: dict[tuple[int, str], AttributeState] = {}
        self.fresh: dict[tuple[int, str], Any] = {}
        self.constants: list[tuple[AttributeState, Any]] = []
        self.unexpected: list[tuple[Any, str]] = []
        self.walked: set[Any] = set()
        self.concrete: dict[Handle, int] = {}
        self.root = root
        # Whether the trace may end where it needs values: whoever started it runs op by op then.
        self.may_leave = False
        self.errors: list[Any] = []
        # What notes gradients for `NPUGetFloatStatus`, between `NPUClearFloatStatus` and it.
        self.overflow: Any = None
        self.parent: StateFrame | None = None
        self._tape: Any = None

    def __enter__(self) -> StateFrame:
        self.parent, current.frame = current.frame, self
        # A tape outside must not record what is traced here: the body becomes one op for it.
        self._tape, current.tape = current.tape, None
        return self

    def __exit__(self, *exc: object) -> None:
        current.frame, current.tape = self.parent, self._tape

    def read(self, handle: Handle) -> Any:
        """Give a handle's value as this frame sees it."""
        frame: StateFrame | None = self
        while frame is not None:
            found = frame.values.get(handle)
            if found is not None:
                return found
            if handle._frame is frame:
                return handle.local_value()
            if frame.root:
                return frame._capture(handle)
            frame = frame.parent
        return outside_value(handle)

    def _capture(self, handle: Handle) -> Any:
        value = outside_value(handle)
        if isinstance(value, jax.Array) and not isinstance(value, Tracer):
            value = self.captured[handle] = fresh_value(handle)
            _remember(value, handle)
        self.values[handle] = value
        return value

    def note_concrete(self, handle: Handle) -> None:
        """Note that a handle's values, not only its shape, are used while tracing.

        Raises:
            RuntimeError: it is state, whose values a program must not keep.
        """
        root = self.root_frame()
        self.read(handle)
        if not root.root or handle not in root.captured:
            return
        if handle.is_parameter:
            if root.may_leave:
                raise need_values(f"the value of Parameter '{getattr(handle, 'name', '')}'")
            raise located(
                RuntimeError,
                f"The values of Parameter '{getattr(handle, 'name', '')}' are asked for (asnumpy, "
                "item, int(), if) while a graph is compiled, where it has none yet: compute with "
                "the Parameter itself, or run this part in PYNATIVE_MODE.",
            )
        root.concrete[handle] = version_of(handle)

    def write(self, handle: Handle, value: Any) -> None:
        """Overlay a handle's value."""
        self.values[handle] = value
        self.written[handle] = None

    def read_attribute(self, owner: Any, name: str) -> tuple[bool, Any]:
        """Look up an attribute written in this frame or in one around it."""
        frame: StateFrame | None = self
        while frame is not None:
            found = frame.attributes.get((id(owner), name))
            if found is not None:
                return True, found[1]
            frame = frame.parent
        return False, None

    def write_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Overlay an attribute of a Cell; its own value is set aside until the trace ends.

        Args:
            owner: object with a dict; its ``__getattr__`` asks the frame.
            name: attribute name.
            value: what this frame sees from now on.
        """
        root = self.root_frame()
        if name in owner.__dict__:
            # First there, then gone: another thread finds it in one place or the other.
            before = owner.__dict__[name]
            owner.__dict__.setdefault("_set_aside", {})[name] = before
            root.set_aside.append((owner, name, before))
            owner.__dict__.pop(name, None)
        self.attributes[id(owner), name] = (owner, value)

    def expect_attribute(self, owner: Any, name: str) -> None:
        """Make an attribute that the program will write an input of the program.

        Args:
            owner: the Cell.
            name: attribute whose value is an int, a float or a Tensor.
        """
        if (id(owner), name) in self.expected:
            return
        state = AttributeState(owner, name)
        self.expected[id(owner), name] = state
        # The Cell may be met first inside a frame within: the value is this frame's.
        value = self.fresh[id(owner), name] = wrap(self._capture(state))
        value._frame = self
        self.write_attribute(owner, name, value)

    def settle_attributes(self) -> None:
        """Turn the attributes that were written into outputs of the program."""
        for (key, name), (owner, value) in self.attributes.items():
            if self.fresh.get((key, name)) is value:
                continue
            state = self.expected.get((key, name))
            if state is None:
                state = AttributeState(owner, name)
                self.unexpected.append((owner, name))
            if isinstance(value, Handle):
                self.write(state, value.array)
            else:
                self.constants.append((state, value))

    def restore_attributes(self) -> None:
        """Put back what `write_attribute` set aside."""
        for owner, name, value in reversed(self.set_aside):
            aside = owner.__dict__.get("_set_aside", {})
            if aside.get(name, self) is value:
                owner.__dict__[name] = value
                aside.pop(name, None)
        self.set_aside.clear()

    def close(self) -> None:
        """Drop every traced value."""
        self.overflow = None
        self.values.clear()
        self.captured.clear()
        self.in_place.clear()
        self.attributes.clear()
        self.fresh.clear()
        self.walked.clear()

    def root_frame(self) -> StateFrame:
        """Give the outermost frame of the program that is being traced."""
        frame = self
        while not frame.root and frame.parent is not None:
            frame = frame.parent
        return frame


class AttributeState(Handle):
    """A Cell's attribute that a program writes: state, read from and written to its owner.

    Python numbers come back as Python numbers, but only when somebody looks (see
    `PendingNumber`), so that a step does not wait for the device.
    """

    is_parameter = True
    stores = True

    def __init__(self, owner: Any, name: str) -> None:
        self._init_handle(None)
        self._frame = None
        self.owner, self.name = owner, name

    def local_value(self) -> Any:
        """Read the attribute as an array."""
        attributes = self.owner.__dict__
        pending = attributes.get("_pending", {}).get(self.name)
        if pending is not None:
            return pending.array
        aside = attributes.get("_set_aside", {})
        value = aside[self.name] if self.name in aside else attributes[self.name]
        if isinstance(value, Handle):
            return outside_value(value)
        dtype = np.float32 if isinstance(value, float) else np.int64
        return upload(np.asarray(value, dtype))

    def peek(self) -> Any:
        """Read the attribute, as `array` does."""
        return self.array

    def assign_value(self, value: Any, node: Any = None) -> Handle:
        """Write the attribute."""
        if current.frame is not None:
            current.frame.write(self, value)
            return self
        if type(value) is Pending:
            value = value.concrete()
        attributes = self.owner.__dict__
        pending = attributes.setdefault("_pending", {})
        aside = attributes.get("_set_aside", {})
        before = pending.get(self.name, attributes.get(self.name, aside.get(self.name)))
        if isinstance(before, PendingNumber | int | float) and not isinstance(before, bool):
            kind = before.kind if isinstance(before, PendingNumber) else type(before)
            attributes.pop(self.name, None)
            pending[self.name] = PendingNumber(value, kind)
            # Another thread's trace must not put back what it set aside.
            aside.pop(self.name, None)
            return self
        tensor = wrap(value)
        tensor._node = node
        attributes[self.name] = tensor
        aside.pop(self.name, None)
        if not isinstance(before, Handle):
            changed()
        return self

    def store(self, value: Any) -> None:
        """Write the attribute."""
        self.assign_value(value)


class PendingNumber:
    """A Python number whose value a program has computed and nobody has read yet."""

    __slots__ = ("array", "kind")

    def __init__(self, array: Any, kind: type) -> None:
        self.array, self.kind = array, kind

    def read(self) -> Any:
        """Wait for the value."""
        return self.kind(np.asarray(self.array))


def outside_value(handle: Handle) -> Any:
    """Give a handle's own value, past every overlay."""
    frame, current.frame = current.frame, handle._frame
    try:
        return handle.local_value()
    finally:
        current.frame = frame


def version_of(handle: Handle) -> int:
    """Count the writes to a handle and to everything it views."""
    view = handle._view
    return handle._version + (0 if view is None else view.base_version())


def fresh_value(handle: Handle) -> Any:
    """Give a handle's own array as `fresh_array` does, also while other threads' programs run."""
    try:
        return fresh_array(outside_value(handle))
    except RuntimeError:
        # Given away to a program, which gives another back before it leaves the lock.
        with state_lock:
            return fresh_array(outside_value(handle))


_shards_lock = threading.Lock()


def fresh_array(array: Array) -> Array:
    """Make another object on the same buffers, so that a capture is told apart by identity."""
    if isinstance(array, Blank):
        return array.view(Blank)
    # jax lists an array's shards when they are first asked for: twice, if two threads ask at once.
    with _shards_lock:
        shards = [s.data for s in array.addressable_shards]
        return jax.make_array_from_single_device_arrays(array.shape, array.sharding, shards)


_tokens: dict[int, tuple[weakref.ref[Any], weakref.ref[Handle]]] = {}


def _remember(token: Array, handle: Handle) -> None:
    key = id(token)

    def forget(dead: weakref.ref[Any]) -> None:
        if _tokens.get(key, (None, None))[0] is dead:
            _tokens.pop(key, None)

    _tokens[key] = weakref.ref(token, forget), weakref.ref(handle)


def token_owner(array: Any) -> Handle | None:
    """Give the handle that an array was captured for, in whichever trace; None for others."""
    token, handle = _tokens.get(id(array), (None, None))
    return handle() if token is not None and handle is not None and token() is array else None


class _Rewriting:
    """How functions are prepared for a graph; `graph/syntax` fills it in."""

    convert: Callable[[Any], Any] = staticmethod(lambda function: function)


def in_user_x64(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a user's function with the user's own setting of 64-bit types."""
    if current.frame is not None:
        function = _Rewriting.convert(function)
    if current.user_x64 is None:
        return function(*args, **kwargs)
    old = jax_private.swap_x64(current.user_x64)
    try:
        return function(*args, **kwargs)
    finally:
        jax_private.set_x64(old)


class Wide:
    """64-bit types for a transformation; the user's function in it runs with the user's setting."""

    __slots__ = ("_old", "_user")

    def __enter__(self) -> None:
        self._user = current.user_x64
        if self._user is None:
            current.user_x64 = jax_private.x64_enabled()
        self._old = jax_private.swap_x64(True)

    def __exit__(self, *exc: object) -> None:
        jax_private.set_x64(self._old)
        current.user_x64 = self._user


_TRACED = object()


class Pure(NamedTuple):
    """A body on handles as a pure function.

    Attributes:
        call: ``call(reads, inputs) -> (outputs, writes)``, flat lists of arrays.
        reads: arrays that the body read from around it (traced or not), to be passed on.
        written: handles that the body wrote, in the order of ``writes``.
        result: what the body returned, with arrays in place of handles.
        attributes: (owner, name, value) of attributes that the body wrote; in place of a handle
            stands a mark, and its array comes after the ``writes`` of handles.
        jaxpr: what ``call`` evaluates.
    """

    call: Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]
    reads: list[Any]
    written: list[Handle]
    tree: Any
    attributes: list[tuple[Any, str, Any]]
    jaxpr: Any

    @property
    def traced_attributes(self) -> int:
        """How many of the ``writes`` are attributes."""
        return sum(value is _TRACED for _, _, value in self.attributes)

    def write_back(self, writes: Sequence[Any]) -> None:
        """Write what a call gave to the handles and attributes around it."""
        count = len(self.written)
        for handle, value in zip(self.written, writes[:count], strict=True):
            handle.assign_value(value)
        arrays = iter(writes[count:])
        for owner, name, value in self.attributes:
            fresh = wrap(next(arrays)) if value is _TRACED else value
            if current.frame is not None:
                current.frame.write_attribute(owner, name, fresh)


def purify(body: Callable[..., Any], inputs: Sequence[Any]) -> Pure:
    """Turn a body into a pure function: reads become arguments, writes become results.

    The body is traced once, here. It gets the arrays ``inputs`` and returns a tree of arrays.

    Args:
        body: function of arrays that may read and write handles.
        inputs: arrays (traced or not) or shapes of the arguments.

    Returns:
        The pure function with what it reads and writes.
    """
    frame = StateFrame()
    shape: dict[str, Any] = {}

    def traced(*arrays: Any) -> list[Any]:
        with frame:
            out = body(*arrays)
            leaves, shape["tree"] = jax.tree.flatten(out)
            shape["n"] = len(leaves)
            attributes = [(o, name, v) for (_, name), (o, v) in frame.attributes.items()]
            shape["attributes"] = [
                (o, name, _TRACED if isinstance(v, Handle) else v) for o, name, v in attributes
            ]
            return [
                *leaves,
                *(frame.values[h] for h in frame.written),
                *(v.array for _, _, v in attributes if isinstance(v, Handle)),
            ]

    old = jax_private.swap_x64(True)
    try:
        closed = jax.make_jaxpr(traced, axis_env=world.transport.axes)(
            *[jax.typeof(a) if not _is_aval(a) else a for a in inputs]
        )
    finally:
        jax_private.set_x64(old)
        frame.restore_attributes()
    count = shape["n"]
    # Not the closed one: jax's caches may keep the function, and must not keep the trace around.
    jaxpr = closed.jaxpr

    def call(reads: Sequence[Any], arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outs = eval_jaxpr(jaxpr, reads, *arrays)
        return outs[:count], outs[count:]

    reads, written = list(closed.consts), list(frame.written)
    return Pure(call, reads, written, shape["tree"], shape["attributes"], jaxpr)


def _is_aval(value: Any) -> bool:
    return isinstance(value, jax.ShapeDtypeStruct)
