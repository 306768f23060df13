"""Ring attention: each device holds a part of the sequence, and keys travel round (Liu, 2023).

A device keeps its queries. The keys and values of the others visit it one after another, and rows
gather from each; no device ever holds more than its own part and a visitor. The backward pass lets
them travel again, and their gradients with them. Where queries see only what is before them, the
devices with the first parts would wait for the last: in zigzag order device ``i`` of ``n`` holds
the parts ``i`` and ``2 n - 1 - i`` of ``2 n``, and all have as much to do (Brandon et al., 2023).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from mindjax.core.errors import located
from mindjax_parallel.attention_tiles import (
    Hides,
    Rows,
    Softmax,
    finished,
    gather,
    nothing,
    scatter,
)
from mindjax_parallel.ring_layout import ORDERS, Axes, Ring, check_ring, laid_out, named_axes
from mindjax_parallel.ring_links import Links, RingLinks, StageLinks
from mindjax_parallel.within_stage import run_within

Array = jax.Array


def _spec(*entries: Axes) -> PartitionSpec:
    return PartitionSpec(*(e if e else None for e in entries))


# -- what travels --


def _chunk(place: Any, ring: Ring) -> Any:
    """Give the first of a device's two chunks where all have as much to do; n is half of them.

    The second is as far from the end. Where halves are exchanged each keeps one of its own.
    """
    if ring.order == "zigzag":
        return place
    n, two = np.int32(ring.size), np.int32(2)
    return jnp.where(_is_low(place, ring), two * place, two * (n - place) - np.int32(1))


def _is_low(place: Any, ring: Ring) -> Any:
    return np.int32(2) * place < np.int32(ring.size)


def _balanced(x: Array, ring: Ring, links: Links, axis: int = 1) -> Array:
    """Exchange halves, so that a device holds a part as far from the start as another from the end.

    The device as far from the end has the other one of both.
    """
    first, second = _halves(x, axis)
    other = links.mirrored(second)
    is_low = _is_low(links.me, ring)
    low, high = jnp.where(is_low, first, other), jnp.where(is_low, other, first)
    return jnp.concatenate([low, high], axis)


def _natural(x: Array, ring: Ring, links: Links, axis: int = 1) -> Array:
    """Bring halves back to where `_balanced` has taken them from."""
    low, high = _halves(x, axis)
    is_low = _is_low(links.me, ring)
    first, other = jnp.where(is_low, low, high), jnp.where(is_low, high, low)
    return jnp.concatenate([first, links.mirrored(other)], axis)


def _own_heads(ring: Ring, q: Array, k: Array) -> tuple[Any, int] | None:
    """Give the first and the number of the key heads that this device's queries meet.

    None where they meet all that it has.
    """
    extra = ring.heads[len(ring.key_heads) :]
    parts = ring.parts(extra)
    if parts == 1:
        return None
    n, m = q.shape[2], k.shape[2]
    group = n * parts // m
    first = lax.axis_index(extra) * np.int32(n) // np.int32(group)
    return first, max(1, n // group)


# -- one device's part --


def _halves(x: Array, axis: int) -> tuple[Array, Array]:
    half = x.shape[axis] // 2
    return lax.slice_in_dim(x, 0, half, axis=axis), lax.slice_in_dim(x, half, None, axis=axis)


def _stack(parts: Sequence[Softmax]) -> Softmax:
    return Softmax(
        jnp.concatenate([p.sums for p in parts], 1),
        jnp.concatenate([p.peak for p in parts], 2),
        jnp.concatenate([p.total for p in parts], 2),
    )


class _Part:
    """What one device computes; ``ids`` are the sequences that tokens belong to, or None."""

    def __init__(self, ring: Ring, links: Links, mask: Array | None, ids: Array | None) -> None:
        self.ring, self.mask, self.ids = ring, mask, ids
        self.me = links.me

    @property
    def balanced(self) -> bool:
        """Whether halves of the own part are far from each other."""
        return self.ring.causal and self.ring.order != "contiguous"

    def hides(self, triangle: bool, source: Any, columns: int, ids: Array | None) -> Hides:
        """Say what hides the keys of a device, in contiguous order."""
        mask = self.mask
        if mask is not None:
            mask = lax.dynamic_slice_in_dim(mask, source * np.int32(columns), columns, 3)
        return Hides(triangle, mask, self.ids, ids)

    def tiles(self, ids: Array | None) -> tuple[Any, Any]:
        """Give the ids of the halves of the own tokens, and of a visitor's."""
        none = (None, None)
        own = none if self.ids is None else _halves(self.ids, 1)
        return own, none if ids is None else _halves(ids, 1)

    def gather_own(self, state: Softmax, q: Array, k: Array, v: Array) -> Softmax:
        """Gather from the own keys."""
        scale, causal = self.ring.scale, self.ring.causal
        if not self.balanced:
            hides = self.hides(causal, self.me, k.shape[1], self.ids)
            return gather(state, q, k, v, scale, hides)
        (q1, q2), (k1, k2), (v1, v2) = (_halves(x, 1) for x in (q, k, v))
        low, high = self._split(state)
        (i1, i2), _ = self.tiles(None)
        low = gather(low, q1, k1, v1, scale, Hides(True, None, i1, i1))
        high = gather(high, q2, k1, v1, scale, Hides(False, None, i2, i1))
        high = gather(high, q2, k2, v2, scale, Hides(True, None, i2, i2))
        return _stack((low, high))

    def gather_visitor(
        self, state: Softmax, q: Array, k: Array, v: Array, ids: Array | None, source: Array
    ) -> Softmax:
        """Gather from the keys that have come from a device."""
        scale = self.ring.scale
        if not self.balanced:
            hides = self.hides(False, source, k.shape[1], ids)
            run = functools.partial(gather, q=q, k=k, v=v, scale=scale, hides=hides)
            if not self.ring.causal:
                return run(state)
            return lax.cond(source < self.me, run, lambda s: s, state)
        # The high half sees the visitor's low half; what else is seen depends on who came.
        before = _chunk(source, self.ring) < _chunk(self.me, self.ring)
        (q1, q2), (k1, k2), (v1, v2) = (_halves(x, 1) for x in (q, k, v))
        low, high = self._split(state)
        (i1, i2), (j1, j2) = self.tiles(ids)
        high = gather(high, q2, k1, v1, scale, Hides(False, None, i2, j1))

        def choose(a: Any, b: Any) -> Any:
            return jax.tree.map(lambda x, y: jnp.where(before, x, y), a, b)

        hides = Hides(False, None, choose(i1, i2), choose(j1, j2))
        state = choose(low, high)
        state = gather(state, choose(q1, q2), choose(k1, k2), choose(v1, v2), scale, hides)
        return _stack((choose(state, low), choose(high, state)))

    @staticmethod
    def _split(state: Softmax) -> tuple[Softmax, Softmax]:
        sums, peak, total = _halves(state.sums, 1), _halves(state.peak, 2), _halves(state.total, 2)
        return Softmax(sums[0], peak[0], total[0]), Softmax(sums[1], peak[1], total[1])

    @staticmethod
    def _split_rows(rows: Rows) -> tuple[Rows, Rows]:
        pairs = [_halves(x, axis) for x, axis in zip(rows, (1, 1, 2, 2), strict=True)]
        return Rows(*(p[0] for p in pairs)), Rows(*(p[1] for p in pairs))

    def scatter_own(self, rows: Rows, k: Array, v: Array) -> tuple[Array, Array, Array]:
        """Give the gradients that the own keys add."""
        scale, causal = self.ring.scale, self.ring.causal
        if not self.balanced:
            hides = self.hides(causal, self.me, k.shape[1], self.ids)
            return scatter(rows, k, v, scale, hides)
        low, high = self._split_rows(rows)
        (k1, k2), (v1, v2) = _halves(k, 1), _halves(v, 1)
        (i1, i2), _ = self.tiles(None)
        a = scatter(low, k1, v1, scale, Hides(True, None, i1, i1))
        b = scatter(high, k1, v1, scale, Hides(False, None, i2, i1))
        c = scatter(high, k2, v2, scale, Hides(True, None, i2, i2))
        to_q = jnp.concatenate([a[0], b[0] + c[0]], 1)
        to_k = jnp.concatenate([a[1] + b[1], c[1]], 1)
        return to_q, to_k, jnp.concatenate([a[2] + b[2], c[2]], 1)

    def scatter_visitor(
        self, rows: Rows, k: Array, v: Array, ids: Array | None, source: Array
    ) -> tuple[Array, Array, Array]:
        """Give the gradients that the keys add which have come from a device."""
        scale = self.ring.scale
        if not self.balanced:
            hides = self.hides(False, source, k.shape[1], ids)
            run = functools.partial(scatter, k=k, v=v, scale=scale, hides=hides)
            if not self.ring.causal:
                return run(rows)
            wide = rows.log.dtype
            none = tuple(jnp.zeros(x.shape, wide) for x in (rows.q, k, v))
            return lax.cond(source < self.me, run, lambda _: none, rows)
        before = _chunk(source, self.ring) < _chunk(self.me, self.ring)
        low, high = self._split_rows(rows)
        (k1, k2), (v1, v2) = _halves(k, 1), _halves(v, 1)
        (i1, i2), (j1, j2) = self.tiles(ids)
        a = scatter(high, k1, v1, scale, Hides(False, None, i2, j1))

        def choose(x: Any, y: Any) -> Any:
            return jax.tree.map(lambda p, q: jnp.where(before, p, q), x, y)

        hides = Hides(False, None, choose(i1, i2), choose(j1, j2))
        b = scatter(choose(low, high), choose(k1, k2), choose(v1, v2), scale, hides)
        # What the second tile gave belongs to the low or to the high halves.
        b_low = [jnp.where(before, g, jnp.zeros_like(g)) for g in b]
        b_high = [jnp.where(before, jnp.zeros_like(g), g) for g in b]
        to_q = jnp.concatenate([b_low[0], a[0] + b_high[0]], 1)
        to_k = jnp.concatenate([a[1] + b_low[1], b_high[1]], 1)
        return to_q, to_k, jnp.concatenate([a[2] + b_low[2], b_high[2]], 1)


