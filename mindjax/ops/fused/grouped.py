"""Products of groups of rows, each by a matrix of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import Type, to_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.quantized import matrices

Array = jax.Array
Arrays = Sequence[Array] | None


def _at(arrays: Arrays, i: int) -> Array | None:
    return None if not arrays else arrays[i]


def product(x: Array, w: Array) -> Array:
    """Multiply in float32, or int32 for int8."""
    wide = np.int32 if x.dtype == np.int8 else np.promote_types(x.dtype, np.float32)
    return jnp.matmul(x, w, preferred_element_type=wide)


def _rows_by_group(x: Array, weight: Array, owner: Array) -> Array:
    """Multiply each row by the matrix of its group; rows of no group give 0.

    Args:
        x: (M, K), the rows of a group stand together.
        weight: (E, K, N).
        owner: (E,), number of rows of each group.
    """
    wide = np.int32 if x.dtype == np.int8 else np.promote_types(x.dtype, np.float32)
    return jax.lax.ragged_dot(x, weight, owner, preferred_element_type=wide)


class _Grouped(Primitive, register=False):
    """The body of the grouped products; all lists are tuples of arrays or None."""

    split_item: int
    group_type: int
    group_list_type: int = 0
    transpose_a: bool = False
    transpose_b: bool = False
    output_dtype: Type | None = None

    def compute(
        self,
        xs: Sequence[Array],
        weights: Sequence[Array],
        biases: Arrays,
        scales: Arrays,
        antiquant_scales: Arrays,
        antiquant_offsets: Arrays,
        token_scales: Arrays,
        group_list: Array | None,
    ) -> tuple[Array, ...]:
        extras = (biases, scales, antiquant_scales, antiquant_offsets, token_scales)
        if self.group_type == -1:
            if len(xs) != len(weights):
                raise located(
                    ValueError,
                    f"For 'GroupedMatmul', 'x' and 'weight' must be as long, but got {len(xs)} and "
                    f"{len(weights)}.",
                )
            return tuple(
                self._finish(x, w, None, [_at(e, i) for e in extras])
                for i, (x, w) in enumerate(zip(xs, weights, strict=True))
            )
        if len(xs) != 1 or len(weights) != 1 or group_list is None:
            raise located(
                ValueError,
                "For 'GroupedMatmul', 'x' and 'weight' must hold one Tensor each and 'group_list' "
                f"be given in 'group_type' 0, but got {len(xs)} and {len(weights)}.",
            )
        x, w = matrices(xs[0], self.transpose_a), matrices(weights[0], self.transpose_b)
        if (
            x.ndim != 2
            or w.ndim != 3
            or x.shape[1] != w.shape[1]
            or group_list.shape != w.shape[:1]
        ):
            raise located(
                ValueError,
                f"For 'GroupedMatmul', 'x' must be (M, K), 'weight' (E, K, N) and 'group_list' "
                f"(E,), but got {x.shape}, {w.shape} and {group_list.shape}.",
            )
        groups = group_list.astype(np.int32)
        if self.group_list_type == 0:
            groups = jnp.diff(groups, prepend=jnp.zeros((1,), np.int32))
        out = self._finish(x, w, groups, [_at(e, 0) for e in extras])
        return (out,)

    def _finish(
        self, x: Array, w: Array, groups: Array | None, extras: Sequence[Array | None]
    ) -> Array:
        bias, scale, antiquant_scale, antiquant_offset, token_scale = extras
        if groups is None:
            x, w = matrices(x, self.transpose_a), matrices(w, self.transpose_b)
        if antiquant_scale is not None:
            wide = w.astype(np.float32)
            if antiquant_offset is not None:
                wide = wide + antiquant_offset.astype(np.float32)[..., None, :]
            w = (wide * antiquant_scale.astype(np.float32)[..., None, :]).astype(x.dtype)
        if x.dtype != w.dtype:
            raise located(
                TypeError,
                f"For 'GroupedMatmul', 'x' and 'weight' must have one dtype unless "
                f"'antiquant_scale' is given, but got {x.dtype} and {w.dtype}.",
            )

        def rows(value: Array) -> Array:
            """Give each row what belongs to its group."""
            if groups is None or value.ndim == 1:
                return value
            ends = jnp.cumsum(groups, dtype=np.int32)
            place = jnp.arange(x.shape[0], dtype=np.int32)
            owner = jnp.searchsorted(ends, place, side="right").astype(np.int32)
            taken = jnp.take(value, owner, 0, mode="clip")
            inside = (place < ends[-1])[:, None]
            return jnp.where(inside, taken, jnp.zeros((), taken.dtype))

        out = product(x, w) if groups is None else _rows_by_group(x, w, groups)
        if bias is not None:
            out = out + rows(bias).astype(out.dtype)
        if scale is not None:
            out = out.astype(np.float32) * rows(scale).astype(np.float32)
        if token_scale is not None:
            out = out.astype(np.float32) * token_scale.astype(np.float32)[:, None]
        if self.output_dtype is not None:
            return out.astype(to_np(self.output_dtype))
        if x.dtype != np.int8:
            return out.astype(x.dtype)
        return out if scale is None else out.astype(jnp.bfloat16)


def _tensors(value: Any) -> Any:
    if value is None:
        return None
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _grouped(
    owner: str,
    x: Any,
    weight: Any,
    lists: dict[str, Any],
    group_list: Any,
    split_item: int,
    group_type: int,
    **options: Any,
) -> tuple[Any, ...]:
    """Check what the grouped products share, and multiply.

    Raises:
        TypeError: the modes do not fit together.
        NotImplementedError: an argument that the original does not support either.
    """
    if split_item not in (0, 3) or group_type not in (-1, 0):
        raise located(
            TypeError,
            f"For '{owner}', the 'split_item' must be 0 or 3 and 'group_type' -1 or 0, but got "
            f"{split_item} and {group_type}.",
        )
    if (split_item == 0) != (group_type == -1) or (split_item == 3 and group_list is None):
        raise located(
            TypeError,
            f"For '{owner}', 'split_item' 0 goes with 'group_type' -1, and 3 with 0 and a "
            f"'group_list', but got {split_item} and {group_type}.",
        )
    for name in ("offset", "activation_input", "activation_quant_scale", "activation_quant_offset"):
        if lists.get(name):
            raise located(
                NotImplementedError,
                f"For '{owner}', the '{name}' is not supported by the original either: leave it "
                "out.",
            )
    if options.get("group_list_type", 0) not in (0, 1):
        raise located(
            TypeError,
            f"For '{owner}', the 'group_list_type' must be 0 or 1, but got "
            f"{options['group_list_type']}.",
        )
    names = ("bias", "scale", "antiquant_scale", "antiquant_offset", "pre_token_scale")
    used = [_tensors(lists.get(name)) for name in names]
    return _Grouped(split_item, group_type, **options)(
        _tensors(x), _tensors(weight), *used, group_list
    )


class GroupedMatmul(Primitive):
    """Products of pairs of matrices, or of groups of rows; call: as `grouped_matmul`."""

    split_item: int = 0
    group_type: int = -1
    transpose_a: bool = False
    transpose_b: bool = False

    def __call__(
        self,
        x: Any,
        weight: Any,
        bias: Any = None,
        scale: Any = None,
        offset: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        group_list: Any = None,
    ) -> Any:
        """Multiply."""
        lists = {
            "bias": bias,
            "scale": scale,
            "offset": offset,
            "antiquant_scale": antiquant_scale,
            "antiquant_offset": antiquant_offset,
        }
        return _grouped(
            self.name,
            x,
            weight,
            lists,
            group_list,
            self.split_item,
            self.group_type,
            transpose_a=self.transpose_a,
            transpose_b=self.transpose_b,
        )


def grouped_matmul(
    x: Any,
    weight: Any,
    bias: Any = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    group_list: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> tuple[Any, ...]:
    """Multiply pairs of matrices, or groups of rows (MindSpore: ``ops.grouped_matmul``).

    Args:
        x: list of (..., M, K); one (M, K) in ``group_type`` 0.
        weight: list of (K, N); one (E, K, N) in ``group_type`` 0.
        bias: list of (N,), or (E, N).
        scale: list like ``bias``, factors of the result.
        offset: None.
        antiquant_scale: list like ``bias``, factors of int8 weights.
        antiquant_offset: list like ``bias``, added to int8 weights before.
        group_list: int64 (E,), where each group of rows ends.
        split_item: 0 for pairs, 3 for groups.
        group_type: -1 for pairs, 0 for groups.
        transpose_a: whether the last axes of ``x`` are swapped.
        transpose_b: whether the last axes of ``weight`` are swapped.

    Returns:
        A tuple of Tensors; rows of no group are 0.

    Raises:
        TypeError: dtypes or modes do not fit together.
        ValueError: shapes do not fit.
        NotImplementedError: ``offset`` is given.
    """
    operator = GroupedMatmul(split_item, group_type, transpose_a, transpose_b)
    return operator(x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, group_list)


class GroupedMatmulV4(Primitive):
    """Products of pairs of matrices, or of groups of rows; call: as `grouped_matmul_v4`."""

    def __call__(
        self,
        x: Any,
        weight: Any,
        bias: Any = None,
        scale: Any = None,
        offset: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        pre_token_scale: Any = None,
        group_list: Any = None,
        activation_input: Any = None,
        activation_quant_scale: Any = None,
        activation_quant_offset: Any = None,
        split_item: int = 0,
        group_type: int = -1,
        group_list_type: int = 0,
        act_type: int = 0,
        output_dtype: Type | None = None,
    ) -> Any:
        """Multiply."""
        if act_type != 0:
            raise located(
                NotImplementedError,
                f"For '{self.name}', the 'act_type' {act_type} is not supported by the original "
                "either: use 0.",
            )
        lists = {
            "bias": bias,
            "scale": scale,
            "offset": offset,
            "antiquant_scale": antiquant_scale,
            "antiquant_offset": antiquant_offset,
            "pre_token_scale": pre_token_scale,
            "activation_input": activation_input,
            "activation_quant_scale": activation_quant_scale,
            "activation_quant_offset": activation_quant_offset,
        }
        return _grouped(
            self.name,
            x,
            weight,
            lists,
            group_list,
            split_item,
            group_type,
            group_list_type=group_list_type,
            output_dtype=output_dtype,
        )


def grouped_matmul_v4(
    x: Any,
    weight: Any,
    bias: Any = None,
    scale: Any = None,
    offset: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    pre_token_scale: Any = None,
    group_list: Any = None,
    activation_input: Any = None,
    activation_quant_scale: Any = None,
    activation_quant_offset: Any = None,
    split_item: int = 0,
    group_type: int = -1,
    group_list_type: int = 0,
    act_type: int = 0,
    output_dtype: Type | None = None,
) -> tuple[Any, ...]:
    """Multiply pairs of matrices, or groups of rows (MindSpore: ``ops.grouped_matmul_v4``).

    Args:
        x: list of (..., M, K); one (M, K) in ``group_type`` 0.
        weight: list of (K, N); one (E, K, N) in ``group_type`` 0.
        bias: list of (N,), or (E, N).
        scale: list like ``bias``, factors of the result.
        offset: None.
        antiquant_scale: list like ``bias``, factors of int8 weights.
        antiquant_offset: list like ``bias``, added to int8 weights before.
        pre_token_scale: list of (M,), factors of the rows.
        group_list: int64 (E,), where each group of rows ends, or how many rows it has.
        activation_input: None, as the next two.
        activation_quant_scale: see ``activation_input``.
        activation_quant_offset: see ``activation_input``.
        split_item: 0 for pairs, 3 for groups.
        group_type: -1 for pairs, 0 for groups.
        group_list_type: 0 for ends, 1 for numbers of rows.
        act_type: 0.
        output_dtype: of the result; None that of ``x``, bfloat16 for int8 with scales.

    Returns:
        A tuple of Tensors; rows of no group are 0.

    Raises:
        TypeError: dtypes or modes do not fit together.
        ValueError: shapes do not fit.
        NotImplementedError: an argument that the original does not support either.
    """
    return GroupedMatmulV4()(
        x,
        weight,
        bias,
        scale,
        offset,
        antiquant_scale,
        antiquant_offset,
        pre_token_scale,
        group_list,
        activation_input,
        activation_quant_scale,
        activation_quant_offset,
        split_item,
        group_type,
        group_list_type,
        act_type,
        output_dtype,
    )
