"""Programs of jax as graphs of MindIR's primitives."""

from mindjax.mindir.lowering import elementwise as elementwise
from mindjax.mindir.lowering import flow as flow
from mindjax.mindir.lowering import indexing as indexing
from mindjax.mindir.lowering import operators as operators
from mindjax.mindir.lowering import shapes as shapes
from mindjax.mindir.lowering import windows as windows
from mindjax.mindir.lowering.program import Lowering as Lowering
from mindjax.mindir.lowering.program import UnknownOperation as UnknownOperation
