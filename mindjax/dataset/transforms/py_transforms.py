"""The old import path of ``mindspore.dataset.transforms`` (Python transforms)."""

from mindjax.dataset.transforms import Compose as Compose
from mindjax.dataset.transforms import RandomApply as RandomApply
from mindjax.dataset.transforms import RandomChoice as RandomChoice
from mindjax.dataset.transforms import RandomOrder as RandomOrder
from mindjax.dataset.transforms.arrays import OneHot as OneHotOp

__all__ = ["Compose", "OneHotOp", "RandomApply", "RandomChoice", "RandomOrder"]
