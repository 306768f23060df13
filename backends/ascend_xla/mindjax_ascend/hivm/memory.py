"""The memories of an AI core: spaces with sizes and alignment, views of them, and their overlap."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

DTYPES: dict[str, np.dtype] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}
_POISON = 0xFF  # memory that nothing has written reads as NaN


class MemoryFault(RuntimeError):
    """An access outside of a memory or of a buffer, or at an address that is not aligned."""


@dataclass(frozen=True)
class Space:
    """A kind of memory: its size and the alignment of buffers in it, in bytes."""

    name: str
    size: int
    align: int


def spaces(attributes: str) -> dict[str, Space]:
    """The memories of a core as the module's target description gives them.

    Args:
        attributes: The module's attributes; `dlti.target_system_spec` has sizes in bits.

    Returns:
        The spaces `ub`, `cbuf` (L1), `cc` (L0C), `ca` (L0A) and `cb` (L0B).
    """

    def entry(key: str, default: int) -> int:
        found = re.search(rf'"{key}", (\d+) : i32', attributes)
        return (int(found[1]) if found else default) // 8

    # The defaults are Ascend910B1's, as bishengir-compile of ascendnpu-ir 1.2.0 prints them.
    return {
        "ub": Space("UB", entry("UB_SIZE", 1572864), entry("UB_ALIGN_SIZE", 256)),
        "cbuf": Space("L1", entry("L1_SIZE", 4194304), entry("L1_ALIGN_SIZE", 256)),
        "cc": Space("L0C", entry("L0C_SIZE", 1048576), entry("L0C_ALIGN_SIZE", 4096)),
        "ca": Space("L0A", entry("L0A_SIZE", 524288), 512),
        "cb": Space("L0B", entry("L0B_SIZE", 524288), 512),
    }


class Memory:
    """Bytes of one memory: a space of one core, or one buffer in global memory."""

    def __init__(self, name: str, size: int, align: int = 1) -> None:
        self.name = name
        self.align = align
        self.bytes = np.full(size, _POISON, np.uint8)

    @classmethod
    def holding(cls, name: str, array: np.ndarray) -> Memory:
        """A buffer of global memory that starts with an array's values."""
        memory = cls(name, array.nbytes)
        memory.bytes[:] = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        return memory


def width(element: str) -> int:
    """The number of bits of an element."""
    if element in DTYPES:
        return DTYPES[element].itemsize * 8
    if element == "i1":
        return 1
    raise MemoryFault(f"no element type {element}")


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in row-major order."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@dataclass(frozen=True)
class View:
    """Elements of a memory: `start` is in bits, strides are in elements.

    `low` and `high` bound the buffer that the view was cut from, in bits.
    """

    memory: Memory
    start: int
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    low: int
    high: int

    @classmethod
    def of(cls, memory: Memory, address: int, element: str, shape: Sequence[int]) -> View:
        """A whole buffer at a byte address.

        Raises:
            MemoryFault: It does not fit into the memory, or its address is not aligned.
        """
        bits = math.prod(shape) * width(element)
        start = address * 8
        if address % memory.align:
            raise MemoryFault(
                f"misaligned: {memory.name} address {address} is no multiple of {memory.align}"
            )
        if address < 0 or start + bits > memory.bytes.size * 8:
            raise MemoryFault(
                f"overflow: {memory.name} has {memory.bytes.size} bytes, a buffer takes "
                f"{address} to {address + -(-bits // 8)}"
            )
        return cls(memory, start, element, tuple(shape), contiguous(shape), start, start + bits)

    def recut(
        self,
        shape: Sequence[int],
        strides: Sequence[int],
        shift: int = 0,
        element: str | None = None,
    ) -> View:
        """Another view of the same buffer; `shift` is in elements of this view."""
        start = self.start + shift * width(self.element)
        return View(
            self.memory,
            start,
            element or self.element,
            tuple(shape),
            tuple(strides),
            self.low,
            self.high,
        )

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements."""
        return -(-self.size * width(self.element) // 8)

    def bounds(self) -> tuple[int, int]:
        """The first byte and the one behind the last."""
        if self.size == 0:
            return self.start // 8, self.start // 8
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        last = self.start + (reach + 1) * width(self.element)
        return self.start // 8, -(-last // 8)

    def check(self, aligned: bool) -> None:
        """Refuse what lies outside of the buffer, or starts at an address that is not aligned.

        Raises:
            MemoryFault: The view does.
        """
        first, behind = self.bounds()
        if first * 8 < self.low // 8 * 8 or behind > -(-self.high // 8):
            raise MemoryFault(
                f"overflow: {self.memory.name} bytes {first} to {behind} lie outside of their "
                f"buffer, {self.low // 8} to {-(-self.high // 8)}"
            )
        if aligned and self.size and (self.start % 8 or first % self.memory.align):
            raise MemoryFault(
                f"misaligned: {self.memory.name} address {first} is no multiple of "
                f"{self.memory.align}"
            )

    def _positions(self) -> np.ndarray:
        """The bit number of each element."""
        index = np.full(self.shape, self.start, np.int64)
        for axis, (count, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            steps = np.arange(count) * stride * width(self.element)
            index += steps.reshape([-1 if k == axis else 1 for k in range(len(self.shape))])
        return index

    def _window(self) -> np.ndarray:
        dtype = DTYPES[self.element]
        strides = [s * dtype.itemsize for s in self.strides]
        return np.ndarray(self.shape, dtype, self.memory.bytes.data, self.start // 8, strides)

    def read(self) -> np.ndarray:
        """A copy of the elements; bits (`i1`) come as booleans."""
        if self.element == "i1":
            bits = self._positions()
            return ((self.memory.bytes[bits >> 3] >> (bits & 7)) & 1).astype(bool)
        return self._window().copy()

    def write(self, values: np.ndarray) -> None:
        """Set the elements; values are converted to the element type."""
        values = np.broadcast_to(values, self.shape)
        if self.element == "i1":
            bits = self._positions().ravel()
            one = (np.uint8(1) << (bits & 7).astype(np.uint8)).astype(np.uint8)
            np.bitwise_and.at(self.memory.bytes, bits >> 3, ~one)
            np.bitwise_or.at(self.memory.bytes, bits >> 3, np.where(values.ravel(), one, 0))
        else:
            with np.errstate(all="ignore"):  # a value too large for its type is the hardware's too
                self._window()[...] = values.astype(DTYPES[self.element])

    def mask(self, first: int, behind: int) -> np.ndarray:
        """Which bytes from `first` up to `behind` belong to elements."""
        found = np.zeros(behind - first, bool)
        bits = self._positions().ravel()
        step = max(width(self.element) // 8, 1)
        at = (bits >> 3) - first
        for byte in range(step):
            inside = (at + byte >= 0) & (at + byte < found.size)
            found[at[inside] + byte] = True
        return found

    def overlaps(self, other: View) -> bool:
        """Whether some byte belongs to both views."""
        if self.memory is not other.memory or not self.size or not other.size:
            return False
        first = max(self.bounds()[0], other.bounds()[0])
        behind = min(self.bounds()[1], other.bounds()[1])
        if first >= behind:
            return False
        if self._dense() and other._dense():
            return True
        return bool((self.mask(first, behind) & other.mask(first, behind)).any())

    def _dense(self) -> bool:
        first, behind = self.bounds()
        return behind - first == self.nbytes
