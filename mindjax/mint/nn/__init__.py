"""The PyTorch-flavoured layers and losses."""

from mindjax.mint.nn import functional as functional
from mindjax.mint.nn.conv import Conv1d as Conv1d
from mindjax.mint.nn.conv import Conv2d as Conv2d
from mindjax.mint.nn.conv import Conv3d as Conv3d
from mindjax.mint.nn.conv import ConvTranspose2d as ConvTranspose2d
from mindjax.mint.nn.layers import ELU as ELU
from mindjax.mint.nn.layers import GELU as GELU
from mindjax.mint.nn.layers import GLU as GLU
from mindjax.mint.nn.layers import AvgPool1d as AvgPool1d
from mindjax.mint.nn.layers import AvgPool2d as AvgPool2d
from mindjax.mint.nn.layers import Dropout as Dropout
from mindjax.mint.nn.layers import Dropout2d as Dropout2d
from mindjax.mint.nn.layers import Embedding as Embedding
from mindjax.mint.nn.layers import Hardtanh as Hardtanh
from mindjax.mint.nn.layers import LogSoftmax as LogSoftmax
from mindjax.mint.nn.layers import MaxPool2d as MaxPool2d
from mindjax.mint.nn.layers import PReLU as PReLU
from mindjax.mint.nn.layers import ReLU6 as ReLU6
from mindjax.mint.nn.layers import SiLU as SiLU
from mindjax.mint.nn.layers import Softmax as Softmax
from mindjax.mint.nn.layers import Threshold as Threshold
from mindjax.mint.nn.losses import BCELoss as BCELoss
from mindjax.mint.nn.losses import BCEWithLogitsLoss as BCEWithLogitsLoss
from mindjax.mint.nn.losses import CosineEmbeddingLoss as CosineEmbeddingLoss
from mindjax.mint.nn.losses import CrossEntropyLoss as CrossEntropyLoss
from mindjax.mint.nn.losses import KLDivLoss as KLDivLoss
from mindjax.mint.nn.losses import L1Loss as L1Loss
from mindjax.mint.nn.losses import MSELoss as MSELoss
from mindjax.mint.nn.losses import NLLLoss as NLLLoss
from mindjax.mint.nn.losses import SmoothL1Loss as SmoothL1Loss
from mindjax.mint.nn.losses import SoftMarginLoss as SoftMarginLoss
from mindjax.mint.nn.normalization import BatchNorm1d as BatchNorm1d
from mindjax.mint.nn.normalization import BatchNorm2d as BatchNorm2d
from mindjax.mint.nn.normalization import BatchNorm3d as BatchNorm3d
from mindjax.mint.nn.normalization import GroupNorm as GroupNorm
from mindjax.mint.nn.normalization import LayerNorm as LayerNorm
from mindjax.mint.nn.normalization import SyncBatchNorm as SyncBatchNorm
from mindjax.mint.nn.spatial import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from mindjax.mint.nn.spatial import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from mindjax.mint.nn.spatial import AvgPool3d as AvgPool3d
from mindjax.mint.nn.spatial import Fold as Fold
from mindjax.mint.nn.spatial import MaxUnpool2d as MaxUnpool2d
from mindjax.mint.nn.spatial import PixelShuffle as PixelShuffle
from mindjax.mint.nn.spatial import Unfold as Unfold
from mindjax.mint.nn.spatial import Upsample as Upsample
from mindjax.mint.nn.spatial import UpsamplingBilinear2d as UpsamplingBilinear2d
from mindjax.mint.nn.spatial import UpsamplingNearest2d as UpsamplingNearest2d
from mindjax.nn import activation as _activation
from mindjax.nn.activation import LogSigmoid as LogSigmoid
from mindjax.nn.activation import Mish as Mish
from mindjax.nn.activation import ReLU as ReLU
from mindjax.nn.activation import Sigmoid as Sigmoid
from mindjax.nn.activation import Tanh as Tanh
from mindjax.nn.cell import Cell as Cell
from mindjax.nn.dense import Linear as Linear
from mindjax.nn.layers.padding import ConstantPad1d as ConstantPad1d
from mindjax.nn.layers.padding import ConstantPad2d as ConstantPad2d
from mindjax.nn.layers.padding import ConstantPad3d as ConstantPad3d
from mindjax.nn.layers.padding import ReflectionPad1d as ReflectionPad1d
from mindjax.nn.layers.padding import ReflectionPad2d as ReflectionPad2d
from mindjax.nn.layers.padding import ReflectionPad3d as ReflectionPad3d
from mindjax.nn.layers.padding import ReplicationPad1d as ReplicationPad1d
from mindjax.nn.layers.padding import ReplicationPad2d as ReplicationPad2d
from mindjax.nn.layers.padding import ReplicationPad3d as ReplicationPad3d
from mindjax.nn.layers.padding import ZeroPad1d as ZeroPad1d
from mindjax.nn.layers.padding import ZeroPad2d as ZeroPad2d
from mindjax.nn.layers.padding import ZeroPad3d as ZeroPad3d
from mindjax.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from mindjax.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from mindjax.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from mindjax.nn.shape import Flatten as Flatten
from mindjax.nn.shape import Identity as Identity

Hardshrink = _activation.HShrink
Hardsigmoid = _activation.HSigmoid
Hardswish = _activation.HSwish
SELU = _activation.SeLU
Softshrink = _activation.SoftShrink
