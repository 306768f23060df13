"""Pooling, sampling grids, image geometry, colours, boxes and deformable convolution."""

from mindjax.ops.vision.boxes import IOU as IOU
from mindjax.ops.vision.boxes import BoundingBoxDecode as BoundingBoxDecode
from mindjax.ops.vision.boxes import BoundingBoxEncode as BoundingBoxEncode
from mindjax.ops.vision.boxes import CheckValid as CheckValid
from mindjax.ops.vision.boxes import bounding_box_decode as bounding_box_decode
from mindjax.ops.vision.boxes import bounding_box_encode as bounding_box_encode
from mindjax.ops.vision.boxes import check_valid as check_valid
from mindjax.ops.vision.boxes import iou as iou
from mindjax.ops.vision.boxes import rotated_iou as rotated_iou
from mindjax.ops.vision.colour import AdjustHue as AdjustHue
from mindjax.ops.vision.colour import AdjustSaturation as AdjustSaturation
from mindjax.ops.vision.colour import HSVToRGB as HSVToRGB
from mindjax.ops.vision.colour import RGBToHSV as RGBToHSV
from mindjax.ops.vision.convolution import Conv3DTranspose as Conv3DTranspose
from mindjax.ops.vision.convolution import DeformableOffsets as DeformableOffsets
from mindjax.ops.vision.convolution import DepthwiseConv2dNative as DepthwiseConv2dNative
from mindjax.ops.vision.convolution import Dilation2D as Dilation2D
from mindjax.ops.vision.convolution import conv3d_transpose as conv3d_transpose
from mindjax.ops.vision.convolution import deformable_conv2d as deformable_conv2d
from mindjax.ops.vision.fractional import FractionalAvgPool as FractionalAvgPool
from mindjax.ops.vision.fractional import FractionalMaxPool as FractionalMaxPool
from mindjax.ops.vision.fractional import (
    FractionalMaxPool3DWithFixedKsize as FractionalMaxPool3DWithFixedKsize,
)
from mindjax.ops.vision.fractional import (
    FractionalMaxPoolWithFixedKsize as FractionalMaxPoolWithFixedKsize,
)
from mindjax.ops.vision.fractional import fractional_max_pool2d as fractional_max_pool2d
from mindjax.ops.vision.fractional import fractional_max_pool3d as fractional_max_pool3d
from mindjax.ops.vision.patches import Col2Im as Col2Im
from mindjax.ops.vision.patches import ExtractImagePatches as ExtractImagePatches
from mindjax.ops.vision.patches import ExtractVolumePatches as ExtractVolumePatches
from mindjax.ops.vision.patches import Im2Col as Im2Col
from mindjax.ops.vision.patches import col2im as col2im
from mindjax.ops.vision.patches import fold as fold
from mindjax.ops.vision.patches import unfold as unfold
from mindjax.ops.vision.pooling3d import AdaptiveAvgPool3D as AdaptiveAvgPool3D
from mindjax.ops.vision.pooling3d import AdaptiveMaxPool3D as AdaptiveMaxPool3D
from mindjax.ops.vision.pooling3d import AvgPool3D as AvgPool3D
from mindjax.ops.vision.pooling3d import MaxPool3D as MaxPool3D
from mindjax.ops.vision.pooling3d import MaxPool3DWithArgmax as MaxPool3DWithArgmax
from mindjax.ops.vision.pooling3d import MaxPoolWithArgmax as MaxPoolWithArgmax
from mindjax.ops.vision.pooling3d import adaptive_avg_pool2d_ext as adaptive_avg_pool2d_ext
from mindjax.ops.vision.pooling3d import adaptive_avg_pool3d as adaptive_avg_pool3d
from mindjax.ops.vision.pooling3d import adaptive_max_pool3d as adaptive_max_pool3d
from mindjax.ops.vision.pooling3d import avg_pool3d as avg_pool3d
from mindjax.ops.vision.pooling3d import lp_pool1d as lp_pool1d
from mindjax.ops.vision.pooling3d import lp_pool2d as lp_pool2d
from mindjax.ops.vision.pooling3d import max_pool3d as max_pool3d
from mindjax.ops.vision.rearrange import BatchToSpace as BatchToSpace
from mindjax.ops.vision.rearrange import BatchToSpaceND as BatchToSpaceND
from mindjax.ops.vision.rearrange import BatchToSpaceNDV2 as BatchToSpaceNDV2
from mindjax.ops.vision.rearrange import ChannelShuffle as ChannelShuffle
from mindjax.ops.vision.rearrange import DataFormatDimMap as DataFormatDimMap
from mindjax.ops.vision.rearrange import DataFormatVecPermute as DataFormatVecPermute
from mindjax.ops.vision.rearrange import DepthToSpace as DepthToSpace
from mindjax.ops.vision.rearrange import SpaceToBatch as SpaceToBatch
from mindjax.ops.vision.rearrange import SpaceToBatchND as SpaceToBatchND
from mindjax.ops.vision.rearrange import SpaceToDepth as SpaceToDepth
from mindjax.ops.vision.rearrange import batch_to_space_nd as batch_to_space_nd
from mindjax.ops.vision.rearrange import channel_shuffle as channel_shuffle
from mindjax.ops.vision.rearrange import pixel_shuffle as pixel_shuffle
from mindjax.ops.vision.rearrange import pixel_unshuffle as pixel_unshuffle
from mindjax.ops.vision.rearrange import space_to_batch_nd as space_to_batch_nd
from mindjax.ops.vision.resizing import ResizeArea as ResizeArea
from mindjax.ops.vision.resizing import ResizeBicubic as ResizeBicubic
from mindjax.ops.vision.resizing import ResizeLinear1D as ResizeLinear1D
from mindjax.ops.vision.resizing import ScaleAndTranslate as ScaleAndTranslate
from mindjax.ops.vision.resizing import UpsampleNearest3D as UpsampleNearest3D
from mindjax.ops.vision.resizing import UpsampleTrilinear3D as UpsampleTrilinear3D
from mindjax.ops.vision.resizing import upsample as upsample
from mindjax.ops.vision.sampling import AffineGrid as AffineGrid
from mindjax.ops.vision.sampling import CropAndResize as CropAndResize
from mindjax.ops.vision.sampling import ExtractGlimpse as ExtractGlimpse
from mindjax.ops.vision.sampling import GridSampler2D as GridSampler2D
from mindjax.ops.vision.sampling import GridSampler3D as GridSampler3D
from mindjax.ops.vision.sampling import ROIAlign as ROIAlign
from mindjax.ops.vision.sampling import affine_grid as affine_grid
from mindjax.ops.vision.sampling import crop_and_resize as crop_and_resize
from mindjax.ops.vision.sampling import grid_sample as grid_sample
from mindjax.ops.vision.suppression import CombinedNonMaxSuppression as CombinedNonMaxSuppression
from mindjax.ops.vision.suppression import NMSWithMask as NMSWithMask
from mindjax.ops.vision.suppression import NonMaxSuppressionV3 as NonMaxSuppressionV3
from mindjax.ops.vision.suppression import (
    NonMaxSuppressionWithOverlaps as NonMaxSuppressionWithOverlaps,
)
from mindjax.ops.vision.suppression import (
    SampleDistortedBoundingBoxV2 as SampleDistortedBoundingBoxV2,
)
from mindjax.ops.vision.unpooling import MaxUnpool2D as MaxUnpool2D
from mindjax.ops.vision.unpooling import MaxUnpool3D as MaxUnpool3D
from mindjax.ops.vision.unpooling import max_unpool1d as max_unpool1d
from mindjax.ops.vision.unpooling import max_unpool2d as max_unpool2d
from mindjax.ops.vision.unpooling import max_unpool3d as max_unpool3d
