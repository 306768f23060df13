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

Array = jax.Array


def _spec(*entries: Axes) -> PartitionSpec:
    return PartitionSpec(*(e if e else None for e in entries))


# -- what travels --


def _next(x: Any, ring: Ring) -> Any:
    """Send arrays to the next device of the ring."""
    n = ring.size
    pairs = [(i, (i + 1) % n) for i in range(n)]
    return jax.tree.map(lambda a: lax.ppermute(a, ring.sequence, pairs), x)


def _place(chunk: int, n: int) -> int:
    """Give the device that holds a chunk in zigzag order."""
    return chunk if chunk < n else 2 * n - 1 - chunk


def _to_zigzag(x: Array, ring: Ring) -> Array:
    """Exchange halves, axis 1, so that natural order becomes zigzag order."""
    n = ring.size
    half = x.shape[1] // 2
    even = lax.ppermute(x[:, :half], ring.sequence, [(i, _place(2 * i, n)) for i in range(n)])
    odd = lax.ppermute(x[:, half:], ring.sequence, [(i, _place(2 * i + 1, n)) for i in range(n)])
    is_even = lax.axis_index(ring.sequence) % np.int32(2) == 0
    low, high = jnp.where(is_even, even, odd), jnp.where(is_even, odd, even)
    return jnp.concatenate([low, high], 1)


def _from_zigzag(x: Array, ring: Ring) -> Array:
    """Exchange halves, axis 1, so that zigzag order becomes natural order."""
    n = ring.size
    half = x.shape[1] // 2
    is_even = lax.axis_index(ring.sequence) % np.int32(2) == 0
    low, high = x[:, :half], x[:, half:]
    even, odd = jnp.where(is_even, low, high), jnp.where(is_even, high, low)
    even = lax.ppermute(even, ring.sequence, [(_place(2 * i, n), i) for i in range(n)])
    odd = lax.ppermute(odd, ring.sequence, [(_place(2 * i + 1, n), i) for i in range(n)])
    return jnp.concatenate([even, odd], 1)


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

    def __init__(self, ring: Ring, mask: Array | None, ids: Array | None) -> None:
        self.ring, self.mask, self.ids = ring, mask, ids
        self.me = lax.axis_index(ring.sequence)

    @property
    def balanced(self) -> bool:
        """Whether halves of the own part are far from each other."""
        return self.ring.causal and self.ring.order != "contiguous"

    def hides(self, triangle: bool, step: Any, columns: int, ids: Array | None) -> Hides:
        """Say what hides a visitor's keys, in contiguous order."""
        mask = self.mask
        if mask is not None:
            n = np.int32(self.ring.size)
            source = (self.me - step + n) % n
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
            hides = self.hides(causal, np.int32(0), k.shape[1], self.ids)
            return gather(state, q, k, v, scale, hides)
        (q1, q2), (k1, k2), (v1, v2) = (_halves(x, 1) for x in (q, k, v))
        low, high = self._split(state)
        (i1, i2), _ = self.tiles(None)
        low = gather(low, q1, k1, v1, scale, Hides(True, None, i1, i1))
        high = gather(high, q2, k1, v1, scale, Hides(False, None, i2, i1))
        high = gather(high, q2, k2, v2, scale, Hides(True, None, i2, i2))
        return _stack((low, high))

    def gather_visitor(
        self, state: Softmax, q: Array, k: Array, v: Array, ids: Array | None, step: Array
    ) -> Softmax:
        """Gather from the keys that have come so many steps."""
        scale = self.ring.scale
        if not self.balanced:
            hides = self.hides(False, step, k.shape[1], ids)
            run = functools.partial(gather, q=q, k=k, v=v, scale=scale, hides=hides)
            if not self.ring.causal:
                return run(state)
            return lax.cond(step <= self.me, run, lambda s: s, state)
        # The high half sees the visitor's low half; what else is seen depends on who came.
        before = step <= self.me
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
            hides = self.hides(causal, np.int32(0), k.shape[1], self.ids)
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
        self, rows: Rows, k: Array, v: Array, ids: Array | None, step: Array
    ) -> tuple[Array, Array, Array]:
        """Give the gradients that the keys add which have come so many steps."""
        scale = self.ring.scale
        if not self.balanced:
            hides = self.hides(False, step, k.shape[1], ids)
            run = functools.partial(scatter, k=k, v=v, scale=scale, hides=hides)
            if not self.ring.causal:
                return run(rows)
            wide = rows.log.dtype
            none = tuple(jnp.zeros(x.shape, wide) for x in (rows.q, k, v))
            return lax.cond(step <= self.me, run, lambda _: none, rows)
        before = step <= self.me
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


