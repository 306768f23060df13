"""Values that lie with others in one buffer: a Handle reads its own when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import jax
import numpy as np

from mindjax.core.handle import Handle, upload, wrap
from mindjax.core.view import Same, View


class Source(Protocol):
    """What holds the values.

    Attributes:
        generation: counts the times that they were written.
    """

    generation: int

    def read(self, number: int) -> Any:
        """Give one of the values, on the host."""
        ...


class Elsewhere(View):
    """The link from a Handle to its value in a source; writing to the Handle cuts it.

    Args:
        source: holds the values.
        number: of the Handle's.
    """

    __slots__ = ("_number", "_source")

    def __init__(self, source: Source, number: int) -> None:
        self._source, self._number = source, number
        self.record, self.operands, self.output, self.follows = Same(), (), -1, True
        self.seen = -1

    def holds(self, handle: Handle) -> bool:
        """Tell whether the source has the Handle's value."""
        return handle._view is self

    def adopt(self, handle: Handle, shape: Sequence[int], dtype: Any, written: bool) -> None:
        """Let a Handle read its value in the source from now on.

        Args:
            handle: the Handle.
            shape: of its value.
            dtype: of its value.
            written: whether the value is another than it was.
        """
        if written:
            handle._version += 1
            handle._node = None
        elif self.holds(handle):
            return
        self.seen = -1
        # What was read before would be a second copy.
        handle._value = jax.ShapeDtypeStruct(tuple(shape), dtype)
        handle._view = self

    @property
    def base(self) -> Any:  # type: ignore[override]
        """A Tensor of the same value."""
        return wrap(self._source.read(self._number))

    def base_version(self) -> int:
        """Give 0: writes are counted on the Handle."""
        return 0

    def refresh(self, handle: Handle) -> None:
        """Read the value, if the source has changed since."""
        if self.seen != self._source.generation:
            self.seen = self._source.generation
            handle._value = upload(np.ascontiguousarray(self._source.read(self._number)))

    def write(self, handle: Handle, value: Any, node: Any) -> None:
        """Give the Handle a value of its own."""
        handle._view = None
        handle._value, handle._node = value, node
