"""The context (MindSpore: ``mindspore.context``)."""

from mindjax.core.context import COMPATIBLE as COMPATIBLE
from mindjax.core.context import GRAPH_MODE as GRAPH_MODE
from mindjax.core.context import LAX as LAX
from mindjax.core.context import PYNATIVE_MODE as PYNATIVE_MODE
from mindjax.core.context import STRICT as STRICT
from mindjax.core.context import get_context as get_context
from mindjax.core.context import set_context as set_context
from mindjax.core.parallel_context import ParallelMode as ParallelMode
from mindjax.core.parallel_context import get_auto_parallel_context as get_auto_parallel_context
from mindjax.core.parallel_context import reset_auto_parallel_context as reset_auto_parallel_context
from mindjax.core.parallel_context import set_auto_parallel_context as set_auto_parallel_context
from mindjax.core.server_context import get_ps_context as get_ps_context
from mindjax.core.server_context import reset_ps_context as reset_ps_context
from mindjax.core.server_context import set_ps_context as set_ps_context


def _get_mode() -> int:
    """Give the mode of the process, which libraries ask for by this name."""
    return get_context("mode")
