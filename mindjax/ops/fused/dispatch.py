"""Tokens sent to the experts of a group of ranks, and what they give brought back and merged."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks, world
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.quantized import rounded

Array = jax.Array


def _check_world(owner: str, group: Any, size: Any, rank: Any, experts: Any) -> None:
    """Check that the group is this process alone.

    Raises:
        TypeError: an argument is of another type.
        ValueError: rank, size or number of experts do not fit.
        RuntimeError: nobody has joined the world, or there is no such group.
        NotImplementedError: the group has more ranks.
    """
    count = checks.positive_int("ep_world_size", size, owner)
    if count > 1:
        raise located(
            NotImplementedError,
            f"For '{owner}', an 'ep_world_size' of {count} is not supported yet: start one "
            "process.",
        )
    members = world.find(world.named(group), owner)
    if checks.integer("ep_rank_id", rank, owner) != members.rank:
        raise located(
            ValueError,
            f"For '{owner}', the 'ep_rank_id' must be this process's rank {members.rank}, but got "
            f"{rank}.",
        )
    checks.positive_int("moe_expert_num", experts, owner)


def _reserved(owner: str, why: str, **arguments: tuple[Any, Any]) -> None:
    for name, (value, default) in arguments.items():
        if value is not default and value != default:
            raise located(
                NotImplementedError,
                f"For '{owner}', the '{name}' {value!r} is not supported: {why}.",
            )


class _Dispatch(Primitive, register=False):
    """Tokens in the order of their experts."""

    experts: int
    quant_mode: int
    counts: bool

    def compute(
        self, x: Array, ids: Array, weights: Array | None, scales: Array | None
    ) -> tuple[Array, ...]:
        name = "moe_distribute_dispatch"
        if x.ndim != 2 or ids.ndim != 2 or ids.shape[0] != x.shape[0] or ids.dtype != np.int32:
            raise located(
                ValueError,
                f"For '{name}', 'x' must be (tokens, H) and 'expert_ids' int32 (tokens, k), but "
                f"got {x.shape}, {ids.dtype} {ids.shape}.",
            )
        flat = ids.reshape(-1)
        order = jnp.argsort(flat, stable=True).astype(np.int32)
        size = flat.shape[0]
        places = jnp.zeros((size,), np.int32).at[order].set(jnp.arange(size, dtype=np.int32))
        rows = x[order // np.int32(max(ids.shape[1], 1))]
        dynamic = jnp.ones((size,), np.float32)
        if self.quant_mode == 2:
            wide = rows.astype(np.float32)
            if scales is not None:
                wide = wide * scales[flat[order]].astype(np.float32)
            dynamic = jnp.max(jnp.abs(wide), -1) / np.float32(127)
            rows = rounded(wide / jnp.where(dynamic == 0, np.float32(1), dynamic)[:, None])
        counts = jnp.zeros((self.experts,), np.int32).at[flat].add(np.int32(1), mode="drop")
        total = counts if self.counts else jnp.cumsum(counts, dtype=np.int32)
        kept = jnp.zeros((size,), np.float32) if weights is None else weights.reshape(-1)[order]
        ends = jnp.cumsum(counts, dtype=np.int32)
        none = jnp.zeros((1,), np.int32)
        return rows, dynamic, places, total.astype(np.int64), ends, none, kept.astype(np.float32)


def moe_distribute_dispatch(
    x: Any,
    expert_ids: Any,
    ep_world_size: int,
    ep_rank_id: int,
    moe_expert_num: int,
    expert_scales: Any = None,
    scales: Any = None,
    x_active_mask: Any = None,
    group_ep: str | None = None,
    group_tp: str | None = None,
    tp_world_size: int = 0,
    tp_rank_id: int = 0,
    expert_shard_type: int = 0,
    shared_expert_num: int = 0,
    shared_expert_rank_num: int = 0,
    quant_mode: int = 0,
    global_bs: int = 0,
    expert_token_nums_type: int = 0,
) -> tuple[Any, ...]:
    """Send tokens to their experts (MindSpore: ``ops.moe_distribute_dispatch``).

    Args:
        x: (tokens, H), float.
        expert_ids: int32 (tokens, k), experts of each token.
        ep_world_size: number of ranks that have experts: 1.
        ep_rank_id: rank of this process: 0.
        moe_expert_num: number of experts.
        expert_scales: (tokens, k), weights of the experts.
        scales: (experts, H), factors before rounding, in ``quant_mode`` 2.
        x_active_mask: None.
        group_ep: name of the group; None is the world.
        group_tp: None, as there is no second group.
        tp_world_size: 0 or 1.
        tp_rank_id: 0.
        expert_shard_type: 0.
        shared_expert_num: 0.
        shared_expert_rank_num: 0.
        quant_mode: 0 sends floats, 2 int8 with a scale for each row.
        global_bs: 0 or the number of tokens.
        expert_token_nums_type: 0 running sums of the experts' tokens, 1 their numbers.

    Returns:
        The tokens (tokens * k, H) in the order of experts; their scales; where each pair of a token
        and an expert went; int64 numbers of the experts' tokens; where each expert's rows end; a
        Tensor without meaning; the experts' weights in the same order.

    Raises:
        TypeError: an argument is of another type.
        ValueError: shapes or numbers do not fit.
        RuntimeError: nobody has joined the world, or there is no such group.
        NotImplementedError: several ranks, shared experts, a second group.
    """
    name = "moe_distribute_dispatch"
    _check_world(name, group_ep, ep_world_size, ep_rank_id, moe_expert_num)
    _reserved(
        name,
        "there is one group of one rank",
        x_active_mask=(x_active_mask, None),
        group_tp=(group_tp or None, None),
        tp_world_size=(0 if tp_world_size == 1 else tp_world_size, 0),
        tp_rank_id=(tp_rank_id, 0),
        expert_shard_type=(expert_shard_type, 0),
        shared_expert_num=(shared_expert_num, 0),
        shared_expert_rank_num=(shared_expert_rank_num, 0),
    )
    if quant_mode not in (0, 2) or expert_token_nums_type not in (0, 1):
        raise located(
            ValueError,
            f"For '{name}', the 'quant_mode' must be 0 or 2 and 'expert_token_nums_type' 0 or 1, "
            f"but got {quant_mode} and {expert_token_nums_type}.",
        )
    if global_bs not in (0, x.shape[0]):
        raise located(
            ValueError,
            f"For '{name}', the 'global_bs' must be 0 or {x.shape[0]}, but got {global_bs}.",
        )
    operator = _Dispatch(moe_expert_num, quant_mode, expert_token_nums_type == 1)
    return operator(x, expert_ids, expert_scales, scales)


class _Combine(Primitive, register=False):
    """What experts gave, back in the order of tokens and summed by weights."""

    def compute(self, rows: Array, ids: Array, places: Array, weights: Array) -> Array:
        name = "moe_distribute_combine"
        if weights.shape != ids.shape or places.shape != (ids.size,) or ids.ndim != 2:
            raise located(
                ValueError,
                f"For '{name}', 'expert_ids' and 'expert_scales' must be (tokens, k) and "
                f"'expand_idx' (tokens * k,), but got {ids.shape}, {weights.shape} and "
                f"{places.shape}.",
            )
        wide = jnp.take(rows, places, 0, mode="clip").reshape(*ids.shape, -1).astype(np.float32)
        return jnp.sum(wide * weights.astype(np.float32)[..., None], 1).astype(rows.dtype)


def moe_distribute_combine(
    expand_x: Any,
    expert_ids: Any,
    expand_idx: Any,
    ep_send_counts: Any,
    expert_scales: Any,
    ep_world_size: int,
    ep_rank_id: int,
    moe_expert_num: int,
    tp_send_counts: Any = None,
    x_active_mask: Any = None,
    activate_scale: Any = None,
    weight_scale: Any = None,
    group_list: Any = None,
    expand_scales: Any = None,
    group_ep: str | None = None,
    group_tp: str | None = None,
    tp_world_size: int = 0,
    tp_rank_id: int = 0,
    expert_shard_type: int = 0,
    shared_expert_num: int = 0,
    shared_export_rank_num: int = 0,
    global_bs: int = 0,
    out_dtype: int = 0,
    common_quant_mode: int = 0,
    group_list_type: int = 0,
) -> Any:
    """Bring back what experts gave and merge it (MindSpore: ``ops.moe_distribute_combine``).

    Args:
        expand_x: (tokens * k, H), what the experts gave, in their order.
        expert_ids: int32 (tokens, k), experts of each token.
        expand_idx: where each pair went, as `moe_distribute_dispatch` gives it.
        ep_send_counts: what `moe_distribute_dispatch` gives; of use between ranks only.
        expert_scales: (tokens, k), weights of the experts.
        ep_world_size: number of ranks that have experts: 1.
        ep_rank_id: rank of this process: 0.
        moe_expert_num: number of experts.
        tp_send_counts: as ``ep_send_counts``.
        x_active_mask: None, as the following.
        activate_scale: see ``x_active_mask``.
        weight_scale: see ``x_active_mask``.
        group_list: see ``x_active_mask``.
        expand_scales: as ``ep_send_counts``: the weights are in ``expert_scales``.
        group_ep: name of the group; None is the world.
        group_tp: None, as there is no second group.
        tp_world_size: 0 or 1.
        tp_rank_id: 0.
        expert_shard_type: 0.
        shared_expert_num: 0.
        shared_export_rank_num: 0.
        global_bs: 0 or the number of tokens.
        out_dtype: 0.
        common_quant_mode: 0.
        group_list_type: 0.

    Returns:
        Tensor (tokens, H).

    Raises:
        TypeError: an argument is of another type.
        ValueError: shapes or numbers do not fit.
        RuntimeError: nobody has joined the world, or there is no such group.
        NotImplementedError: several ranks, shared experts, a second group.
    """
    name = "moe_distribute_combine"
    _check_world(name, group_ep, ep_world_size, ep_rank_id, moe_expert_num)
    _reserved(
        name,
        "there is one group of one rank",
        x_active_mask=(x_active_mask, None),
        activate_scale=(activate_scale, None),
        weight_scale=(weight_scale, None),
        group_list=(group_list, None),
        group_tp=(group_tp or None, None),
        tp_world_size=(0 if tp_world_size == 1 else tp_world_size, 0),
        tp_rank_id=(tp_rank_id, 0),
        expert_shard_type=(expert_shard_type, 0),
        shared_expert_num=(shared_expert_num, 0),
        shared_export_rank_num=(shared_export_rank_num, 0),
        out_dtype=(out_dtype, 0),
        common_quant_mode=(common_quant_mode, 0),
        group_list_type=(group_list_type, 0),
    )
    if global_bs not in (0, expert_ids.shape[0]):
        raise located(
            ValueError,
            f"For '{name}', the 'global_bs' must be 0 or {expert_ids.shape[0]}, but got "
            f"{global_bs}.",
        )
    return _Combine()(expand_x, expert_ids, expand_idx, expert_scales)
