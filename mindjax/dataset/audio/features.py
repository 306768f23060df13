"""Features of a spectrum: mel and linear bands, cepstra, deltas, running means."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.audio.banks import create_dct, linear_fbanks, mel_bank
from mindjax.dataset.audio.effects import refuse_length
from mindjax.dataset.audio.enums import BorderType, MelType, NormMode, NormType, WindowType
from mindjax.dataset.audio.fourier import padded
from mindjax.dataset.audio.operation import (
    AudioOperation,
    check_count,
    check_positive,
    check_real,
    to_float,
)
from mindjax.dataset.audio.spectra import Spectrogram, decibels
from mindjax.dataset.engine.checks import INT32_MAX, check_bool, check_interval, check_type
from mindjax.dataset.engine.run import draw


def _check_mel(
    owner: str, f_min: Any, f_max: Any, sample_rate: Any, norm: Any, mel_type: Any
) -> float:
    check_real(owner, "f_min", f_min)
    if f_max is not None:
        check_positive(owner, "f_max", f_max)
        if f_min >= f_max:
            raise located(ValueError, f"For '{owner}': f_max should be greater than f_min.")
    elif f_min >= sample_rate // 2:
        raise located(
            ValueError,
            f"For '{owner}': sample_rate // 2 should be greater than f_min when f_max is set to "
            "None.",
        )
    check_type(owner, "norm", norm, NormType)
    check_type(owner, "mel_type", mel_type, MelType)
    return sample_rate // 2 if f_max is None else f_max


def _banded(spectrum: np.ndarray, bank: np.ndarray) -> np.ndarray:
    return np.swapaxes(np.swapaxes(spectrum, -1, -2) @ bank.astype(spectrum.dtype), -1, -2)


class MelScale(AudioOperation):
    """Gives the mel bands of a spectrum (..., frequency, time).

    Args:
        n_mels: number of bands.
        sample_rate: samples a second, in Hz.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz; None for half the rate.
        n_stft: number of frequencies.
        norm: norm of the filters.
        mel_type: scale of mel.
    """

    low_rank = 2

    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        check_count("MelScale", "n_mels", n_mels, 1)
        check_count("MelScale", "sample_rate", sample_rate, 1)
        high = _check_mel("MelScale", f_min, f_max, sample_rate, norm, mel_type)
        self.n_stft = check_count("MelScale", "n_stft", n_stft, 1)
        self._bank = mel_bank(n_stft, f_min, high, n_mels, sample_rate, norm, mel_type)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if column.shape[-2] != self.n_stft:
            raise self._fail(
                f"the frequencies of the input should be n_stft {self.n_stft}, but got "
                f"{column.shape[-2]}."
            )
        return np.ascontiguousarray(_banded(to_float(column), self._bank))


class InverseMelScale(AudioOperation):
    """Guesses the spectrum of mel bands (..., band, time) by gradient descent.

    Args:
        n_stft: number of frequencies.
        n_mels: number of bands.
        sample_rate: samples a second, in Hz.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz; None for half the rate.
        max_iter: greatest number of steps.
        tolerance_loss: loss at which it ends.
        tolerance_change: change of the loss at which it ends.
        sgdargs: ``sgd_lr`` and ``sgd_momentum`` of the descent; None for 0.1 and 0.9.
        norm: norm of the filters.
        mel_type: scale of mel.
    """

    low_rank, is_random = 2, True

    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict[str, float] | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        owner = "InverseMelScale"
        self.n_mels = check_count(owner, "n_mels", n_mels, 1)
        check_count(owner, "sample_rate", sample_rate, 1)
        high = _check_mel(owner, f_min, f_max, sample_rate, norm, mel_type)
        check_count(owner, "n_stft", n_stft, 1)
        self.max_iter = check_count(owner, "max_iter", max_iter, 1)
        self.tolerance_loss = check_positive(owner, "tolerance_loss", tolerance_loss)
        self.tolerance_change = check_positive(owner, "tolerance_change", tolerance_change)
        self.rate, self.momentum = 0.1, 0.9
        if sgdargs is not None:
            self.rate = check_real(owner, "sgd_lr", sgdargs["sgd_lr"], 0)
            self.momentum = check_real(owner, "sgd_momentum", sgdargs["sgd_momentum"], 0)
        self._bank = mel_bank(n_stft, f_min, high, n_mels, sample_rate, norm, mel_type)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        mel = to_float(column)
        if mel.shape[-2] != self.n_mels:
            raise self._fail(
                f"the bands of the input should be n_mels {self.n_mels}, but got {mel.shape[-2]}."
            )
        bank = self._bank.astype(np.float64)
        wanted = np.swapaxes(mel, -1, -2).astype(np.float64)
        guess = draw().random((*wanted.shape[:-1], len(bank)))
        speed, before = np.zeros_like(guess), np.inf
        frames = np.prod(wanted.shape[:-1])
        for _ in range(self.max_iter):
            difference = guess @ bank - wanted
            loss = (difference**2).sum() / self.n_mels / frames
            if loss < self.tolerance_loss or abs(before - loss) < self.tolerance_change:
                break
            before = loss
            speed = self.momentum * speed + difference @ bank.T * (2 / self.n_mels / frames)
            guess = np.maximum(guess - self.rate * speed, 0)
        return np.ascontiguousarray(np.swapaxes(guess, -1, -2)).astype(mel.dtype)


class MelSpectrogram(AudioOperation):
    """Gives the mel bands of the spectrum of windows of a signal.

    Args:
        sample_rate: samples a second, in Hz.
        n_fft: length of a transform.
        win_length: length of a window; None for ``n_fft``.
        hop_length: distance of two windows; None for half a window.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz; None for half the rate.
        pad: zeros put at both ends of the signal.
        n_mels: number of bands.
        window: the window.
        power: power of the magnitudes.
        normalized: whether the spectrum is divided by the window's norm.
        center: whether the first window's middle is the first sample.
        pad_mode: what the signal is continued with then.
        onesided: whether negative frequencies are left out.
        norm: norm of the filters.
        mel_scale: scale of mel.
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ) -> None:
        owner = "MelSpectrogram"
        check_count(owner, "sample_rate", sample_rate)
        check_count(owner, "n_mels", n_mels, 1)
        check_type(owner, "f_min", f_min, float)
        check_positive(owner, "power", power)
        high = _check_mel(owner, f_min, f_max, sample_rate, norm, mel_scale)
        self._spectrogram = Spectrogram(
            n_fft,
            win_length,
            hop_length,
            pad,
            window,
            power,
            normalized,
            center,
            pad_mode,
            onesided,
        )
        bins = n_fft // 2 + 1 if onesided else n_fft
        self._bank = mel_bank(bins, f_min, high, n_mels, sample_rate, norm, mel_scale)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(_banded(self._spectrogram(column), self._bank))


