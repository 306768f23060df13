"""How attention over a cut sequence lies on devices, and what must fit for that."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from mindjax.core.errors import located

Array = jax.Array
Axes = tuple[str, ...]
ORDERS = ("contiguous", "balanced", "zigzag")


@dataclasses.dataclass(frozen=True)
class Ring:
    """How attention lies on devices; every array is (B, S, N, D).

    Attributes:
        mesh: the devices.
        sequence: mesh axes that cut the sequence.
        batch: mesh axes that cut the batch.
        heads: mesh axes that cut the heads of queries.
        key_heads: the first of these, which cut the heads of keys too.
        scale: factor of the scores.
        causal: whether keys behind a query are hidden.
        order: one of `ORDERS`.
        staged: whether these are the devices of one pipeline stage.
    """

    mesh: Mesh
    sequence: Axes
    batch: Axes
    heads: Axes
    key_heads: Axes
    scale: float
    causal: bool
    order: str
    staged: bool = False

    @property
    def size(self) -> int:
        """Number of devices in a ring."""
        return self.parts(self.sequence)

    def parts(self, axes: Axes) -> int:
        """Give the number of parts that axes cut a dimension into."""
        return math.prod(self.mesh.shape[a] for a in axes)


def zigzag_order(length: int, parts: int) -> np.ndarray:
    """Give the order in which tokens lie in zigzag order: ``x[:, zigzag_order(...)]``.

    Args:
        length: of the sequence, a multiple of twice the parts.
        parts: devices along the sequence.

    Returns:
        Places in the natural order, int64 (length,); ``numpy.argsort`` of it leads back.

    Raises:
        ValueError: ``parts`` does not fit.
    """
    if parts < 1 or length % (2 * parts):
        raise located(
            ValueError,
            f"For 'zigzag_order', the 'length' {length} must be a multiple of twice the 'parts' "
            f"{parts}.",
        )
    chunks = np.arange(length).reshape(2 * parts, -1)
    return np.concatenate([np.concatenate((chunks[i], chunks[-1 - i])) for i in range(parts)])


def check_ring(
    ring: Ring,
    q: Array,
    k: Array,
    v: Array,
    mask: Any,
    ids: Any,
    owner: str,
    kind: type[Exception] = ValueError,
) -> None:
    """Check arrays against the devices, and raise an error of a kind if they do not fit."""

    def wrong(why: str) -> Exception:
        return located(kind, f"For '{owner}', {why}.")

    fits = k.shape[:3] == v.shape[:3] and q.shape[::3] == k.shape[::3]
    if q.ndim != 4 or k.ndim != 4 or v.ndim != 4 or not fits or q.shape[2] % max(k.shape[2], 1):
        raise wrong(
            "queries, keys and values must be (B, S, N, D) with equal B and D, and the heads of "
            f"queries a multiple of those of keys, but got {q.shape}, {k.shape} and {v.shape}"
        )
    halves = 2 if ring.causal and ring.order != "contiguous" else 1
    sizes = [
        ("batch", q.shape[0], ring.parts(ring.batch)),
        ("length of the queries", q.shape[1], ring.size * halves),
        ("length of the keys", k.shape[1], ring.size * halves),
        ("number of query heads", q.shape[2], ring.parts(ring.heads)),
        ("number of key heads", k.shape[2], ring.parts(ring.key_heads)),
    ]
    for name, size, parts in sizes:
        if size % parts:
            raise wrong(f"the {name} {size} must be divided by {parts}")
    if ring.causal and q.shape[1] != k.shape[1]:
        raise wrong(f"causal lengths must be equal, but got {q.shape[1]} and {k.shape[1]}")
    if mask is not None and ring.order != "contiguous":
        raise wrong(f"a mask does not go with the order '{ring.order}': use 'contiguous'")
    if mask is not None and (
        mask.ndim != 4
        or mask.shape[0] not in (1, q.shape[0])
        or mask.shape[1] not in (1, q.shape[2])
        or mask.shape[2:] != (q.shape[1], k.shape[1])
    ):
        raise wrong(
            f"the mask must be (B or 1, N or 1, {q.shape[1]}, {k.shape[1]}), but got {mask.shape}"
        )
    if ids is not None and (ids.shape != q.shape[:2] or q.shape[1] != k.shape[1]):
        raise wrong(f"'segments' must be (B, S) = {q.shape[:2]}, but got {ids.shape}")
    here = q.shape[2] // ring.parts(ring.heads)
    group = q.shape[2] // k.shape[2]
    if ring.heads != ring.key_heads and here % group and group % here:
        raise wrong(f"{here} query heads a device and groups of {group} must divide one another")


def named_axes(mesh: Mesh, name: str, axes: Any, owner: str) -> Axes:
    """Give mesh axes as a tuple.

    Raises:
        TypeError: they are no names.
        ValueError: the mesh has none of that name.
    """
    found = () if axes is None else (axes,) if isinstance(axes, str) else axes
    if not isinstance(found, tuple) or not all(isinstance(a, str) for a in found):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be a name or tuple of names, but got {axes!r}.",
        )
    for axis in found:
        if axis not in mesh.shape:
            raise located(
                ValueError,
                f"For '{owner}', the '{name}' {axis!r} is no axis of the mesh {mesh.axis_names}.",
            )
    return found


def laid_out(mesh: Mesh, x: Any, spec: PartitionSpec | None) -> Any:
    """Lay an array out as a function over a mesh takes it, where jax does not do it by itself.

    Args:
        mesh: the devices; axes of the type Explicit are part of an array's type.
        x: the array, or None.
        spec: how it is cut.
    """
    if x is None or spec is None or AxisType.Explicit not in mesh.axis_types:
        return x
    return jax.reshard(x, NamedSharding(mesh, spec))
