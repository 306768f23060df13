"""What a program would cost over a mesh: computation, transfers and memory, without compiling it.

XLA's own propagation says how every value of a program would lie; a walk over the operations then
counts each device's share of the products, the bytes that go between devices, and the bytes that
stay on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import eval_jaxpr
from jax.extend.core import Literal
from jax.sharding import Mesh

from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.sharded_module import ShardedModule

Dims = tuple[Axes, ...]


class Machine(NamedTuple):
    """A device and its links.

    Attributes:
        flops: floating-point operations a second.
        bandwidth: bytes a second that a device sends in a ring.
        memory: bytes that a device has.
    """

    flops: float = 2e14
    bandwidth: float = 1e11
    memory: float = 64e9


class Cost(NamedTuple):
    """What one run of a program costs.

    Attributes:
        compute: seconds of products on each device.
        transfer: seconds of transfers.
        state: bytes of Parameters and optimizer state on each device.
        values: bytes of the products' results on each device, which a backward pass keeps.
    """

    compute: float
    transfer: float
    state: float
    values: float

    def seconds(self, machine: Machine) -> float:
        """Give the time of a run; what does not fit in memory costs as if it were sent."""
        over = max(0.0, self.state + self.values - machine.memory)
        return self.compute + self.transfer + 16 * over / machine.bandwidth


_CALLS = {"jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call"}
_AGAIN = {"remat2", "remat", "checkpoint"}


def _inlined_params(params: dict[str, Any]) -> dict[str, Any]:
    """Give an equation's parameters with functions in loops and branches taken in as well."""

    def of(value: Any) -> Any:
        if isinstance(value, tuple) and any(hasattr(v, "jaxpr") for v in value):
            return tuple(of(v) for v in value)
        if hasattr(value, "jaxpr") and hasattr(value, "consts"):
            return jax.make_jaxpr(inlined(value))(*value.in_avals)
        return value

    return {name: of(value) for name, value in params.items()}


def _alone(jaxpr: Any, equation: Any, inputs: Sequence[Any]) -> list[Any]:
    """Evaluate one equation of a jaxpr."""
    pairs = zip(equation.invars, inputs, strict=True)
    given = {v: x for v, x in pairs if not isinstance(v, Literal)}
    single = jaxpr.replace(
        constvars=[],
        invars=list(given),
        outvars=equation.outvars,
        eqns=[equation],
        effects=equation.effects,
        debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )
    return eval_jaxpr(single, [], *given.values())


