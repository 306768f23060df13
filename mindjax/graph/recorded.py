"""A function as a jaxpr in which every operator keeps its record: what exporters read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax.core import eval_jaxpr

from mindjax.core.handle import Handle, current
from mindjax.core.primitive import Primitive, computation
from mindjax.core.state import Wide
from mindjax.graph.program import Program
from mindjax.graph.sharing import Families
from mindjax.graph.signature import Signature

_MARK = "ms_record_"


class Call(NamedTuple):
    """One operator's call.

    Attributes:
        record: the operator with its attributes.
        tree: structure of its inputs, with None where one is missing.
        types: their shapes and dtypes.
    """

    record: Primitive
    tree: Any
    types: list[Any]


class Recorder:
    """Gives every operator's program a name that its record is found by again.

    Args:
        portable: whether platforms' own lowerings are left out.
    """

    def __init__(self, portable: bool = True) -> None:
        self.calls: list[Call] = []
        self._portable = portable

    def program(self, record: Primitive, arrays: list[Any], program: Any) -> Any:
        """Give the program of a record; None for the usual one."""
        if program is not None or record.concrete:
            return program
        function = computation(record, self._portable)

        def recorded(*inputs: Any) -> Any:
            return function(*inputs)

        recorded.__name__ = recorded.__qualname__ = f"{_MARK}{len(self.calls)}"
        leaves, tree = jax.tree.flatten(tuple(arrays))
        self.calls.append(Call(record, tree, [jax.typeof(a) for a in leaves]))
        return jax.jit(recorded)

    def find(self, equation: Any) -> Call | None:
        """Find the call that an equation of the jaxpr stands for.

        Args:
            equation: call of an inner jaxpr.

        Returns:
            The call, or None if the equation computes something else, such as a part of the
            gradient.
        """
        name = equation.params.get("name", "")
        if not isinstance(name, str) or not name.startswith(_MARK):
            return None
        call = self.calls[int(name[len(_MARK) :])]
        types = [v.aval for v in equation.invars]
        if [(t.shape, t.dtype) for t in types] != [(t.shape, t.dtype) for t in call.types]:
            return None
        # The name stays when jax differentiates or takes apart; what it computes may not.
        inputs = jax.tree.unflatten(call.tree, call.types)
        with Wide():
            fresh = jax.make_jaxpr(computation(call.record, self._portable))(*inputs).jaxpr
        return call if str(fresh) == str(equation.params["jaxpr"].jaxpr) else None


class Recorded(NamedTuple):
    """A function with its state, as a jaxpr.

    Attributes:
        jaxpr: constants are state and arrays, inputs the Tensors of the call, outputs the results
            and then the values of written state.
        constants: a Handle for state, else an array, for each of the jaxpr's constants.
        handles: the Tensors of the call.
        outputs: number of results.
        result: puts results together as the function returned them.
        written: state that the further outputs are written to.
        calls: what the operators' equations stand for.
    """

    jaxpr: Any
    constants: list[Any]
    handles: list[Any]
    outputs: int
    result: Any
    written: list[Handle]
    calls: Recorder

    def results(self, state: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Compute the function's results, as it structures them.

        Args:
            state: an array for each of the constants.
            inputs: an array for each of the Tensors.
        """
        outs = eval_jaxpr(self.jaxpr, state, *inputs)[: self.outputs]
        return _arrays_only(self.result.build([_Raw(a) for a in outs]))

    def arrays(self) -> list[Any]:
        """Give the values of the constants."""
        return [c.array if isinstance(c, Handle) else c for c in self.constants]


class _Raw:
    """An array in the place of a Tensor."""

    def __init__(self, array: Any) -> None:
        self.array = array


def _arrays_only(value: Any) -> Any:
    if isinstance(value, _Raw):
        return value.array
    if isinstance(value, tuple | list):
        return tuple(_arrays_only(v) for v in value)
    if isinstance(value, dict):
        return {k: _arrays_only(v) for k, v in value.items()}
    return value


def record(function: Callable[..., Any], args: tuple[Any, ...], portable: bool = True) -> Recorded:
    """Trace a function once.

    Args:
        function: function of Tensors, or Cell.
        args: what it is called with: Tensors, Python values, or tuples and lists of these.
        portable: whether platforms' own lowerings are left out.

    Returns:
        The jaxpr with what its parts stand for.
    """
    signature = Signature(args, {})
    recorder = Recorder(portable)
    before, current.recorder = current.recorder, recorder
    try:
        program = Program(function, args, {}, signature, Families("export"))
    finally:
        current.recorder = before
    written: list[Handle] = [*program.written, *(signature.handles[i] for i in program.reached)]
    outputs = len(program.jaxpr.outvars) - len(written)
    return Recorded(
        program.jaxpr,
        program.captures(),
        signature.handles,
        outputs,
        program.result,
        written,
        recorder,
    )
