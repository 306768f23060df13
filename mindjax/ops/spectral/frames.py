"""Transforms with options as attributes, and of short frames of a signal: FFTWithSize, STFT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.matrices import COMPLEX, REAL, accept
from mindjax.ops.promotion import convert
from mindjax.ops.shape import shape_of
from mindjax.ops.spectral.transforms import NORMS, transform, wide

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class FFTWithSize(Primitive):
    """Fourier transform of the last axes (MindSpore: ``ops.FFTWithSize``).

    Args:
        signal_ndim: number of axes, 1 to 3.
        inverse: whether the inverse is meant.
        real: whether the signal is real.
        norm: ``"backward"``, ``"forward"`` or ``"ortho"``.
        onesided: whether a transform of real numbers has half the last axis only.
        signal_sizes: sizes of the signal, for the inverse of a half transform.
    """

    signal_ndim: int
    inverse: bool
    real: bool
    norm: str = "backward"
    onesided: bool = True
    signal_sizes: Any = ()

    def __post_init__(self) -> None:
        checks.of_type("signal_ndim", self.signal_ndim, int, "FFTWithSize")
        checks.in_range("signal_ndim", self.signal_ndim, 1, 3, "FFTWithSize", "[]")
        for flag in ("inverse", "real", "onesided"):
            checks.boolean(flag, getattr(self, flag), "FFTWithSize")
        checks.one_of("norm", self.norm, NORMS, "FFTWithSize")
        sizes = checks.integers("signal_sizes", self.signal_sizes, "FFTWithSize")
        if sizes and len(sizes) != self.signal_ndim:
            raise located(
                ValueError,
                f"For 'FFTWithSize', the 'signal_sizes' must be {self.signal_ndim} sizes, but got "
                f"{sizes}.",
            )

    def compute(self, x: Array) -> Array:
        """Transform the last axes."""
        if self.real and not self.inverse:
            integers = ("Bool", "UInt8", "Int8", "Int16", "Int32", "Int64")
            accept("FFTWithSize", (*integers, *REAL), x=x)
        else:
            accept("FFTWithSize", COMPLEX, x=x)
        if x.ndim < self.signal_ndim:
            raise located(
                ValueError,
                f"For 'FFTWithSize', the 'x' must have at least {self.signal_ndim} axes, but got "
                f"shape {x.shape}.",
            )
        axes = tuple(range(x.ndim - self.signal_ndim, x.ndim))
        sizes = tuple(x.shape[a] for a in axes)
        x = wide(x)
        if not self.real or not self.onesided:
            out = transform("ifft" if self.inverse else "fft", x, sizes, axes, self.norm)
            return jnp.real(out) if self.real and self.inverse else out
        if not self.inverse:
            return transform("rfft", x, sizes, axes, self.norm)
        full = tuple(self.signal_sizes) or (*sizes[:-1], 2 * (sizes[-1] - 1))
        if full[:-1] != sizes[:-1] or full[-1] // 2 + 1 != sizes[-1] or full[-1] < 1:
            raise located(
                ValueError,
                f"For 'FFTWithSize', the 'signal_sizes' {full} do not fit the half transform of "
                f"shape {x.shape}.",
            )
        return transform("irfft", x, full, axes, self.norm)


class STFT(Primitive):
    """Transform of short frames (MindSpore: ``ops.STFT``).

    Args:
        n_fft: size of a transform.
        hop_length: distance of frames.
        win_length: size of the window, up to ``n_fft``; zeros stand around it.
        normalized: whether the result is divided by the root of ``n_fft``.
        onesided: whether the half of the frequencies is given that determines the other.
        return_complex: whether the result is complex, else real and imaginary parts on a last axis.
    """

    n_fft: int
    hop_length: int
    win_length: int
    normalized: bool
    onesided: bool
    return_complex: bool

    def __post_init__(self) -> None:
        for name in ("n_fft", "hop_length", "win_length"):
            checks.of_type(name, getattr(self, name), int, "STFT")
            checks.positive_int(name, getattr(self, name), "STFT")
        for name in ("normalized", "onesided", "return_complex"):
            checks.boolean(name, getattr(self, name), "STFT")

    def compute(self, x: Array, window: Array | None) -> Array:
        """Transform frames of (time,) or (batch, time); the window None means ones."""
        accept("STFT", (*REAL, *COMPLEX), x=x)
        if window is None:
            window = jnp.ones(self.win_length, jnp.finfo(x.dtype).dtype)
        accept("STFT", (*REAL, *COMPLEX), window=window)
        if x.ndim not in (1, 2):
            raise located(
                ValueError, f"For 'STFT', the 'x' must have 1 or 2 axes, but got shape {x.shape}."
            )
        if window.shape != (self.win_length,):
            raise located(
                ValueError,
                f"For 'STFT', the 'window' must have shape ({self.win_length},), but got "
                f"{window.shape}.",
            )
        n = self.n_fft
        if not self.win_length <= n <= x.shape[-1]:
            raise located(
                ValueError,
                f"For 'STFT', 'n_fft' must lie between 'win_length' {self.win_length} and the "
                f"signal's size {x.shape[-1]}, but got {n}.",
            )
        dtype = np.result_type(x.dtype, window.dtype)
        before = (n - self.win_length) // 2
        padded = jnp.pad(convert(window, dtype), (before, n - self.win_length - before))
        count = 1 + (x.shape[-1] - n) // self.hop_length
        starts = np.arange(count, dtype=np.int32)[:, None] * np.int32(self.hop_length)
        frames = convert(x, dtype)[..., starts + np.arange(n, dtype=np.int32)] * padded
        real = not jnp.issubdtype(dtype, jnp.complexfloating)
        if self.onesided and not real:
            raise located(
                ValueError, "For 'STFT', 'onesided' must be False for complex signals or windows."
            )
        out = transform(
            "rfft" if self.onesided else "fft", frames, (n,), (frames.ndim - 1,), "backward"
        )
        out = jnp.swapaxes(out, -1, -2)
        if self.normalized:
            out = out / jnp.asarray(np.sqrt(n), out.real.dtype)
        return out if self.return_complex else jnp.stack([jnp.real(out), jnp.imag(out)], -1)


def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Transform short frames of a signal (MindSpore: ``ops.stft``).

    Args:
        x: Tensor of shape (time,) or (batch, time), Float32, Float64 or complex.
        n_fft: size of a transform.
        hop_length: distance of frames, ``n_fft // 4`` by default.
        win_length: size of the window, ``n_fft`` by default; zeros stand around it.
        window: Tensor of shape (win_length,), ones by default.
        center: whether frames are centered: the signal is padded by ``n_fft // 2`` at both ends.
        pad_mode: ``"REFLECT"``, ``"CONSTANT"`` or ``"SYMMETRIC"``.
        normalized: whether the result is divided by the root of ``n_fft``.
        onesided: whether the half of the frequencies is given that determines the other; by
            default for real signals and windows.
        return_complex: whether the result is complex, else real and imaginary parts on a last
            axis; by default for complex signals or windows.

    Returns:
        Tensor of shape (..., frequencies, frames), or with a last axis of size 2.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the sizes do not fit, or there is no such ``pad_mode``.
    """
    shape = shape_of(x)
    if len(shape) not in (1, 2):
        raise located(ValueError, f"For 'stft', 'x' must have 1 or 2 axes, but got shape {shape}.")
    for name, value in (("n_fft", n_fft), ("hop_length", hop_length), ("win_length", win_length)):
        if value is not None or name == "n_fft":
            checks.of_type(name, value, int, "STFT")
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    checks.boolean("center", center, "stft")
    if center:
        x = _padded(x, n_fft // 2, checks.one_of("pad_mode", pad_mode, tuple(_PADDED), "stft"))
    is_complex = any("omplex" in str(getattr(v, "dtype", "")) for v in (x, window))
    return STFT(
        n_fft,
        hop,
        size,
        normalized,
        not is_complex if onesided is None else onesided,
        is_complex if return_complex is None else return_complex,
    )(x, window)


_PADDED = {"REFLECT": "reflect", "CONSTANT": "constant", "SYMMETRIC": "symmetric"}


class _PadSignal(Primitive, register=False):
    """A signal continued at both ends of its last axis."""

    width: int
    mode: str

    def compute(self, x: Array) -> Array:
        size = x.shape[-1]
        most = {"reflect": size - 1, "symmetric": size}.get(self.mode, self.width)
        if self.width > most:
            raise located(
                ValueError,
                f"For 'stft', a signal of size {size} is too short to be padded by {self.width} "
                "at both ends: use a smaller 'n_fft' or center=False.",
            )
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(self.width, self.width)], self.mode)


def _padded(x: Any, width: int, mode: str) -> Any:
    return _PadSignal(width, _PADDED[mode])(x)