def _links(ring: Ring) -> Links:
    if ring.staged:
        return StageLinks(ring.sequence, [ring.parts((a,)) for a in ring.sequence])
    return RingLinks(ring.sequence, ring.size)


def _walk(links: Links, visit: Any, state: Any, visitor: Any) -> Any:
    """Let a ring's visitors come one after another.

    While one is dealt with, the next is on its way.

    Args:
        links: of the ring.
        visit: from the state, a visitor and the number of steps that it has come to the new state.
        state: before the first.
        visitor: what the own device sends out.
    """
    n = links.size
    if n == 1:
        return state
    visitor = links.move(visitor, 1)

    def body(carry: Any, step: Any) -> tuple[Any, None]:
        coming = links.move(carry[1], step + 1)
        return (visit(*carry, step), coming), None

    # A loop, so that XLA finds nothing alike in the forward and the backward pass, to keep from one
    # to the other.
    if n > 2 and links.alike:
        steps = jnp.arange(1, n - 1, dtype=np.int32)
        state, visitor = lax.scan(body, (state, visitor), steps)[0]
    elif n > 2:
        for step in range(1, n - 1):
            (state, visitor), _ = body((state, visitor), step)
    return visit(state, visitor, np.int32(n - 1) if links.alike else n - 1)


def _taken(ring: Ring, q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    """Take the heads of keys and values that the own queries meet."""
    own = _own_heads(ring, q, k)
    if own is None:
        return k, v
    return tuple(lax.dynamic_slice_in_dim(x, *own, 2) for x in (k, v))  # type: ignore[return-value]


def _forward(
    ring: Ring, q: Array, k: Array, v: Array, mask: Array | None, ids: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Compute a device's rows: results, logarithms of sums, greatest scores, sums."""
    k, v = _taken(ring, q, k, v)
    links = _links(ring)
    exchange = ring.causal and ring.order == "balanced"
    if exchange:
        q, k, v = (_balanced(x, ring, links) for x in (q, k, v))
        ids = None if ids is None else _balanced(ids, ring, links)
    part = _Part(ring, links, mask, ids)
    state = part.gather_own(nothing(q, v), q, k, v)

    def visit(state: Softmax, visitor: Any, step: Any) -> Softmax:
        key, value, other = visitor
        return part.gather_visitor(state, q, key, value, other, links.source(step))

    state = _walk(links, visit, state, (k, v, ids))
    out, log = finished(state, q.dtype)
    peak, total = state.peak, state.total
    if exchange:
        out = _natural(out, ring, links)
        log, peak, total = (_natural(x, ring, links, axis=2) for x in (log, peak, total))
    return out, log, peak, total


def _backward(
    ring: Ring,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    ids: Array | None,
    out: Array,
    log: Array,
    gradient: Array,
) -> tuple[Array, Array, Array]:
    """Compute the gradients of a device's queries, keys and values."""
    whole_k, whole_v = k, v
    k, v = _taken(ring, q, k, v)
    wide = log.dtype
    product = out.astype(wide) * gradient.astype(wide)
    inner = jnp.swapaxes(jnp.sum(product, -1), 1, 2)
    links = _links(ring)
    exchange = ring.causal and ring.order == "balanced"
    rows = Rows(q, gradient, log, inner)
    if exchange:
        pairs = zip(rows, (1, 1, 2, 2), strict=True)
        rows = Rows(*(_balanced(x, ring, links, axis) for x, axis in pairs))
        k, v = _balanced(k, ring, links), _balanced(v, ring, links)
        ids = None if ids is None else _balanced(ids, ring, links)
    part = _Part(ring, links, mask, ids)
    to_q, to_k, to_v = part.scatter_own(rows, k, v)

    def visit(state: Any, visitor: Any, step: Any) -> Any:
        # The gradients of a visitor's keys travel one step behind it, and are added to here.
        to_k, to_v = links.move(state[1:], step)
        key, value, other = visitor
        more = part.scatter_visitor(rows, key, value, other, links.source(step))
        return state[0] + more[0], to_k + more[1], to_v + more[2]

    to_q, to_k, to_v = _walk(links, visit, (to_q, to_k, to_v), (k, v, ids))
    if ring.size > 1:
        to_k, to_v = links.home((to_k, to_v))
    if exchange:
        to_q, to_k, to_v = (_natural(x, ring, links) for x in (to_q, to_k, to_v))
    own = _own_heads(ring, q, whole_k)
    if own is not None:
        extra = ring.heads[len(ring.key_heads) :]
        zero = np.int32(0)
        to_k, to_v = (
            lax.psum(
                lax.dynamic_update_slice(
                    jnp.zeros(whole.shape, wide), x, (zero, zero, own[0], zero)
                ),
                extra,
            )
            for x, whole in ((to_k, whole_k), (to_v, whole_v))
        )
    return to_q.astype(q.dtype), to_k.astype(k.dtype), to_v.astype(v.dtype)


# -- all devices --


def _specs(ring: Ring, mask: Array | None, ids: Array | None) -> tuple[Any, ...]:
    """Give how the inputs lie: queries, keys, values, mask and ids."""
    queries = _spec(ring.batch, ring.sequence, ring.heads, ())
    keys = _spec(ring.batch, ring.sequence, ring.key_heads, ())
    hides = None
    if mask is not None:
        batch, heads = (
            axes if mask.shape[i] > 1 else () for i, axes in enumerate((ring.batch, ring.heads))
        )
        hides = _spec(batch, heads, ring.sequence, ())
    return queries, keys, keys, hides, None if ids is None else _spec(ring.batch, ring.sequence)


def attention_in_ring(
    ring: Ring, q: Array, k: Array, v: Array, mask: Array | None, ids: Array | None
) -> tuple[Array, Array, Array]:
    """Attend in a ring of devices; gradients flow through the results only.

    Args:
        ring: how arrays lie.
        q: (B, S1, N, D).
        k: (B, S2, M, D).
        v: (B, S2, M, D2).
        mask: truth values, True hides, (B or 1, N or 1, S1, S2); or None.
        ids: integers (B, S), the sequence that each token belongs to; or None.

    Returns:
        The results (B, S1, N, D2); each row's greatest score and sum of exponentials (B, N, S1).
    """
    return _attention_in_ring(ring, q, k, v, mask, ids)


# Kept, so that calls outside a compiled program find theirs.
@functools.lru_cache(maxsize=64)
def _over_devices(ring: Ring, specs: tuple[Any, ...], backward: bool) -> Any:
    """Give the program of all devices, for inputs that lie as told."""
    given, found, run = _program(ring, specs, backward)
    return jax.jit(
        jax.shard_map(run, mesh=ring.mesh, in_specs=given, out_specs=found, check_vma=False)
    )


def _program(ring: Ring, specs: tuple[Any, ...], backward: bool) -> tuple[Any, Any, Any]:
    """Give how inputs and outputs of a device's program lie, and the program."""
    rows = _spec(ring.batch, ring.heads, ring.sequence)
    if backward:
        return (*specs, specs[0], rows, specs[0]), specs[:3], functools.partial(_backward, ring)
    return specs, (specs[0], rows, rows, rows), functools.partial(_forward, ring)


def _run(ring: Ring, specs: tuple[Any, ...], arrays: Sequence[Any], backward: bool) -> Any:
    """Run the program of all devices, or of those of one pipeline stage."""
    if not ring.staged:
        return _over_devices(ring, specs, backward)(*arrays)
    given, found, run = _program(ring, specs, backward)
    there = [a is not None for a in arrays]

    def local(*present: Array) -> list[Array]:
        following = iter(present)
        return list(run(*(next(following) if t else None for t in there)))

    def make(seen: Any, axes: frozenset[str]) -> Any:
        return jax.shard_map(
            local,
            mesh=seen,
            in_specs=tuple(s for s, t in zip(given, there, strict=True) if t),
            out_specs=list(found),
            axis_names=set(axes),
            check_vma=False,
        )

    return tuple(run_within(make, ring.mesh, [a for a in arrays if a is not None]))


def _run_forward(ring: Ring, q: Array, k: Array, v: Array, mask: Any, ids: Any) -> Any:
    out, log, peak, total = _run(ring, _specs(ring, mask, ids), (q, k, v, mask, ids), False)
    return (out, peak, total), (q, k, v, mask, ids, out, log)


def _run_backward(ring: Ring, kept: Any, gradients: Any) -> Any:
    q, k, v, mask, ids, out, log = kept
    given = (q, k, v, mask, ids, out, log, gradients[0])
    return (*_run(ring, _specs(ring, mask, ids), given, True), None, None)


def _alone(ring: Ring, q: Array, k: Array, v: Array, mask: Any, ids: Any) -> Any:
    return _run_forward(ring, q, k, v, mask, ids)[0]


_attention_in_ring: Any = jax.custom_vjp(_alone, nondiff_argnums=(0,))
_attention_in_ring.defvjp(_run_forward, _run_backward)


def ring_attention(
    query: Array,
    key: Array,
    value: Array,
    mesh: Mesh,
    axis: str | Axes,
    *,
    causal: bool = True,
    scale: float | None = None,
    order: str = "contiguous",
    mask: Array | None = None,
    segments: Array | None = None,
    batch_axis: str | Axes | None = None,
    head_axis: str | Axes | None = None,
) -> Array:
    """Attend over a sequence that is cut over devices (Liu et al., 2023, "Ring Attention").

    It is a function of jax arrays, for programs of jax and for a Primitive's ``compute``; Cells
    reach it by ``FlashAttentionScore`` with the attribute ``enable_ring_attention``.

    Args:
        query: (B, S1, N, D), float.
        key: (B, S2, M, D); M divides N.
        value: (B, S2, M, D2).
        mesh: the devices.
        axis: mesh axis that cuts the sequence, or a tuple of them.
        causal: whether a query sees only keys up to its own place.
        scale: factor of the scores; None for ``1 / sqrt(D)``.
        order: how tokens lie: ``"contiguous"``; ``"balanced"``, as they come, exchanged inside so
            that all devices have as much to do; ``"zigzag"``, as `zigzag_order` gives it.
        mask: bool, True hides, (B or 1, N or 1, S1, S2), in contiguous order.
        segments: integers (B, S); tokens see those of the same number only.
        batch_axis: mesh axis, or axes, that cut B.
        head_axis: mesh axis, or axes, that cut N; the first that divide M cut M.

    Returns:
        (B, S1, N, D2), in the dtype of ``query``, cut as it is.

    Raises:
        TypeError: an axis is no name, or ``mask`` not bool.
        ValueError: shapes do not fit the devices or each other, or there is no such order.
    """
    owner = "ring_attention"
    if order not in ORDERS:
        raise located(
            ValueError, f"For '{owner}', the 'order' must be one of {ORDERS}, but got {order!r}."
        )
    if mask is not None and mask.dtype != np.bool_:
        raise located(TypeError, f"For '{owner}', the 'mask' must be bool, but got {mask.dtype}.")
    sequence = named_axes(mesh, "axis", axis, owner)
    batch = named_axes(mesh, "batch_axis", batch_axis, owner)
    heads = named_axes(mesh, "head_axis", head_axis, owner)
    if len({*sequence, *batch, *heads}) != len(sequence) + len(batch) + len(heads):
        raise located(
            ValueError,
            f"For '{owner}', each mesh axis may stand once, but got {sequence}, {batch} and "
            f"{heads}.",
        )
    key_heads: Axes = ()
    for name in heads if key.ndim == 4 else ():
        if key.shape[2] % math.prod(mesh.shape[a] for a in (*key_heads, name)):
            break
        key_heads = (*key_heads, name)
    factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
    ring = Ring(mesh, sequence, batch, heads, key_heads, factor, causal, order)
    check_ring(ring, query, key, value, mask, segments, owner)
    given = (query, key, value, mask, segments)
    lies = zip(given, _specs(ring, mask, segments), strict=True)
    return attention_in_ring(ring, *(laid_out(mesh, x, spec) for x, spec in lies))[0]
