"""MindIR files: networks as graphs of primitives, written and read."""

from mindjax.mindir.cell import GraphCell as GraphCell
from mindjax.mindir.cell import export_split_mindir as export_split_mindir
from mindjax.mindir.cell import load as load
from mindjax.mindir.cell import load_mindir as load_mindir
from mindjax.mindir.cell import save_mindir as save_mindir
from mindjax.mindir.graph import FuncGraph as FuncGraph
from mindjax.mindir.message import MindIRError as MindIRError
from mindjax.mindir.stablehlo import load_stablehlo as load_stablehlo
from mindjax.mindir.write import export as export
