"""The Fourier transform of windows of a signal, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.dataset.audio.enums import BorderType, WindowType

_BORDERS = {
    BorderType.CONSTANT: "constant",
    BorderType.EDGE: "edge",
    BorderType.REFLECT: "reflect",
    BorderType.SYMMETRIC: "symmetric",
}
_KAISER_BETA = 12.0


def window_of(kind: WindowType, length: int) -> Any:
    """Give one period of a window, in float64, with numbers of float32 as the original has."""
    return _exact_window(kind, length).astype(np.float32).astype(np.float64)


def _exact_window(kind: WindowType, length: int) -> Any:
    turn = 2 * math.pi * np.arange(length) / length
    if kind == WindowType.HANN:
        return 0.5 - 0.5 * np.cos(turn)
    if kind == WindowType.HAMMING:
        return 0.54 - 0.46 * np.cos(turn)
    if kind == WindowType.BLACKMAN:
        return 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2 * turn)
    if kind == WindowType.BARTLETT:
        return 1 - np.abs(2 * np.arange(length) / length - 1)
    return np.kaiser(length + 1, _KAISER_BETA)[:-1]


def padded(signal: Any, width: int, mode: BorderType) -> Any:
    """Continue a signal at both ends of its last axis."""
    if width == 0:
        return signal
    pads = [(0, 0)] * (signal.ndim - 1) + [(width, width)]
    return np.pad(signal, pads, mode=_BORDERS[mode])  # type: ignore[call-overload]


def full_window(window: Any, n_fft: int) -> Any:
    """Put a window in the middle of ``n_fft`` zeros."""
    left = (n_fft - len(window)) // 2
    return np.pad(window, (left, n_fft - len(window) - left))


def transform(
    signal: Any,
    window: Any,
    n_fft: int,
    hop: int,
    center: bool = True,
    mode: BorderType = BorderType.REFLECT,
    onesided: bool = True,
) -> Any:
    """Transform windows of a signal.

    Args:
        signal: array, shape (..., time), of float32 or float64.
        window: window, of at most ``n_fft`` samples.
        n_fft: length of a transform.
        hop: distance of two windows.
        center: whether the first window's middle is the first sample.
        mode: what the signal is continued with then.
        onesided: whether negative frequencies are left out.

    Returns:
        Complex array, shape (..., frequency, window).
    """
    if center:
        signal = padded(signal, n_fft // 2, mode)
    frames = np.lib.stride_tricks.sliding_window_view(signal, n_fft, axis=-1)[..., ::hop, :]
    scaled = frames * full_window(window, n_fft).astype(signal.dtype)
    spectrum = np.fft.rfft(scaled, axis=-1) if onesided else np.fft.fft(scaled, axis=-1)
    return np.swapaxes(spectrum, -1, -2)


def inverse(
    spectrum: Any,
    window: Any,
    n_fft: int,
    hop: int,
    length: int = 0,
    center: bool = True,
    onesided: bool = True,
) -> Any:
    """Add the windows of a spectrum up to a signal.

    Args:
        spectrum: complex array, shape (..., frequency, window).
        window: window, of at most ``n_fft`` samples.
        n_fft: length of a transform.
        hop: distance of two windows.
        length: number of samples of the result; 0 for all.
        center: whether the first window's middle is the first sample.
        onesided: whether negative frequencies are left out.

    Returns:
        Array of float64, shape (..., time).
    """
    rows = np.swapaxes(spectrum, -1, -2)
    frames = np.fft.irfft(rows, n_fft) if onesided else np.fft.ifft(rows, axis=-1).real
    weights = full_window(window, n_fft)
    total = n_fft + hop * (frames.shape[-2] - 1)
    signal = np.zeros((*frames.shape[:-2], total))
    envelope = np.zeros(total)
    for place in range(frames.shape[-2]):
        part = slice(place * hop, place * hop + n_fft)
        signal[..., part] += frames[..., place, :] * weights
        envelope[part] += weights**2
    start = n_fft // 2 if center else 0
    end = start + length if length else (total - n_fft // 2 if center else total)
    kept = signal[..., start:end] / np.where(envelope > 1e-11, envelope, 1)[start:end]
    if length > kept.shape[-1]:
        kept = np.pad(kept, [(0, 0)] * (kept.ndim - 1) + [(0, length - kept.shape[-1])])
    return kept


def vocode(spectrum: Any, rate: float, advance: Any) -> Any:
    """Stretch a spectrum in time and keep its pitch.

    Args:
        spectrum: complex array, shape (..., frequency, window).
        rate: factor of the speed.
        advance: phase that each frequency turns by between two windows, shape (frequency, 1).

    Returns:
        Complex array, shape (..., frequency, ceil(window / rate)).
    """
    if rate == 1:
        return spectrum
    # In float32, as in the original: 7 windows at a rate of 0.7 are 10.
    count = math.ceil(np.float32(spectrum.shape[-1]) / np.float32(rate))
    steps = np.arange(count) * rate
    shares = steps % 1.0
    first_phase = np.angle(spectrum[..., :1])
    more = np.pad(spectrum, [(0, 0)] * (spectrum.ndim - 1) + [(0, 2)])
    left = more[..., steps.astype(np.int64)]
    right = more[..., (steps + 1).astype(np.int64)]
    turned = np.angle(right) - np.angle(left) - advance
    turned -= 2 * math.pi * np.round(turned / (2 * math.pi))
    turned += advance
    phases = np.cumsum(np.concatenate([first_phase, turned[..., :-1]], -1), -1)
    sizes = shares * np.abs(right) + (1 - shares) * np.abs(left)
    return sizes * np.exp(1j * phases)


def as_pairs(values: Any, dtype: Any) -> Any:
    """Turn complex numbers into pairs of real and imaginary parts on a last axis."""
    return np.stack([values.real, values.imag], -1).astype(dtype)


def as_complex(pairs: Any) -> Any:
    """Turn pairs on the last axis into complex numbers of double precision."""
    return pairs[..., 0].astype(np.float64) + 1j * pairs[..., 1].astype(np.float64)
