"""Products and attention that are spread over the ranks of a group."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks, world
from mindjax.core.errors import located
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.collective.base import Collective
from mindjax.ops.fused.grouped import product
from mindjax.ops.fused.quantized import matrices

Array = jax.Array


class _GatherProduct(Collective, register=False):
    """The ranks' left matrices joined and multiplied; or multiplied and shared out."""

    group: str
    scatter: bool
    transposed: bool

    def compute(self, x: Array, x2: Array) -> tuple[Array, Array]:
        w = matrices(x2, self.transposed)
        owner = "matmul_reduce_scatter" if self.scatter else "all_gather_matmul"
        if x.ndim != 2 or w.ndim != 2 or x.shape[1] != w.shape[0]:
            raise located(
                RuntimeError,
                f"For '{owner}', 'input' and 'x2' must be matrices that fit, but got {x.shape} and "
                f"{x2.shape}.",
            )
        if x.dtype != w.dtype or not jnp.issubdtype(x.dtype, jnp.floating):
            raise located(
                RuntimeError,
                f"For '{owner}', 'input' and 'x2' must have one float dtype, but got {x.dtype} and "
                f"{w.dtype}.",
            )
        members, transport = world.find(self.group, owner), world.transport
        if not self.scatter:
            pieces = transport.all_gather(members, x)
            whole = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)
            return product(whole, w).astype(x.dtype), whole
        if x.shape[0] % members.size:
            raise located(
                RuntimeError,
                f"For '{owner}', the rows of 'input' must be divided by {members.size}, but got "
                f"{x.shape}.",
            )
        out = product(x, w)
        pieces = jnp.split(out, members.size)
        return transport.reduce_scatter(members, pieces, "sum").astype(x.dtype), x


def _check_product(owner: str, group: Any, world_size: int, **fixed: tuple[Any, Any]) -> str:
    members = world.find(world.named(group), owner)
    if world_size != members.size:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'world_size' must be the size {members.size} of the group, but "
            f"got {world_size}.",
        )
    for name, (value, only) in fixed.items():
        if value != only:
            raise located(
                RuntimeError,
                f"For '{owner}', the '{name}' must be {only!r}, as in the original, but got "
                f"{value!r}.",
            )
    return members.name


