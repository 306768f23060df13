"""Settings of Ascend devices (MindSpore: ``mindspore.device_context.ascend``)."""

from mindjax.device_context.ascend import op_debug as op_debug
from mindjax.device_context.ascend import op_precision as op_precision
from mindjax.device_context.ascend import op_tuning as op_tuning
from mindjax.device_context.ascend.device import device_count as device_count
from mindjax.device_context.ascend.device import is_available as is_available