def _walk(ring: Ring, visit: Any, state: Any, visitor: Any) -> Any:
    """Let a ring's visitors come one after another.

    While one is dealt with, the next is on its way.

    Args:
        ring: the ring.
        visit: from the state, a visitor and the number of steps that it has come to the new state.
        state: before the first.
        visitor: what the own device sends out.
    """
    n = ring.size
    if n == 1:
        return state
    visitor = _next(visitor, ring)

    def body(carry: Any, step: Array) -> tuple[Any, None]:
        coming = _next(carry[1], ring)
        return (visit(*carry, step), coming), None

    # A loop, so that XLA finds nothing alike in the forward and the backward pass, to keep from one
    # to the other.
    if n > 2:
        steps = jnp.arange(1, n - 1, dtype=np.int32)
        state, visitor = lax.scan(body, (state, visitor), steps)[0]
    return visit(state, visitor, np.int32(n - 1))


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
    exchange = ring.causal and ring.order == "balanced"
    if exchange:
        q, k, v = (_to_zigzag(x, ring) for x in (q, k, v))
        ids = None if ids is None else _to_zigzag(ids, ring)
    part = _Part(ring, mask, ids)
    state = part.gather_own(nothing(q, v), q, k, v)

    def visit(state: Softmax, visitor: Any, step: Any) -> Softmax:
        key, value, other = visitor
        return part.gather_visitor(state, q, key, value, other, step)

    state = _walk(ring, visit, state, (k, v, ids))
    out, log = finished(state, q.dtype)
    peak, total = state.peak, state.total
    if exchange:
        out = _from_zigzag(out, ring)
        log, peak, total = (
            jnp.swapaxes(_from_zigzag(jnp.swapaxes(x, 1, 2), ring), 1, 2)
            for x in (log, peak, total)
        )
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
    exchange = ring.causal and ring.order == "balanced"
    rows = Rows(q, gradient, log, inner)
    if exchange:
        statistics = (
            jnp.swapaxes(_to_zigzag(jnp.swapaxes(x, 1, 2), ring), 1, 2) for x in (log, inner)
        )
        rows = Rows(_to_zigzag(q, ring), _to_zigzag(gradient, ring), *statistics)
        k, v = _to_zigzag(k, ring), _to_zigzag(v, ring)
        ids = None if ids is None else _to_zigzag(ids, ring)
    part = _Part(ring, mask, ids)
    to_q, to_k, to_v = part.scatter_own(rows, k, v)

    def visit(state: Any, visitor: Any, step: Any) -> Any:
        # The gradients of a visitor's keys travel one step behind it, and are added to here.
        to_k, to_v = _next(state[1:], ring)
        key, value, other = visitor
        more = part.scatter_visitor(rows, key, value, other, step)
        return state[0] + more[0], to_k + more[1], to_v + more[2]

    to_q, to_k, to_v = _walk(ring, visit, (to_q, to_k, to_v), (k, v, ids))
    if ring.size > 1:
        to_k, to_v = _next((to_k, to_v), ring)
    if exchange:
        to_q, to_k, to_v = (_from_zigzag(x, ring) for x in (to_q, to_k, to_v))
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
    rows = _spec(ring.batch, ring.heads, ring.sequence)
    return jax.jit(
        jax.shard_map(
            functools.partial(_backward if backward else _forward, ring),
            mesh=ring.mesh,
            in_specs=(*specs, specs[0], rows, specs[0]) if backward else specs,
            out_specs=specs[:3] if backward else (specs[0], rows, rows, rows),
            check_vma=False,
        )
    )


def _run_forward(ring: Ring, q: Array, k: Array, v: Array, mask: Any, ids: Any) -> Any:
    run = _over_devices(ring, _specs(ring, mask, ids), False)
    out, log, peak, total = run(q, k, v, mask, ids)
    return (out, peak, total), (q, k, v, mask, ids, out, log)


def _run_backward(ring: Ring, kept: Any, gradients: Any) -> Any:
    q, k, v, mask, ids, out, log = kept
    run = _over_devices(ring, _specs(ring, mask, ids), True)
    return (*run(q, k, v, mask, ids, out, log, gradients[0]), None, None)


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
