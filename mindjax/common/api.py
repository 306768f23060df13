"""Old import path: ``mindspore.common.api``."""

from mindjax.graph import jit as jit
from mindjax.graph import jit_class as jit_class
from mindjax.graph import ms_memory_recycle as ms_memory_recycle

ms_function = jit
