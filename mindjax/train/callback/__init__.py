"""Callbacks of ``Model``."""

from mindjax.train.callback.base import Callback as Callback
from mindjax.train.callback.base import CallbackManager as _CallbackManager
from mindjax.train.callback.base import InternalCallbackParam as _InternalCallbackParam
from mindjax.train.callback.base import RunContext as RunContext
from mindjax.train.callback.base import loss_of as _handle_loss  # noqa: F401
from mindjax.train.callback.checkpoint import CheckpointConfig as CheckpointConfig
from mindjax.train.callback.checkpoint import ModelCheckpoint as ModelCheckpoint
from mindjax.train.callback.filled import (
    checkpoint_cb_for_save_op as checkpoint_cb_for_save_op,
)
from mindjax.train.callback.filled import set_cur_net as set_cur_net
from mindjax.train.callback.flops import FlopsUtilizationCollector as FlopsUtilizationCollector
from mindjax.train.callback.interruption import BackupAndRestore as BackupAndRestore
from mindjax.train.callback.interruption import OnRequestExit as OnRequestExit
from mindjax.train.callback.interruption import TrainFaultTolerance as TrainFaultTolerance
from mindjax.train.callback.monitors import History as History
from mindjax.train.callback.monitors import LambdaCallback as LambdaCallback
from mindjax.train.callback.monitors import LossMonitor as LossMonitor
from mindjax.train.callback.monitors import TimeMonitor as TimeMonitor
from mindjax.train.callback.plateau import EarlyStopping as EarlyStopping
from mindjax.train.callback.plateau import ReduceLROnPlateau as ReduceLROnPlateau
from mindjax.train.callback.schedule import LearningRateScheduler as LearningRateScheduler
from mindjax.train.callback.summary_collector import SummaryCollector as SummaryCollector
from mindjax.train.summary.landscape import SummaryLandscape as SummaryLandscape

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "FlopsUtilizationCollector",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "SummaryLandscape",
    "TimeMonitor",
    "TrainFaultTolerance",
    "_CallbackManager",
    "_InternalCallbackParam",
]
