"""Overflow flags, and the parameter server's ops."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
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
    """A flag set to zero."""

    def compute(self, x: Array) -> Array:
        """Give zeros."""
        return jnp.zeros_like(x)


class NPUGetFloatStatus(Primitive):
    """The overflow register of Ascend devices, which XLA does not give."""

    def __call__(self, *inputs: Any) -> Any:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            "For 'NPUGetFloatStatus', there is no register of overflows to read: look at the "
            "gradients themselves, with ops.FloatStatus or ops.isfinite.",
        )


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
