"""Devices, streams and memory (MindSpore: ``mindspore.hal``, the older face of ``runtime``)."""

from mindjax.hal.device import device_count as device_count
from mindjax.hal.device import get_arch_list as get_arch_list
from mindjax.hal.device import get_device_capability as get_device_capability
from mindjax.hal.device import get_device_name as get_device_name
from mindjax.hal.device import get_device_properties as get_device_properties
from mindjax.hal.device import is_available as is_available
from mindjax.hal.device import is_initialized as is_initialized
from mindjax.hal.memory import max_memory_allocated as max_memory_allocated
from mindjax.hal.memory import max_memory_reserved as max_memory_reserved
from mindjax.hal.memory import memory_allocated as memory_allocated
from mindjax.hal.memory import memory_reserved as memory_reserved
from mindjax.hal.memory import memory_stats as memory_stats
from mindjax.hal.memory import memory_summary as memory_summary
from mindjax.hal.memory import reset_max_memory_allocated as reset_max_memory_allocated
from mindjax.hal.memory import reset_max_memory_reserved as reset_max_memory_reserved
from mindjax.hal.memory import reset_peak_memory_stats as reset_peak_memory_stats
from mindjax.runtime.memory import empty_cache as empty_cache
from mindjax.runtime.streams import Event as Event
from mindjax.runtime.streams import Stream as Stream
from mindjax.runtime.streams import StreamCtx as StreamCtx
from mindjax.runtime.streams import communication_stream as communication_stream
from mindjax.runtime.streams import current_stream as current_stream
from mindjax.runtime.streams import default_stream as default_stream
from mindjax.runtime.streams import set_cur_stream as set_cur_stream
from mindjax.runtime.streams import synchronize as synchronize
