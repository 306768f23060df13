"""Mixtures of experts: choosing experts, sending tokens to them and merging what they give."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.state import write

Array = jax.Array


def _order(experts: Array) -> tuple[Array, Array]:
    """Sort positions by expert, and tell where each position went."""
    order = jnp.argsort(experts.reshape(-1), stable=True).astype(np.int32)
    count = order.shape[0]
    places = jnp.zeros((count,), np.int32).at[order].set(jnp.arange(count, dtype=np.int32))
    return order, places


def _check_indices(owner: str, name: str, x: Array) -> None:
    if x.dtype not in (np.int32, np.int64):
        raise located(
            TypeError, f"For '{owner}', the '{name}' must be int32 or int64, but got {x.dtype}."
        )


def _check_matrix(owner: str, name: str, x: Array) -> None:
    if x.ndim != 2:
        raise located(ValueError, f"For '{owner}', the '{name}' must be 2-D, but got {x.shape}.")


class MoeTokenPermute(BoundPrimitive):
    """Tokens sorted by expert; call: ``(tokens, indices, num_out_tokens, padded_mode)``."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("num_out_tokens", "padded_mode")
    num_out_tokens: int | None = field(default=None, kw_only=True)
    padded_mode: bool = field(default=False, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the static values."""
        if statics.get("num_out_tokens") is not None:
            checks.non_negative_int("num_out_tokens", statics["num_out_tokens"], self.name)
        if checks.boolean("padded_mode", statics.get("padded_mode", False), self.name):
            raise located(ValueError, f"For '{self.name}', the 'padded_mode' must be False.")
        return statics

    def compute(self, tokens: Array, indices: Array) -> tuple[Array, Array]:
        """Sort, stably."""
        _check_matrix(self.name, "tokens", tokens)
        _check_indices(self.name, "indices", indices)
        if indices.ndim not in (1, 2) or (indices.ndim == 2 and indices.shape[1] > 512):
            raise located(
                ValueError,
                f"For '{self.name}', the 'indices' must be 1-D or 2-D with at most 512 columns, "
                f"but got {indices.shape}.",
            )
        if indices.shape[0] != tokens.shape[0]:
            raise located(
                RuntimeError,
                f"For '{self.name}', the first axes of 'tokens' and 'indices' must be the same, "
                f"but got {tokens.shape} and {indices.shape}.",
            )
        each = indices.shape[1] if indices.ndim == 2 else 1
        order, places = _order(indices)
        kept = order.shape[0]
        if self.num_out_tokens:
            kept = min(self.num_out_tokens, kept)
        return jnp.take(tokens, order[:kept] // np.int32(max(each, 1)), 0), places


def moe_token_permute(
    tokens: Any, indices: Any, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Any, Any]:
    """Sort tokens by expert (MindSpore: ``ops.moe_token_permute``).

    Args:
        tokens: (tokens, H).
        indices: int32 or int64 (tokens, k) or (tokens,), experts of each token.
        num_out_tokens: how many sorted tokens are given; None or 0 all.
        padded_mode: False.

    Returns:
        The sorted tokens; int32, where each pair of a token and an expert went, row by row.

    Raises:
        TypeError: a dtype or type is wrong.
        ValueError: a shape is wrong, or ``padded_mode`` is True.
        RuntimeError: there are not as many rows of indices as tokens.
    """
    return MoeTokenPermute()(tokens, indices, num_out_tokens, padded_mode)


class MoeTokenUnpermute(BoundPrimitive):
    """Sorted tokens back in their order and merged.

    Call: ``(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape)``.
    """

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("padded_mode", "restore_shape")
    padded_mode: bool = field(default=False, kw_only=True)
    restore_shape: tuple[int, ...] | None = field(default=None, kw_only=True)

    def __call__(
        self, permuted_tokens: Any, sorted_indices: Any, probs: Any = None, *rest: Any, **named: Any
    ) -> Any:
        """Merge."""
        return super().__call__(permuted_tokens, sorted_indices, probs, *rest, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the static values."""
        if checks.boolean("padded_mode", statics.get("padded_mode", False), self.name):
            raise located(ValueError, f"For '{self.name}', only supports padded_mode False.")
        return statics

    def compute(self, tokens: Array, places: Array, probs: Array | None) -> Array:
        """Take rows back, and sum each token's by its probabilities."""
        _check_matrix(self.name, "permuted_tokens", tokens)
        _check_indices(self.name, "sorted_indices", places)
        # A row that was cut off when the tokens were sorted counts as 0.
        inside = (places >= 0) & (places < tokens.shape[0])
        rows = jnp.take(tokens, jnp.where(inside, places, 0).astype(np.int32), 0, mode="clip")
        rows = jnp.where(inside[:, None], rows, jnp.zeros((), rows.dtype))
        if probs is None:
            return rows
        if probs.ndim != 2 or probs.size != places.shape[0]:
            raise located(
                ValueError,
                f"For '{self.name}', the 'probs' must be 2-D with {places.shape[0]} elements, but "
                f"got {probs.shape}.",
            )
        wide = rows.reshape(*probs.shape, tokens.shape[1]).astype(np.float32)
        merged = jnp.sum(wide * probs.astype(np.float32)[..., None], 1)
        return merged.astype(tokens.dtype)


def moe_token_unpermute(
    permuted_tokens: Any,
    sorted_indices: Any,
    probs: Any = None,
    padded_mode: bool = False,
    restore_shape: Any = None,
) -> Any:
    """Bring sorted tokens back and merge them (MindSpore: ``ops.moe_token_unpermute``).

    Args:
        permuted_tokens: (tokens * k, H), or fewer rows; missing ones count as 0.
        sorted_indices: int32 (tokens * k,), where each stands, as `moe_token_permute` gives it.
        probs: (tokens, k), by which a token's rows are summed; None leaves them apart.
        padded_mode: False.
        restore_shape: only of use with ``padded_mode``.

    Returns:
        Tensor (tokens, H).

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or ``padded_mode`` is True.
    """
    return MoeTokenUnpermute()(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape)


class MoeInitRoutingV2(BoundPrimitive):
    """Tokens sorted by expert, with a capacity; call: as `moe_init_routing_v2`.

    Gives four Tensors whatever is asked for; what is not is 0.
    """

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = (
        "active_num",
        "expert_capacity",
        "expert_num",
        "drop_pad_mode",
        "expert_tokens_count_or_cumsum_flag",
        "expert_tokens_before_capacity_flag",
    )
    active_num: int = field(default=0, kw_only=True)
    expert_capacity: int = field(default=0, kw_only=True)
    expert_num: int = field(default=0, kw_only=True)
    drop_pad_mode: int = field(default=0, kw_only=True)
    expert_tokens_count_or_cumsum_flag: int = field(default=0, kw_only=True)
    expert_tokens_before_capacity_flag: bool = field(default=False, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the static values."""
        for name in ("active_num", "expert_capacity", "expert_num"):
            checks.non_negative_int(name, statics.get(name, 0), self.name)
        checks.int_in_range("drop_pad_mode", statics.get("drop_pad_mode", 0), 0, 2, self.name)
        flag = statics.get("expert_tokens_count_or_cumsum_flag", 0)
        checks.int_in_range("expert_tokens_count_or_cumsum_flag", flag, 0, 3, self.name)
        name = "expert_tokens_before_capacity_flag"
        checks.boolean(name, statics.get(name, False), self.name)
        if (statics.get("drop_pad_mode") or flag) and not statics.get("expert_num"):
            raise located(
                ValueError,
                f"For '{self.name}', the 'expert_num' must be > 0 where experts are counted or "
                "have a capacity, but got 0.",
            )
        if statics.get("drop_pad_mode") and not statics.get("expert_capacity"):
            raise located(
                ValueError,
                f"For '{self.name}', the 'expert_capacity' must be > 0 in 'drop_pad_mode' 1, but "
                "got 0.",
            )
        return statics

    def compute(self, x: Array, experts: Array) -> tuple[Array, Array, Array, Array]:
        """Sort rows (N, H) by their experts (N, k)."""
        _check_matrix(self.name, "x", x)
        _check_matrix(self.name, "expert_idx", experts)
        _check_indices(self.name, "expert_idx", experts)
        if experts.shape[0] != x.shape[0]:
            raise located(
                ValueError,
                f"For '{self.name}', 'x' and 'expert_idx' must have as many rows, but got "
                f"{x.shape} and {experts.shape}.",
            )
        each, flat = experts.shape[1], experts.reshape(-1).astype(np.int32)
        order, places = _order(flat)
        zeros = jnp.zeros((self.expert_num,), np.int32)
        counts = zeros.at[flat].add(np.int32(1), mode="drop")
        rows = order // np.int32(max(each, 1))
        if self.drop_pad_mode == 0:
            kept = min(self.active_num, rows.shape[0]) if self.active_num else rows.shape[0]
            flag = self.expert_tokens_count_or_cumsum_flag
            total = jnp.cumsum(counts, dtype=np.int32) if flag == 1 else counts
            return jnp.take(x, rows[:kept], 0), places, total if flag else zeros, zeros
        starts = jnp.cumsum(counts, dtype=np.int32) - counts
        within = places - jnp.take(starts, flat, mode="clip")
        capacity = np.int32(self.expert_capacity)
        slot = flat * capacity + within
        fits = within < capacity
        size = self.expert_num * self.expert_capacity
        where = jnp.where(fits, slot, np.int32(size))
        tokens = jnp.arange(flat.shape[0], dtype=np.int32) // np.int32(max(each, 1))
        out = jnp.zeros((size, x.shape[1]), x.dtype).at[where].set(x[tokens], mode="drop")
        before = counts if self.expert_tokens_before_capacity_flag else zeros
        shape = (self.expert_num, self.expert_capacity, x.shape[1])
        return out.reshape(shape), jnp.where(fits, slot, np.int32(-1)), zeros, before


def moe_init_routing_v2(
    x: Any,
    expert_idx: Any,
    active_num: int,
    expert_capacity: int,
    expert_num: int,
    drop_pad_mode: int,
    expert_tokens_count_or_cumsum_flag: int,
    expert_tokens_before_capacity_flag: bool,
) -> tuple[Any, ...]:
    """Sort tokens by expert (MindSpore: ``ops.moe_init_routing_v2``).

    Args:
        x: (N, H), float.
        expert_idx: int32 (N, k), experts of each token.
        active_num: how many sorted tokens are given, without a capacity; 0 all.
        expert_capacity: how many tokens an expert takes, with a capacity.
        expert_num: number of experts.
        drop_pad_mode: 0 sorts; 1 gives each expert so many places, drops more and pads with 0.
        expert_tokens_count_or_cumsum_flag: without a capacity: 1 running sums of the experts'
            tokens are given too, 2 their numbers.
        expert_tokens_before_capacity_flag: with a capacity: whether the experts' numbers of tokens
            before dropping are given too.

    Returns:
        The sorted tokens, (tokens, H) or (experts, capacity, H); int32 (N * k,), where each pair
        of a token and an expert went, -1 if it was dropped; and what the flags ask for.

    Raises:
        TypeError: a dtype or type is wrong.
        ValueError: a number or a shape is wrong.
    """
    sorted_x, places, counts, before = MoeInitRoutingV2()(
        x,
        expert_idx,
        active_num,
        expert_capacity,
        expert_num,
        drop_pad_mode,
        expert_tokens_count_or_cumsum_flag,
        expert_tokens_before_capacity_flag,
    )
    if drop_pad_mode == 1 and expert_tokens_before_capacity_flag:
        return sorted_x, places, before
    if drop_pad_mode == 0 and expert_tokens_count_or_cumsum_flag != 0:
        return sorted_x, places, counts
    return sorted_x, places


class MoeInitRouting(BoundPrimitive):
    """Tokens sorted by expert; call: ``(x, row_idx, expert_idx, active_num)``."""

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("active_num",)
    active_num: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number."""
        return {k: checks.non_negative_int(k, v, self.name) for k, v in statics.items()}

    def compute(self, x: Array, row_idx: Array, experts: Array) -> tuple[Array, Array, Array]:
        """Sort; ``row_idx`` numbers the pairs of a token and an expert."""
        _check_matrix(self.name, "x", x)
        if row_idx.shape != experts.shape or experts.ndim != 2 or experts.shape[0] != x.shape[0]:
            raise located(
                ValueError,
                f"For '{self.name}', 'row_idx' and 'expert_idx' must be (N, k) for 'x' (N, H), but "
                f"got {row_idx.shape}, {experts.shape} and {x.shape}.",
            )
        count, each = experts.shape
        order = jnp.argsort(experts.reshape(-1), stable=True).astype(np.int32)
        rows = row_idx.reshape(-1).astype(np.int32)[order]
        places = jnp.zeros((count * each,), np.int32)
        places = places.at[rows].set(jnp.arange(count * each, dtype=np.int32), mode="drop")
        kept = min(count, self.active_num) * each
        taken = jnp.take(x, jnp.remainder(rows[:kept], np.int32(max(count, 1))), 0, mode="clip")
        return taken, places, experts.reshape(-1)[order].astype(np.int32)


def moe_init_routing(x: Any, row_idx: Any, expert_idx: Any, active_num: int) -> Any:
    """Sort tokens by expert (MindSpore: ``ops.moe_init_routing``).

    Args:
        x: (N, H).
        row_idx: int32 (N, k), number of each pair; pair j belongs to token j modulo N.
        expert_idx: int32 (N, k), experts of each token.
        active_num: how many tokens are given at most, k rows each.

    Returns:
        The sorted tokens (min(N, active_num) * k, H); int32 (N * k,), where each pair went; the
        sorted experts.

    Raises:
        TypeError: a type is wrong.
        ValueError: a number or a shape is wrong.
    """
    return MoeInitRouting()(x, row_idx, expert_idx, active_num)


class MoeComputeExpertTokens(BoundPrimitive):
    """Where each expert's tokens end; call: ``(sorted_experts, num_expert)``."""

    statics: ClassVar[tuple[str, ...]] = ("num_expert",)
    num_expert: int = field(default=1, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number."""
        return {k: checks.positive_int(k, v, self.name) for k, v in statics.items()}

    def compute(self, experts: Array) -> Array:
        """Search sorted experts."""
        if experts.ndim != 1:
            raise located(
                ValueError,
                f"For '{self.name}', 'sorted_experts' must be 1-D, but got {experts.shape}.",
            )
        numbers = jnp.arange(self.num_expert, dtype=experts.dtype)
        return jnp.searchsorted(experts, numbers, side="right").astype(experts.dtype)


def moe_compute_expert_tokens(sorted_experts: Any, num_expert: int) -> Any:
    """Tell where each expert's tokens end (MindSpore: ``ops.moe_compute_expert_tokens``).

    Args:
        sorted_experts: int32 (tokens,), rising.
        num_expert: number of experts.

    Returns:
        Tensor (num_expert,): number of tokens of an expert and those before it.

    Raises:
        ValueError: the number is not above 0, or the Tensor not 1-D.
    """
    return MoeComputeExpertTokens()(sorted_experts, num_expert)


class MoeFinalizeRouting(Primitive):
    """What experts gave, merged for each token; call: as `moe_finalize_routing`."""

    def __call__(
        self,
        expanded_x: Any,
        x1: Any,
        x2: Any = None,
        bias: Any = None,
        scales: Any = None,
        expanded_row_idx: Any = None,
        expanded_expert_idx: Any = None,
    ) -> Any:
        """Merge.

        Raises:
            ValueError: one of the last four is missing.
        """
        given = {
            "bias": bias,
            "scales": scales,
            "expanded_row_idx": expanded_row_idx,
            "expanded_expert_idx": expanded_expert_idx,
        }
        for name, value in given.items():
            if value is None:
                raise located(ValueError, f"For '{self.name}', the '{name}' is needed.")
        return Primitive.__call__(self, expanded_x, x1, x2, *given.values())

    def compute(
        self,
        expanded: Array,
        x1: Array,
        x2: Array | None,
        bias: Array,
        scales: Array,
        places: Array,
        experts: Array,
    ) -> Array:
        """Sum, in float32 for 16-bit floats."""
        n, k = scales.shape if scales.ndim == 2 else (0, 0)
        if places.shape != (n * k,) or experts.shape != (n, k) or x1.shape[:1] != (n,):
            raise located(
                ValueError,
                f"For '{self.name}', with 'scales' (N, k) {scales.shape}, 'expanded_row_idx' must "
                f"be (k * N), 'expanded_expert_idx' (N, k) and 'x1' (N, H), but got "
                f"{places.shape}, {experts.shape} and {x1.shape}.",
            )
        rows = jnp.take(expanded, places.astype(np.int32), 0, mode="clip")
        wide = jnp.swapaxes(rows.reshape(k, n, -1), 0, 1).astype(np.float32)
        wide = wide + jnp.take(bias, experts.astype(np.int32), 0, mode="clip").astype(np.float32)
        out = x1.astype(np.float32) + jnp.sum(wide * scales.astype(np.float32)[..., None], 1)
        if x2 is not None:
            out = out + x2.astype(np.float32)
        return out.astype(expanded.dtype)


def moe_finalize_routing(
    expanded_x: Any,
    x1: Any,
    x2: Any = None,
    bias: Any = None,
    scales: Any = None,
    expanded_row_idx: Any = None,
    expanded_expert_idx: Any = None,
) -> Any:
    """Merge what experts gave for each token (MindSpore: ``ops.moe_finalize_routing``).

    Args:
        expanded_x: (k * N, H), what the experts gave.
        x1: (N, H), added.
        x2: (N, H) or None, added.
        bias: (experts, H), added to what an expert gave.
        scales: (N, k), factor of each expert.
        expanded_row_idx: int32 (k * N,), where expert k's row of token i stands, at i + k * N.
        expanded_expert_idx: int32 (N, k), experts of each token.

    Returns:
        Tensor (N, H).

    Raises:
        ValueError: a Tensor is missing, or shapes do not fit.
    """
    operator = MoeFinalizeRouting()
    return operator(expanded_x, x1, x2, bias, scales, expanded_row_idx, expanded_expert_idx)


class MoeGatingTopKSoftmax(BoundPrimitive):
    """The greatest softmax values of each token; call: ``(x, finished, k)``."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("k",)
    k: int = field(default=1, kw_only=True)

    def __call__(self, x: Any, finished: Any = None, *rest: Any, **named: Any) -> Any:
        """Choose."""
        return super().__call__(x, finished, *rest, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number of experts."""
        return {"k": checks.non_negative_int("k", statics["k"], self.name)}

    def compute(self, x: Array, finished: Array | None) -> tuple[Array, Array, Array]:
        """Choose; a finished token gets the expert number of experts, which there is not."""
        checks.floating("x", x.dtype, self.name)
        if x.ndim not in (2, 3) or self.k > x.shape[-1]:
            raise located(
                ValueError,
                f"For '{self.name}', 'x' must be 2-D or 3-D with at least 'k' {self.k} columns, "
                f"but got {x.shape}.",
            )
        values, experts = jax.lax.top_k(jax.nn.softmax(x.astype(np.float32), -1), self.k)
        experts = experts.astype(np.int32)
        if finished is not None:
            if finished.shape != x.shape[:-1] or finished.dtype != np.bool_:
                raise located(
                    ValueError,
                    f"For '{self.name}', 'finished' must be bool {x.shape[:-1]}, but got "
                    f"{finished.dtype} {finished.shape}.",
                )
            experts = jnp.where(finished[..., None], np.int32(x.shape[-1]), experts)
        rows = experts.size // max(self.k, 1)
        numbers = jnp.arange(experts.size, dtype=np.int32).reshape(self.k, rows)
        return values.astype(x.dtype), experts, numbers.T.reshape(experts.shape)


class _GroupTopk(Primitive, register=False):
    """Scores of all but the best groups set to 0, as a new array."""

    group_num: int
    k: int
    k_inner: int

    def compute(self, token: Array, idx_arr: Array) -> Array:
        """Choose groups by the sum of their greatest scores."""
        del idx_arr  # Numbers for the vendor's sorting.
        groups = self.group_num
        if token.ndim != 2 or token.shape[1] % groups or self.k > groups:
            raise located(
                ValueError,
                f"For 'GroupTopk', 'token' must be (tokens, experts), the experts divided by "
                f"'group_num' {groups}, and 'k' {self.k} not above it, but got {token.shape}.",
            )
        inner = token.reshape(token.shape[0], groups, -1)
        if self.k_inner > inner.shape[2]:
            raise located(
                ValueError,
                f"For 'GroupTopk', the 'k_inner' must be at most the {inner.shape[2]} experts of "
                f"a group, but got {self.k_inner}.",
            )
        best = jax.lax.top_k(inner.astype(np.float32), self.k_inner)[0]
        _, chosen = jax.lax.top_k(jnp.sum(best, -1), self.k)
        kept = jnp.any(chosen[..., None] == jnp.arange(groups, dtype=chosen.dtype), 1)
        return jnp.where(kept[..., None], inner, jnp.zeros((), token.dtype)).reshape(token.shape)


class GroupTopk(Primitive):
    """Scores of all but the best groups of experts set to 0; call: as `group_topk`."""

    effect: ClassVar[bool] = True

    def __call__(self, token: Any, idx_arr: Any, group_num: int, k: int, k_inner: int = 1) -> Any:
        """Choose, and write into ``token``."""
        if not isinstance(token, Handle):
            raise located(
                TypeError, f"For '{self.name}', the 'token' must be Tensor, but got {type(token)}."
            )
        numbers = [
            checks.positive_int(name, checks.integer(name, value, self.name), self.name)
            for name, value in (("group_num", group_num), ("k", k), ("k_inner", k_inner))
        ]
        return write(token, _GroupTopk(*numbers)(token, idx_arr))


def group_topk(token: Any, idx_arr: Any, group_num: int, k: int, k_inner: int = 1) -> Any:
    """Set the scores of all but the best groups of experts to 0 (``ops.group_topk``).

    Args:
        token: (tokens, experts), scores, which are changed.
        idx_arr: int32 numbers from 0 up, of use to the vendor's device only.
        group_num: number of groups, of neighbouring experts.
        k: number of groups that stay.
        k_inner: how many of a group's greatest scores are summed to judge it.

    Returns:
        ``token``.

    Raises:
        TypeError: a type is wrong.
        ValueError: the numbers do not fit the shape.
    """
    return GroupTopk()(token, idx_arr, group_num, k, k_inner)
