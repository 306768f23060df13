"""Recursive filters, by the formulas of R. Bristow-Johnson's cookbook and of SoX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_between,
    check_rate,
    check_real,
    limited,
    single,
    to_float,
)
from mindjax.dataset.engine.checks import check_bool, check_type

Coefficients = tuple[float, float, float, float, float, float]


def filtered(signal: np.ndarray, a: Any, b: Any, clamp: bool = True) -> np.ndarray:
    """Filter along the last axis.

    Args:
        signal: array, shape (..., time), of float32 or float64.
        a: coefficients of the output, the current one first.
        b: coefficients of the input, the current one first.
        clamp: whether the result is limited to [-1, 1].

    Returns:
        Array like ``signal``.
    """
    from scipy.signal import lfilter

    weights = np.asarray(b, signal.dtype), np.asarray(a, signal.dtype)
    out: Any = lfilter(*weights, signal, axis=-1)
    return limited(out) if clamp else out


class _Biquad(AudioOperation):
    """A filter of second order."""

    only_floats = True
    _coefficients: Coefficients

    def _apply(self, column: np.ndarray) -> np.ndarray:
        b0, b1, b2, a0, a1, a2 = self._coefficients
        out = filtered(to_float(column), [1.0, a1 / a0, a2 / a0], [b0 / a0, b1 / a0, b2 / a0])
        return out.astype(column.dtype)

    def _checked(
        self, sample_rate: Any, frequency: Any, quality: Any, name: str = "central_freq"
    ) -> tuple[float, float, float]:
        """Give the cosine of the angular frequency, and its sine twice: whole and by 2 Q."""
        owner = type(self).__name__
        check_rate(owner, sample_rate)
        check_real(owner, name, frequency)
        check_between(owner, "Q", quality, 0, 1, "(]")
        w0 = 2 * math.pi * single(frequency) / sample_rate
        return math.cos(w0), math.sin(w0), math.sin(w0) / 2 / single(quality)


class AllpassBiquad(_Biquad):
    """Turns phases and keeps amplitudes.

    Args:
        sample_rate: samples a second, in Hz.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        cos, _, alpha = self._checked(sample_rate, central_freq, Q)
        self._coefficients = (1 - alpha, -2 * cos, 1 + alpha, 1 + alpha, -2 * cos, 1 - alpha)


class BandBiquad(_Biquad):
    """Keeps a band of frequencies, as SoX's ``band``.

    Args:
        sample_rate: samples a second, in Hz.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
        noise: whether it is made for noise and not for pitched sound.
    """

    def __init__(
        self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False
    ) -> None:
        cos, _sin, _ = self._checked(sample_rate, central_freq, Q)
        check_bool("BandBiquad", "noise", noise)
        width = single(central_freq) / single(Q)
        a2 = math.exp(-2 * math.pi * width / sample_rate)
        a1 = -4 * a2 / (1 + a2) * cos
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if noise:
            b0 *= math.sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2)) / b0
        self._coefficients = (b0, 0.0, 0.0, 1.0, a1, a2)


class BandpassBiquad(_Biquad):
    """Keeps a band of frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
        const_skirt_gain: whether the skirt's gain is constant and not the peak's.
    """

    def __init__(
        self,
        sample_rate: int,
        central_freq: float,
        Q: float = 0.707,
        const_skirt_gain: bool = False,
    ) -> None:
        cos, sin, alpha = self._checked(sample_rate, central_freq, Q)
        check_bool("BandpassBiquad", "const_skirt_gain", const_skirt_gain)
        gain = sin / 2 if const_skirt_gain else alpha
        self._coefficients = (gain, 0.0, -gain, 1 + alpha, -2 * cos, 1 - alpha)


