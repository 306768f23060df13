"""GRAPH mode: a function traced once a signature, compiled, and run as one program."""

from mindjax.graph.annotations import JitConfig as JitConfig
from mindjax.graph.annotations import Symbol as Symbol
from mindjax.graph.annotations import enable_dynamic as enable_dynamic
from mindjax.graph.annotations import lazy_inline as lazy_inline
from mindjax.graph.annotations import no_inline as no_inline
from mindjax.graph.annotations import set_recursion_limit as set_recursion_limit
from mindjax.graph.buckets import row_wise as row_wise
from mindjax.graph.jit import JitFunction as JitFunction
from mindjax.graph.jit import jit as jit
from mindjax.graph.jit import ms_memory_recycle as ms_memory_recycle
from mindjax.graph.jit import mutable as mutable
from mindjax.graph.jit_class import jit_class as jit_class
