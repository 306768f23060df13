"""Programs that call collectives, run by the ranks together: one device of each process.

A rank's Tensor is a local array. For a program with collectives it is this rank's shard, along axis
0, of an array over the mesh of all ranks, and the program is a `jax.shard_map` over that mesh. XLA
compiles it on each rank, so its collectives are XLA's own. A program without collectives is an
ordinary local one.

Only the ranks of the groups that a program names need to run it, and ranks may run programs that
differ, as long as they call the same collectives in the same order. Each program takes and gives a
token, which keeps programs in order on every rank.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer, eval_jaxpr
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mindjax.core import world
from mindjax.core.caches import Cache
from mindjax.core.errors import located
from mindjax_parallel.watch import Watch

AXIS = "rank"
_NO_GRADIENT = jax.dtypes.float0


class RankMesh:
    """The mesh of one device a rank, and what carries local arrays to it and back.

    Args:
        rank: of this process.
        size: number of processes.
        watch: gets every program that was started.
    """

    def __init__(self, rank: int, size: int, watch: Watch) -> None:
        self.rank, self.size, self.watch = rank, size, watch
        first: dict[int, Any] = {}
        for device in jax.devices():
            first.setdefault(device.process_index, device)
        if len(first) != size:
            raise RuntimeError(
                f"{size} processes are announced, but jax finds devices of {len(first)}: the "
                f"platform '{jax.default_backend()}' does not join them. JAX_PLATFORMS names "
                "another."
            )
        self.mesh = Mesh(np.array([first[i] for i in range(size)]), (AXIS,))
        self.device = first[rank]
        self.sharding = NamedSharding(self.mesh, PartitionSpec(AXIS))
        self.lock = threading.RLock()
        self.token = self.spread(np.zeros(1, np.uint32))
        self.zero = self.spread(np.zeros(1, np.uint32))

    def spread(self, array: Any) -> Any:
        """Make a local array this rank's shard of an array over the mesh; 0-d ones get an axis."""
        if not isinstance(array, jax.Array):
            array = np.asarray(array)
        if not array.ndim:
            array = array.reshape(1)
        if not isinstance(array, jax.Array) or array.sharding.device_set != {self.device}:
            array = jax.device_put(array, self.device)
        shape = (self.size * array.shape[0], *array.shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self.sharding, [array])


def local(array: Any, scalar: bool) -> Any:
    """Give this rank's shard of an array over the mesh."""
    shard = array.addressable_data(0)
    return shard.reshape(()) if scalar else shard


def broken(rank: int, name: str, error: Exception) -> Exception:
    """Make the error of a program that another rank's end has broken; others stay as they are.

    Args:
        rank: of this process.
        name: the program's.
        error: what XLA raised.
    """
    text = str(error).splitlines()[0]
    if not any(sign in text for sign in _BROKEN):
        return error
    return located(
        RuntimeError,
        f"For '{name.removeprefix('ms_')}', rank {rank} cannot reach another rank, which has ended "
        f"or hangs: see its log ({text}).",
    )


# What the collectives' library says when a connection ends.
_BROKEN = ("Gloo", "NCCL", "peer", "Socket closed", "coordination")


class Compiled:
    """A compiled program of arrays that calls collectives.

    Args:
        ranks: the mesh.
        jaxpr: what it computes, traced with the axis of the ranks.
        consts: arrays that the jaxpr takes first.
        arrays: what it is called with first.
        donated: which of them it may overwrite.
        name: names it in messages.
    """

    def __init__(
        self,
        ranks: RankMesh,
        jaxpr: Any,
        consts: Sequence[Any],
        arrays: Sequence[Any],
        donated: Sequence[int],
        name: str,
    ) -> None:
        self._ranks, self.name, self._consts = ranks, name, list(consts)
        count = len(consts)
        given = [*consts, *arrays]
        scalars = [not np.shape(a) for a in given]
        self._scalars = [not v.aval.shape for v in jaxpr.outvars]

        def body(token: Any, zero: Any, *shards: Any) -> Any:
            values = [s.reshape(()) if x else s for s, x in zip(shards, scalars, strict=True)]
            inputs = values[:count], values[count:]
            out, witness = evaluate_in_order(jaxpr, *inputs, token[0], zero[0])
            out = [jnp.reshape(a, 1) if x else a for a, x in zip(out, self._scalars, strict=True)]
            return token + witness + 1, out

        body.__name__ = body.__qualname__ = name
        part = PartitionSpec(AXIS)
        mapped = jax.shard_map(
            body, mesh=ranks.mesh, in_specs=part, out_specs=part, check_vma=False
        )
        places = [d + count + 2 for d in donated]
        jitted = jax.jit(mapped, donate_argnums=places, keep_unused=True)
        token = np.zeros(1, np.uint32)
        self.lowered = jitted.lower(*(self._shape(a) for a in (token, token, *given)))
        self._compiled = self.lowered.compile()

    def _shape(self, array: Any) -> Any:
        shape = np.shape(array) or (1,)
        return jax.ShapeDtypeStruct(
            (self._ranks.size * shape[0], *shape[1:]), array.dtype, sharding=self._ranks.sharding
        )

    def __call__(self, *arrays: Any) -> list[Any]:
        """Run the program on local arrays."""
        ranks = self._ranks
        with ranks.lock:
            given = [ranks.spread(a) for a in (*self._consts, *arrays)]
            ranks.watch.starts(self.name)
            token = None
            try:
                token, out = self._compiled(ranks.token, ranks.zero, *given)
            except (jax.errors.JaxRuntimeError, ValueError) as error:
                raise broken(ranks.rank, self.name, error) from None
            finally:
                ranks.watch.started(self.name, token)
            ranks.token = token
        return [local(a, s) for a, s in zip(out, self._scalars, strict=True)]

    def as_text(self) -> str | None:
        """Give the optimised HLO."""
        return self._compiled.as_text()

    def cost_analysis(self) -> Any:
        """Give what XLA says that one run costs on this rank."""
        return self._compiled.cost_analysis()

    def memory_analysis(self) -> Any:
        """Give the bytes that one run needs on this rank."""
        return self._compiled.memory_analysis()


