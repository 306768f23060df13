"""Transforms of images (MindSpore: ``mindspore.dataset.vision``)."""

from mindjax.dataset.vision.codec import Decode as Decode
from mindjax.dataset.vision.codec import ToPIL as ToPIL
from mindjax.dataset.vision.enums import Border as Border
from mindjax.dataset.vision.enums import ConvertMode as ConvertMode
from mindjax.dataset.vision.enums import ImageBatchFormat as ImageBatchFormat
from mindjax.dataset.vision.enums import ImageReadMode as ImageReadMode
from mindjax.dataset.vision.enums import Inter as Inter
from mindjax.dataset.vision.enums import SliceMode as SliceMode
from mindjax.dataset.vision.geometry import CenterCrop as CenterCrop
from mindjax.dataset.vision.geometry import Pad as Pad
from mindjax.dataset.vision.geometry import RandomCrop as RandomCrop
from mindjax.dataset.vision.geometry import RandomHorizontalFlip as RandomHorizontalFlip
from mindjax.dataset.vision.geometry import RandomResizedCrop as RandomResizedCrop
from mindjax.dataset.vision.geometry import RandomVerticalFlip as RandomVerticalFlip
from mindjax.dataset.vision.resize import Resize as Resize
from mindjax.dataset.vision.values import HWC2CHW as HWC2CHW
from mindjax.dataset.vision.values import Normalize as Normalize
from mindjax.dataset.vision.values import Rescale as Rescale
from mindjax.dataset.vision.values import ToTensor as ToTensor
