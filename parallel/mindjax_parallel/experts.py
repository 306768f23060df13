"""Mixtures of experts on one device and on many: exchanged tokens, or products of groups of rows.

Devices that hold parts of a batch hold some of the experts each. With a capacity every expert has
so many places for the tokens of a group: tokens are put into places, exchanged, computed and
exchanged back (Lepikhin et al., 2021, "GShard"). Without one no token is dropped: tokens are
gathered, each device multiplies those of its experts group by group, and sums are scattered.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.routing import (
    Routes,
    capacity_of,
    from_slots,
    route,
    slots,
    sorted_by_expert,
    to_slots,
)
from mindjax_parallel.within_stage import within_stage

Array = jax.Array
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "swiglu": jax.nn.silu,
}
"""By name; ``swiglu`` is multiplied by a second product."""


@dataclasses.dataclass(frozen=True)
class Spread:
    """How experts lie on devices.

    Attributes:
        mesh: the devices.
        batch: mesh axes that cut the tokens.
        experts: those of them that cut the experts.
        hidden: mesh axes that cut the hidden dimension of each expert.
    """

    mesh: Mesh
    batch: Axes
    experts: Axes
    hidden: Axes

    def parts(self, axes: Axes) -> int:
        """Give the number of parts that axes cut a dimension into."""
        return math.prod(self.mesh.shape[a] for a in axes)


class MixtureOfExperts(Primitive, register=False):
    """Tokens through some of many small networks.

    Call: ``(x, router, up, down, gate)``, of shapes (tokens, H), (H, E), (E, H, F), (E, F, H) and
    (E, H, F) or None; gives (tokens, H) and the loss that balances experts.

    Attributes:
        top_k: experts a token.
        capacity_factor: times the mean number of tokens is what an expert takes of a group; None
            drops no token.
        groups: number of groups that tokens are cut into, each with places of its own.
        activation: one of `ACTIVATIONS`.
        normalized: whether a token's weights add up to 1.
    """

    top_k: int
    capacity_factor: float | None
    groups: int
    activation: str
    normalized: bool

    def compute(
        self, x: Array, router: Array, up: Array, down: Array, gate: Array | None
    ) -> tuple[Array, Array]:
        """Compute on one device."""
        check(self, x, router, up, down, gate)
        return _compute(self, None, x, router, up, down, gate)


class SpreadMixture(Primitive, register=False):
    """`MixtureOfExperts` over several devices.

    Attributes:
        operator: the operator that it stands for.
        spread: how the experts lie.
        staged: whether these are the devices of one pipeline stage.
    """

    operator: MixtureOfExperts
    spread: Spread
    staged: bool = False

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    def compute(
        self, x: Array, router: Array, up: Array, down: Array, gate: Array | None
    ) -> tuple[Array, Array]:
        """Compute, each device with its experts."""
        lies, record = self.spread, self.operator
        check(record, x, router, up, down, gate)
        tokens = PartitionSpec(lies.batch or None)
        inner = PartitionSpec(lies.experts or None, None, lies.hidden or None)
        outer = PartitionSpec(lies.experts or None, lies.hidden or None)

        arrays = [a for a in (x, router, up, down, gate) if a is not None]
        specs = (tokens, PartitionSpec(), inner, outer, inner)[: len(arrays)]

        def local(*given: Any) -> list[Array]:
            return list(_compute(record, lies, *given[:4], given[4] if len(given) > 4 else None))

        def make(seen: Any, axes: frozenset[str]) -> Any:
            return jax.shard_map(
                local,
                mesh=seen,
                in_specs=specs,
                out_specs=[tokens, PartitionSpec()],
                axis_names=set(axes),
            )

        if self.staged:
            y, loss = within_stage(make, lies.mesh, arrays)
        else:
            y, loss = make(lies.mesh, frozenset(lies.mesh.axis_names))(*arrays)
        return y, loss


def check(
    record: MixtureOfExperts, x: Array, router: Array, up: Array, down: Array, gate: Array | None
) -> None:
    """Check whole arrays against each other and the attributes.

    Raises:
        ValueError: they do not fit.
    """
    shapes = [a.shape for a in (x, router, up, down)]
    fits = [len(s) for s in shapes] == [2, 2, 3, 3]
    if fits:
        (_, h), (_, e), (_, _, f), _ = shapes
        fits = shapes[1:] == [(h, e), (e, h, f), (e, f, h)]
    if not fits or (gate is not None and gate.shape != up.shape):
        raise located(
            ValueError,
            f"For '{record.name}', the inputs must be (tokens, H), (H, E), (E, H, F), (E, F, H) "
            f"and, if any, (E, H, F), but got {shapes}.",
        )
    if (gate is None) != (record.activation != "swiglu"):
        raise located(
            ValueError,
            f"For '{record.name}', a 'gate' goes with the activation 'swiglu' alone, but got "
            f"'{record.activation}'.",
        )
    if x.shape[0] % record.groups:
        raise located(
            ValueError,
            f"For '{record.name}', the {x.shape[0]} tokens must be divided by the 'groups' "
            f"{record.groups}.",
        )
    if record.top_k > router.shape[1]:
        raise located(
            ValueError,
            f"For '{record.name}', {record.top_k} experts a token are more than the "
            f"{router.shape[1]} that there are.",
        )


def _compute(
    record: MixtureOfExperts,
    lies: Spread | None,
    x: Array,
    router: Array,
    up: Array,
    down: Array,
    gate: Array | None,
) -> tuple[Array, Array]:
    """Compute one device's tokens."""
    groups = record.groups if lies is None else record.groups // lies.parts(lies.batch)
    grouped = x.reshape(groups, -1, x.shape[1])
    routes = route(grouped, router, record.top_k, record.normalized)
    weights = up, down, gate
    factor = record.capacity_factor
    if factor is None:
        y = _all(record, lies, x, routes, router.shape[1], weights)
    else:
        y = _placed(record, lies, grouped, routes, router.shape[1], factor, weights)
    loss = routes.loss
    if lies is not None:
        if lies.hidden:
            y = lax.psum(y, lies.hidden)
        if lies.batch:
            loss = lax.pmean(loss, lies.batch)
    return y.reshape(x.shape).astype(x.dtype), loss