def evaluate_in_order(
    jaxpr: Any, consts: Sequence[Any], arrays: Sequence[Any], token: Any, zero: Any
) -> tuple[list[Any], Any]:
    """Evaluate a jaxpr with its collectives in the order in which they were traced.

    Ranks may run programs that differ; left to itself, XLA may then start collectives that do not
    depend on one another in different orders, and drop those whose results a rank does not use.

    Args:
        jaxpr: the program.
        consts: its constants.
        arrays: its inputs.
        token: a uint32 of shape ().
        zero: a 0 that the compiler does not know: uint32 of shape ().

    Returns:
        The outputs, and a uint32 that depends on every collective.
    """
    order = _Order(token, zero)
    return order.evaluate(jaxpr, consts, arrays), order.witness


class _Order:
    def __init__(self, token: Any, zero: Any) -> None:
        self._zero = zero
        self._last = token
        self.witness = jnp.zeros((), np.uint32)

    def evaluate(self, jaxpr: Any, consts: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        values.update(zip(jaxpr.invars, arrays, strict=True))

        def read(atom: Any) -> Any:
            return atom.val if hasattr(atom, "val") else values[atom]

        for equation in jaxpr.eqns:
            inner = _INNER.get(equation.primitive.name)
            variables = list({a: None for a in equation.invars if not hasattr(a, "val")})
            alone = jaxpr.replace(
                constvars=[],
                invars=variables,
                outvars=equation.outvars,
                eqns=[equation],
                effects=equation.effects,
                debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
            )
            inputs = [values[v] for v in variables]
            if not _names_ranks(equation):
                out = eval_jaxpr(alone, [], *inputs)
            elif inner is not None:
                called = equation.params[inner]
                given = [read(a) for a in equation.invars]
                out = self.evaluate(called.jaxpr, called.consts, given)
            elif (choose := self._within(equation)) is not None:
                out = choose(equation.params, [read(a) for a in equation.invars])
            else:
                out = self._collective(alone, inputs)
            values.update(zip(equation.outvars, out, strict=True))
        return [read(a) for a in jaxpr.outvars]

    def _within(self, equation: Any) -> Callable[[Any, list[Any]], list[Any]] | None:
        """Give what evaluates a loop or a choice in order too, None for anything else."""
        name = equation.primitive.name
        if name == "while" and calls_collectives(equation.params["cond_jaxpr"]):
            return None
        return {"scan": self._scan, "while": self._while, "cond": self._cond}.get(name)

    def _part(self, closed: Any, last: Any, inputs: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
        """Evaluate a jaxpr of a loop or a choice; give the last value, the witness and results."""
        order = _Order(last, self._zero)
        out = order.evaluate(closed.jaxpr, closed.consts, inputs)
        return order._last, order.witness, out

    def _scan(self, params: Any, inputs: list[Any]) -> list[Any]:
        first, carried, closed = params["num_consts"], params["num_carry"], params["jaxpr"]
        consts, start = inputs[:first], inputs[first : first + carried]

        def body(carry: Any, rows: Any) -> Any:
            last, witness, values = carry
            last, more, out = self._part(closed, last, [*consts, *values, *rows])
            return (last, witness + more, out[:carried]), out[carried:]

        begin = self._last, jnp.zeros((), np.uint32), start
        options = {k: params[k] for k in ("length", "reverse", "unroll")}
        (self._last, more, values), rows = lax.scan(
            body, begin, inputs[first + carried :], **options
        )
        self.witness = self.witness + more
        return [*values, *rows]

    def _while(self, params: Any, inputs: list[Any]) -> list[Any]:
        first = params["cond_nconsts"]
        second = first + params["body_nconsts"]
        test, closed = params["cond_jaxpr"], params["body_jaxpr"]

        def goes_on(carry: Any) -> Any:
            return eval_jaxpr(test.jaxpr, test.consts, *inputs[:first], *carry[2])[0]

        def body(carry: Any) -> Any:
            last, witness, values = carry
            last, more, out = self._part(closed, last, [*inputs[first:second], *values])
            return last, witness + more, out

        begin = self._last, jnp.zeros((), np.uint32), inputs[second:]
        self._last, more, values = lax.while_loop(goes_on, body, begin)
        self.witness = self.witness + more
        return list(values)

    def _cond(self, params: Any, inputs: list[Any]) -> list[Any]:
        def branch(closed: Any) -> Callable[..., Any]:
            return lambda last, *given: self._part(closed, last, given)

        branches = [branch(closed) for closed in params["branches"]]
        self._last, more, out = lax.switch(inputs[0], branches, self._last, *inputs[1:])
        self.witness = self.witness + more
        return list(out)

    def _collective(self, jaxpr: Any, inputs: list[Any]) -> list[Any]:
        for i, x in enumerate(inputs):
            if _can_wait(x):
                inputs[i] = self._after(x)
                break
        out = eval_jaxpr(jaxpr, [], *inputs)
        for x in out:
            if x.size and not jnp.issubdtype(x.dtype, jax.dtypes.extended):
                first = x.reshape(-1)[0]
                self._last = (first.real if jnp.iscomplexobj(first) else first).astype(np.uint32)
                self.witness = self.witness + self._last
                break
        return out

    def _after(self, x: Any) -> Any:
        """Give an array unchanged, in a way that needs the last collective's result.

        It is no constant then, from which XLA would work the collective out on this rank alone.
        """
        late = self._last * self._zero
        if x.dtype == np.bool_:
            return x | (late != 0)
        if jnp.issubdtype(x.dtype, jnp.integer):
            return x + late.astype(x.dtype)
        # A sum with 0 would make 0 of -0.
        return x * (late + 1).astype(x.dtype)


# Equations that call a jaxpr, and the parameter that holds it.
_INNER = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}


def _can_wait(x: Any) -> bool:
    return bool(np.size(x)) and not jnp.issubdtype(x.dtype, jax.dtypes.extended)


def _names_ranks(equation: Any) -> bool:
    """Tell whether an equation, or one within it, is a collective over the ranks."""
    params = equation.params
    names = params.get("axes", ()) or params.get("axis_name", ())
    if names == AXIS or (isinstance(names, tuple | list) and AXIS in names):
        return True
    inner = jax.tree.leaves(
        list(params.values()), is_leaf=lambda v: hasattr(v, "eqns") or hasattr(v, "jaxpr")
    )
    return any(calls_collectives(v) for v in inner)


def calls_collectives(jaxpr: Any) -> bool:
    """Tell whether a traced function calls collectives over the ranks."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return any(_names_ranks(e) for e in getattr(jaxpr, "eqns", ()))


class Spread:
    """A function of trees of arrays that may call collectives, compiled once a signature.

    Args:
        ranks: the mesh.
        function: the function.
    """

    def __init__(self, ranks: RankMesh, function: Callable[..., Any]) -> None:
        self._ranks, self._function = ranks, function
        self._name = getattr(function, "__name__", "program").strip("<>")
        self._inline = jax.jit(function)
        self._programs: Cache[Any] = Cache("programs of ranks", 64)
        self._generation = world.generation()

    def __call__(self, *arguments: Any) -> Any:
        """Run the function on local arrays, or trace it as a part of another program."""
        leaves, tree = jax.tree.flatten(arguments)
        if any(isinstance(x, Tracer) for x in leaves):
            return self._inline(*arguments)
        if self._generation != world.generation():
            # A group may have got other ranks under its old name.
            self._programs = Cache("programs of ranks", 64)
            self._inline = jax.jit(self._function)
            self._generation = world.generation()
        avals = tuple((np.shape(x), x.dtype) for x in leaves)
        found = self._programs.get((tree, avals))
        if found is None:
            found = self._programs.put((tree, avals), self._compile(leaves, tree))
        program, out_tree, given = found
        return jax.tree.unflatten(out_tree, program(*(leaves[i] for i in given)))

    def _compile(self, leaves: Sequence[Any], tree: Any) -> Any:
        # Gradients of integers are no arrays for a device.
        given = [i for i, x in enumerate(leaves) if x.dtype != _NO_GRADIENT]
        others = {i: x for i, x in enumerate(leaves) if x.dtype == _NO_GRADIENT}
        shape: dict[str, Any] = {}

        def flat(*arrays: Any) -> list[Any]:
            whole = dict(others)
            whole.update(zip(given, arrays, strict=True))
            arguments = jax.tree.unflatten(tree, [whole[i] for i in range(len(leaves))])
            out, shape["tree"] = jax.tree.flatten(self._function(*arguments))
            return out

        arrays = [leaves[i] for i in given]
        shapes = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
        closed = jax.make_jaxpr(flat, axis_env=[(AXIS, self._ranks.size)])(*shapes)
        consts = list(closed.consts)
        if calls_collectives(closed.jaxpr):
            made = Compiled(self._ranks, closed.jaxpr, consts, arrays, (), self._name)
            return made, shape["tree"], given
        return jax.jit(functools.partial(eval_jaxpr, closed.jaxpr, consts)), shape["tree"], given
