"""Effects: loudness, distortion, fades and coding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.audio.enums import DensityFunction, FadeShape, GainType
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_between,
    check_count,
    check_positive,
    check_real,
    limited,
    single,
    to_float,
)
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.engine.run import draw


class Contrast(AudioOperation):
    """Raises the contrast of loudness, as SoX's ``contrast``.

    Args:
        enhancement_amount: strength, in [0, 100].
    """

    def __init__(self, enhancement_amount: float = 75.0) -> None:
        self.amount = single(
            check_between("Contrast", "enhancement_amount", enhancement_amount, 0, 100)
        )

    def _apply(self, column: np.ndarray) -> np.ndarray:
        angle = to_float(column) * (math.pi / 2)
        return np.sin(angle + self.amount / 750 * np.sin(angle * 4))


class DBToAmplitude(AudioOperation):
    """Turns decibels into amplitudes or powers: ``ref * (10 ** (x / 10)) ** power``.

    Args:
        ref: amplitude of 0 dB.
        power: 1 for powers, 0.5 for amplitudes.
    """

    def __init__(self, ref: float, power: float) -> None:
        self.ref = single(check_real("DBToAmplitude", "ref", ref))
        self.power = single(check_real("DBToAmplitude", "power", power))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return self.ref * np.power(np.power(10.0, 0.1 * to_float(column)), self.power)


class DCShift(AudioOperation):
    """Adds a constant, with a limiter near full amplitude.

    Args:
        shift: constant, in [-2, 2].
        limiter_gain: gain above the limiter's threshold; None for ``shift``, without a limiter.
    """

    def __init__(self, shift: float, limiter_gain: float | None = None) -> None:
        self.shift = single(check_between("DCShift", "shift", shift, -2.0, 2.0))
        if limiter_gain is not None:
            check_type("DCShift", "limiter_gain", limiter_gain, (float, int))
        self.limiter_gain = single(shift if limiter_gain is None else limiter_gain)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal, shift, gain = to_float(column), self.shift, self.limiter_gain
        plain = limited(signal + shift)
        if gain == shift or shift == 0:
            return plain
        edge = 1 - (abs(shift) - gain)
        if shift > 0:
            pressed = (signal - edge) * gain / (1 - edge) + edge + shift
            return np.where(signal > edge, np.minimum(pressed, edge), plain)
        # The original adds the edge here too, unlike SoX.
        pressed = (signal + edge) * gain / (1 - edge) + edge + shift
        return np.where(signal < -edge, np.maximum(pressed, -edge), plain)


class Dither(AudioOperation):
    """Adds noise and rounds to 16 bits.

    Args:
        density_function: distribution of the noise.
        noise_shaping: whether the error of one sample is added to the next.
    """

    is_random = True

    def __init__(
        self,
        density_function: DensityFunction = DensityFunction.TPDF,
        noise_shaping: bool = False,
    ) -> None:
        check_type("Dither", "density_function", density_function, DensityFunction)
        self.density_function = density_function
        self.noise_shaping = check_bool("Dither", "noise_shaping", noise_shaping)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal, rng, shape = to_float(column), draw(), column.shape
        if self.density_function == DensityFunction.RPDF:
            noise = rng.random(shape) - 0.5
        elif self.density_function == DensityFunction.GPDF:
            noise = rng.normal(0, 0.5, shape)
        else:
            noise = rng.random(shape) - rng.random(shape)
        steps = np.round(signal * 32767 + noise)
        out = (steps / 32767).astype(signal.dtype)
        if self.noise_shaping:
            error = out - signal
            out[..., 1:] += error[..., :-1]
        return out


def _fade(shape: FadeShape, ramp: np.ndarray) -> np.ndarray:
    if shape == FadeShape.EXPONENTIAL:
        return np.power(2.0, ramp - 1) * ramp
    if shape == FadeShape.LOGARITHMIC:
        return np.log10(0.1 + ramp) + 1
    if shape == FadeShape.QUARTER_SINE:
        return np.sin(ramp * math.pi / 2)
    if shape == FadeShape.HALF_SINE:
        return np.sin(ramp * math.pi - math.pi / 2) / 2 + 0.5
    return ramp


class Fade(AudioOperation):
    """Fades in and out.

    Args:
        fade_in_len: samples of the fade in.
        fade_out_len: samples of the fade out.
        fade_shape: shape of both.
    """

    def __init__(
        self,
        fade_in_len: int = 0,
        fade_out_len: int = 0,
        fade_shape: FadeShape = FadeShape.LINEAR,
    ) -> None:
        self.fade_in_len = check_count("Fade", "fade_in_len", fade_in_len)
        self.fade_out_len = check_count("Fade", "fade_out_len", fade_out_len)
        check_type("Fade", "fade_shape", fade_shape, FadeShape)
        self.fade_shape = fade_shape

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if not self.fade_in_len and not self.fade_out_len:
            return column
        out = to_float(column).copy()
        size = out.shape[-1]
        for name, count in (("fade_in_len", self.fade_in_len), ("fade_out_len", self.fade_out_len)):
            if count > size:
                raise self._fail(
                    f"{name} should be less than or equal to the waveform length {size}, but got "
                    f"{count}."
                )
        # Float32 steps, as in the original: a fade of one sample is a factor of 0.
        ramp = np.linspace(0, 1, self.fade_in_len, dtype=np.float32).astype(out.dtype)
        out[..., : self.fade_in_len] *= _fade(self.fade_shape, ramp)
        ramp = np.linspace(0, 1, self.fade_out_len, dtype=np.float32).astype(out.dtype)
        if self.fade_out_len:
            out[..., -self.fade_out_len :] *= _fade(self.fade_shape, 1 - ramp)
        return out


class Gain(AudioOperation):
    """Raises or lowers the amplitude.

    Args:
        gain_db: gain, in dB.
    """

    def __init__(self, gain_db: float = 1.0) -> None:
        self.gain_db = single(check_real("Gain", "gain_db", gain_db))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        return signal if self.gain_db == 0 else signal * math.exp(self.gain_db * math.log(10) / 20)


class Vol(AudioOperation):
    """Raises or lowers the loudness, and limits the result to [-1, 1].

    Args:
        gain: gain, as ``gain_type`` says.
        gain_type: amplitude, power or dB.
    """

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE) -> None:
        check_type("Vol", "gain", gain, (int, float))
        check_type("Vol", "gain_type", gain_type, GainType)
        if gain_type == GainType.AMPLITUDE:
            factor = single(check_real("Vol", "gain", gain, 0))
        elif gain_type == GainType.POWER:
            factor = math.sqrt(single(check_positive("Vol", "gain", gain)))
        else:
            factor = 10 ** (single(check_real("Vol", "gain", gain)) / 20)
        self.factor = factor

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return limited(to_float(column) * self.factor)


class MuLawDecoding(AudioOperation):
    """Takes the mu-law coding of amplitudes back.

    Args:
        quantization_channels: number of codes.
    """

    def __init__(self, quantization_channels: int = 256) -> None:
        self.mu = (
            check_count("MuLawDecoding", "quantization_channels", quantization_channels, 1) - 1
        )

    def _apply(self, column: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            code = to_float(column) / self.mu * 2 - 1
            return np.sign(code) * (np.exp(np.abs(code) * math.log1p(self.mu)) - 1) / self.mu


class MuLawEncoding(AudioOperation):
    """Codes amplitudes by the mu-law.

    Args:
        quantization_channels: number of codes.
    """

    def __init__(self, quantization_channels: int = 256) -> None:
        self.mu = (
            check_count("MuLawEncoding", "quantization_channels", quantization_channels, 1) - 1
        )

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        with np.errstate(divide="ignore", invalid="ignore"):
            code = np.sign(signal) * np.log1p(self.mu * np.abs(signal)) / math.log1p(self.mu)
            return ((code + 1) / 2 * self.mu + 0.5).astype(np.int32)


class Overdrive(AudioOperation):
    """Distorts, as SoX's ``overdrive``.

    Args:
        gain: gain before the distortion, in dB, in [0, 100].
        color: strength of even harmonics, in [0, 100].
    """

    def __init__(self, gain: float = 20.0, color: float = 20.0) -> None:
        self.gain = single(check_between("Overdrive", "gain", gain, 0, 100))
        self.color = single(check_between("Overdrive", "color", color, 0, 100))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        from scipy.signal import lfilter

        signal = to_float(column)
        driven = signal * math.exp(self.gain * math.log(10) / 20) + self.color / 200
        bent = np.where(np.abs(driven) > 1, np.sign(driven) * (2 / 3), driven - driven**3 / 3)
        smooth: Any = lfilter([1.0, -1.0], [1.0, -0.995], bent, axis=-1)
        return limited(signal * 0.5 + smooth * 0.75).astype(signal.dtype)


def refuse_length(owner: str, name: str, value: int, other: str, limit: int) -> None:
    """Refuse a length above another one."""
    if value > limit:
        raise located(
            ValueError,
            f"For '{owner}': Input {name} should be no more than {other}, but got {name}: {value} "
            f"and {other}: {limit}.",
        )
