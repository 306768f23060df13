# ruff: noqa: UP042  (their `str` is the original's, which StrEnum would change)
"""Enumerations of the transforms of sound (MindSpore: ``dataset.audio.utils``)."""

from enum import Enum


class BorderType(str, Enum):
    """What a signal is continued with."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, Enum):
    """Distributions of the noise of ``Dither``: triangular, rectangular, Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, Enum):
    """Shapes of a fade."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, Enum):
    """Units of a gain."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, Enum):
    """Interpolations of a delayed signal."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, Enum):
    """Scales of mel frequencies."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, Enum):
    """Waves that modulate a delay."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, Enum):
    """Norms of a cosine transform."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(str, Enum):
    """Norms of a bank of mel filters."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, Enum):
    """Windows of a resampling filter."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, Enum):
    """What a spectrum's numbers are."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, Enum):
    """Windows of a spectrum."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
