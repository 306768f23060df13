"""The original's module of the transforms that ``mindspore.dataset.vision`` lists."""

from mindjax.dataset.vision import HWC2CHW as HWC2CHW
from mindjax.dataset.vision import CenterCrop as CenterCrop
from mindjax.dataset.vision import Decode as Decode
from mindjax.dataset.vision import Normalize as Normalize
from mindjax.dataset.vision import Pad as Pad
from mindjax.dataset.vision import RandomCrop as RandomCrop
from mindjax.dataset.vision import RandomHorizontalFlip as RandomHorizontalFlip
from mindjax.dataset.vision import RandomResizedCrop as RandomResizedCrop
from mindjax.dataset.vision import RandomVerticalFlip as RandomVerticalFlip
from mindjax.dataset.vision import Rescale as Rescale
from mindjax.dataset.vision import Resize as Resize
from mindjax.dataset.vision import ToPIL as ToPIL
from mindjax.dataset.vision import ToTensor as ToTensor
