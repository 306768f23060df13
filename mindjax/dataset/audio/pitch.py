"""The frequency of a pitch."""

from __future__ import annotations

import math

import numpy as np

from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_count,
    check_positive,
    check_rate,
    single,
    to_float,
)


class DetectPitchFrequency(AudioOperation):
    """Gives the pitch of each frame, from correlations of the signal with itself, in float32 Hz.

    Args:
        sample_rate: samples a second, in Hz.
        frame_time: length of a frame, in s.
        win_length: frames of the median that smooths the result.
        freq_low: lowest frequency, in Hz.
        freq_high: highest frequency, in Hz.
    """

    only_floats = True

    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: float = 85,
        freq_high: float = 3400,
    ) -> None:
        owner = "DetectPitchFrequency"
        self.sample_rate = check_rate(owner, sample_rate)
        self.frame_time = single(check_positive(owner, "frame_time", frame_time))
        self.win_length = check_count(owner, "win_length", win_length, 1)
        self.freq_low = single(check_positive(owner, "freq_low", freq_low))
        self.freq_high = single(check_positive(owner, "freq_high", freq_high))

    def _apply(self, column: np.ndarray) -> np.ndarray:
        signal = to_float(column)
        scores = self._correlations(signal)
        lags = self._best(scores)
        frequencies = self.sample_rate / (1e-9 + self._smooth(lags))
        return frequencies.astype(np.float32)

    def _correlations(self, signal: np.ndarray) -> np.ndarray:
        """Give the correlation at every lag, shape (..., frame, lag)."""
        longest = math.ceil(np.float32(self.sample_rate) / np.float32(self.freq_low))
        frame = math.ceil(np.float32(self.sample_rate) * np.float32(self.frame_time))
        size = signal.shape[-1]
        frames = math.ceil(size / frame)
        short = max(0, longest + frames * frame - size)
        long = np.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, short)])
        found = []
        for lag in range(1, longest + 1):
            one, two = (
                long[..., start : start + frames * frame].reshape(*long.shape[:-1], frames, frame)
                for start in (0, lag)
            )
            # By the squares of both norms, as in torchaudio.
            norms = [(np.sqrt((part**2).sum(-1)) + 1e-9) ** 2 for part in (one, two)]
            found.append((one * two).sum(-1) / norms[0] / norms[1])
        return np.stack(found, -1)

    def _best(self, scores: np.ndarray) -> np.ndarray:
        """Give the best lag of each frame; the first half wins where it is as good."""
        least = math.ceil(np.float32(self.sample_rate) / np.float32(self.freq_high))
        most = scores.shape[-1]
        best = scores[..., least:].argmax(-1)
        middle = most // 2
        half = scores[..., least:middle]
        if half.shape[-1]:
            value, half_value = scores[..., least:].max(-1), half.max(-1)
            best = np.where(half_value > 0.99 * value, half.argmax(-1), best)
        return best + least + 1

    def _smooth(self, lags: np.ndarray) -> np.ndarray:
        before = (self.win_length - 1) // 2
        wide = np.concatenate([np.repeat(lags[..., :1], before, -1), lags], -1)
        if wide.shape[-1] < self.win_length:
            raise self._fail(
                f"win_length {self.win_length} is longer than the {lags.shape[-1]} frames."
            )
        windows = np.lib.stride_tricks.sliding_window_view(wide, self.win_length, axis=-1)
        return np.sort(windows, -1)[..., (self.win_length - 1) // 2]
