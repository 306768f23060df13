"""Discrete Fourier transforms along one axis or several, their frequencies, and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, float32
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.creation import as_tensor
from mindjax.ops.linear.matrices import COMPLEX, REAL, accept
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...] | None

NORMS = ("backward", "forward", "ortho")
_SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_REAL = ("Int16", "Int32", "Int64", "Float16", "BFloat16", *REAL)
# XLA transforms at most three axes at once.
_AT_ONCE = 3


def wide(x: Array) -> Array:
    """Convert integers and half precision to Float32, which the transforms are computed in."""
    kept = jnp.issubdtype(x.dtype, jnp.complexfloating) or x.dtype in (np.float32, np.float64)
    return x if kept else convert(x, np.float32)


def transform(kind: str, x: Array, s: tuple[int, ...], axes: tuple[int, ...], norm: str) -> Array:
    """Transform an array.

    Args:
        kind: ``"fft"``, ``"ifft"``, ``"rfft"``, ``"irfft"``, ``"hfft"`` or ``"ihfft"``.
        x: floating-point or complex array.
        s: size of each axis: of the input, for ``irfft`` and ``hfft`` of the output's last one.
        axes: the axes, counted from the front; the last is the one that is halved.
        norm: ``"backward"``, ``"forward"`` or ``"ortho"``.

    Returns:
        The transformed array.
    """
    if kind == "hfft":
        return transform("irfft", jnp.conj(x), s, axes, _SWAPPED[norm])
    if kind == "ihfft":
        return jnp.conj(transform("rfft", x, s, axes, _SWAPPED[norm]))
    if len(axes) <= _AT_ONCE:
        return getattr(jnp.fft, f"{kind}n")(x, s, axes, norm)
    rest = (s[:-_AT_ONCE], axes[:-_AT_ONCE], norm)
    last = (s[-_AT_ONCE:], axes[-_AT_ONCE:], norm)
    if kind == "irfft":
        return transform(kind, transform("ifft", x, *rest), *last)
    return transform("fft" if kind == "rfft" else kind, transform(kind, x, *last), *rest)


class _Fourier(Primitive, register=False):
    """Base of the transforms.

    Args:
        s: size of each axis, padded with zeros or cut to; None for those of the input.
        dim: the axes; None for the last ones as ``s`` counts, or all.
        norm: where the transform is scaled.
    """

    s: Sizes = None
    dim: Sizes = None
    norm: str = "backward"
    kind: ClassVar[str] = "fft"

    def compute(self, x: Array) -> Array:
        """Transform an array."""
        real_only = self.kind in ("rfft", "ihfft")
        accept(self.name, _REAL if real_only else (*_REAL, *COMPLEX), input=x)
        if not x.ndim:
            raise located(
                ValueError, f"For '{self.name}', the 'input' must have an axis, but got a scalar."
            )
        dim, s = self.dim, self.s
        if dim is None:
            dim = tuple(range(x.ndim)) if s is None else tuple(range(-len(s), 0))
        axes = _unique(self.name, dim, x.ndim)
        if s is not None and len(s) != len(axes):
            raise located(
                ValueError,
                f"For '{self.name}', 's' and 'dim' must be of one length, but got {s} and {dim}.",
            )
        if not x.size:
            raise located(
                ValueError, f"For '{self.name}', the 'input' must not be empty, got {x.shape}."
            )
        sizes = tuple(x.shape[a] for a in axes) if s is None else s
        if s is None and self.kind in ("irfft", "hfft"):
            sizes = (*sizes[:-1], 2 * (sizes[-1] - 1))
        if not all(sizes):
            shape = list(x.shape)
            shape[axes[-1]] = 0
            return jnp.zeros(shape, np.real(np.zeros(0, wide(x).dtype)).dtype)
        return transform(self.kind, wide(x), sizes, axes, self.norm)


def _unique(op: str, dim: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return checks.axes_in_rank(dim, ndim, op, "dim")


class FFT(_Fourier):
    """Fourier transform of an axis (MindSpore's kernel of ``ops.fft``)."""


class FFT2(_Fourier):
    """Fourier transform of two axes (MindSpore's kernel of ``ops.fft2``)."""


class FFTN(_Fourier):
    """Fourier transform of axes (MindSpore's kernel of ``ops.fftn``)."""


class IFFT(_Fourier):
    """Inverse of `FFT` (MindSpore's kernel of ``ops.ifft``)."""

    kind: ClassVar[str] = "ifft"


class IFFT2(IFFT):
    """Inverse of `FFT2` (MindSpore's kernel of ``ops.ifft2``)."""


class IFFTN(IFFT):
    """Inverse of `FFTN` (MindSpore's kernel of ``ops.ifftn``)."""


class RFFT(_Fourier):
    """Half of the transform of real numbers (MindSpore's kernel of ``ops.rfft``)."""

    kind: ClassVar[str] = "rfft"


class RFFT2(RFFT):
    """Half of the transform of real matrices (MindSpore's kernel of ``ops.rfft2``)."""


class RFFTN(RFFT):
    """Half of the transform of real arrays (MindSpore's kernel of ``ops.rfftn``)."""


class IRFFT(_Fourier):
    """Inverse of `RFFT` (MindSpore's kernel of ``ops.irfft``)."""

    kind: ClassVar[str] = "irfft"


class IRFFT2(IRFFT):
    """Inverse of `RFFT2` (MindSpore's kernel of ``ops.irfft2``)."""


class IRFFTN(IRFFT):
    """Inverse of `RFFTN` (MindSpore's kernel of ``ops.irfftn``)."""


class HFFT(_Fourier):
    """Transform with a real result (MindSpore's kernel of ``ops.hfft``)."""

    kind: ClassVar[str] = "hfft"


class HFFT2(HFFT):
    """Transform of two axes with a real result (MindSpore's kernel of ``ops.hfft2``)."""


class HFFTN(HFFT):
    """Transform of axes with a real result (MindSpore's kernel of ``ops.hfftn``)."""


class IHFFT(_Fourier):
    """Inverse of `HFFT` (MindSpore's kernel of ``ops.ihfft``)."""

    kind: ClassVar[str] = "ihfft"


class IHFFT2(IHFFT):
    """Inverse of `HFFT2` (MindSpore's kernel of ``ops.ihfft2``)."""


class IHFFTN(IHFFT):
    """Inverse of `HFFTN` (MindSpore's kernel of ``ops.ihfftn``)."""


def checked_norm(op: str, norm: Any) -> str:
    """Check the argument 'norm'; None is ``"backward"``.

    Args:
        op: name of the op, for the message.
        norm: to be checked.

    Raises:
        ValueError: there is no such mode.
    """
    return "backward" if norm is None else checks.one_of("norm", norm, NORMS, op)


def checked_sizes(op: str, name: str, value: Any) -> Sizes:
    """Check sizes or None.

    Args:
        op: name of the op, for the message.
        name: of the argument.
        value: None, or a sequence of integers above 0.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size is below 1.
    """
    if value is None:
        return None
    sizes = checks.integers(name, value, op)
    for size in sizes:
        checks.positive_int(name, size, op)
    return sizes


def transform_axis(cls: type[_Fourier], op: str, x: Any, n: Any, dim: Any, norm: Any) -> Any:
    """Transform one axis.

    Args:
        cls: the transform.
        op: name of the op, for messages.
        x: Tensor.
        n: size of the axis, or None.
        dim: the axis.
        norm: where the transform is scaled, or None.

    Returns:
        Tensor.
    """
    s = None if n is None else checked_sizes(op, "n", (n,))
    return cls(s, (checks.integer("dim", dim, op),), checked_norm(op, norm))(x)


def transform_axes(cls: type[_Fourier], op: str, x: Any, s: Any, dim: Any, norm: Any) -> Any:
    """Transform several axes.

    Args:
        cls: the transform.
        op: name of the op, for messages.
        x: Tensor.
        s: sizes of the axes, or None.
        dim: the axes, or None.
        norm: where the transform is scaled, or None.

    Returns:
        Tensor.
    """
    if dim is not None:
        dim = checks.axis_or_axes("dim", dim, op)
        dim = (dim,) if isinstance(dim, int) else dim
    if isinstance(s, int) and not isinstance(s, bool):
        s = (s,)
    return cls(checked_sizes(op, "s", s), dim, checked_norm(op, norm))(x)


class _Shift(Primitive, register=False):
    """Base of the two shifts of an array of frequencies.

    Args:
        dim: the axes; None for all.
    """

    dim: Sizes = None
    back: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        """Roll the axes by half their size."""
        dim = tuple(range(x.ndim)) if self.dim is None else self.dim
        axes = _unique(self.name, dim, x.ndim)
        halves = [-(x.shape[a] // 2) if self.back else x.shape[a] // 2 for a in axes]
        return jnp.roll(x, halves, axes) if axes and x.ndim else x


class FFTShift(_Shift):
    """Frequency 0 in the middle (MindSpore's kernel of ``ops.fftshift``)."""


class IFFTShift(_Shift):
    """Inverse of `FFTShift` (MindSpore's kernel of ``ops.ifftshift``)."""

    back: ClassVar[bool] = True


def _axes(op: str, dim: Any) -> Sizes:
    axes = checks.axis_or_axes("dim", dim, op)
    return (axes,) if isinstance(axes, int) else axes


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Move frequency 0 to the middle (MindSpore: ``ops.fftshift``).

    Args:
        input: Tensor of any shape and dtype.
        dim: axis or axes; all by default.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``dim`` is no integer.
        ValueError: there is no such axis.
    """
    return FFTShift(_axes("fftshift", dim))(input)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Undo `fftshift` (MindSpore: ``ops.ifftshift``).

    Args:
        input: Tensor of any shape and dtype.
        dim: axis or axes; all by default.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``dim`` is no integer.
        ValueError: there is no such axis.
    """
    return IFFTShift(_axes("ifftshift", dim))(input)


class FFTFreq(Primitive):
    """Frequencies of a transform (MindSpore's kernel of ``ops.fftfreq``).

    Args:
        n: size of the transformed axis.
        d: distance of samples.
        dtype: of the result.
    """

    n: int
    d: float = 1.0
    dtype: Number = float32
    half: ClassVar[bool] = False

    def compute(self) -> Array:
        """Count up, then from the negative half."""
        count = self.n // 2 + 1 if self.half else self.n
        steps = jnp.arange(count, dtype=np.float64)
        if not self.half:
            steps = jnp.where(steps > (self.n - 1) // 2, steps - float(self.n), steps)
        return convert(steps / jnp.float64(self.n * self.d), self.dtype.np)


class RFFTFreq(FFTFreq):
    """Frequencies of a transform of real numbers (MindSpore's kernel of ``ops.rfftfreq``)."""

    half: ClassVar[bool] = True


def _frequencies(cls: type[FFTFreq], op: str, n: Any, d: Any, dtype: Any) -> Any:
    checks.of_type("d", d, (int, float), op)
    kind = float32 if dtype is None else as_dtype(dtype)
    checks.positive_int("n", n, op)
    return as_tensor(cls(int(n), float(d), kind)())


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """Give the frequencies that `fft` computes (MindSpore: ``ops.fftfreq``).

    Args:
        n: size of the transformed axis.
        d: distance of samples; the frequencies are in its inverse unit.
        dtype: of the result, Float32 by default.

    Returns:
        Tensor of shape (n,): 0, 1, ..., then -n // 2, ..., -1, over n d.

    Raises:
        TypeError: ``n`` is no integer, or ``d`` no number.
        ValueError: ``n`` is below 1.
    """
    return _frequencies(FFTFreq, "fftfreq", n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """Give the frequencies that `rfft` computes (MindSpore: ``ops.rfftfreq``).

    Args:
        n: size of the transformed axis.
        d: distance of samples; the frequencies are in its inverse unit.
        dtype: of the result, Float32 by default.

    Returns:
        Tensor of shape (n // 2 + 1,): 0, 1, ..., over n d.

    Raises:
        TypeError: ``n`` is no integer, or ``d`` no number.
        ValueError: ``n`` is below 1.
    """
    return _frequencies(RFFTFreq, "rfftfreq", n, d, dtype)
