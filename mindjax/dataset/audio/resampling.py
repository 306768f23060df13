"""Resampling by band-limited interpolation."""

from __future__ import annotations

import math

import numpy as np

from mindjax.dataset.audio.enums import ResampleMethod
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_between,
    check_count,
    check_positive,
    single,
    to_float,
)
from mindjax.dataset.engine.checks import check_type

_KAISER_BETA = 14.769656459379492


def resample(
    signal: np.ndarray,
    before: int,
    after: int,
    method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
    width: int = 6,
    rolloff: float = 0.99,
    beta: float = _KAISER_BETA,
) -> np.ndarray:
    """Bring a signal to another rate.

    Args:
        signal: array, shape (..., time).
        before: its rate, in Hz.
        after: the new rate, in Hz.
        method: window of the filter.
        width: zero crossings of the filter on each side.
        rolloff: edge of the filter, as a share of the lower rate's half.
        beta: shape of Kaiser's window.

    Returns:
        Array of float64, shape (..., ceil(time * after / before)).
    """
    if before == after:
        return signal
    shared = math.gcd(before, after)
    before, after = before // shared, after // shared
    edge = min(before, after) * rolloff
    reach = math.ceil(width * before / edge)
    times = np.arange(-reach, reach + before) / before - np.arange(after)[:, None] / after
    times = np.clip(times * edge, -width, width)
    if method == ResampleMethod.SINC_INTERPOLATION:
        window = np.cos(times * math.pi / width / 2) ** 2
    else:
        window = np.i0(beta * np.sqrt(np.maximum(1 - (times / width) ** 2, 0))) / np.i0(beta)
    kernels = np.sinc(times) * window * (edge / before)
    size = signal.shape[-1]
    pads = [(0, 0)] * (signal.ndim - 1) + [(reach, reach + before)]
    frames = np.lib.stride_tricks.sliding_window_view(
        np.pad(signal, pads), kernels.shape[1], axis=-1
    )
    mixed = frames[..., ::before, :] @ kernels.T
    target = math.ceil(after * size / before)
    return mixed.reshape(*signal.shape[:-1], -1)[..., :target]


class Resample(AudioOperation):
    """Brings a signal to another rate.

    Args:
        orig_freq: its rate, in Hz.
        new_freq: the new rate, in Hz.
        resample_method: window of the filter.
        lowpass_filter_width: zero crossings of the filter on each side.
        rolloff: edge of the filter, as a share of the lower rate's half, in (0, 1].
        beta: shape of Kaiser's window; None for 14.77.
    """

    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ) -> None:
        self.orig_freq = int(check_positive("Resample", "orig_freq", orig_freq))
        self.new_freq = int(check_positive("Resample", "new_freq", new_freq))
        check_type("Resample", "resample_method", resample_method, ResampleMethod)
        self.width = check_count("Resample", "lowpass_filter_width", lowpass_filter_width, 1)
        check_type("Resample", "rolloff", rolloff, float)
        self.rolloff = single(check_between("Resample", "rolloff", rolloff, 0, 1.0, "(]"))
        self.beta = single(_KAISER_BETA if beta is None else beta)
        self.method = resample_method

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        return resample(
            signal,
            self.orig_freq,
            self.new_freq,
            self.method,
            self.width,
            self.rolloff,
            self.beta,
        ).astype(signal.dtype)