def _placed(
    record: MixtureOfExperts,
    lies: Spread | None,
    x: Array,
    routes: Routes,
    count: int,
    factor: float,
    weights: Sequence[Any],
) -> Array:
    """Compute with a capacity: tokens go to places, and places to devices."""
    g, t, h = x.shape
    capacity = capacity_of(t, count, record.top_k, factor)
    slot = slots(routes.experts, count, capacity)
    places = to_slots(x, slot, count * capacity).reshape(g, count, capacity, h)
    places = jnp.swapaxes(places, 0, 1).reshape(count, g * capacity, h)
    axes: Axes = () if lies is None else lies.experts
    if axes:
        places = lax.all_to_all(places, axes, 0, 1, tiled=True)
    up, down, gate = weights

    def product(a: Array, b: Array) -> Array:
        wide = np.promote_types(a.dtype, np.float32)
        return jnp.einsum("ecx,exy->ecy", a, b, preferred_element_type=wide).astype(a.dtype)

    y = _network(record, product, places, up, down, gate)
    if axes:
        y = lax.all_to_all(y, axes, 1, 0, tiled=True)
    y = jnp.swapaxes(y.reshape(count, g, capacity, h), 0, 1).reshape(g, count * capacity, h)
    return from_slots(y, slot, routes.weights)


def _all(
    record: MixtureOfExperts,
    lies: Spread | None,
    x: Array,
    routes: Routes,
    count: int,
    weights: Sequence[Any],
) -> Array:
    """Compute without a capacity: a product for each expert's rows, however many they are."""
    k = record.top_k
    experts, shares = routes.experts.reshape(-1, k), routes.weights.reshape(-1, k)
    axes: Axes = () if lies is None else lies.experts
    if lies is not None and axes:
        x, experts, shares = (lax.all_gather(a, axes, tiled=True) for a in (x, experts, shares))
        count //= lies.parts(axes)
        own = experts - lax.axis_index(axes) * np.int32(count)
        experts = jnp.where((own >= 0) & (own < count), own, np.int32(count))
    tokens, h = x.shape
    order, sizes = sorted_by_expert(experts.reshape(-1), count)
    rows = jnp.broadcast_to(x[:, None], (tokens, k, h)).reshape(tokens * k, h)
    rows = jnp.take(rows, order, 0, unique_indices=True)
    up, down, gate = weights

    def product(a: Array, b: Array) -> Array:
        wide = np.promote_types(a.dtype, np.float32)
        return lax.ragged_dot(a, b, sizes, preferred_element_type=wide).astype(a.dtype)

    y = _network(record, product, rows, up, down, gate)
    # Rows of other devices' experts are behind all groups.
    here = jnp.arange(tokens * k, dtype=np.int32) < jnp.sum(sizes, dtype=np.int32)
    y = jnp.where(here[:, None], y, jnp.zeros((), y.dtype))
    y = jnp.zeros_like(y).at[order].set(y, unique_indices=True).reshape(tokens, k, h)
    merged = jnp.sum(y.astype(shares.dtype) * shares[..., None], 1)
    return lax.psum_scatter(merged, axes, tiled=True) if axes else merged


def _network(
    record: MixtureOfExperts, product: Any, x: Array, up: Array, down: Array, gate: Array | None
) -> Array:
    activate = ACTIVATIONS[record.activation]
    if gate is None:
        return product(activate(product(x, up)), down)
    return product(activate(product(x, gate)) * product(x, up), down)


def spread_mixture(
    record: Any, arrays: Sequence[Any], placements: Sequence[Placement], mesh: Mesh, mode: str
) -> Primitive:
    """Give the mixture whose experts lie on several devices, as its strategy says.

    Raises:
        ValueError: the strategy cuts what cannot be cut.
    """
    del mode

    def wrong(why: str) -> ValueError:
        return located(ValueError, f"For '{record.name}', {why}.")

    x, router, up, down = (p.dimensions for p in placements[:4])
    (batch, width), (experts, inner, hidden) = x, up
    if width or any(router) or inner or down != (experts, hidden, ()):
        raise wrong(
            "a strategy may cut the tokens, the experts and their hidden dimension alike, but got "
            f"{[p.parts(mesh) for p in placements]}"
        )
    if arrays[4] is not None and placements[4].dimensions != up:
        raise wrong("the strategies of 'gate' and 'up' must be equal")
    if not set(experts) <= set(batch):
        raise wrong(
            "the devices that hold parts of the experts must be among those that hold parts of "
            "the tokens: cut the tokens along them too, with a Layout"
        )
    lies = Spread(mesh, batch, experts, hidden)
    if record.groups % lies.parts(batch):
        raise wrong(
            f"the 'groups' {record.groups} must be a multiple of the {lies.parts(batch)} parts of "
            "the tokens"
        )
    return SpreadMixture(record, lies) if batch or hidden else record