class BandrejectBiquad(_Biquad):
    """Takes a band of frequencies out.

    Args:
        sample_rate: samples a second, in Hz.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        cos, _, alpha = self._checked(sample_rate, central_freq, Q)
        self._coefficients = (1.0, -2 * cos, 1.0, 1 + alpha, -2 * cos, 1 - alpha)


class _Shelf(_Biquad):
    def _shelf(self, sample_rate: int, gain: float, frequency: float, Q: float, side: int) -> None:
        check_rate(type(self).__name__, sample_rate)
        check_real(type(self).__name__, "gain", gain)
        cos, _, alpha = self._checked(sample_rate, frequency, Q)
        a = math.exp(single(gain) / 40 * math.log(10))
        root = 2 * math.sqrt(a) * alpha
        up, down = (a + 1) + side * (a - 1) * cos, (a + 1) - side * (a - 1) * cos
        cross = (a - 1) + side * (a + 1) * cos, (a - 1) - side * (a + 1) * cos
        self._coefficients = (
            a * (up + root),
            -side * 2 * a * cross[0],
            a * (up - root),
            down + root,
            side * 2 * cross[1],
            down - root,
        )


class BassBiquad(_Shelf):
    """Raises or lowers the low frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        gain: gain of the low frequencies, in dB.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(
        self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707
    ) -> None:
        self._shelf(sample_rate, gain, central_freq, Q, -1)


class TrebleBiquad(_Shelf):
    """Raises or lowers the high frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        gain: gain of the high frequencies, in dB.
        central_freq: central frequency, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(
        self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707
    ) -> None:
        self._shelf(sample_rate, gain, central_freq, Q, 1)


class Biquad(_Biquad):
    """A filter of second order with given coefficients.

    Args:
        b0: coefficient of the current input.
        b1: coefficient of the input one step before.
        b2: coefficient of the input two steps before.
        a0: coefficient of the current output, not 0.
        a1: coefficient of the output one step before.
        a2: coefficient of the output two steps before.
    """

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float) -> None:
        names = ("b0", "b1", "b2", "a0", "a1", "a2")
        for name, value in zip(names, (b0, b1, b2, a0, a1, a2), strict=True):
            check_real("Biquad", name, value)
        if a0 == 0:
            raise located(ValueError, "For 'Biquad': Input a0 is 0.")
        self._coefficients = (
            single(b0),
            single(b1),
            single(b2),
            single(a0),
            single(a1),
            single(a2),
        )


class DeemphBiquad(_Biquad):
    """Takes back the emphasis of a compact disc (ISO 908), as SoX's ``deemph``.

    Args:
        sample_rate: 44100 or 48000, in Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        check_type("DeemphBiquad", "sample_rate", sample_rate, int)
        if sample_rate not in (44100, 48000):
            raise located(
                ValueError,
                "For 'DeemphBiquad': Argument sample_rate should be 44100 or 48000, but got "
                f"{sample_rate}.",
            )
        central, slope, gain = (
            (5283, 0.4845, -9.477) if sample_rate == 44100 else (5356, 0.479, -9.62)
        )
        w0 = 2 * math.pi * central / sample_rate
        a = math.exp(gain / 40 * math.log(10))
        alpha = math.sin(w0) / 2 * math.sqrt((a + 1 / a) * (1 / slope - 1) + 2)
        cos, root = math.cos(w0), 2 * math.sqrt(a) * alpha
        self._coefficients = (
            a * ((a + 1) + (a - 1) * cos + root),
            -2 * a * ((a - 1) + (a + 1) * cos),
            a * ((a + 1) + (a - 1) * cos - root),
            (a + 1) - (a - 1) * cos + root,
            2 * ((a - 1) - (a + 1) * cos),
            (a + 1) - (a - 1) * cos - root,
        )


class EqualizerBiquad(_Biquad):
    """Raises or lowers a band of frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        center_freq: central frequency, in Hz.
        gain: gain, in dB.
        Q: quality factor, in (0, 1].
    """

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707) -> None:
        cos, _, alpha = self._checked(sample_rate, center_freq, Q, "center_freq")
        check_real("EqualizerBiquad", "gain", gain)
        a = math.exp(single(gain) / 40 * math.log(10))
        self._coefficients = (
            1 + alpha * a,
            -2 * cos,
            1 - alpha * a,
            1 + alpha / a,
            -2 * cos,
            1 - alpha / a,
        )


