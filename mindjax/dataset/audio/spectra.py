"""Transforms between a signal and its spectrum, and their numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.dataset.audio.effects import refuse_length
from mindjax.dataset.audio.enums import BorderType, ScaleType, WindowType
from mindjax.dataset.audio.fourier import (
    as_complex,
    as_pairs,
    inverse,
    padded,
    transform,
    vocode,
    window_of,
)
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_count,
    check_positive,
    check_real,
    single,
    to_float,
)
from mindjax.dataset.audio.resampling import resample
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.engine.run import draw


def check_windows(
    owner: str, n_fft: Any, win_length: Any, hop_length: Any, low: int = 1
) -> tuple[int, int]:
    """Check the lengths of windows, and give those of a window and of a hop."""
    check_count(owner, "n_fft", n_fft, 1)
    if win_length is not None:
        check_count(owner, "win_length", win_length, low)
        refuse_length(owner, "win_length", win_length, "n_fft", n_fft)
    if hop_length is not None:
        check_count(owner, "hop_length", hop_length, low)
    length = win_length or n_fft
    return length, hop_length or length // 2


class Spectrogram(AudioOperation):
    """Gives the spectrum of windows of a signal.

    Args:
        n_fft: length of a transform.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for half a window.
        pad: zeros put at both ends of the signal.
        window: the window.
        power: power of the magnitudes; 0 gives complex numbers as pairs.
        normalized: whether the result is divided by the window's norm.
        center: whether the first window's middle is the first sample.
        pad_mode: what the signal is continued with then.
        onesided: whether negative frequencies are left out.
    """

    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        owner = type(self).__name__
        self.win_length, self.hop_length = check_windows(owner, n_fft, win_length, hop_length)
        self.n_fft, self.pad = n_fft, check_count(owner, "pad", pad)
        check_type(owner, "window", window, WindowType)
        self.power = single(check_real(owner, "power", power, 0))
        self.normalized = check_bool(owner, "normalized", normalized)
        self.center = check_bool(owner, "center", center)
        self.onesided = check_bool(owner, "onesided", onesided)
        check_type(owner, "pad_mode", pad_mode, BorderType)
        self.window, self.pad_mode = window, pad_mode

    def _spectrum(self, signal: np.ndarray) -> np.ndarray:
        window = window_of(self.window, self.win_length)
        signal = padded(signal, self.pad, BorderType.CONSTANT)
        if self.center is False and signal.shape[-1] < self.n_fft:
            raise self._fail(
                f"n_fft should be no more than the signal's length, but got n_fft: {self.n_fft} "
                f"and {signal.shape[-1]}."
            )
        out = transform(
            signal, window, self.n_fft, self.hop_length, self.center, self.pad_mode, self.onesided
        )
        return out / math.sqrt((window**2).sum()) if self.normalized else out

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        spectrum = self._spectrum(signal)
        if self.power == 0:
            return as_pairs(spectrum, signal.dtype)
        sizes = np.abs(spectrum)
        return (sizes if self.power == 1 else sizes**self.power).astype(signal.dtype)


class InverseSpectrogram(AudioOperation):
    """Gives the signal of a spectrum of pairs, shape (..., frequency, window, 2).

    Args:
        length: number of samples; None for all.
        n_fft: length of a transform.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for half a window.
        pad: zeros that were put at both ends of the signal.
        window: the window.
        normalized: whether the spectrum was divided by the window's norm.
        center: whether the first window's middle is the first sample.
        pad_mode: what the signal was continued with then.
        onesided: whether negative frequencies are left out.
    """

    low_rank, is_complex = 3, True

    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        owner = "InverseSpectrogram"
        self.length = 0 if length is None else check_count(owner, "length", length)
        self.win_length, self.hop_length = check_windows(owner, n_fft, win_length, hop_length)
        self.n_fft, self.pad = n_fft, check_count(owner, "pad", pad)
        check_type(owner, "window", window, WindowType)
        self.normalized = check_bool(owner, "normalized", normalized)
        self.center = check_bool(owner, "center", center)
        check_type(owner, "pad_mode", pad_mode, BorderType)
        self.onesided = check_bool(owner, "onesided", onesided)
        self.window, self.pad_mode = window, pad_mode

    def _apply(self, column: np.ndarray) -> np.ndarray:
        spectrum = as_complex(column)
        bins = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        if spectrum.shape[-2] != bins:
            raise self._fail(
                f"the frequencies of the input should be {bins}, but got {spectrum.shape[-2]}."
            )
        window = window_of(self.window, self.win_length)
        if self.normalized:
            spectrum = spectrum * math.sqrt((window**2).sum())
        length = self.length + 2 * self.pad if self.length else 0
        out = inverse(
            spectrum, window, self.n_fft, self.hop_length, length, self.center, self.onesided
        )
        if self.length and self.pad:
            out = out[..., self.pad : -self.pad]
        return out.astype(to_float(column).dtype)


class SpectralCentroid(AudioOperation):
    """Gives the mean frequency of each window's spectrum.

    Args:
        sample_rate: samples a second, in Hz.
        n_fft: length of a transform.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for half a window.
        pad: zeros put at both ends of the signal.
        window: the window.
    """

    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ) -> None:
        owner = "SpectralCentroid"
        self.sample_rate = check_count(owner, "sample_rate", sample_rate)
        check_count(owner, "pad", pad)
        check_type(owner, "window", window, WindowType)
        check_windows(owner, n_fft, win_length, hop_length)
        self._magnitudes = Spectrogram(n_fft, win_length, hop_length, pad, window, 1.0)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        sizes = self._magnitudes(column)
        frequencies = np.linspace(0, self.sample_rate // 2, sizes.shape[-2])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            means = (frequencies * sizes).sum(-2, keepdims=True) / sizes.sum(-2, keepdims=True)
        return means.astype(sizes.dtype)


class GriffinLim(AudioOperation):
    """Guesses the phases of a spectrum of magnitudes, and gives the signal.

    Args:
        n_fft: length of a transform.
        n_iter: number of rounds.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for half a window.
        window_type: the window.
        power: power of the magnitudes.
        momentum: momentum of the fast form; 0 for the plain one.
        length: number of samples; None for all.
        rand_init: whether the first phases are random and not 0.
    """

    low_rank, is_random = 2, True

    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ) -> None:
        owner = "GriffinLim"
        self.win_length, self.hop_length = check_windows(owner, n_fft, win_length, hop_length, 0)
        self.n_fft, self.n_iter = n_fft, check_count(owner, "n_iter", n_iter, 1)
        check_type(owner, "window_type", window_type, WindowType)
        self.window_type = window_type
        self.power = single(check_positive(owner, "power", power))
        self.momentum = single(check_real(owner, "momentum", momentum, 0))
        if self.momentum >= 1:
            raise self._fail(f"momentum should be less than 1, but got: {momentum}.")
        self.length = 0 if length is None else check_count(owner, "length", length)
        self.rand_init = check_bool(owner, "rand_init", rand_init)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        given = to_float(column)
        if given.shape[-2] != self.n_fft // 2 + 1:
            raise self._fail(
                f"the frequencies of the input should be n_fft / 2 + 1, but got {given.shape[-2]} "
                f"for n_fft {self.n_fft}."
            )
        sizes = np.power(given.astype(np.float64), 1 / self.power)
        # The original normalizes the momentum twice; its results are kept.
        momentum = self.momentum / (1 + 2 * self.momentum)
        window = window_of(self.window_type, self.win_length)
        turns = np.ones(sizes.shape, np.complex128)
        if self.rand_init:
            turns = draw().random(sizes.shape) + 1j * draw().random(sizes.shape)
        before = 0.0
        for _ in range(self.n_iter):
            signal = inverse(sizes * turns, window, self.n_fft, self.hop_length)
            rebuilt = transform(signal, window, self.n_fft, self.hop_length)
            turns = rebuilt - before * momentum
            turns = turns / (np.abs(turns) + 1e-16)
            before = rebuilt
        signal = inverse(sizes * turns, window, self.n_fft, self.hop_length, self.length)
        return signal.astype(given.dtype)


class AmplitudeToDB(AudioOperation):
    """Turns powers or amplitudes into decibels.

    Args:
        stype: whether the input holds powers or amplitudes.
        ref_value: value of 0 dB.
        amin: least value.
        top_db: dB below the greatest value that are cut off.
    """

    low_rank = 2

    def __init__(
        self,
        stype: ScaleType = ScaleType.POWER,
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float = 80.0,
    ) -> None:
        check_type("AmplitudeToDB", "stype", stype, ScaleType)
        self.factor = 10.0 if stype == ScaleType.POWER else 20.0
        self.ref_value = single(check_positive("AmplitudeToDB", "ref_value", ref_value))
        self.amin = single(check_positive("AmplitudeToDB", "amin", amin))
        self.top_db = single(check_positive("AmplitudeToDB", "top_db", top_db))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return decibels(
            to_float(column),
            self.factor,
            self.amin,
            self.factor * math.log10(max(self.amin, self.ref_value)),
            self.top_db,
        )


def decibels(
    values: np.ndarray, factor: float, least: float, zero: float, top: float
) -> np.ndarray:
    """Turn powers or amplitudes into decibels.

    Args:
        values: array, shape (..., channel, frequency, time).
        factor: 10 for powers, 20 for amplitudes.
        least: least value.
        zero: what is taken off.
        top: dB below the greatest value of the channels of one item that are cut off.
    """
    out = factor * np.log10(np.maximum(values, values.dtype.type(least))) - zero
    axes = tuple(range(max(0, out.ndim - 3), out.ndim))
    return np.maximum(out, out.max(axes, keepdims=True) - top).astype(values.dtype)


class Angle(AudioOperation):
    """Gives the angles of complex numbers, shape (..., 2)."""

    is_complex = True

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values = to_float(column)
        return np.arctan2(values[..., 1], values[..., 0])


class ComplexNorm(AudioOperation):
    """Gives powers of the sizes of complex numbers, shape (..., 2).

    Args:
        power: the power.
    """

    is_complex = True

    def __init__(self, power: float = 1.0) -> None:
        self.power = single(check_real("ComplexNorm", "power", power, 0))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values = to_float(column)
        return np.power(values[..., 0] ** 2 + values[..., 1] ** 2, self.power / 2)


class Magphase(AudioOperation):
    """Gives powers of the sizes, and the angles, of complex numbers, shape (..., 2).

    Args:
        power: power of the sizes.
    """

    is_complex = True

    def __init__(self, power: float = 1.0) -> None:
        self._norm = ComplexNorm(check_real("Magphase", "power", power, 0))

    def _apply(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._norm(column), Angle()(column)


class PhaseVocoder(AudioOperation):
    """Stretches a spectrum of pairs, shape (..., frequency, window, 2), in time.

    Args:
        rate: factor of the speed.
        phase_advance: phase that each frequency turns by between two windows, shape (frequency, 1).
    """

    low_rank, is_complex = 3, True

    def __init__(self, rate: float, phase_advance: np.ndarray) -> None:
        self.rate = single(check_positive("PhaseVocoder", "rate", rate))
        check_type("PhaseVocoder", "phase_advance", phase_advance, np.ndarray)
        self.phase_advance = phase_advance

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values = to_float(column)
        advance = self.phase_advance
        if advance.ndim != 2 or advance.shape[1] != 1 or len(advance) != values.shape[-3]:
            raise self._fail(
                f"phase_advance should have shape ({values.shape[-3]}, 1), but got {advance.shape}."
            )
        if self.rate == 1:
            return values
        return as_pairs(vocode(as_complex(values), self.rate, advance), values.dtype)


class TimeStretch(AudioOperation):
    """Stretches a spectrum of pairs, shape (..., frequency, window, 2), in time.

    Args:
        hop_length: distance of two windows; None for half a transform.
        n_freq: number of frequencies.
        fixed_rate: factor of the speed; None for 1.
    """

    low_rank, is_complex = 3, True

    def __init__(
        self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None
    ) -> None:
        if hop_length is not None:
            check_count("TimeStretch", "hop_length", hop_length, 1)
        self.n_freq = check_count("TimeStretch", "n_freq", n_freq, 1)
        self.hop_length = n_freq - 1 if hop_length is None else hop_length
        if fixed_rate is not None:
            check_positive("TimeStretch", "fixed_rate", fixed_rate)
        self.rate = single(1 if fixed_rate is None else fixed_rate)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values = to_float(column)
        if self.rate == 1:
            return values[None] if values.ndim == 3 else values
        advance = np.linspace(0, math.pi * self.hop_length, self.n_freq)[:, None]
        if values.shape[-3] != self.n_freq:
            raise self._fail(
                f"n_freq should be the number of frequencies of the input, {values.shape[-3]}, but "
                f"got {self.n_freq}."
            )
        return as_pairs(vocode(as_complex(values), self.rate, advance), values.dtype)


class PitchShift(AudioOperation):
    """Shifts the pitch of a signal.

    Args:
        sample_rate: samples a second, in Hz.
        n_steps: steps of the shift.
        bins_per_octave: steps of an octave.
        n_fft: length of a transform.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for a quarter of a window.
        window: the window.
    """

    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ) -> None:
        owner = "PitchShift"
        self.sample_rate = check_count(owner, "sample_rate", sample_rate)
        check_type(owner, "n_steps", n_steps, int)
        check_type(owner, "bins_per_octave", bins_per_octave, int)
        if bins_per_octave == 0:
            raise self._fail("Input bins_per_octave is 0.", ValueError)
        check_type(owner, "window", window, WindowType)
        self.win_length, _ = check_windows(owner, n_fft, win_length, hop_length)
        self.hop_length = self.win_length // 4 if hop_length is None else hop_length
        self.n_fft, self.window = n_fft, window
        self.rate = 2.0 ** (-float(n_steps) / bins_per_octave)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        size = signal.shape[-1]
        window = window_of(self.window, self.win_length)
        spectrum = transform(signal, window, self.n_fft, self.hop_length)
        advance = np.linspace(0, math.pi * self.hop_length, spectrum.shape[-2])[:, None]
        stretched = vocode(spectrum, self.rate, advance)
        sound = inverse(stretched, window, self.n_fft, self.hop_length, round(size / self.rate))
        out = resample(sound, int(self.sample_rate / self.rate), self.sample_rate)[..., :size]
        short = size - out.shape[-1]
        if short > 0:
            out = np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, short)])
        return out.astype(signal.dtype)
