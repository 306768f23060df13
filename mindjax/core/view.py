"""Aliasing of views in PYNATIVE: a view follows its base, and writes to it reach the base."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from mindjax.core import jax_private
from mindjax.core.handle import Handle, Tracer, current, wrap
from mindjax.core.primitive import Primitive


class Same(Primitive, register=False):
    """The same values: a Tensor that aliases another."""

    view = True

    def compute(self, x: Any) -> Any:
        """Return the values as they are."""
        return x


class ViewWrite(Primitive, register=False):
    """Write a value into a base where a view primitive reads it."""

    record: Primitive
    output: int = -1

    def compute(self, base: Any, value: Any, *operands: Any) -> Any:
        """Scatter by position: the view of an array of positions tells where each element goes."""
        positions = jnp.arange(base.size, dtype=jnp.int32).reshape(base.shape)
        where = self.record.compute(positions, *operands)
        if self.output >= 0:
            where = where[self.output]
        flat = base.reshape(-1).at[where.reshape(-1)].set(value.astype(base.dtype).reshape(-1))
        return flat.reshape(base.shape)


class View:
    """The link from a view handle to its base.

    Args:
        base: handle that is viewed.
        record: view primitive; its first input is the base.
        operands: the primitive's further inputs.
        output: which of the primitive's outputs the view is, -1 when it has one.
    """

    __slots__ = ("base", "follows", "operands", "output", "record", "seen")

    def __init__(
        self, base: Handle, record: Primitive, operands: tuple[Any, ...], output: int = -1
    ) -> None:
        self.base, self.record, self.operands, self.output = base, record, operands, output
        # MindSpore: writes to what advanced indexing gave reach the base, but not the other way.
        self.follows = True
        self.seen = base._version if base._view is None else self.base_version()

    def base_version(self) -> int:
        """Count the writes to the base and to everything it views."""
        version, base = 0, self.base
        while True:
            version += base._version
            if base._view is None:
                return version
            base = base._view.base

    def refresh(self, handle: Handle) -> None:
        """Read the view again if its base was written since."""
        version = self.base_version()
        if version == self.seen or not self.follows:
            return
        if jax_private.tracing() and not isinstance(self.base.array, Tracer):
            # What is not traced must not enter a trace that only reads it.
            with jax.ensure_compile_time_eval():
                fresh = self.record(self.base, *self.operands)
        else:
            fresh = self.record(self.base, *self.operands)
        if self.output >= 0:
            fresh = fresh[self.output]
        self.seen = version
        handle._value, handle._node = fresh._value, fresh._node

    def write(self, handle: Handle, value: Any, node: Any) -> None:
        """Write a new value of the view into its base."""
        source = wrap(value)
        source._node = node
        written = ViewWrite(self.record, self.output)(self.base, source, *self.operands)
        self.base.assign_value(written._value, written._node)
        self.seen = self.base_version()
        handle._value = value
        handle._node = node if current.tape is not None else None
