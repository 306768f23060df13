"""Effects of modulated delays: phaser and flanger, as in SoX."""

from __future__ import annotations

import math

import numpy as np

from mindjax.dataset.audio.enums import Interpolation, Modulation
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_between,
    check_rate,
    limited,
    single,
    to_float,
)
from mindjax.dataset.engine.checks import INT32_MAX, check_bool, check_interval, check_type


def wave_table(
    modulation: Modulation, size: int, low: float, high: float, phase: float
) -> np.ndarray:
    """Give one period of a wave between two values.

    Args:
        modulation: its shape.
        size: number of samples.
        low: lowest value.
        high: highest value.
        phase: phase of the first sample, in radians.

    Returns:
        Array of float64, shape (size,).
    """
    point = (np.arange(size) + int(phase / math.pi / 2 * size + 0.5)) % size
    if modulation == Modulation.SINUSOIDAL:
        wave = (np.sin(point / size * 2 * math.pi) + 1) / 2
    else:
        ramp, quarter = point * 2.0 / size, 4 * point // size
        wave = np.select([quarter == 0, quarter == 3], [ramp + 0.5, ramp - 1.5], default=1.5 - ramp)
    return wave * (high - low) + low


class Phaser(AudioOperation):
    """A phaser.

    Args:
        sample_rate: samples a second, in Hz.
        gain_in: factor of the input, in [0, 1].
        gain_out: factor of the output, in [0, 1e9].
        delay_ms: longest delay, in ms, in [0, 5].
        decay: factor of the delayed sound, in [0, 0.99].
        mod_speed: frequency of the modulation, in Hz, in [0.1, 2].
        sinusoidal: whether the modulation is a sine and not a triangle.
    """

    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ) -> None:
        check_type("Phaser", "sample_rate", sample_rate, int)
        check_interval("Phaser", "sample_rate", sample_rate, -INT32_MAX - 1, INT32_MAX)
        self.sample_rate = sample_rate
        self.gain_in = single(check_between("Phaser", "gain_in", gain_in, 0, 1))
        self.gain_out = single(check_between("Phaser", "gain_out", gain_out, 0, 1e9))
        self.delay_ms = single(check_between("Phaser", "delay_ms", delay_ms, 0, 5.0))
        self.decay = single(check_between("Phaser", "decay", decay, 0, 0.99))
        self.mod_speed = single(check_between("Phaser", "mod_speed", mod_speed, 0.1, 2))
        self.sinusoidal = check_bool("Phaser", "sinusoidal", sinusoidal)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        length = int(self.delay_ms * 0.001 * self.sample_rate + 0.5)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        shape = Modulation.SINUSOIDAL if self.sinusoidal else Modulation.TRIANGULAR
        table = wave_table(shape, period, 1.0, float(length), math.pi / 2)
        steps = np.floor(table + 0.5).astype(np.int64)
        out = np.empty_like(signal)
        stored, at = np.zeros((*signal.shape[:-1], length), signal.dtype), 0
        for now in range(signal.shape[-1]):
            found = stored[..., (at + steps[now % period]) % length]
            at = (at + 1) % length
            mixed = signal[..., now] * self.gain_in + found
            stored[..., at] = mixed * self.decay
            out[..., now] = mixed * self.gain_out
        return limited(out)


class Flanger(AudioOperation):
    """A flanger.

    Args:
        sample_rate: samples a second, in Hz.
        delay: shortest delay, in ms, in [0, 30].
        depth: swing of the delay, in ms, in [0, 10].
        regen: share of the delayed sound that is fed back, in percent, in [-95, 95].
        width: share of the delayed sound in the result, in percent, in [0, 100].
        speed: frequency of the modulation, in Hz, in [0.1, 10].
        phase: phase between the modulations of two channels, in percent, in [0, 100].
        modulation: shape of the modulation.
        interpolation: interpolation of the delayed sound.
    """

    low_rank = 2

    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ) -> None:
        self.sample_rate = check_rate("Flanger", sample_rate)
        self.delay = single(check_between("Flanger", "delay", delay, 0, 30)) / 1000
        self.depth = single(check_between("Flanger", "depth", depth, 0, 10)) / 1000
        self.regen = single(check_between("Flanger", "regen", regen, -95, 95)) / 100
        self.width = single(check_between("Flanger", "width", width, 0, 100)) / 100
        self.speed = single(check_between("Flanger", "speed", speed, 0.1, 10))
        self.phase = single(check_between("Flanger", "phase", phase, 0, 100)) / 100
        check_type("Flanger", "modulation", modulation, Modulation)
        check_type("Flanger", "interpolation", interpolation, Interpolation)
        self.modulation, self.interpolation = modulation, interpolation

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        channels = np.arange(signal.shape[-2])
        gain_in = 1 / (1 + self.width)
        gain = self.width / (1 + self.width) * (1 - abs(self.regen))
        length = int((self.delay + self.depth) * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        low = math.floor(self.delay * self.sample_rate + 0.5)
        table = wave_table(self.modulation, period, low, length - 2.0, 3 * math.pi / 2)
        table = table.astype(np.float32).astype(signal.dtype)
        shift = (channels * period * self.phase + 0.5).astype(np.int64)
        out = np.empty_like(signal)
        stored, last, at = np.zeros((*signal.shape[:-1], length), signal.dtype), 0.0, 0
        for now in range(signal.shape[-1]):
            at = (at + length - 1) % length
            delay = table[(now + shift) % period]
            whole = np.floor(delay).astype(np.int64)
            part = delay - whole
            stored[..., at] = signal[..., now] + last * self.regen
            first, second, third = (
                stored[..., channels, (at + whole + step) % length] for step in range(3)
            )
            if self.interpolation == Interpolation.LINEAR:
                last = first + (second - first) * part
            else:
                third, second = third - first, second - first
                last = first + ((third * 0.5 - second) * part + second * 2 - third * 0.5) * part
            out[..., now] = signal[..., now] * gain_in + last * gain
        return limited(out).astype(column.dtype)
