"""Old path of enumerations and banks of filters (MindSpore: ``dataset.audio.utils``)."""

from mindjax.dataset.audio import BorderType as BorderType
from mindjax.dataset.audio import DensityFunction as DensityFunction
from mindjax.dataset.audio import FadeShape as FadeShape
from mindjax.dataset.audio import GainType as GainType
from mindjax.dataset.audio import Interpolation as Interpolation
from mindjax.dataset.audio import MelType as MelType
from mindjax.dataset.audio import Modulation as Modulation
from mindjax.dataset.audio import NormMode as NormMode
from mindjax.dataset.audio import NormType as NormType
from mindjax.dataset.audio import ResampleMethod as ResampleMethod
from mindjax.dataset.audio import ScaleType as ScaleType
from mindjax.dataset.audio import WindowType as WindowType
from mindjax.dataset.audio import create_dct as create_dct
from mindjax.dataset.audio import linear_fbanks as linear_fbanks
from mindjax.dataset.audio import melscale_fbanks as melscale_fbanks
