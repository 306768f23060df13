"""Settings of GPUs (MindSpore: ``mindspore.device_context.gpu``)."""

from mindjax.device_context.gpu import op_precision as op_precision
from mindjax.device_context.gpu import op_tuning as op_tuning
from mindjax.device_context.gpu.device import device_count as device_count
from mindjax.device_context.gpu.device import is_available as is_available
