"""The memory behind Tensors: `UntypedStorage`, `frombuffer`, `swap_tensors`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.core.state import changed
from mindjax.tensor.tensor import Tensor


class UntypedStorage:
    """The bytes of a Tensor (MindSpore: ``UntypedStorage``); `Tensor.untyped_storage` gives one.

    It follows the Tensor, and writes reach it.
    """

    def __init__(self) -> None:
        self._tensor: Any = None

    @classmethod
    def of(cls, tensor: Any) -> UntypedStorage:
        """Give the storage of a Tensor, for a view that of what it views."""
        while tensor._view is not None:
            tensor = tensor._view.base
        storage = cls()
        storage._tensor = tensor
        return storage

    def _owner(self) -> Any:
        if self._tensor is None:
            raise located(RuntimeError, "The storage belongs to no Tensor.")
        return self._tensor

    @property
    def dtype(self) -> Any:
        """Element type of the Tensor."""
        return self._owner().dtype

    @property
    def device(self) -> str:
        """Name of the device that holds the bytes."""
        return self._owner().device

    def element_size(self) -> int:
        """Give the bytes of one element of the storage."""
        return 1

    def nbytes(self) -> int:
        """Give the number of bytes."""
        return self._owner().nbytes

    def size(self) -> int:
        """Give the number of bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def data_ptr(self) -> int:
        """Give the address of the first byte."""
        return self._owner().data_ptr()

    def is_shared(self) -> bool:
        """Tell whether processes share the bytes; they do not."""
        return False

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy another storage's bytes.

        Args:
            source: storage of as many bytes.
            non_blocking: whether the copy may finish later; jax copies in the background anyway.

        Returns:
            The storage itself.

        Raises:
            RuntimeError: the sizes differ.
        """
        tensor, given = self._owner(), source._owner()
        if tensor.nbytes != given.nbytes:
            raise located(
                RuntimeError,
                f"For 'UntypedStorage.copy_', the sizes must be equal, but got {self.nbytes()} and "
                f"{source.nbytes()} bytes.",
            )
        values = np.frombuffer(given.get_bytes(), tensor.dtype.np).reshape(tensor.shape)
        tensor.assign_value(Tensor.from_numpy(values))
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Change the number of bytes, which is the Tensor's: only its own is possible.

        Raises:
            NotImplementedError: another size is asked for.
        """
        if size != self.nbytes():
            raise located(
                NotImplementedError,
                f"For 'UntypedStorage.resize_', jax's arrays keep their size, {self.nbytes()} "
                f"bytes, but got {size}: make a new Tensor.",
            )
        return self


def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """Make a Tensor of an object's bytes, which are copied when it is first used.

    MindSpore: ``frombuffer``.

    Args:
        buffer: object with the buffer interface.
        dtype: element type.
        count: number of elements; -1 for all.
        offset: byte of the first one.

    Returns:
        Tensor of shape (count,).

    Raises:
        RuntimeError: the bytes do not hold these elements.
    """
    size, item = memoryview(buffer).nbytes, as_dtype(dtype).np.itemsize
    left = size - offset
    reason = ""
    if count < -1:
        reason = f"'count' must be -1 or positive, but got {count}"
    elif size <= 0 or count == 0:
        reason = f"the buffer and 'count' must not be empty, but got {size} bytes and {count}"
    elif not 0 <= offset < size:
        reason = f"'offset' must be in [0, {size - 1}], but got {offset}"
    elif count == -1 and left % item:
        reason = f"{left} bytes are no whole number of elements of {item} bytes"
    elif count * item > left:
        reason = f"{left} bytes are too few for {count} elements of {item} bytes"
    if reason:
        raise located(RuntimeError, f"For 'frombuffer', {reason}.")
    return Tensor.from_numpy(np.frombuffer(buffer, as_dtype(dtype).np, count, offset))


_SLOTS = ("_frame", "_node", "_value", "_version", "_view")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two Tensors' values, classes and attributes; the objects stay (MindSpore:
    ``swap_tensors``).

    Args:
        t1: first Tensor or Parameter.
        t2: second one.

    Raises:
        TypeError: an argument is no Tensor.
        RuntimeError: a graph is being compiled.
    """
    for t in (t1, t2):
        if not isinstance(t, Handle):
            raise located(
                TypeError, f"For 'swap_tensors', Tensors are needed, but got {type(t).__name__}."
            )
    if current.frame is not None:
        raise located(RuntimeError, "'swap_tensors' works in PYNATIVE_MODE only.")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in _SLOTS:
        first, second = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, second)
        setattr(t2, slot, first)
    # A number that neither has had: who noted one looks at the value again.
    t1._version = t2._version = max(t1._version, t2._version) + 1
    changed()
