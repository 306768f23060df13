"""Collective operations between processes, as XLA's collectives over the mesh of ranks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import jax_private, world
from mindjax.core.errors import located
from mindjax.core.world import Group
from mindjax_parallel.mailbox import Mailbox
from mindjax_parallel.spread import AXIS, Compiled, RankMesh, Spread, broken, calls_collectives

Array = jax.Array


class ProcessTransport(world.Transport):
    """Collectives between the processes of a world.

    Args:
        ranks: the mesh of ranks.
        mailbox: carries messages between two ranks.
        local_rank: of this process among those of its host.
        local_size: number of processes of this host.
    """

    def __init__(self, ranks: RankMesh, mailbox: Mailbox, local_rank: int, local_size: int) -> None:
        self.rank, self.size = ranks.rank, ranks.size
        self.local_rank, self.local_size = local_rank, local_size
        self.ranks, self.mailbox = ranks, mailbox
        self.axes = ((AXIS, ranks.size),)

    def devices(self) -> list[Any]:
        """List the devices of all processes, in the order of their ranks."""
        return sorted(jax.devices(), key=lambda d: (d.process_index, d.id))

    # -- programs --

    def program(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Compile a function of arrays that may call collectives."""
        return Spread(self.ranks, function)

    def spreads(self, jaxpr: Any) -> bool:
        """Tell whether a traced function calls collectives between processes."""
        return calls_collectives(jaxpr)

    def compile(self, function: Callable[..., Any], arrays: Any, donated: Sequence[int]) -> Any:
        """Compile a function for which `spreads` is true."""
        shapes = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
        closed = jax.make_jaxpr(function, axis_env=list(self.axes))(*shapes)
        name = getattr(function, "__name__", "program")
        return Compiled(self.ranks, closed.jaxpr, closed.consts, arrays, donated, name)

    # -- collectives, inside programs --

    def _partition(self, group: Group, owner: str) -> Any:
        """Give the groups of positions that XLA asks for: None is all, () where there are none.

        XLA's groups share all ranks out in equal parts; what the other ranks are named together
        with is of no meaning, as they do not run this program.
        """
        self._member(group, owner)
        if group.size == self.size:
            return None
        if self.size % group.size:
            return ()
        rest = [r for r in range(self.size) if r not in group.ranks]
        others = [rest[i : i + group.size] for i in range(0, len(rest), group.size)]
        return [list(group.ranks), *others]

    def _member(self, group: Group, owner: str) -> None:
        if self.rank not in group.ranks:
            raise located(
                RuntimeError,
                f"For '{owner}', rank {self.rank} does not belong to the group {group.name} of the "
                f"ranks {list(group.ranks)}: only those may call it.",
            )
        try:
            lax.axis_size(AXIS)
        except NameError:
            raise located(
                RuntimeError,
                f"For '{owner}', a collective between processes cannot stand in a jax "
                "transformation that MindJAX did not start: use mindjax.jit, grad or vmap.",
            ) from None

    def all_reduce(self, group: Group, x: Array, op: str) -> Array:
        """Combine the ranks' arrays: ``op`` is sum, prod, max, min or avg."""
        self._member(group, "all_reduce")
        if group.size == 1:
            return x
        if op in ("sum", "avg"):
            total = self._sum(group, x)
            if op == "sum":
                return total
            if jnp.issubdtype(x.dtype, jnp.inexact):
                return total / jnp.asarray(group.size, x.dtype)
            return (total // group.size).astype(x.dtype)
        return _combine(self, group, x, op)

    def _sum(self, group: Group, x: Array) -> Array:
        groups = self._partition(group, "all_reduce")
        if groups == ():
            rest = [[r] for r in range(self.size) if r not in group.ranks]
            groups = [list(group.ranks), *rest]
        return lax.psum(x, AXIS, axis_index_groups=groups)

    def all_gather(self, group: Group, x: Array) -> list[Array]:
        """Give every rank's array, in the group's order."""
        if group.size == 1:
            self._member(group, "all_gather")
            return [x]
        groups = self._partition(group, "all_gather")
        if groups == ():
            shapes = [x.shape] * group.size
            return self.all_to_all(group, [x] * group.size, shapes)
        whole = lax.all_gather(x, AXIS, axis_index_groups=groups)
        return [whole[i] for i in range(group.size)]

    def gather_uneven(self, group: Group, x: Array, sizes: Sequence[int]) -> list[Array]:
        """Give every rank's array, whose first axes have a size each."""
        most = max(sizes)
        padded = jnp.pad(x, [(0, most - x.shape[0])] + [(0, 0)] * (x.ndim - 1))
        return [p[:s] for p, s in zip(self.all_gather(group, padded), sizes, strict=True)]

    def reduce_scatter(self, group: Group, pieces: Sequence[Array], op: str) -> Array:
        """Combine the ranks' pieces for this rank."""
        if group.size == 1:
            self._member(group, "reduce_scatter")
            return pieces[0]
        groups = self._partition(group, "reduce_scatter")
        alike = len({p.shape for p in pieces}) == 1
        if op == "sum" and alike and groups != ():
            return lax.psum_scatter(jnp.stack(pieces), AXIS, axis_index_groups=groups)
        own = pieces[group.rank]
        received = jnp.stack(self.all_to_all(group, pieces, [own.shape] * group.size, alike))
        if op in ("sum", "avg"):
            total = received.sum(0, dtype=own.dtype)
            if op == "sum":
                return total
            if jnp.issubdtype(own.dtype, jnp.inexact):
                return total / jnp.asarray(group.size, own.dtype)
            return (total // group.size).astype(own.dtype)
        return _FOLDS[op](received, axis=0).astype(own.dtype)

    def broadcast(self, group: Group, x: Array, root: int) -> Array:
        """Give the array of a rank of the group; the gradient is that of the result, as it is."""
        self._member(group, "broadcast")
        return x if group.size == 1 else _broadcast(self, group, root, x)

    def all_to_all(
        self,
        group: Group,
        pieces: Sequence[Array],
        shapes: Sequence[tuple[int, ...]],
        even: bool = False,
    ) -> list[Array]:
        """Send ``pieces[i]`` to rank i, and give what each rank sent here, of ``shapes[i]``."""
        self._member(group, "all_to_all")
        if group.size == 1:
            return list(pieces)
        shapes = [tuple(s) for s in shapes]
        groups = self._partition(group, "all_to_all")
        if even and groups != ():
            whole = lax.all_to_all(jnp.stack(pieces), AXIS, 0, 0, axis_index_groups=groups)
            return [whole[i] for i in range(group.size)]
        here = group.rank
        others = [i for i in range(group.size) if i != here]
        sent = [(i, pieces[i]) for i in others]
        kinds = [(i, jax.ShapeDtypeStruct(shapes[i], pieces[i].dtype)) for i in others]
        received = self.exchange(group, sent, kinds)[:-1]
        received.insert(here, pieces[here])
        return received

    def exchange(
        self,
        group: Group,
        sent: Sequence[tuple[int, Array]],
        received: Sequence[tuple[int, Any]],
    ) -> list[Array]:
        """Send arrays to ranks of the group; give those that come and a witness of the sends."""
        self._member(group, "exchange")
        targets = tuple(group.ranks[rank] for rank, _ in sent)
        sources = tuple(group.ranks[rank] for rank, _ in received)
        kinds = tuple((tuple(k.shape), np.dtype(k.dtype)) for _, k in received)
        return list(_exchange(self.rank, targets, sources, kinds, *(x for _, x in sent)))

    def send(self, group: Group, target: int, x: Array) -> Array:
        """Send an array to another rank, and give it; its gradient is received from there."""
        self._member(group, "send")
        return _send(self.rank, group.ranks[target], x)

    def receive(self, group: Group, source: int, kind: Any, anchor: Array) -> Array:
        """Receive an array of a shape and dtype; its gradient is sent where it came from."""
        self._member(group, "receive")
        kind = tuple(kind.shape), np.dtype(kind.dtype)
        return _receive(self.rank, group.ranks[source], kind, anchor)

    # -- outside of programs --

    def all_gather_bytes(self, group: Group, data: bytes) -> list[bytes]:
        """Give every rank's bytes, in the group's order."""
        count = np.asarray([len(data)], np.int64)
        counts = [int(c[0]) for c in self._run(self.all_gather, group, count)]
        padded = np.zeros(max(1, *counts), np.uint8)
        padded[: len(data)] = np.frombuffer(data, np.uint8)
        pieces = self._run(self.all_gather, group, padded)
        return [p[:c].tobytes() for p, c in zip(pieces, counts, strict=True)]

    def post(self, target: int, tag: int, data: bytes) -> None:
        """Send bytes to a rank of the world; it may take them later."""
        self.mailbox.post(target, tag, data)

    def take(self, source: int, tag: int) -> Callable[[], bytes]:
        """Ask for a rank's next bytes with a tag; what is given waits for them."""
        future = self.mailbox.expect(source, tag)
        return lambda: self.mailbox.wait(future, source, tag)

    def _run(self, collective: Callable[..., Any], group: Group, array: Any) -> list[Any]:
        def run(x: Any) -> Any:
            return collective(group, x)

        return [np.asarray(x) for x in self._outside(run, [array])]

    def _outside(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        old = jax_private.swap_x64(True)
        try:
            with jax.ensure_compile_time_eval():
                return Spread(self.ranks, function)(*arrays)
        finally:
            jax_private.set_x64(old)

    def barrier(self, group: Group) -> None:
        """Wait for every rank of the group."""
        self._run(self.all_gather, group, np.zeros(1, np.uint32))

    @contextlib.contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """Let the time limit on collectives hold for what waits for other ranks within."""
        self.ranks.watch.starts(name)
        try:
            yield
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            raise broken(self.rank, name, error) from None
        finally:
            self.ranks.watch.started(name)


# -- gradients that are the original's, or that jax does not have --

_FOLDS = {"prod": jnp.prod, "max": jnp.max, "min": jnp.min}


def _combine(transport: ProcessTransport, group: Group, x: Array, op: str) -> Array:
    """Combine arrays by a product or an extremum."""

    def forward(x: Array) -> Array:
        if op == "prod":
            return jnp.prod(jnp.stack(transport.all_gather(group, x)), axis=0).astype(x.dtype)
        return _extreme(transport, group, x, op)

    @jax.custom_vjp
    def combine(x: Array) -> Array:
        return forward(x)

    def kept(x: Array) -> Any:
        out = forward(x)
        return out, (x, out)

    def backward(residuals: Any, dout: Array) -> Any:
        x, out = residuals
        if op == "prod":
            return (transport.all_reduce(group, dout * out, "sum") / x,)
        return (transport.all_reduce(group, dout, "sum") * (x == out).astype(dout.dtype),)

    combine.defvjp(kept, backward)
    return combine(x)


def _extreme(transport: ProcessTransport, group: Group, x: Array, op: str) -> Array:
    if jnp.issubdtype(x.dtype, jnp.complexfloating) or transport.size % group.size:
        return _FOLDS[op](jnp.stack(transport.all_gather(group, x)), axis=0)
    groups = transport._partition(group, "all_reduce")
    reduce = lax.pmax if op == "max" else lax.pmin
    return reduce(x, AXIS, axis_index_groups=groups)


def _broadcast(transport: ProcessTransport, group: Group, root: int, x: Array) -> Array:
    """Give one rank's array; its gradient is the cotangent as it is, as in the original."""

    def forward(x: Array) -> Array:
        # A sum of bits with zeros keeps every bit, also those of NaN and -0. All ranks run one
        # text: of zeros alone XLA would make a smaller transfer than the others'.
        bits = _bits(x)
        mine = jnp.where(lax.axis_index(AXIS) == group.ranks[root], bits, jnp.zeros_like(bits))
        return _from_bits(transport._sum(group, mine), x.dtype)

    @jax.custom_vjp
    def broadcast(x: Array) -> Array:
        return forward(x)

    broadcast.defvjp(lambda x: (forward(x), None), lambda _, dout: (dout,))
    return broadcast(x)


def _bits(x: Array) -> Array:
    if x.dtype == np.bool_:
        return x.astype(np.uint8)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return _bits(jnp.stack([x.real, x.imag]))
    if jnp.issubdtype(x.dtype, jnp.integer):
        return x
    return lax.bitcast_convert_type(x, np.dtype(f"uint{8 * x.dtype.itemsize}"))


def _from_bits(bits: Array, dtype: Any) -> Array:
    if dtype == np.bool_:
        return bits.astype(np.bool_)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        part = np.dtype(f"float{4 * dtype.itemsize}")
        parts = _from_bits(bits, part)
        return lax.complex(parts[0], parts[1])
    return bits if bits.dtype == dtype else lax.bitcast_convert_type(bits, dtype)


def _exchange(
    here: int, targets: tuple[int, ...], sources: tuple[int, ...], kinds: Any, *arrays: Array
) -> tuple[Array, ...]:
    """Exchange messages; the gradient sends each one's cotangent back where it came from."""
    sent = tuple((tuple(x.shape), np.dtype(x.dtype)) for x in arrays)

    @jax.custom_vjp
    def exchange(*arrays: Array) -> tuple[Array, ...]:
        return _messages(here, targets, sources, kinds, arrays)

    def backward(_: Any, cotangents: Sequence[Any]) -> Any:
        real = [jnp.issubdtype(d, jnp.inexact) for _, d in kinds]
        wanted = [jnp.issubdtype(d, jnp.inexact) for _, d in sent]
        # The witness has no gradient to give back.
        cotangents = cotangents[:-1]
        gradients = iter(
            _exchange(
                here,
                tuple(s for s, r in zip(sources, real, strict=True) if r),
                tuple(t for t, w in zip(targets, wanted, strict=True) if w),
                tuple(k for k, w in zip(sent, wanted, strict=True) if w),
                *(c for c, r in zip(cotangents, real, strict=True) if r),
            )
        )
        return tuple(
            next(gradients) if w else np.zeros(shape, jax.dtypes.float0)
            for (shape, _), w in zip(sent, wanted, strict=True)
        )

    exchange.defvjp(lambda *arrays: (exchange(*arrays), None), backward)
    return exchange(*arrays)


def _send(here: int, target: int, x: Array) -> Array:
    kind = tuple(x.shape), np.dtype(x.dtype)

    def forward(x: Array) -> Array:
        sent = lax.ppermute(_with_axis(x), AXIS, [(here, target)])
        return after(x, sent)

    @jax.custom_vjp
    def send(x: Array) -> Array:
        return forward(x)

    def backward(_: Any, dout: Array) -> Any:
        return (_messages(here, (), (target,), (kind,), ())[0],)

    send.defvjp(lambda x: (forward(x), None), backward)
    return send(x)


def _receive(here: int, source: int, kind: Any, anchor: Array) -> Array:
    def forward(anchor: Array) -> Array:
        return after(_messages(here, (), (source,), (kind,), ())[0], anchor)

    @jax.custom_vjp
    def receive(anchor: Array) -> Array:
        return forward(anchor)

    def backward(_: Any, dout: Array) -> Any:
        sent = lax.ppermute(_with_axis(dout), AXIS, [(here, source)])
        return (after(jnp.zeros(anchor.shape, anchor.dtype), sent),)

    receive.defvjp(lambda anchor: (forward(anchor), None), backward)
    return receive(anchor)


def after(value: Array, other: Array) -> Array:
    """Give a value that, for whoever drops what is not needed, needs another one too."""
    if not other.size:
        return value
    first = other.reshape(-1)[0]
    return lax.select(jnp.broadcast_to(first == first, value.shape), value, value)


def _messages(
    here: int, targets: tuple[int, ...], sources: tuple[int, ...], kinds: Any, arrays: Any
) -> tuple[Array, ...]:
    results: list[Any] = [None] * len(sources)
    witness = jnp.zeros(1, np.uint8)
    leaving: dict[int, list[Array]] = {}
    coming: dict[int, list[int]] = {}
    for target, x in zip(targets, arrays, strict=True):
        leaving.setdefault(target, []).append(x)
    for i, source in enumerate(sources):
        coming.setdefault(source, []).append(i)
    for i, x in zip(coming.pop(here, []), leaving.pop(here, []), strict=True):
        results[i] = x
    # Every rank goes through its pairs in one order of all pairs, so that none waits in a circle.
    for other in sorted({*leaving, *coming}, key=lambda o: (min(o, here), max(o, here))):
        low, high = min(here, other), max(here, other)
        for source, target in ((low, high), (high, low)):
            if source == here:
                for x in leaving.get(other, []):
                    if x.size:
                        sent = lax.ppermute(_with_axis(x), AXIS, [(source, target)])
                        witness = after(witness, sent)
            else:
                for i in coming.get(other, []):
                    shape, dtype = kinds[i]
                    # Of zeros, XLA would make a smaller transfer than the sender's.
                    count = math.prod(shape)
                    blank = lax.iota(np.int32, count).astype(dtype).reshape(shape)
                    if count:
                        blank = lax.ppermute(_with_axis(blank), AXIS, [(source, target)])
                    results[i] = blank.reshape(shape)
    # jax drops a send when nothing depends on it.
    return (*(after(x, witness) for x in results), witness)


def _with_axis(x: Array) -> Array:
    return x.reshape(1) if not x.ndim else x
