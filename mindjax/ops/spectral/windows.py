"""Windows of signal processing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, float32, float64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.creation import as_tensor
from mindjax.ops.promotion import convert
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

_LONGEST = 1000000


class _Values(Primitive, register=False):
    """The numbers of a window, which are computed in double precision."""

    kind: str
    size: int
    periodic: bool
    dtype: Number
    parameters: tuple[float, ...] = ()

    def compute(self) -> Array:
        if self.size == 1:
            return jnp.ones(1, self.dtype.np)
        steps = jnp.arange(self.size, dtype=np.float64)
        along = steps / float(self.size if self.periodic else max(self.size - 1, 1))
        middle = 2 * along - 1
        if self.kind == "bartlett":
            values = 1 - jnp.abs(middle)
        elif self.kind == "kaiser":
            beta = jnp.float64(abs(self.parameters[0]))
            root = jnp.sqrt(jnp.maximum(1 - jnp.square(middle), 0.0))
            # Scaled functions: i0 itself overflows from about 700.
            ratio = jax.scipy.special.i0e(beta * root) / jax.scipy.special.i0e(beta)
            values = ratio * jnp.exp(beta * (root - 1))
        else:
            waves = [w * jnp.cos(2 * np.pi * k * along) for k, w in enumerate(self.parameters)]
            values = sum(waves[1:], waves[0])
        return convert(values, self.dtype.np)


def _made(kind: str, size: int, periodic: bool, dtype: Any, *parameters: float) -> Any:
    return as_tensor(_Values(kind, size, periodic, as_dtype(dtype), parameters)())


def _check(op: str, periodic: Any, dtype: Any) -> None:
    checks.boolean("periodic", periodic, op)
    kind = as_dtype(dtype)
    if kind.kind != "float":
        raise located(
            TypeError, f"For '{op}', the 'dtype' must be floating-point, but got {kind.name}."
        )


def _length(op: str, value: Any, rank: int) -> int:
    """Read the length of a window from a Tensor; it must be known, being the result's size."""
    shape = () if isinstance(value, int) else shape_of(value)
    if len(shape) != rank and not isinstance(value, int):
        raise located(
            ValueError,
            f"For '{op}', the 'window_length' must have rank {rank}, but got shape {shape}.",
        )
    length = checks.python_value(value)
    if isinstance(length, tuple) and len(length) != 1:
        raise located(
            ValueError,
            f"For '{op}', the 'window_length' must have one element, but got shape {shape}.",
        )
    size = checks.integer("window_length", length[0] if isinstance(length, tuple) else length, op)
    if not 0 <= size <= _LONGEST:
        raise located(
            ValueError,
            f"For '{op}', the 'window_length' must be in [0, {_LONGEST}], but got {size}.",
        )
    return size


class BartlettWindow(Primitive):
    """Triangle (MindSpore: ``ops.BartlettWindow``).

    Args:
        periodic: whether the window is one period of a longer one, else symmetric.
        dtype: floating-point dtype of the window.
    """

    periodic: bool = True
    dtype: Number = float32

    def __post_init__(self) -> None:
        _check("BartlettWindow", self.periodic, self.dtype)

    def __call__(self, window_length: Any) -> Any:
        """Make the window of a length that is a 0-d Tensor."""
        size = _length("BartlettWindow", window_length, 0)
        return _made("bartlett", size, self.periodic, self.dtype)


class BlackmanWindow(Primitive):
    """Sum of three cosines (MindSpore: ``ops.BlackmanWindow``).

    Args:
        periodic: whether the window is one period of a longer one, else symmetric.
        dtype: floating-point dtype of the window.
    """

    periodic: bool = True
    dtype: Number = float32

    def __post_init__(self) -> None:
        _check("BlackmanWindow", self.periodic, self.dtype)

    def __call__(self, window_length: Any) -> Any:
        """Make the window of a length that is a 0-d Tensor."""
        size = _length("BlackmanWindow", window_length, 0)
        return _made("cosines", size, self.periodic, self.dtype, 0.42, -0.5, 0.08)


