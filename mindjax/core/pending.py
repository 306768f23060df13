"""Values that are recorded and not computed yet: what a handle holds in place of an array."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from mindjax.core.recording import Recording


_numbers = itertools.count()


class Aval:
    """Shape and dtype of a value; there is one object of each kind, compared by identity.

    Args:
        shape: sizes of the axes.
        dtype: numpy dtype.
        weak: whether jax lets other dtypes win over this one.
    """

    __slots__ = ("dtype", "nbytes", "number", "real", "shape", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], weak: bool) -> None:
        self.shape, self.dtype, self.weak = shape, dtype, weak
        # Whether jax differentiates by it.
        self.real = bool(jnp.issubdtype(dtype, jnp.inexact))
        self.nbytes = math.prod(shape) * dtype.itemsize
        # No other ever has it.
        self.number = next(_numbers)


class Failed:
    """Stands in place of a value that could not be computed.

    Args:
        error: why.
    """

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Pending:
    """An op's output that is recorded and not computed yet; `pending` makes one.

    It has no constructor of its own, since every recorded op makes one: that is a third faster.

    Attributes:
        aval: its shape and dtype.
        recording: the record that holds the op.
        place: where it stands there: number of the op, shifted, and of the output.
        value: the array, None until it is computed.
    """

    __slots__ = ("aval", "place", "recording", "value")

    aval: Aval
    recording: Recording
    place: int
    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Numpy dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.aval.shape)

    def concrete(self) -> Any:
        """Compute the value, with all that is recorded with it, and give the array.

        Raises:
            RuntimeError: the device could not compute it.
        """
        if self.value is None:
            self.recording.flush()
            assert self.value is not None, "a value that was read was taken for dead"
        if type(self.value) is Failed:
            raise self.value.error
        return self.value


def pending(aval: Aval, recording: Recording, place: int) -> Pending:
    """Make what stands for an op's output.

    Args:
        aval: its shape and dtype.
        recording: the record that holds the op.
        place: where it stands there.
    """
    made = Pending()
    made.aval, made.recording, made.place, made.value = aval, recording, place, None
    return made
