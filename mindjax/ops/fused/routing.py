"""Choice of experts within groups of experts (DeepSeek-V3)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.ops.bound import BoundPrimitive

Array = jax.Array


class FusedAddTopKDiv(BoundPrimitive):
    """The best experts of the best groups and their weights; call: as `fused_add_topk_div`."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = (
        *("group_num", "group_topk", "n", "k", "activate_type", "is_norm", "scale"),
        *("mapping_num", "mapping_table", "enable_expert_mapping"),
    )
    group_num: int = field(default=1, kw_only=True)
    group_topk: int = field(default=1, kw_only=True)
    n: int = field(default=1, kw_only=True)
    k: int = field(default=1, kw_only=True)
    activate_type: int = field(default=0, kw_only=True)
    is_norm: bool = field(default=True, kw_only=True)
    scale: float = field(default=2.5, kw_only=True)
    mapping_num: Any = field(default=None, kw_only=True)
    mapping_table: Any = field(default=None, kw_only=True)
    enable_expert_mapping: bool = field(default=False, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the numbers, and refuse what has no documented meaning."""
        for name in ("group_num", "group_topk", "n", "k"):
            checks.positive_int(name, statics.get(name, 1), self.name)
        usual = {"activate_type": 0, "is_norm": True, "enable_expert_mapping": False}
        for name, value in {**usual, "mapping_num": None, "mapping_table": None}.items():
            if statics.get(name, value) != value:
                raise located(
                    NotImplementedError,
                    f"For '{self.name}', the '{name}' {statics[name]!r} is not supported yet: use "
                    f"{value!r}.",
                )
        return statics

    def compute(self, x: Array, added: Array) -> tuple[Array, Array]:
        """Choose by sigmoids plus what is added, weigh by the sigmoids alone."""
        checks.floating("x", x.dtype, self.name)
        groups = self.group_num
        fits = x.ndim == 2 and added.shape == x.shape[1:] and not x.shape[1] % groups
        if not fits or self.group_topk > groups or self.n > x.shape[1] // groups:
            raise located(
                ValueError,
                f"For '{self.name}', 'x' must be (tokens, experts) and 'add_num' (experts,), "
                f"divided by 'group_num' {groups}, with 'group_topk' {self.group_topk} and 'n' "
                f"{self.n} not above groups and experts of a group, but got {x.shape} and "
                f"{added.shape}.",
            )
        inner = x.shape[1] // groups
        if self.k > self.group_topk * inner:
            raise located(
                ValueError,
                f"For '{self.name}', the 'k' must be at most the {self.group_topk * inner} experts "
                f"of the chosen groups, but got {self.k}.",
            )
        shares = jax.nn.sigmoid(x.astype(np.float32))
        scores = shares + added.astype(np.float32)
        by_group = scores.reshape(x.shape[0], groups, inner)
        best = jnp.sum(jax.lax.top_k(by_group, self.n)[0], -1)
        chosen = jax.lax.top_k(best, self.group_topk)[1]
        kept = jnp.any(chosen[..., None] == jnp.arange(groups, dtype=chosen.dtype), 1)
        barred = jnp.where(kept[..., None], by_group, np.float32(-np.inf)).reshape(x.shape)
        experts = jax.lax.top_k(barred, self.k)[1]
        weights = jnp.take_along_axis(shares, experts, 1)
        weights = weights / jnp.sum(weights, -1, keepdims=True) * np.float32(self.scale)
        return weights, experts.astype(np.int32)


def fused_add_topk_div(
    x: Any,
    add_num: Any,
    group_num: int,
    group_topk: int,
    n: int,
    k: int,
    activate_type: int = 0,
    is_norm: bool = True,
    scale: float = 2.5,
    mapping_num: Any = None,
    mapping_table: Any = None,
    enable_expert_mapping: bool = False,
) -> tuple[Any, Any]:
    """Choose the best experts of the best groups (MindSpore: ``ops.fused_add_topk_div``).

    Args:
        x: float (tokens, experts), scores before the sigmoid.
        add_num: (experts,), added to the sigmoids to choose, not to weigh.
        group_num: number of groups of neighbouring experts.
        group_topk: number of groups that stay.
        n: how many of a group's greatest scores are summed to judge it.
        k: how many experts are chosen.
        activate_type: 0, the sigmoid.
        is_norm: True: the weights of a token sum to ``scale``.
        scale: see ``is_norm``.
        mapping_num: None, as the next.
        mapping_table: see ``mapping_num``.
        enable_expert_mapping: False.

    Returns:
        Weights, float32 (tokens, k), and experts, int32 (tokens, k), best first.

    Raises:
        TypeError: ``x`` is not float, or a number no int.
        ValueError: the numbers do not fit the shapes.
        NotImplementedError: another activation, no norm, or a mapping of experts.
    """
    return FusedAddTopKDiv()(
        x,
        add_num,
        group_num,
        group_topk,
        n,
        k,
        activate_type,
        is_norm,
        scale,
        mapping_num,
        mapping_table,
        enable_expert_mapping,
    )
