"""GRAPH mode: a function traced once a signature, compiled, and run as one program."""

from mindjax.graph.jit import JitFunction as JitFunction
from mindjax.graph.jit import jit as jit
from mindjax.graph.jit import ms_memory_recycle as ms_memory_recycle
from mindjax.graph.jit import mutable as mutable
from mindjax.graph.jit_class import jit_class as jit_class
