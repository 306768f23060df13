"""Mixed precision (MindSpore: ``mindspore.amp``): levels, lists, loss scales, training cells."""

from mindjax.amp.levels import auto_mixed_precision as auto_mixed_precision
from mindjax.amp.levels import custom_mixed_precision as custom_mixed_precision
from mindjax.amp.lists import get_black_list as get_black_list
from mindjax.amp.lists import get_white_list as get_white_list
from mindjax.amp.loss_scaler import DynamicLossScaler as DynamicLossScaler
from mindjax.amp.loss_scaler import LossScaler as LossScaler
from mindjax.amp.loss_scaler import StaticLossScaler as StaticLossScaler
from mindjax.amp.loss_scaler import _grad_scale_map as _grad_scale_map
from mindjax.amp.loss_scaler import _grad_unscale_map as _grad_unscale_map
from mindjax.amp.loss_scaler import all_finite as all_finite
from mindjax.amp.networks import build_train_network as build_train_network
from mindjax.train.loss_scale_manager import DynamicLossScaleManager as DynamicLossScaleManager
from mindjax.train.loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from mindjax.train.loss_scale_manager import LossScaleManager as LossScaleManager

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
