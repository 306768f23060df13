"""A simulator of HIVM programs: memories, pipes that run out of order, races, cycle estimates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import costs, syntax
from .interpreter import Core, Interpreter, Value
from .memory import DTYPES, Memory, View, contiguous, spaces
from .pipes import RaceError, SimulationError, execution, order


@dataclass(frozen=True)
class Result:
    """What a launch gave.

    Attributes:
        outputs: The arrays of the arguments that are marked as outputs.
        cycles: The estimated cycles of the longest core, by the figures of `costs`.
        busy: The cycles that each pipe works, over all cores.
        instructions: The number of instructions that do work.
        races: What touches the same bytes without order, one line each.
    """

    outputs: list[np.ndarray]
    cycles: float
    busy: dict[str, float]
    instructions: int
    races: list[str]

    @property
    def seconds(self) -> float:
        """The estimated time at the nominal frequency."""
        return self.cycles / costs.FREQUENCY


class Program:
    """A HIVM module that can be launched on simulated cores.

    Args:
        text: The module, from the compiler or written by hand.

    Raises:
        HivmSyntaxError: The text is not HIVM.
        SimulationError: The module has no device function to launch.
    """

    def __init__(self, text: str) -> None:
        self.module = syntax.parse(text)
        self.spaces = spaces(self.module.attributes)
        entries = [
            f
            for f in self.module.functions.values()
            if f.body is not None
            and "hacc.entry" in f.attributes
            and "function_kind<DEVICE>" in f.attributes
        ]
        if not entries:
            raise SimulationError("the module has no entry function on the device")
        self.entries = {self._kind(f): f for f in entries}
        self.signature = entries[0].arguments
        spread = re.search(r"hacc\.block_dim = (\d+)", entries[0].attributes)
        self.blocks = int(spread[1]) if spread else 1

    @property
    def inputs(self) -> list[tuple[tuple[int, ...], np.dtype]]:
        """The shapes and types of the arguments that a marked program reads."""
        return [
            (tuple(n or 0 for n in kind.shape), DTYPES[kind.element])
            for _, kind, text in self.signature
            if isinstance(kind, syntax.MemRef)
            and ("arg_type" not in text or "arg_type<input>" in text)
        ]

    @staticmethod
    def _kind(function: syntax.Function) -> str:
        found = re.search(r"func_core_type<(AI[CV])>", function.attributes)
        return found[1] if found else "AIV"

    def run(
        self,
        *inputs: np.ndarray,
        outputs: Sequence[np.ndarray] = (),
        policy: str = "late",
        seed: int = 0,
        races: str = "raise",
        blocks: int | None = None,
    ) -> Result:
        """Launch the program.

        Args:
            *inputs: The arrays of the arguments in order, without outputs and workspace.
            outputs: What the outputs hold before, for a program that reads or keeps them, and
                where no argument is marked as an output: the last arguments' arrays.
            policy: The order in which the pipes work where nothing orders them: `late` runs
                ahead as far as the waits allow, `program` keeps the program's order, `random`
                depends on `seed`.
            seed: Of the policy `random`.
            races: `raise`, or `report` to run on and list them in the result.
            blocks: The number of blocks, each on a core (and its two vector cores) of its own; by
                default what the module was compiled for.

        Returns:
            The outputs, cycles and races.

        Raises:
            RaceError: Accesses are not ordered by a wait or a barrier.
            Deadlock: Nothing sets the flag of a wait.
            MemoryFault: Something overflows or is misaligned.
            SimulationError: The program does what is not simulated.
        """
        blocks = self.blocks if blocks is None else blocks
        arguments, results = self._bind(list(inputs), list(outputs), blocks)
        cores = []
        for block in range(blocks):
            kinds = [("AIC", 0, 1)] if "AIC" in self.entries else []
            if "AIV" in self.entries:
                subs = 2 if "AIC" in self.entries else 1
                kinds += [("AIV", sub, subs) for sub in range(subs)]
            for kind, sub, subs in kinds:
                cores.append(Core(len(cores), kind, block, blocks, sub, subs))
        streams = []
        for core in cores:
            interpreter = Interpreter(self.module, core, self.spaces)
            interpreter.run(self.entries[core.kind], list(arguments))
            streams.append(interpreter.issued)
        schedule = order(streams)
        written = {id(view.memory) for item in schedule.work for view in item.writes}
        for number, view in enumerate(results):
            if id(view.memory) not in written:
                raise SimulationError(f"the program writes nothing to its output {number}")
        if schedule.races and races == "raise":
            more = f" (and {len(schedule.races) - 1} more)" if len(schedule.races) > 1 else ""
            raise RaceError(schedule.races[0] + more)
        for instruction in execution(schedule.work, policy, seed):
            if instruction.run is not None:
                instruction.run()
        return Result(
            [view.read() for view in results],
            schedule.cycles,
            schedule.busy,
            len(schedule.work),
            schedule.races,
        )

    def _bind(
        self, inputs: list[np.ndarray], outputs: list[np.ndarray], blocks: int
    ) -> tuple[list[Value], list[View]]:
        """The values of the arguments, and the views of the outputs."""
        marked = any("arg_type<output>" in text for _, _, text in self.signature)
        plain = [
            position
            for position, (_, kind, text) in enumerate(self.signature)
            if isinstance(kind, syntax.MemRef) and "arg_type" not in text
        ]
        last = set() if marked else set(plain[len(plain) - len(outputs) :])
        values: list[Value] = []
        results: list[View] = []
        held = list(outputs)
        grid = iter([blocks])
        for position, (name, kind, text) in enumerate(self.signature):
            role = re.search(r"arg_type<(\w+)>", text)
            if isinstance(kind, syntax.Scalar):
                # The numbers of blocks along x, y and z; a base address has 64 bits.
                values.append(next(grid, 1) if kind.name == "i32" else 0)
            elif role and role[1] in ("workspace", "sync_block_lock"):
                values.append(self._workspace(name, kind, blocks))
            elif (role and role[1] == "output") or position in last:
                shape = [n or 0 for n in kind.shape]
                array = held.pop(0) if held else None
                view = self._buffer(name, kind, shape, array)
                values.append(view)
                results.append(view)
            elif inputs:
                array = np.asarray(inputs.pop(0))
                if array.dtype == bool and kind.element == "i8":
                    array = array.view(np.int8)
                shape = [n or 0 for n in kind.shape]
                if list(array.shape) != shape or array.dtype != DTYPES[kind.element]:
                    raise SimulationError(
                        f"{name} is {array.dtype} of shape {array.shape}, the program has "
                        f"{kind.element} of shape {tuple(shape)}"
                    )
                values.append(self._buffer(name, kind, shape, array))
            else:
                raise SimulationError(f"no array is left for the argument {name}")
        if inputs:
            raise SimulationError(f"{len(inputs)} arrays more than the program has inputs")
        if not results:
            raise SimulationError("no argument is marked as an output: give outputs=")
        return values, results

    @staticmethod
    def _buffer(name: str, kind: syntax.MemRef, shape: list[int], array: np.ndarray | None) -> View:
        dtype = DTYPES[kind.element]
        if array is None:
            size = int(np.prod(shape)) * dtype.itemsize
            return View.of(Memory(f"GM {name}", size), 0, kind.element, shape)
        memory = Memory.holding(f"GM {name}", array.astype(dtype))
        return View.of(memory, 0, kind.element, shape)

    def _workspace(self, name: str, kind: syntax.MemRef, blocks: int) -> View:
        count = kind.shape[0]
        if count is None:
            count = self._workspace_size() * blocks
        memory = Memory(f"GM workspace {name}", count * DTYPES[kind.element].itemsize)
        bits = memory.bytes.size * 8
        return View(memory, 0, kind.element, (count,), contiguous((count,)), 0, bits)

    def _workspace_size(self) -> int:
        """What the module's own function says, in bytes."""
        for function in self.module.functions.values():
            if function.body and "infer_workspace_shape_function>" in function.attributes:
                for operation in function.body:
                    if operation.name == "arith.constant":
                        return int(operation.attributes["value"])
        return 1 << 20
