"""The vendor's open compiler for Ascend NPUs, and a simulator of what it makes.

`lower.lower` turns a jax function into MLIR, `compiler.compile` gives it to `bishengir-compile`,
and `Program` runs the resulting HIVM on simulated cores.
"""

from .compiler import Compiled, CompileError, CompilerMissing
from .memory import MemoryFault
from .pipes import Deadlock, RaceError, SimulationError
from .simulator import Program, Result
from .syntax import HivmSyntaxError

__all__ = [
    "CompileError",
    "Compiled",
    "CompilerMissing",
    "Deadlock",
    "HivmSyntaxError",
    "MemoryFault",
    "Program",
    "RaceError",
    "Result",
    "SimulationError",
]
