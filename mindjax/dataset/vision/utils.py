"""The original's module of the enumerations and files of images."""

from mindjax.dataset.vision import AutoAugmentPolicy as AutoAugmentPolicy
from mindjax.dataset.vision import Border as Border
from mindjax.dataset.vision import ConvertMode as ConvertMode
from mindjax.dataset.vision import ImageBatchFormat as ImageBatchFormat
from mindjax.dataset.vision import ImageReadMode as ImageReadMode
from mindjax.dataset.vision import Inter as Inter
from mindjax.dataset.vision import SliceMode as SliceMode
from mindjax.dataset.vision import encode_jpeg as encode_jpeg
from mindjax.dataset.vision import encode_png as encode_png
from mindjax.dataset.vision import get_image_num_channels as get_image_num_channels
from mindjax.dataset.vision import get_image_size as get_image_size
from mindjax.dataset.vision import read_file as read_file
from mindjax.dataset.vision import read_image as read_image
from mindjax.dataset.vision import write_file as write_file
from mindjax.dataset.vision import write_jpeg as write_jpeg
from mindjax.dataset.vision import write_png as write_png
