"""Training: ``Model``, its callbacks and metrics, and the checkpoint functions."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.amp.networks import build_train_network as build_train_network

from mindjax.checkpoint.convert import ckpt_to_safetensors as ckpt_to_safetensors
from mindjax.checkpoint.convert import safetensors_to_ckpt as safetensors_to_ckpt
from mindjax.checkpoint.load import load_checkpoint as load_checkpoint
from mindjax.checkpoint.load import load_checkpoint_async as load_checkpoint_async
from mindjax.checkpoint.load import load_param_into_net as load_param_into_net
from mindjax.checkpoint.merge import load_distributed_checkpoint as load_distributed_checkpoint
from mindjax.checkpoint.merge import merge_sliced_parameter as merge_sliced_parameter
from mindjax.checkpoint.newest import (
    get_ckpt_path_with_strategy as get_ckpt_path_with_strategy,
)
from mindjax.checkpoint.save import async_ckpt_thread_status as async_ckpt_thread_status
from mindjax.checkpoint.save import save_checkpoint as save_checkpoint
from mindjax.checkpoint.strategy import build_searched_strategy as build_searched_strategy
from mindjax.checkpoint.strategy import restore_group_info_list as restore_group_info_list
from mindjax.train.callback import BackupAndRestore as BackupAndRestore
from mindjax.train.callback import Callback as Callback
from mindjax.train.callback import CheckpointConfig as CheckpointConfig
from mindjax.train.callback import EarlyStopping as EarlyStopping
from mindjax.train.callback import FlopsUtilizationCollector as FlopsUtilizationCollector
from mindjax.train.callback import History as History
from mindjax.train.callback import LambdaCallback as LambdaCallback
from mindjax.train.callback import LearningRateScheduler as LearningRateScheduler
from mindjax.train.callback import LossMonitor as LossMonitor
from mindjax.train.callback import ModelCheckpoint as ModelCheckpoint
from mindjax.train.callback import OnRequestExit as OnRequestExit
from mindjax.train.callback import ReduceLROnPlateau as ReduceLROnPlateau
from mindjax.train.callback import RunContext as RunContext
from mindjax.train.callback import SummaryCollector as SummaryCollector
from mindjax.train.callback import SummaryLandscape as SummaryLandscape
from mindjax.train.callback import TimeMonitor as TimeMonitor
from mindjax.train.callback import TrainFaultTolerance as TrainFaultTolerance
from mindjax.train.data_sink import connect_network_with_dataset as connect_network_with_dataset
from mindjax.train.data_sink import data_sink as data_sink
from mindjax.train.dataset_helper import DatasetHelper as DatasetHelper
from mindjax.train.loss_scale_manager import (
    DynamicLossScaleManager as DynamicLossScaleManager,
)
from mindjax.train.loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from mindjax.train.loss_scale_manager import LossScaleManager as LossScaleManager
from mindjax.train.metrics import F1 as F1
from mindjax.train.metrics import MAE as MAE
from mindjax.train.metrics import MSE as MSE
from mindjax.train.metrics import ROC as ROC
from mindjax.train.metrics import Accuracy as Accuracy
from mindjax.train.metrics import BleuScore as BleuScore
from mindjax.train.metrics import ConfusionMatrix as ConfusionMatrix
from mindjax.train.metrics import ConfusionMatrixMetric as ConfusionMatrixMetric
from mindjax.train.metrics import CosineSimilarity as CosineSimilarity
from mindjax.train.metrics import Dice as Dice
from mindjax.train.metrics import Fbeta as Fbeta
from mindjax.train.metrics import HausdorffDistance as HausdorffDistance
from mindjax.train.metrics import Loss as Loss
from mindjax.train.metrics import MeanSurfaceDistance as MeanSurfaceDistance
from mindjax.train.metrics import Metric as Metric
from mindjax.train.metrics import OcclusionSensitivity as OcclusionSensitivity
from mindjax.train.metrics import Perplexity as Perplexity
from mindjax.train.metrics import Precision as Precision
from mindjax.train.metrics import Recall as Recall
from mindjax.train.metrics import RootMeanSquareDistance as RootMeanSquareDistance
from mindjax.train.metrics import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from mindjax.train.metrics import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from mindjax.train.metrics import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from mindjax.train.metrics import auc as auc
from mindjax.train.metrics import get_metric_fn as get_metric_fn
from mindjax.train.metrics import names as names
from mindjax.train.metrics import rearrange_inputs as rearrange_inputs
from mindjax.train.model import Model as Model
from mindjax.train.second_order import ConvertModelUtils as ConvertModelUtils
from mindjax.train.second_order import ConvertNetUtils as ConvertNetUtils
from mindjax.train.summary import SummaryRecord as SummaryRecord


def __getattr__(name: str) -> Any:
    if name == "build_train_network":
        from mindjax.amp.networks import build_train_network

        return build_train_network
    if name in ("export", "export_split_mindir", "load"):
        from mindjax import mindir

        return getattr(mindir, name)
    raise AttributeError(f"module 'mindspore.train' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), "build_train_network", "export", "export_split_mindir", "load"})
