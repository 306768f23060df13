"""The original's module of the transforms that ``mindspore.dataset.transforms`` lists."""

from mindjax.dataset.transforms import Compose as Compose
from mindjax.dataset.transforms import Concatenate as Concatenate
from mindjax.dataset.transforms import Duplicate as Duplicate
from mindjax.dataset.transforms import Fill as Fill
from mindjax.dataset.transforms import Mask as Mask
from mindjax.dataset.transforms import OneHot as OneHot
from mindjax.dataset.transforms import PadEnd as PadEnd
from mindjax.dataset.transforms import RandomApply as RandomApply
from mindjax.dataset.transforms import RandomChoice as RandomChoice
from mindjax.dataset.transforms import RandomOrder as RandomOrder
from mindjax.dataset.transforms import Relational as Relational
from mindjax.dataset.transforms import Slice as Slice
from mindjax.dataset.transforms import TypeCast as TypeCast
from mindjax.dataset.transforms import Unique as Unique
