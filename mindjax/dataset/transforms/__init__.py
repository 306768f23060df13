"""Transforms of any data (MindSpore: ``mindspore.dataset.transforms``)."""

from typing import Any

from mindjax.dataset.engine.absent import Plugin as Plugin
from mindjax.dataset.transforms.arrays import Concatenate as Concatenate
from mindjax.dataset.transforms.arrays import Duplicate as Duplicate
from mindjax.dataset.transforms.arrays import Fill as Fill
from mindjax.dataset.transforms.arrays import Mask as Mask
from mindjax.dataset.transforms.arrays import OneHot as OneHot
from mindjax.dataset.transforms.arrays import PadEnd as PadEnd
from mindjax.dataset.transforms.arrays import Relational as Relational
from mindjax.dataset.transforms.arrays import Slice as Slice
from mindjax.dataset.transforms.arrays import TypeCast as TypeCast
from mindjax.dataset.transforms.arrays import Unique as Unique
from mindjax.dataset.transforms.compose import Compose as Compose
from mindjax.dataset.transforms.compose import RandomApply as RandomApply
from mindjax.dataset.transforms.compose import RandomChoice as RandomChoice
from mindjax.dataset.transforms.compose import RandomOrder as RandomOrder
from mindjax.dataset.transforms.compose import not_random as not_random

# The original refuses these two here; articles import them from here all the same.
_OF_VISION = ("Normalize", "ToTensor")


def __getattr__(name: str) -> Any:
    if name in _OF_VISION:
        from mindjax.dataset import vision

        return getattr(vision, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