def _window_arguments(given: Any, owner: str, name: str) -> dict[str, Any]:
    if given is not None:
        check_type(owner, name, given, dict)
    found = dict(given or {})
    found.setdefault("n_fft", 400)
    found.setdefault("win_length", found["n_fft"])
    found.setdefault("hop_length", found["win_length"] // 2)
    return found


def _cepstrum(bands: np.ndarray, matrix: np.ndarray, log: bool) -> np.ndarray:
    bands = bands.astype(np.float32)
    levels = np.log(bands + np.float32(1e-6)) if log else decibels(bands, 10.0, 1e-10, 0.0, 80.0)
    return np.ascontiguousarray(_banded(levels, matrix))


class MFCC(AudioOperation):
    """Gives the mel cepstrum of windows of a signal, in float32.

    Args:
        sample_rate: samples a second, in Hz.
        n_mfcc: number of coefficients.
        dct_type: 2, the only one.
        norm: norm of the cosine transform.
        log_mels: whether logarithms are taken and not decibels.
        melkwargs: arguments of ``MelSpectrogram``.
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict[str, Any] | None = None,
    ) -> None:
        check_count("MFCC", "sample_rate", sample_rate)
        self.log_mels = check_bool("MFCC", "log_mels", log_mels)
        check_type("MFCC", "norm", norm, NormMode)
        check_count("MFCC", "n_mfcc", n_mfcc)
        if dct_type != 2:
            raise self._fail(f"Input dct_type must be 2, but got : {dct_type}.", ValueError)
        found = _window_arguments(melkwargs, "MFCC", "melkwargs")
        n_mels = found.setdefault("n_mels", 128)
        if n_mels < n_mfcc:
            raise self._fail(
                "Input n_mels should be greater than or equal to n_mfcc, but got n_mfcc: "
                f"{n_mfcc} and n_mels: {n_mels}.",
                RuntimeError if melkwargs is None else ValueError,
            )
        self._bands = MelSpectrogram(sample_rate, **found)
        self._matrix = create_dct(n_mfcc, n_mels, norm)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        return _cepstrum(self._bands(column), self._matrix, self.log_mels)


class LFCC(AudioOperation):
    """Gives the cepstrum of linear bands of windows of a signal, in float32.

    Args:
        sample_rate: samples a second, in Hz.
        n_filter: number of bands.
        n_lfcc: number of coefficients.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz; None for half the rate.
        dct_type: 2, the only one.
        norm: norm of the cosine transform.
        log_lf: whether logarithms are taken and not decibels.
        speckwargs: arguments of ``Spectrogram``.
    """

    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict[str, Any] | None = None,
    ) -> None:
        check_count("LFCC", "sample_rate", sample_rate)
        check_count("LFCC", "n_filter", n_filter, 1)
        check_count("LFCC", "n_lfcc", n_lfcc, 1)
        self.log_lf = check_bool("LFCC", "log_lf", log_lf)
        check_type("LFCC", "norm", norm, NormMode)
        check_real("LFCC", "f_min", f_min, 0)
        high = sample_rate // 2
        if f_max is not None:
            high = check_real("LFCC", "f_max", f_max, 0)
        if f_min > high or (f_max is None and f_min >= high):
            raise self._fail(
                f"f_max should be greater than or equal to f_min, but got f_min: {f_min} and "
                f"f_max: {high}.",
                ValueError,
            )
        if dct_type != 2:
            raise self._fail(f"Input dct_type must be 2, but got : {dct_type}.", ValueError)
        found = _window_arguments(speckwargs, "LFCC", "speckwargs")
        if found["n_fft"] < n_lfcc:
            raise self._fail(
                "n_fft should be greater than or equal to n_lfcc, but got n_fft: "
                f"{found['n_fft']} and n_lfcc: {n_lfcc}.",
                RuntimeError if speckwargs is None else ValueError,
            )
        refuse_length("LFCC", "win_length", found["win_length"], "n_fft", found["n_fft"])
        self._spectrogram = Spectrogram(**found)
        self._bank = linear_fbanks(found["n_fft"] // 2 + 1, f_min, high, n_filter, sample_rate)
        self._matrix = create_dct(n_lfcc, n_filter, norm)

    def _apply(self, column: np.ndarray) -> np.ndarray:
        bands = _banded(self._spectrogram(column), self._bank)
        return _cepstrum(bands, self._matrix, self.log_lf)


class ComputeDeltas(AudioOperation):
    """Gives the slopes of features (..., feature, time).

    Args:
        win_length: length of the window, at least 3.
        pad_mode: what the features are continued with.
    """

    low_rank = 2

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE) -> None:
        check_type("ComputeDeltas", "pad_mode", pad_mode, BorderType)
        check_type("ComputeDeltas", "win_length", win_length, int)
        check_interval("ComputeDeltas", "win_length", win_length, 3, INT32_MAX)
        self.reach, self.pad_mode = (win_length - 1) // 2, pad_mode

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values, n = to_float(column), self.reach
        frames = np.lib.stride_tricks.sliding_window_view(
            padded(values, n, self.pad_mode), 2 * n + 1, axis=-1
        )
        weights = np.arange(-n, n + 1, dtype=values.dtype)
        return frames @ weights / values.dtype.type(n * (n + 1) * (2 * n + 1) / 3)


class SlidingWindowCmn(AudioOperation):
    """Takes the running mean, and maybe deviation, off features (..., time, feature).

    Args:
        cmn_window: number of times in a window.
        min_cmn_window: least number of times at the start, if not centered.
        center: whether the window's middle is the current time and not its end.
        norm_vars: whether values are divided by the deviation.
    """

    low_rank = 2

    def __init__(
        self,
        cmn_window: int = 600,
        min_cmn_window: int = 100,
        center: bool = False,
        norm_vars: bool = False,
    ) -> None:
        self.cmn_window = check_count("SlidingWindowCmn", "cmn_window", cmn_window)
        self.min_cmn_window = check_count("SlidingWindowCmn", "min_cmn_window", min_cmn_window)
        self.center = check_bool("SlidingWindowCmn", "center", center)
        self.norm_vars = check_bool("SlidingWindowCmn", "norm_vars", norm_vars)

    def _span(self, now: int, count: int) -> tuple[int, int]:
        if self.center:
            start = now - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = now - self.cmn_window, now + 1
        if start < 0:
            start, end = 0, end - start
        if not self.center and end > now:
            end = max(now + 1, self.min_cmn_window)
        if end > count:
            start, end = max(0, start - (end - count)), count
        return start, end

    def _apply(self, column: np.ndarray) -> np.ndarray:
        values = to_float(column)
        out = np.empty_like(values)
        for now in range(values.shape[-2]):
            start, end = self._span(now, values.shape[-2])
            window = values[..., start:end, :]
            out[..., now, :] = values[..., now, :] - window.mean(-2)
            if self.norm_vars:
                if end - start == 1:
                    out[..., now, :] = 0
                else:
                    with np.errstate(divide="ignore", invalid="ignore"):
                        out[..., now, :] /= window.std(-2)
        return out
