"""Banks of filters and the matrix of the cosine transform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.audio.enums import MelType, NormMode, NormType
from mindjax.dataset.audio.operation import check_count, check_positive, check_real
from mindjax.dataset.engine.checks import check_type


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """Give the matrix of the cosine transform of type 2.

    Args:
        n_mfcc: number of coefficients.
        n_mels: number of mel bands.
        norm: whether the columns are orthonormal.

    Returns:
        Array of float32, shape (n_mels, n_mfcc).

    Raises:
        TypeError: an argument has another type.
        ValueError: a number is not positive.
    """
    check_type("create_dct", "n_mfcc", n_mfcc, int)
    check_type("create_dct", "n_mels", n_mels, int)
    check_type("create_dct", "norm", norm, NormMode)
    for name, value in (("n_mfcc", n_mfcc), ("n_mels", n_mels)):
        if value <= 0:
            raise located(
                ValueError, f"For 'create_dct': {name} must be greater than 0, but got {value}."
            )
    steps = (np.arange(n_mels)[:, None] + 0.5) * np.arange(n_mfcc)
    matrix = np.cos(math.pi / n_mels * steps)
    if norm == NormMode.ORTHO:
        matrix[:, 0] /= math.sqrt(2)
        matrix *= math.sqrt(2 / n_mels)
    else:
        matrix *= 2
    return matrix.astype(np.float32)


def _check_range(owner: str, n_freqs: Any, f_min: Any, f_max: Any, sample_rate: Any) -> None:
    check_count(owner, "n_freqs", n_freqs)
    check_real(owner, "f_min", f_min, 0)
    check_positive(owner, "f_max", f_max)
    if f_min > f_max:
        raise located(
            ValueError,
            f"For '{owner}': Input f_min should be no more than f_max, but got f_min: {f_min} and "
            f"f_max: {f_max}.",
        )
    check_count(owner, "sample_rate", sample_rate, 1)


def _triangles(points: np.ndarray, n_freqs: int, sample_rate: int) -> np.ndarray:
    """Give filters that rise from one point to the next and fall to the one after it."""
    frequencies = np.linspace(0, sample_rate // 2, n_freqs)
    gaps = np.diff(points)
    slopes = points[None] - frequencies[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = -slopes[:, :-2] / gaps[:-1]
        rising = slopes[:, 2:] / gaps[1:]
        return np.maximum(np.minimum(falling, rising), 0)


def linear_fbanks(
    n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int
) -> np.ndarray:
    """Give a bank of triangular filters at equal distances.

    Args:
        n_freqs: number of frequencies of the spectrum.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz.
        n_filter: number of filters.
        sample_rate: samples a second, in Hz.

    Returns:
        Array of float32, shape (n_freqs, n_filter).

    Raises:
        TypeError: an argument has another type.
        ValueError: a number is out of range.
    """
    _check_range("linear_fbanks", n_freqs, f_min, f_max, sample_rate)
    check_count("linear_fbanks", "n_filter", n_filter, 1)
    points = np.linspace(f_min, f_max, n_filter + 2)
    return _triangles(points, n_freqs, sample_rate).astype(np.float32)


_LOG_STEP = math.log(6.4) / 27.0


def _to_mel(frequency: float, mel_type: MelType) -> float:
    if mel_type == MelType.HTK:
        return 2595 * math.log10(1 + frequency / 700)
    if frequency < 1000:
        return frequency * 3 / 200
    return 15 + math.log(frequency / 1000) / _LOG_STEP


def _to_hertz(mels: np.ndarray, mel_type: MelType) -> np.ndarray:
    if mel_type == MelType.HTK:
        return 700 * (10 ** (mels / 2595) - 1)
    return np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(_LOG_STEP * (mels - 15)))


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:
    """Give a bank of triangular filters at equal distances in mel.

    Args:
        n_freqs: number of frequencies of the spectrum.
        f_min: lowest frequency, in Hz.
        f_max: highest frequency, in Hz.
        n_mels: number of filters.
        sample_rate: samples a second, in Hz.
        norm: whether the filters have the same area.
        mel_type: scale of mel.

    Returns:
        Array of float32, shape (n_freqs, n_mels).

    Raises:
        TypeError: an argument has another type.
        ValueError: a number is out of range.
    """
    _check_range("melscale_fbanks", n_freqs, f_min, f_max, sample_rate)
    check_count("melscale_fbanks", "n_mels", n_mels, 1)
    check_type("melscale_fbanks", "norm", norm, NormType)
    check_type("melscale_fbanks", "mel_type", mel_type, MelType)
    return mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type)


def mel_bank(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType,
    mel_type: MelType,
) -> np.ndarray:
    """Give what ``melscale_fbanks`` gives, without its checks."""
    mels = np.linspace(_to_mel(f_min, mel_type), _to_mel(f_max, mel_type), n_mels + 2)
    points = _to_hertz(mels, mel_type)
    bank = _triangles(points, n_freqs, sample_rate)
    if norm == NormType.SLANEY:
        bank = bank * (2 / (points[2:] - points[:-2]))
    return bank.astype(np.float32)