def all_gather_matmul(
    input: Any,
    x2: Any,
    group: str,
    world_size: int,
    *,
    bias: Any = None,
    gather_index: int = 0,
    gather_output: bool = True,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> tuple[Any, Any]:
    """Join the ranks' rows and multiply (MindSpore: ``ops.all_gather_matmul``).

    Args:
        input: (M, K), float.
        x2: (K, N), of the same dtype.
        group: name of the group.
        world_size: its size.
        bias: None.
        gather_index: 0.
        gather_output: whether the joined rows are given.
        comm_turn: 0.
        trans_input: False.
        trans_x2: whether the axes of ``x2`` are swapped.

    Returns:
        Tensor (M * ranks, N), and the joined rows, or a Tensor without elements.

    Raises:
        RuntimeError: nobody has joined the world, or arguments do not fit.
    """
    name = _check_product(
        "all_gather_matmul",
        group,
        world_size,
        bias=(bias, None),
        gather_index=(gather_index, 0),
        comm_turn=(comm_turn, 0),
        trans_input=(trans_input, False),
    )
    checks.boolean("gather_output", gather_output, "all_gather_matmul")
    out, whole = _GatherProduct(name, False, trans_x2)(input, x2)
    return out, whole if gather_output else whole[:0, 0]


def matmul_reduce_scatter(
    input: Any,
    x2: Any,
    group: str,
    world_size: int,
    *,
    reduce_op: str = "sum",
    bias: Any = None,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> Any:
    """Multiply, combine over the ranks and give each its rows (``ops.matmul_reduce_scatter``).

    Args:
        input: (M, K), float.
        x2: (K, N), of the same dtype.
        group: name of the group.
        world_size: its size, which divides M.
        reduce_op: ``"sum"``.
        bias: None.
        comm_turn: 0.
        trans_input: False.
        trans_x2: whether the axes of ``x2`` are swapped.

    Returns:
        Tensor (M / ranks, N).

    Raises:
        RuntimeError: nobody has joined the world, or arguments do not fit.
    """
    name = _check_product(
        "matmul_reduce_scatter",
        group,
        world_size,
        reduce_op=(reduce_op, "sum"),
        bias=(bias, None),
        comm_turn=(comm_turn, 0),
        trans_input=(trans_input, False),
    )
    return _GatherProduct(name, True, trans_x2)(input, x2)[0]


class RingAttentionUpdate(BoundPrimitive):
    """Two partial attentions merged; call: as `ring_attention_update`."""

    arrays: ClassVar[int] = 7
    statics: ClassVar[tuple[str, ...]] = ("layout",)
    layout: str = field(default="SBH", kw_only=True)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Merge."""
        padded = (*inputs, None) if len(inputs) == 6 else inputs
        return super().__call__(*padded, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the layout."""
        for value in statics.values():
            checks.one_of("layout", value, ("SBH", "TND"), self.name)
        return statics

    def compute(
        self,
        out1: Array,
        max1: Array,
        sum1: Array,
        out2: Array,
        max2: Array,
        sum2: Array,
        ends: Array | None,
    ) -> tuple[Array, Array, Array]:
        """Merge by greatest scores and sums."""
        if self.layout == "TND" and ends is None:
            raise located(
                RuntimeError, f"For '{self.name}', the 'actual_seq_qlen' is needed in layout TND."
            )
        alike = out1.shape == out2.shape and max1.shape == sum1.shape == max2.shape == sum2.shape
        if not alike or out1.ndim != 3 or max1.ndim != (4 if self.layout == "SBH" else 3):
            raise located(
                ValueError,
                f"For '{self.name}', outputs must be alike, and statistics too, but got "
                f"{out1.shape}, {out2.shape}, {max1.shape} and {max2.shape}.",
            )
        top = jnp.maximum(max1, max2)
        safe = jnp.where(jnp.isfinite(top), top, jnp.zeros((), top.dtype))
        parts = [sum1 * jnp.exp(max1 - safe), sum2 * jnp.exp(max2 - safe)]
        total = parts[0] + parts[1]
        safe_total = jnp.where(total == 0, jnp.ones((), total.dtype), total)

        def factors(part: Array) -> Array:
            share = part[..., 0] / safe_total[..., 0]
            if self.layout == "TND":
                return share[..., None]
            # (B, N, S) to (S, B, N * D): each head's share for its channels.
            share = jnp.moveaxis(share, 2, 0)
            return jnp.repeat(share, out1.shape[2] // share.shape[2], 2)

        wide = out1.astype(np.float32) * factors(parts[0])
        wide = wide + out2.astype(np.float32) * factors(parts[1])
        return wide.astype(out1.dtype), top, total


def ring_attention_update(
    prev_attn_out: Any,
    prev_softmax_max: Any,
    prev_softmax_sum: Any,
    cur_attn_out: Any,
    cur_softmax_max: Any,
    cur_softmax_sum: Any,
    actual_seq_qlen: Any = None,
    layout: str = "SBH",
) -> tuple[Any, Any, Any]:
    """Merge attention over two parts of the keys (MindSpore: ``ops.ring_attention_update``).

    Args:
        prev_attn_out: (S, B, N * D) or (T, N, D), the result over the first part.
        prev_softmax_max: float32 (B, N, S, 8) or (T, N, 8), its greatest scores.
        prev_softmax_sum: like these, its sums of exponentials.
        cur_attn_out: the result over the second part.
        cur_softmax_max: its greatest scores.
        cur_softmax_sum: its sums.
        actual_seq_qlen: needed in the layout TND, where it groups work on the vendor's device.
        layout: ``"SBH"`` or ``"TND"``.

    Returns:
        The result over both, its greatest scores and its sums.

    Raises:
        ValueError: the layout is unknown, or shapes do not fit.
        RuntimeError: ``actual_seq_qlen`` is missing in the layout TND.
    """
    return RingAttentionUpdate()(
        prev_attn_out,
        prev_softmax_max,
        prev_softmax_sum,
        cur_attn_out,
        cur_softmax_max,
        cur_softmax_sum,
        actual_seq_qlen,
        layout,
    )
