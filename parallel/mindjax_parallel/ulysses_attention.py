"""Attention whose devices exchange parts of the sequence for heads (Jacobs, 2023, "Ulysses").

Each device holds a part of the sequence of all heads. One exchange gives it the whole sequence of
some heads, with which it attends alone; another brings the results back. That sends less than a
ring does, but no more devices can take part than there are heads, and each holds whole sequences.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from mindjax.core.errors import located
from mindjax.ops.fused.attention import UNBOUNDED, Terms, attend, band, joined, of_rows
from mindjax_parallel.ring_layout import Axes, laid_out, named_axes
from mindjax_parallel.within_stage import within_stage

Array = jax.Array


@dataclasses.dataclass(frozen=True)
class Exchange:
    """How attention lies on devices that exchange heads; every array is (B, S, N, D).

    Attributes:
        mesh: the devices.
        sequence: mesh axes that cut the sequence.
        batch: mesh axes that cut the batch.
        heads: mesh axes that cut the heads besides.
        scale: factor of the scores.
        causal: whether keys behind a query are hidden.
        staged: whether these are the devices of one pipeline stage.
    """

    mesh: Mesh
    sequence: Axes
    batch: Axes
    heads: Axes
    scale: float
    causal: bool
    staged: bool = False

    def parts(self, axes: Axes) -> int:
        """Give the number of parts that axes cut a dimension into."""
        return math.prod(self.mesh.shape[a] for a in axes)


def _other_segments(ids: Array) -> Any:
    def hidden(rows: Array) -> Array:
        own = jnp.take(ids, rows, 1, mode="clip")
        return (own[:, :, None] != ids[:, None])[:, None]

    return hidden


def _exchanged(
    lies: Exchange, q: Array, k: Array, v: Array, mask: Array | None, ids: Array | None
) -> tuple[Array, Array, Array]:
    """Compute one device's part."""
    axes, parts = lies.sequence, lies.parts(lies.sequence)
    if k.shape[2] < parts:
        # Each device needs a head of its own: those of one group get copies.
        k, v = (jnp.repeat(x, parts // x.shape[2], 2) for x in (k, v))
    q, k, v = (lax.all_to_all(x, axes, 2, 1, tiled=True) for x in (q, k, v))
    hidden = band(k.shape[1], UNBOUNDED, 0) if lies.causal else None
    if mask is not None:
        hidden = joined(hidden, lambda rows: of_rows(mask, rows))
    if ids is not None:
        whole = lax.all_gather(ids, axes, axis=1, tiled=True)
        hidden = joined(hidden, _other_segments(whole))
    out, *rows = attend(q, k, v, lies.scale, Terms(hidden=hidden))
    peak, total = (lax.all_to_all(x, axes, 2, 1, tiled=True) for x in rows)
    return lax.all_to_all(out, axes, 1, 2, tiled=True), peak, total


# Kept, so that calls outside a compiled program find theirs.
@functools.lru_cache(maxsize=64)
def _over_devices(lies: Exchange, specs: tuple[Any, ...]) -> Any:
    """Give the program of all devices, for inputs that lie as told."""
    spec = specs[0]
    rows = PartitionSpec(spec[0], spec[2], spec[1])
    return jax.jit(
        jax.shard_map(
            functools.partial(_exchanged, lies),
            mesh=lies.mesh,
            in_specs=specs,
            out_specs=(spec, rows, rows),
        )
    )


def _in_stage(lies: Exchange, specs: Any, given: Any, out_specs: Any) -> Any:
    """Run the devices of a pipeline stage."""
    there = [a is not None for a in given]

    def local(*arrays: Array) -> list[Array]:
        following = iter(arrays)
        full: list[Any] = [next(following) if t else None for t in there]
        return list(_exchanged(lies, *full))

    def make(seen: Any, axes: frozenset[str]) -> Any:
        return jax.shard_map(
            local,
            mesh=seen,
            in_specs=tuple(s for s, t in zip(specs, there, strict=True) if t),
            out_specs=list(out_specs),
            axis_names=set(axes),
        )

    return tuple(within_stage(make, lies.mesh, [a for a in given if a is not None]))


def attention_by_heads(
    lies: Exchange,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    ids: Array | None,
    owner: str,
    kind: type[Exception] = ValueError,
) -> tuple[Array, Array, Array]:
    """Attend with whole sequences of some heads on each device.

    Args:
        lies: how arrays lie.
        q: (B, S, N, D).
        k: (B, S, M, D).
        v: (B, S, M, D2).
        mask: truth values, True hides, (B or 1, 1, S, S), which every device holds; or None.
        ids: integers (B, S), the sequence that each token belongs to; or None.
        owner: operator named in errors.
        kind: of the error if shapes do not fit the devices or each other.

    Returns:
        The results (B, S, N, D2); each row's greatest score and sum of exponentials (B, N, S).
    """

    def wrong(why: str) -> Exception:
        return located(kind, f"For '{owner}', {why}.")

    fits = q.ndim == k.ndim == v.ndim == 4 and k.shape[:3] == v.shape[:3]
    if not fits or q.shape[:2] != k.shape[:2] or q.shape[2] % max(k.shape[2], 1):
        raise wrong(
            "queries, keys and values must be (B, S, N, D), the heads of queries a multiple of "
            f"those of keys, but got {q.shape}, {k.shape} and {v.shape}"
        )
    parts, heads = lies.parts(lies.sequence), lies.parts(lies.heads)
    if q.shape[2] % (heads * parts) or k.shape[2] % heads:
        raise wrong(
            f"{heads} x {parts} devices must divide the {q.shape[2]} heads: use ring attention, or "
            "fewer devices along the sequence"
        )
    own = k.shape[2] // heads
    if own % parts and parts % own:
        raise wrong(
            f"the {own} key heads of a device and its {parts} devices along the sequence must "
            "divide one another: use ring attention"
        )
    if q.shape[0] % lies.parts(lies.batch) or q.shape[1] % parts:
        raise wrong(
            f"the batch and length {q.shape[:2]} must be divided by {lies.parts(lies.batch)} and "
            f"{parts}"
        )
    if mask is not None and (mask.ndim != 4 or mask.shape[1] != 1):
        raise wrong(f"the mask must be one for all heads, but got {mask.shape}")
    spec = PartitionSpec(lies.batch or None, lies.sequence or None, lies.heads or None)
    rows = PartitionSpec(spec[0], spec[2], spec[1])
    hides = None
    if mask is not None:
        hides = PartitionSpec(spec[0] if mask.shape[0] > 1 else None)
    specs = (spec, spec, spec, hides, None if ids is None else PartitionSpec(*spec[:2]))
    if lies.staged:
        return _in_stage(lies, specs, (q, k, v, mask, ids), (spec, rows, rows))
    given = zip((q, k, v, mask, ids), specs, strict=True)
    return _over_devices(lies, specs)(*(laid_out(lies.mesh, x, p) for x, p in given))


def ulysses_attention(
    query: Array,
    key: Array,
    value: Array,
    mesh: Mesh,
    axis: str | Axes,
    *,
    causal: bool = True,
    scale: float | None = None,
    segments: Array | None = None,
    batch_axis: str | Axes | None = None,
    head_axis: str | Axes | None = None,
) -> Array:
    """Attend over a sequence that is cut over devices (Jacobs et al., 2023, "DeepSpeed Ulysses").

    It is a function of jax arrays; Cells reach it by ``FlashAttentionScore`` with the attribute
    ``enable_ulysses``, which the original does not have.

    Args:
        query: (B, S, N, D), float; the devices along the sequence divide a device's heads.
        key: (B, S, M, D); M divides N, and divides or is divided by these devices.
        value: (B, S, M, D2).
        mesh: the devices.
        axis: mesh axis that cuts the sequence, or a tuple of them.
        causal: whether a query sees only keys up to its own place.
        scale: factor of the scores; None for ``1 / sqrt(D)``.
        segments: integers (B, S); tokens see those of the same number only.
        batch_axis: mesh axis, or axes, that cut B.
        head_axis: mesh axis, or axes, that cut N and M besides.

    Returns:
        (B, S, N, D2), in the dtype of ``query``, cut as it is.

    Raises:
        TypeError: an axis is no name.
        ValueError: shapes do not fit the devices or each other.
    """
    owner = "ulysses_attention"
    sequence = named_axes(mesh, "axis", axis, owner)
    batch = named_axes(mesh, "batch_axis", batch_axis, owner)
    heads = named_axes(mesh, "head_axis", head_axis, owner)

    factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
    lies = Exchange(mesh, sequence, batch, heads, factor, causal)
    ids = None if segments is None else jnp.asarray(segments).astype(np.int32)
    return attention_by_heads(lies, query, key, value, None, ids, owner)[0]
