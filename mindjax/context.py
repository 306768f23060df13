"""The context (MindSpore: ``mindspore.context``)."""

from mindjax.core.context import GRAPH_MODE as GRAPH_MODE
from mindjax.core.context import PYNATIVE_MODE as PYNATIVE_MODE
from mindjax.core.context import get_context as get_context
from mindjax.core.context import set_context as set_context
