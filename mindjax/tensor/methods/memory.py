"""Tensor methods about memory: storages, devices, bytes, files, other libraries' arrays."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.checks import boolean
from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, current, wrap

if TYPE_CHECKING:
    from mindjax.tensor.storage import UntypedStorage
    from mindjax.tensor.tensor import Tensor

_PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "ascend": "ascend", "tpu": "tpu"}


class MemoryMethods:
    """Methods about memory."""

    __slots__ = ()

    # What the original keeps for its own runtime; a Tensor here is always complete.
    const_arg = False
    delta_seed = 0
    init = None
    init_finished = True
    virtual_flag = False

    # -- what it is --

    @property
    def init_flag(self: Any) -> bool:
        """What `set_init_flag` noted."""
        return self.__dict__.get("_init_flag", False)

    def is_init(self: Any) -> bool:
        """Give what `set_init_flag` noted."""
        return self.init_flag

    def set_init_flag(self: Any, flag: bool) -> None:
        """Note whether the Tensor is initialized.

        Args:
            flag: what `is_init` gives from now on.
        """
        self._init_flag = bool(flag)

    @property
    def is_meta(self: Any) -> bool:
        """Whether the Tensor was made for the device ``"meta"``, which holds no values."""
        return self.__dict__.get("init_device") == "meta"

    def is_shared(self) -> bool:
        """Tell whether other processes share the values; they do not."""
        return False

    def hooks(self: Any) -> list[Any]:
        """List the gradient hooks that are registered."""
        return list(self.__dict__.get("_gradient_hooks", {}).values())

    @property
    def parent_tensor_(self: Any) -> Any:
        """The Tensor that this one is a view of, None if it is none."""
        return None if self._view is None else self._view.base

    @property
    def param_info(self) -> Any:
        """What a Parameter says of itself, None for a Tensor."""
        return None

    # -- storage --

    def storage(self: Any) -> UntypedStorage:
        """Give the bytes behind the Tensor (MindSpore: ``Tensor.storage``)."""
        from mindjax.tensor.storage import UntypedStorage

        return UntypedStorage.of(self)

    def untyped_storage(self: Any) -> UntypedStorage:
        """Give the bytes behind the Tensor (MindSpore: ``Tensor.untyped_storage``)."""
        return self.storage()

    def storage_offset(self: Any) -> int:
        """Give the place of the first element among those of the Tensor that this one views."""
        chain, base = [], self
        while base._view is not None:
            chain.append(base._view)
            base = base._view.base
        if not chain or 0 in self.shape:
            return 0
        places = wrap(np.arange(base.size, dtype=np.int64).reshape(base.shape))
        for view in reversed(chain):
            places = view.record(places, *view.operands)
            places = places[view.output] if view.output >= 0 else places
        return int(places.asnumpy().reshape(-1)[0])

    def set_(
        self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
    ) -> Tensor:
        """Let this Tensor show another's values (MindSpore: ``Tensor.set_``).

        Args:
            source: Tensor, whose alias this one becomes; storage, whose elements it shows; None for
                an empty Tensor.
            storage_offset: first element of a storage.
            size: shape of what is shown of a storage, by default all of it in one axis.
            stride: elements to step along each axis, by default those of a contiguous Tensor; with
                others the Tensor is a copy.

        Returns:
            The Tensor itself.

        Raises:
            TypeError: ``source`` is none of these, or its dtype differs.
            RuntimeError: a graph is being compiled.
        """
        from mindjax.tensor.storage import UntypedStorage

        if current.frame is not None:
            raise located(RuntimeError, "For 'Tensor.set_', a graph has no storages.")
        if source is None:
            shown = wrap(np.zeros((0,), self.value_dtype))
        elif isinstance(source, UntypedStorage):
            owner = source._owner()
            if owner.dtype is not self.dtype:
                raise located(
                    TypeError,
                    f"For 'Tensor.set_', the storage holds {owner.dtype}, but the Tensor is of "
                    f"{self.dtype}.",
                )
            flat = owner.reshape(-1)
            shape = (owner.size - storage_offset,) if size is None else tuple(size)
            steps = _contiguous(shape) if stride is None else tuple(stride)
            count = int(np.prod(shape, dtype=np.int64))
            if steps == _contiguous(shape):
                shown = flat[storage_offset : storage_offset + count].reshape(shape)
            else:
                places = sum(
                    (np.arange(n) * s).reshape(-1, *[1] * (len(shape) - k - 1))
                    for k, (n, s) in enumerate(zip(shape, steps, strict=True))
                )
                shown = flat[wrap(np.asarray(places, np.int64) + storage_offset)]
        elif isinstance(source, Handle):
            shown: Any = source
        else:
            raise located(
                TypeError,
                "For 'Tensor.set_', the 'source' must be a Tensor or a storage, but got "
                f"{type(source).__name__}.",
            )
        if shown.value_dtype != self.value_dtype:
            raise located(
                TypeError,
                f"For 'Tensor.set_', the 'source' must be of {self.dtype}, but got {shown.dtype}.",
            )
        self._view = None
        self._value, self._node = shown._raw(), shown._node
        self._version += 1
        if source is not None:
            self._alias(shown)
        return self

    def assign_value_cpp(self: Any, value: Any) -> Tensor:
        """Replace the value, as `assign_value` does.

        Args:
            value: Tensor of any shape.
        """
        return self.assign_value(value)

    def delete_(self: Any, non_blocking: bool = False) -> Tensor:
        """Free the device's memory; the values become zeros (MindSpore: ``Tensor.delete_``).

        Args:
            non_blocking: whether it may happen later; jax frees a buffer once nothing uses it.

        Returns:
            The Tensor itself.
        """
        boolean("non_blocking", non_blocking, "Tensor.delete_")
        self.assign_value(wrap(np.zeros(self.shape, self.value_dtype)))
        return self

    # -- devices --

    def move_to(self: Any, to: str, blocking: bool = True) -> Tensor:
        """Copy to a device (MindSpore: ``Tensor.move_to``); only in PYNATIVE.

        Args:
            to: ``"CPU"``, ``"GPU"`` or ``"Ascend"``.
            blocking: whether to wait for the copy.

        Returns:
            Tensor on that device.

        Raises:
            ValueError: an argument is wrong, or a graph is being compiled.
            RuntimeError: there is no such device.
        """
        if not isinstance(blocking, bool):
            raise located(ValueError, f"The type of 'blocking' must be bool, but got {blocking}")
        if to not in ("Ascend", "GPU", "CPU"):
            raise located(
                ValueError,
                f"The value of 'to' must be one of ['Ascend', 'GPU', 'CPU'], but got {to}",
            )
        if current.frame is not None:
            raise located(ValueError, "The method of 'move_to' only supported in PyNative mode.")
        moved = wrap(_on_platform(self, to))
        if blocking:
            moved.data_sync()
        return moved

    def to_(self: Any, device: str | None = None, non_blocking: bool = False) -> Tensor:
        """Move to a device in place (MindSpore: ``Tensor.to_``); only in PYNATIVE.

        Args:
            device: ``"CPU"``, ``"GPU"`` or ``"Ascend"``, with a number after a colon if there are
                several; None leaves the Tensor where it is.
            non_blocking: whether the copy may finish later.

        Returns:
            The Tensor itself.

        Raises:
            ValueError: no such device is known, or a graph is being compiled.
            RuntimeError: there is no such device.
        """
        if device is None:
            return self
        name = str(device)
        if name.split(":")[0].lower() not in _PLATFORMS:
            raise located(
                ValueError,
                f"The value of 'to' must be one of ['Ascend', 'GPU', 'CPU'], but got {device}",
            )
        if current.frame is not None:
            raise located(ValueError, "The method of 'to_' only supported in PyNative mode.")
        self.assign_value(_on_platform(self, name))
        if not non_blocking:
            self.data_sync()
        return self

    def pin_memory(self: Any) -> Tensor:
        """Copy to the host, from where the next op that uses the copy brings it to its device."""
        copy = wrap(self.asnumpy())
        copy._pinned = True
        return copy

    def is_pinned(self: Any) -> bool:
        """Tell whether `pin_memory` made the Tensor and no op has used it yet."""
        return self.__dict__.get("_pinned", False) and isinstance(self._value, np.ndarray)

    def data_sync(self: Any, need_wait: bool = True) -> None:
        """Bring the values to the device.

        Args:
            need_wait: whether to wait until they are computed.
        """
        value = self.array
        if need_wait and isinstance(value, jax.Array) and not isinstance(value, Tracer):
            value.block_until_ready()

    def wait_pipeline(self: Any) -> None:
        """Start all that computes the values; here ops start when they are called."""
        self.local_value()

    def flush_from_cache(self: Any) -> None:
        """Write a cached embedding back to the host; nothing is cached outside the Tensor here."""

    # -- bytes, files, other libraries --

    def get_bytes(self: Any) -> bytes:
        """Give the values as bytes, in C order."""
        return self.asnumpy().tobytes()

    @staticmethod
    def convert_bytes_to_tensor(data: bytes, shape: tuple[int, ...], dtype: Any) -> Tensor:
        """Make a Tensor of bytes that `get_bytes` gave.

        Args:
            data: the bytes.
            shape: shape of the Tensor.
            dtype: its element type.
        """
        return wrap(np.frombuffer(data, as_dtype(dtype).np).reshape(shape))

    def offload(self: Any, file_path: str) -> bool:
        """Write the values to a file and free the device's memory; the next use reads them again.

        Args:
            file_path: the file, which must stay while the Tensor is used.

        Returns:
            True.
        """
        values = self.asnumpy()
        values.tofile(file_path)
        if values.size:
            # A plain array on the file's pages.
            kept = np.asarray(np.memmap(file_path, values.dtype, "r", shape=values.shape or (1,)))
            self.assign_value(wrap(kept.reshape(values.shape)))
        self._offload_path = os.fspath(file_path)
        return True

    def offload_file_path(self: Any) -> str:
        """Give the file of `offload`, an empty string without one."""
        return self.__dict__.get("_offload_path", "")

    def to_dlpack(self: Any) -> Any:
        """Give a DLPack capsule of the values, which must not be written to."""
        return self.array.__dlpack__()

    @staticmethod
    def from_dlpack(data: Any) -> Tensor:
        """Make a Tensor of a DLPack capsule or of another library's array; the values are copied.

        Args:
            data: capsule, or object with ``__dlpack__``.
        """
        given = data if hasattr(data, "__dlpack__") else _Capsule(data)
        old = jax_private.swap_x64(True)
        try:
            # Not `copy=True`, which shares aligned memory of the host all the same. The owner may
            # write to it as soon as this returns.
            return wrap(jax.dlpack.from_dlpack(given).copy().block_until_ready())
        finally:
            jax_private.set_x64(old)

    # -- arithmetic on shapes --

    def sum_to_size(self: Any, *size: Any) -> Tensor:
        """Sum to a shape that broadcasts to this one (MindSpore: ``Tensor.sum_to_size``).

        Args:
            size: the shape, as ints or one tuple.

        Returns:
            Tensor of that shape.

        Raises:
            ValueError: the shape does not broadcast to this one.
        """
        wanted = tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size
        shape = self.shape
        lead = len(shape) - len(wanted)
        fits = lead >= 0 and all(
            w in (1, s) for w, s in zip(wanted, shape[max(lead, 0) :], strict=True)
        )
        if not fits:
            raise located(
                ValueError,
                f"For sum_to_size, size {wanted} is not expandable to the tensor size {shape}.",
            )
        summed = self
        axes = [i + lead for i, w in enumerate(wanted) if w == 1 and shape[i + lead] != 1]
        if axes:
            summed = summed.sum(tuple(axes), keepdims=True)
        return summed.sum(tuple(range(lead))) if lead else summed


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def _on_platform(tensor: Any, name: str) -> Any:
    """Copy a Tensor's array to a device that is named as MindSpore does."""
    kind, _, number = name.partition(":")
    index = int(number or 0)
    try:
        device = jax.devices(_PLATFORMS[kind.lower()])[index]
    except (RuntimeError, IndexError):
        raise located(
            RuntimeError, f"Unsupported device target {name}: jax finds no such device."
        ) from None
    old = jax_private.swap_x64(True)
    try:
        here = tensor.array
        if device in here.devices():
            return jax.numpy.array(here, copy=True)
        return jax.device_put(here, device)
    finally:
        jax_private.set_x64(old)


class _Capsule:
    """A DLPack capsule as an object that libraries take."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """Read the device out of the capsule: it stands behind the pointer to the data."""
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        address = pointer(self.capsule, b"dltensor")
        kind, number = (ctypes.c_int32 * 2).from_address(address + ctypes.sizeof(ctypes.c_void_p))
        return kind, number