def inlined(closed: Any) -> Callable[..., list[Any]]:
    """Give a traced function without the functions inside it, so that one walk sees all of it.

    Args:
        closed: a closed jaxpr.
    """

    def evaluate(jaxpr: Any, consts: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        values: dict[Any, Any] = {}
        values.update(zip(jaxpr.constvars, consts, strict=True))
        values.update(zip(jaxpr.invars, arrays, strict=True))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            inputs = [read(a) for a in equation.invars]
            inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
            name = equation.primitive.name
            if name in _CALLS and inner is not None:
                found = evaluate(inner.jaxpr, inner.consts, inputs)
            elif name in _AGAIN and inner is not None:
                if equation.params["differentiated"] and equation.params["prevent_cse"]:
                    # What is computed again stays behind what it is computed from.
                    inputs = jax.lax.optimization_barrier(inputs)
                found = evaluate(inner, (), inputs)
            elif name == "shard_map":
                # Its parts lie as it says, whatever the plan: it stays one operation.
                found = _alone(jaxpr, equation, inputs)
            else:
                found = equation.primitive.bind(*inputs, **_inlined_params(equation.params))
                found = found if equation.primitive.multiple_results else [found]
            values.update(zip(equation.outvars, found, strict=True))
        return [read(a) for a in jaxpr.outvars]

    def flat(*arrays: Any) -> list[Any]:
        return evaluate(closed.jaxpr, closed.consts, arrays)

    return flat


class Estimate:
    """The cost of one program under many placements of its inputs.

    Args:
        function: on flat arrays.
        arrays: its inputs, or what has their shapes and dtypes.
        state: which inputs are state: an input may be an output too.
        mesh: the devices; they need not be there.
    """

    def __init__(
        self, function: Callable[..., Any], arrays: Sequence[Any], state: Sequence[int], mesh: Mesh
    ) -> None:
        self.mesh, self._state = mesh, set(state)
        self._shapes = [tuple(np.shape(a)) for a in arrays]
        self._bytes = [math.prod(np.shape(a)) * np.dtype(a.dtype).itemsize for a in arrays]
        structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
        whole = Placement(((),) * len(self._shapes[0])).sharding(mesh)
        named = [jax.ShapeDtypeStruct(np.shape(arrays[0]), arrays[0].dtype, sharding=whole)]
        flat = inlined(jax.make_jaxpr(function)(*structs))
        # One input with a sharding makes the module know the mesh.
        traced = jax.jit(flat, keep_unused=True).trace(*named, *structs[1:])
        self._program = ShardedModule(traced.lower(lowering_platforms=("cpu",)), len(arrays))

    def placements(self, placements: Sequence[Placement | None]) -> list[Placement]:
        """Give where every input would lie; None leaves it to propagation."""
        self._program.propagate([p and p.dimensions for p in placements])
        return [
            given or Placement(tuple(dims) or ((),) * len(shape))
            for given, dims, shape in zip(
                placements, self._program.inputs(), self._shapes, strict=True
            )
        ]

    def cost(
        self, placements: Sequence[Placement | None], machine: Machine
    ) -> tuple[Cost, list[Placement]]:
        """Give the cost with some inputs placed and the rest as propagation says, and where.

        Args:
            placements: of the inputs; None leaves one to propagation.
            machine: what a device can do.

        Returns:
            The cost, and the placement of every input.
        """
        found = self.placements(placements)
        state = sum(
            self._bytes[i] / math.prod(found[i].parts(self.mesh)) for i in sorted(self._state)
        )
        compute = transfer = values = 0.0
        for operation in self._program.operations():
            flops, sent, kept = self._of(operation)
            compute += flops / machine.flops
            transfer += sent / machine.bandwidth
            values += kept
        return Cost(compute, transfer, state, values), found

    def _of(self, operation: Any) -> tuple[float, float, float]:
        """Give an operation's flops and kept bytes on a device, and the bytes that it sends."""
        name, inputs, output = operation.name, operation.inputs, operation.output
        local = output.bytes / self._parts(output.dims)
        if name == "stablehlo.dot_general":
            left, right = inputs[:2]
            over = {a for i in operation.contracting[0] for a in left.dims[i]}
            over |= {a for i in operation.contracting[1] for a in right.dims[i]}
            summed = math.prod(left.shape[i] for i in operation.contracting[0])
            flops = 2.0 * math.prod(output.shape) * summed
            share = self._parts(output.dims) * self._size(over)
            return flops / share, self._all_reduce(local, over), local
        used = {a for dims in output.dims for a in dims}
        sent = 0.0
        if name == "stablehlo.reduce":
            over = {a for i in operation.reduced for a in inputs[0].dims[i]} - used
            return 0.0, self._all_reduce(local, over), 0.0
        if name in ("stablehlo.scatter", "stablehlo.gather"):
            over = {a for value in inputs for dims in value.dims for a in dims} - used
            return 0.0, self._all_reduce(local, over), 0.0
        for value in inputs:
            lost = {a for dims in value.dims for a in dims} - used
            if lost and len(value.shape) == len(output.shape):
                parts = self._size(lost)
                whole = value.bytes / self._parts(value.dims) * parts
                sent += whole * (parts - 1) / parts
        return 0.0, sent, 0.0

    def _parts(self, dims: Dims) -> int:
        return math.prod(self.mesh.shape[a] for axes in dims for a in axes)

    def _size(self, axes: set[str]) -> int:
        return math.prod(self.mesh.shape[a] for a in axes)

    def _all_reduce(self, size: float, axes: set[str]) -> float:
        """Give the bytes that a device sends for a sum in a ring."""
        parts = self._size(axes)
        return 2 * size * (parts - 1) / parts
