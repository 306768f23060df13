"""Settings of devices (MindSpore: ``mindspore.device_context``)."""

from mindjax.device_context import ascend as ascend
from mindjax.device_context import cpu as cpu
from mindjax.device_context import gpu as gpu
