"""The original's module of the enumerations of images."""

from mindjax.dataset.vision.enums import Border as Border
from mindjax.dataset.vision.enums import ConvertMode as ConvertMode
from mindjax.dataset.vision.enums import ImageBatchFormat as ImageBatchFormat
from mindjax.dataset.vision.enums import ImageReadMode as ImageReadMode
from mindjax.dataset.vision.enums import Inter as Inter
from mindjax.dataset.vision.enums import SliceMode as SliceMode