class HighpassBiquad(_Biquad):
    """Keeps the high frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        cutoff_freq: edge, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        cos, _, alpha = self._checked(sample_rate, cutoff_freq, Q, "cutoff_freq")
        half = (1 + cos) / 2
        self._coefficients = (half, -1 - cos, half, 1 + alpha, -2 * cos, 1 - alpha)


class LowpassBiquad(_Biquad):
    """Keeps the low frequencies.

    Args:
        sample_rate: samples a second, in Hz.
        cutoff_freq: edge, in Hz.
        Q: quality factor, in (0, 1].
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        cos, _, alpha = self._checked(sample_rate, cutoff_freq, Q, "cutoff_freq")
        half = (1 - cos) / 2
        self._coefficients = (half, 1 - cos, half, 1 + alpha, -2 * cos, 1 - alpha)


# Zeros and poles of the curve of the RIAA at each rate, as in SoX.
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


class RiaaBiquad(_Biquad):
    """Plays a record of vinyl back, by the curve of the RIAA.

    Args:
        sample_rate: 44100, 48000, 88200 or 96000, in Hz.
    """

    def __init__(self, sample_rate: int) -> None:
        check_type("RiaaBiquad", "sample_rate", sample_rate, int)
        if sample_rate not in _RIAA:
            raise located(
                ValueError,
                f"For 'RiaaBiquad': sample_rate should be one of {sorted(_RIAA)}, but got "
                f"{sample_rate}.",
            )
        zeros, poles = _RIAA[sample_rate]
        b0, b1, b2 = 1.0, -(zeros[0] + zeros[1]), zeros[0] * zeros[1]
        a0, a1, a2 = 1.0, -(poles[0] + poles[1]), poles[0] * poles[1]
        # A gain of 1 at 1 kHz.
        y = 2 * math.pi * 1000 / sample_rate
        b_re, a_re = (
            c0 + c1 * math.cos(-y) + c2 * math.cos(-2 * y)
            for c0, c1, c2 in ((b0, b1, b2), (a0, a1, a2))
        )
        b_im, a_im = (c1 * math.sin(-y) + c2 * math.sin(-2 * y) for c1, c2 in ((b1, b2), (a1, a2)))
        g = 1 / math.sqrt((b_re**2 + b_im**2) / (a_re**2 + a_im**2))
        # The original keeps these in float32.
        scaled = (b0 * g, b1 * g, b2 * g, a0, a1, a2)
        self._coefficients = tuple(single(value) for value in scaled)  # type: ignore[assignment]


class LFilter(AudioOperation):
    """A recursive filter of any order.

    Args:
        a_coeffs: coefficients of the output, the current one first.
        b_coeffs: coefficients of the input, the current one first; as many.
        clamp: whether the result is limited to [-1, 1].
    """

    only_floats = True

    def __init__(self, a_coeffs: Any, b_coeffs: Any, clamp: bool = True) -> None:
        owner = type(self).__name__
        for name, values in (("a_coeffs", a_coeffs), ("b_coeffs", b_coeffs)):
            check_type(owner, name, values, (list, tuple))
            for place, value in enumerate(values):
                check_real(owner, f"{name}[{place}]", value)
        if len(a_coeffs) != len(b_coeffs):
            raise located(
                ValueError,
                f"For '{owner}': a_coeffs and b_coeffs should have the same size, but got "
                f"{len(a_coeffs)} and {len(b_coeffs)}.",
            )
        self.clamp = check_bool(owner, "clamp", clamp)
        self.a_coeffs = [single(value) for value in a_coeffs]
        self.b_coeffs = [single(value) for value in b_coeffs]

    def _apply(self, column: np.ndarray) -> np.ndarray:
        out = filtered(to_float(column), self.a_coeffs, self.b_coeffs, self.clamp)
        return out.astype(column.dtype)


class Filtfilt(LFilter):
    """A recursive filter, forwards and then backwards, so that no phase turns.

    Args:
        a_coeffs: coefficients of the output, the current one first.
        b_coeffs: coefficients of the input, the current one first; as many.
        clamp: whether the result is limited to [-1, 1].
    """

    def _apply(self, column: np.ndarray) -> np.ndarray:
        there = filtered(to_float(column), self.a_coeffs, self.b_coeffs, False)
        back = filtered(there[..., ::-1], self.a_coeffs, self.b_coeffs, self.clamp)
        return np.ascontiguousarray(back[..., ::-1]).astype(column.dtype)