class HammingWindow(Primitive):
    """Raised cosine (MindSpore: ``ops.HammingWindow``).

    Args:
        periodic: whether the window is one period of a longer one, else symmetric.
        alpha: constant part.
        beta: height of the cosine.
        dtype: floating-point dtype of the window.
    """

    periodic: bool = True
    alpha: float = 0.54
    beta: float = 0.46
    dtype: Number = float32

    def __post_init__(self) -> None:
        _check("HammingWindow", self.periodic, self.dtype)
        checks.of_type("alpha", self.alpha, float, "HammingWindow")
        checks.of_type("beta", self.beta, float, "HammingWindow")

    def __call__(self, window_length: Any) -> Any:
        """Make the window of a length that is a Tensor of shape (1,)."""
        size = _length("HammingWindow", window_length, 1)
        return _made("cosines", size, self.periodic, self.dtype, self.alpha, -self.beta)


def bartlett_window(window_length: Tensor, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Make a triangular window (MindSpore: ``ops.bartlett_window``).

    Args:
        window_length: 0-d integer Tensor, from 0 to 1000000.
        periodic: whether the window is one period of a longer one, else symmetric.
        dtype: floating-point dtype, Float32 by default.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: an argument is of another type.
        ValueError: the length is out of range, or no 0-d Tensor.
    """
    return BartlettWindow(periodic, float32 if dtype is None else dtype)(window_length)


def blackman_window(window_length: Tensor, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Make a window of three cosines (MindSpore: ``ops.blackman_window``).

    Args:
        window_length: 0-d integer Tensor, from 0 to 1000000.
        periodic: whether the window is one period of a longer one, else symmetric.
        dtype: floating-point dtype, Float32 by default.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: an argument is of another type.
        ValueError: the length is out of range, or no 0-d Tensor.
    """
    return BlackmanWindow(periodic, float32 if dtype is None else dtype)(window_length)


def _size(op: str, value: Any, periodic: Any, dtype: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        kind = type(value).__name__
        raise located(TypeError, f"For '{op}', the 'window_length' must be int, but got {kind}.")
    _check(op, periodic, dtype)
    return checks.non_negative_int("window_length", value, op)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
) -> Tensor:
    """Make a window that is a raised cosine (MindSpore: ``ops.hamming_window``).

    Args:
        window_length: size of the window.
        periodic: whether the window is one period of a longer one, else symmetric.
        alpha: constant part.
        beta: height of the cosine.
        dtype: floating-point dtype, by default Float32 (Float64 for sizes up to 1).

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``window_length`` is negative.
    """
    size = _size("hamming_window", window_length, periodic, dtype or float32)
    kind = dtype if dtype is not None else float32 if size > 1 else float64
    for name, value in (("alpha", alpha), ("beta", beta)):
        checks.of_type(name, value, (int, float), "hamming_window")
    return _made("cosines", size, periodic, kind, float(alpha), -float(beta))


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Make a window that is a raised cosine down to 0 (MindSpore: ``ops.hann_window``).

    Args:
        window_length: size of the window.
        periodic: whether the window is one period of a longer one, else symmetric.
        dtype: floating-point dtype, Float64 by default.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``window_length`` is negative.
    """
    kind = float64 if dtype is None else dtype
    size = _size("hann_window", window_length, periodic, kind)
    return _made("cosines", size, periodic, kind, 0.5, -0.5)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None
) -> Tensor:
    """Make a window of a Bessel function (MindSpore: ``ops.kaiser_window``).

    Args:
        window_length: size of the window.
        periodic: whether the window is one period of a longer one, else symmetric.
        beta: the larger, the narrower.
        dtype: floating-point dtype, Float64 by default.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``window_length`` is negative.
    """
    kind = float64 if dtype is None else dtype
    size = _size("kaiser_window", window_length, periodic, kind)
    checks.of_type("beta", beta, (int, float), "kaiser_window")
    return _made("kaiser", size, periodic, kind, float(beta))
