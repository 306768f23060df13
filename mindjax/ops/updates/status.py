"""Overflow flags, and the parameter server's ops."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.core.primitive import Primitive
from mindjax.ops.creation import zeros

Array = jax.Array


class FloatStatus(Primitive):
    """Whether a Tensor holds an infinity or NaN: Float32 of shape (1,), 0 or 1."""

    def compute(self, x: Array) -> Array:
        """Look at every element."""
        checks.floating("x", x.dtype, self.name)
        return (~jnp.all(jnp.isfinite(x))).astype(np.float32).reshape(1)


class AllFinite(Primitive):
    """Whether one of several Tensors holds an infinity or NaN: Bool of shape ().

    MindSpore: ``ops.operations.nn_ops.AllFinite``, which is true where not all is finite.
    """

    def compute(self, xs: Any) -> Array:
        """Look at every element."""
        flags = [jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(xs)]
        return ~jnp.all(jnp.stack(flags)) if flags else jnp.zeros((), bool)


class NPUAllocFloatStatus(Primitive):
    """A flag without overflow: Float32 zeros of shape (8,)."""

    def __call__(self) -> Any:
        """Make the flag."""
        return zeros((8,))


class NPUClearFloatStatus(Primitive):
    """Begin to look for overflow (MindSpore: ``ops.NPUClearFloatStatus``).

    From here to `NPUGetFloatStatus`, gradients that are not finite count as an overflow. An Ascend
    device also counts other results, which XLA does not report.
    """

    def __call__(self, x: Any) -> Any:
        """Clear.

        Args:
            x: the flag of `NPUAllocFloatStatus`, (8,), Float16 or Float32.

        Returns:
            Zeros like the flag.

        Raises:
            TypeError: ``x`` is no Tensor of Float16 or Float32.
        """
        _holder().overflow = OverflowRegister()
        return _Zeros()(_flag(self, x))


class NPUGetFloatStatus(Primitive):
    """Tell whether there was an overflow (MindSpore: ``ops.NPUGetFloatStatus``)."""

    def __call__(self, x: Any) -> Any:
        """Write ones into the flag if there was an overflow since `NPUClearFloatStatus`.

        Args:
            x: the flag of `NPUAllocFloatStatus`, (8,), Float16 or Float32.

        Returns:
            The flag.

        Raises:
            TypeError: ``x`` is no Tensor of Float16 or Float32.
            RuntimeError: nothing was cleared before, here or in the same graph.
        """
        flag, holder = _flag(self, x), _holder()
        register, holder.overflow = holder.overflow, None
        if register is None:
            raise located(
                RuntimeError,
                "For 'NPUGetFloatStatus', there is no 'NPUClearFloatStatus' before it in the same "
                "function: call it before the gradients are computed.",
            )
        flag.assign_value(register.read(flag))
        return flag


class OverflowRegister:
    """What stands for the register of an Ascend device: whether gradients were not finite."""

    def __init__(self) -> None:
        self.found = zeros(())

    def note(self, gradients: list[Any]) -> None:
        """Look at gradients."""
        floating = [g for g in gradients if jnp.issubdtype(g.value_dtype, jnp.inexact)]
        if floating:
            self.found.assign_value(_Overflow()(self.found, tuple(floating)))

    def read(self, flag: Any) -> Any:
        """Give the register in the shape and dtype of a flag."""
        return _Spread()(flag, self.found)


class _Zeros(Primitive, register=False):
    def compute(self, x: Array) -> Array:
        return jnp.zeros_like(x)


class _Overflow(Primitive, register=False):
    def compute(self, found: Array, xs: Any) -> Array:
        return jnp.maximum(found, AllFinite().compute(xs).astype(found.dtype))


class _Spread(Primitive, register=False):
    def compute(self, flag: Array, found: Array) -> Array:
        return jnp.full_like(flag, found.astype(flag.dtype))


def _holder() -> Any:
    """Give what holds the register: the graph that is being traced, or the thread."""
    return current if current.frame is None else current.frame.root_frame()


def _flag(record: Primitive, x: Any) -> Any:
    if not isinstance(x, Handle) or x.value_dtype.name not in ("float16", "float32"):
        kind = x.value_dtype.name if isinstance(x, Handle) else type(x).__name__
        raise located(
            TypeError,
            f"For '{record.name}', the 'x' must be a Tensor of Float16 or Float32, but got {kind}.",
        )
    return x


class _ParameterServer(Primitive, register=False):
    """Base of ops that talk to a parameter server, which there is none of."""

    def __call__(self, *inputs: Any) -> Any:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            f"For '{self.name}', there is no parameter server: run the optimizer where "
            "the Parameters are, as mindspore.nn's optimizers do.",
        )


class Push(_ParameterServer):
    """Send an optimizer's inputs to a parameter server.

    Args:
        optim_type: name of the optimizer primitive.
        only_shape_indices: positions of inputs of which only the shape is sent.
    """

    optim_type: str = "ApplyMomentum"
    only_shape_indices: Any = None


class Pull(_ParameterServer):
    """Fetch a weight from a parameter server."""
