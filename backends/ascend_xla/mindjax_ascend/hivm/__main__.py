"""Compile an MLIR file for Ascend, and run it on simulated cores."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from . import (
    CompileError,
    CompilerMissing,
    Deadlock,
    HivmSyntaxError,
    MemoryFault,
    Program,
    SimulationError,
    compiler,
    syntax,
)
from .memory import DTYPES

_REFUSALS = (CompileError, Deadlock, HivmSyntaxError, MemoryFault, SimulationError)


def _inputs(program: Program, seed: int) -> list[np.ndarray]:
    """Normal numbers for the inputs; an argument without a role is one."""
    generator = np.random.default_rng(seed)
    found = []
    for _, kind, text in program.signature:
        if isinstance(kind, syntax.MemRef) and (
            "arg_type<input>" in text or "arg_type" not in text
        ):
            shape = [n or 0 for n in kind.shape]
            values = generator.standard_normal(shape)
            scale = 100 if kind.element.startswith("i") else 1
            found.append((values * scale).astype(DTYPES[kind.element]))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: The command line, without the name of the program.

    Returns:
        0, or 1 where the program is refused or has races.
    """
    parser = argparse.ArgumentParser(prog="python -m mindjax_ascend.hivm", description=__doc__)
    parser.add_argument("file", type=Path, help="MLIR for the compiler, or HIVM")
    parser.add_argument("--target", default=compiler.TARGET, help="the chip")
    parser.add_argument("--blocks", type=int, help="the number of blocks of the launch")
    parser.add_argument("--policy", default="late", choices=("late", "program", "random"))
    parser.add_argument("--seed", type=int, default=0, help="of the inputs and of a random order")
    parser.add_argument("--keep", type=Path, help="where to write the HIVM module")
    given = parser.parse_args(arguments)
    try:
        text = given.file.read_text()
        if "hivm.hir.pointer_cast" not in text:  # addresses are what the compiler gives
            text = compiler.compile(text, target=given.target).hivm
        if given.keep:
            given.keep.write_text(text)
        program = Program(text)
        inputs = _inputs(program, given.seed)
        result = program.run(
            *inputs, policy=given.policy, seed=given.seed, races="report", blocks=given.blocks
        )
    except (OSError, CompilerMissing, *_REFUSALS) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    for number, output in enumerate(result.outputs):
        mean = float(np.mean(output.astype(np.float64)))
        print(f"output {number}: {output.dtype} {output.shape}, mean {mean:.6g}")
    pipes = ", ".join(f"{name} {cycles:.0f}" for name, cycles in sorted(result.busy.items()))
    print(f"estimated cycles: {result.cycles:.0f} ({pipes})")
    for race in result.races:
        print(f"race: {race}")
    return 1 if result.races else 0


if __name__ == "__main__":
    sys.exit(main())
