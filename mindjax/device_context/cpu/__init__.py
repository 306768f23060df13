"""Settings of CPUs (MindSpore: ``mindspore.device_context.cpu``)."""

from mindjax.device_context.cpu import op_tuning as op_tuning
from mindjax.device_context.cpu.device import device_count as device_count
from mindjax.device_context.cpu.device import is_available as is_available
from mindjax.device_context.cpu.op_tuning import threads_num as threads_num
