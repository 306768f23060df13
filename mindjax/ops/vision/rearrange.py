"""Rearrangements of images: between channels, space and batch, and between data formats."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive, set_fields
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Pairs = tuple[tuple[int, int], ...]


class ChannelShuffle(Primitive):
    """Channels interleaved over groups (Zhang 2018; MindSpore: ``ops.ChannelShuffle``).

    Args:
        group: number of groups.
    """

    group: int

    def __post_init__(self) -> None:
        checks.of_type("group", self.group, int, "ChannelShuffle")
        if self.group < 1:
            raise located(
                ValueError, f"For 'ChannelShuffle', the 'group' must be > 0, but got {self.group}."
            )

    def compute(self, x: Array) -> Array:
        """Shuffle (..., C, H, W)."""
        if x.ndim < 4:
            raise located(
                TypeError, f"For ChannelShuffle, expect input with > 3 dims, but got {x.ndim}."
            )
        *batch, channels, height, width = x.shape
        if channels % self.group:
            raise located(
                ValueError,
                "For ChannelShuffle, number of channels must be divisible by groups, but got "
                f"{channels} channels and {self.group} groups.",
            )
        parts = x.reshape(*batch, self.group, channels // self.group, height, width)
        return jnp.swapaxes(parts, -4, -3).reshape(x.shape)


def channel_shuffle(x: Any, groups: int) -> Tensor:
    """Interleave channels over groups (Zhang 2018; MindSpore: ``ops.channel_shuffle``).

    Args:
        x: (..., C, H, W), at least 4 axes.
        groups: number of groups; it divides C.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` has fewer axes.
        ValueError: the groups do not divide the channels.
    """
    return ChannelShuffle(groups)(x)


class _PixelShuffle(Primitive, register=False):
    """Channels to space or back, r * r of them a pixel."""

    factor: int
    up: bool

    def compute(self, x: Array) -> Array:
        r = self.factor
        *batch, channels, height, width = x.shape
        n = len(batch)
        if self.up:
            parts = x.reshape(*batch, channels // r**2, r, r, height, width)
            order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
            return parts.transpose(order).reshape(*batch, channels // r**2, height * r, width * r)
        parts = x.reshape(*batch, channels, height // r, r, width // r, r)
        order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
        return parts.transpose(order).reshape(*batch, channels * r**2, height // r, width // r)


def _shuffled(input: Any, name: str, factor: Any, up: bool, owner: str) -> Any:
    checks.positive_int(name, factor)
    shape = shape_of(input)
    if len(shape) < 3:
        raise located(
            ValueError,
            f"For {owner}, the dimension of `input` should be larger than 2, but got {len(shape)}.",
        )
    fits = shape[-3] % factor**2 == 0 if up else not (shape[-2] % factor or shape[-1] % factor)
    if not fits:
        what = "third to last dimension" if up else "last 2 dimensions"
        by = f"`{name}` squared" if up else f"`{name}`"
        raise located(
            ValueError,
            f"For '{owner}', the length of {what} must be divisible by {by}, but got shape {shape} "
            f"and {factor}.",
        )
    return _PixelShuffle(factor, up)(input)


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Move channels into space (Shi 2016; MindSpore: ``ops.pixel_shuffle``).

    Args:
        input: (..., C * r * r, H, W).
        upscale_factor: r.

    Returns:
        Tensor (..., C, H * r, W * r).

    Raises:
        TypeError: the factor is no int.
        ValueError: the factor does not fit the channels, or there are fewer than 3 axes.
    """
    return _shuffled(input, "upscale_factor", upscale_factor, True, "pixel_shuffle")


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Move space into channels (Shi 2016; MindSpore: ``ops.pixel_unshuffle``).

    Args:
        input: (..., C, H * r, W * r).
        downscale_factor: r.

    Returns:
        Tensor (..., C * r * r, H, W).

    Raises:
        TypeError: the factor is no int.
        ValueError: the factor does not fit the sizes, or there are fewer than 3 axes.
    """
    return _shuffled(input, "downscale_factor", downscale_factor, False, "pixel_unshuffle")


def _block(record: Any) -> None:
    owner = record.name
    checks.of_type("block_size", record.block_size, int, owner)
    if record.block_size < 2:
        raise located(
            ValueError,
            f"For '{owner}', the 'block_size' must be >= 2, but got {record.block_size}.",
        )


def _rank4(x: Array, owner: str) -> None:
    if x.ndim != 4:
        raise located(
            ValueError,
            f"For primitive[{owner}], the length of input must be equal to 4, but got {x.ndim}.",
        )


class DepthToSpace(Primitive):
    """Blocks of channels moved into space (MindSpore: ``ops.DepthToSpace``).

    Args:
        block_size: side of a block, at least 2.
    """

    block_size: int

    def __post_init__(self) -> None:
        _block(self)

    def compute(self, x: Array) -> Array:
        """Move (N, C * b * b, H, W) to (N, C, H * b, W * b)."""
        _rank4(x, "DepthToSpace")
        b = self.block_size
        n, channels, height, width = x.shape
        if channels % b**2:
            raise located(
                ValueError,
                f"For 'DepthToSpace', the channels must be divisible by {b**2}, the square of "
                f"'block_size', but got {channels}.",
            )
        parts = x.reshape(n, b, b, channels // b**2, height, width).transpose(0, 3, 4, 1, 5, 2)
        return parts.reshape(n, channels // b**2, height * b, width * b)


class SpaceToDepth(Primitive):
    """Blocks of space moved into channels (MindSpore: ``ops.SpaceToDepth``).

    Args:
        block_size: side of a block, at least 2.
    """

    block_size: int

    def __post_init__(self) -> None:
        _block(self)

    def compute(self, x: Array) -> Array:
        """Move (N, C, H * b, W * b) to (N, C * b * b, H, W)."""
        _rank4(x, "SpaceToDepth")
        b = self.block_size
        n, channels, height, width = x.shape
        if height % b or width % b:
            raise located(
                ValueError,
                f"For primitive[SpaceToDepth], the height and width must be divisible by "
                f"'block_size' {b}, but got shape {x.shape}.",
            )
        parts = x.reshape(n, channels, height // b, b, width // b, b).transpose(0, 3, 5, 1, 2, 4)
        return parts.reshape(n, channels * b**2, height // b, width // b)


def _to_space(x: Array, block: tuple[int, ...], crops: Pairs, owner: str) -> Array:
    """Spread the batch over the last axes, and crop these."""
    count, total = len(block), math.prod(block)
    first = x.ndim - count
    if first < 1:
        raise located(
            ValueError,
            f"For '{owner}', 'input_x' must have more than {count} dims, but got {x.ndim}.",
        )
    if x.shape[0] % total:
        raise located(
            ValueError,
            f"For '{owner}', the first dim of 'input_x' must be divisible by {total}, the product "
            f"of the block, but got {x.shape[0]}.",
        )
    n, middle, space = x.shape[0] // total, x.shape[1:first], x.shape[first:]
    for size, b, (low, high) in zip(space, block, crops, strict=True):
        if size * b < low + high:
            raise located(
                ValueError,
                f"For '{owner}', the 'crops' must be at most the size {size * b}, but got "
                f"{(low, high)}.",
            )
    parts = x.reshape(*block, n, *middle, *space)
    order = list(range(count, count + first))
    for i in range(count):
        order += [count + first + i, i]
    whole = parts.transpose(order).reshape(
        n, *middle, *(s * b for s, b in zip(space, block, strict=True))
    )
    for i, (low, high) in enumerate(crops):
        whole = lax.slice_in_dim(whole, low, whole.shape[first + i] - high, axis=first + i)
    return whole


def _to_batch(x: Array, block: tuple[int, ...], pads: Pairs, owner: str) -> Array:
    """Pad the last axes, and gather their blocks in the batch."""
    count = len(block)
    first = x.ndim - count
    if first < 1:
        raise located(
            ValueError,
            f"For '{owner}', 'input_x' must have more than {count} dims, but got {x.ndim}.",
        )
    x = jnp.pad(x, [(0, 0)] * first + list(pads))
    n, middle, space = x.shape[0], x.shape[1:first], x.shape[first:]
    if any(s % b for s, b in zip(space, block, strict=True)):
        raise located(
            RuntimeError,
            f"For '{owner}', padded shape should be divisible by block_size, but got padded shape: "
            f"{space}, block_size: {block}",
        )
    split = []
    for s, b in zip(space, block, strict=True):
        split += [s // b, b]
    parts = x.reshape(n, *middle, *split)
    blocks = [first + 2 * i + 1 for i in range(count)]
    order = (*blocks, *range(first), *(first + 2 * i for i in range(count)))
    rest = tuple(s // b for s, b in zip(space, block, strict=True))
    return parts.transpose(order).reshape(math.prod(block) * n, *middle, *rest)


def _pairs(name: str, value: Any, owner: str) -> Pairs:
    """Check pairs of crops or pads."""
    value = checks.python_value(value)
    checks.of_type(name, value, (list, tuple), owner)
    out = []
    for pair in value:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise located(
                ValueError, f"For '{owner}', the shape of '{name}' must be (M, 2), but got {value}."
            )
        out.append(tuple(checks.non_negative_int(f"{name} element", v, owner) for v in pair))
    return tuple(out)


def _blocks(name: str, value: Any, count: int, owner: str) -> tuple[int, ...]:
    """Check a block: one int, or one an axis."""
    value = checks.python_value(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,) * count
    value = tuple(checks.of_type(name, value, (list, tuple), owner))
    if len(value) != count:
        raise located(
            ValueError,
            f"For '{owner}', the length of '{name}' must be {count}, the number of pairs, but got "
            f"{value}.",
        )
    return tuple(checks.positive_int(f"{name} element", v, owner) for v in value)


class BatchToSpace(Primitive):
    """Batch spread over height and width (MindSpore: ``ops.BatchToSpace``).

    Args:
        block_size: side of a block, at least 2.
        crops: ((top, bottom), (left, right)), what is cut off.
    """

    block_size: int
    crops: Any

    def __post_init__(self) -> None:
        _block(self)
        set_fields(self, crops=_two(_pairs("crops", self.crops, "BatchToSpace"), "BatchToSpace"))

    def compute(self, x: Array) -> Array:
        """Move (N * b * b, C, H, W) to (N, C, H * b - crops, W * b - crops)."""
        _rank4(x, "BatchToSpace")
        return _to_space(x, (self.block_size,) * 2, self.crops, "BatchToSpace")


class SpaceToBatch(Primitive):
    """Blocks of height and width gathered in the batch (MindSpore: ``ops.SpaceToBatch``).

    Args:
        block_size: side of a block, at least 2.
        paddings: ((top, bottom), (left, right)), zeros added before.
    """

    block_size: int
    paddings: Any

    def __post_init__(self) -> None:
        _block(self)
        pads = _two(_pairs("paddings", self.paddings, "SpaceToBatch"), "SpaceToBatch")
        set_fields(self, paddings=pads)

    def compute(self, x: Array) -> Array:
        """Move (N, C, H, W) to (N * b * b, C, H / b, W / b)."""
        _rank4(x, "SpaceToBatch")
        return _to_batch(x, (self.block_size,) * 2, self.paddings, "SpaceToBatch")


def _two(pairs: Pairs, owner: str) -> Pairs:
    if len(pairs) != 2:
        raise located(
            ValueError, f"For '{owner}', there must be two pairs of ints, but got {pairs}."
        )
    return pairs


class BatchToSpaceND(Primitive):
    """Batch spread over the last axes (MindSpore: ``ops.BatchToSpaceND``).

    Args:
        block_shape: one int for each of the last axes, or one for all.
        crops: (low, high) for each of them.
    """

    block_shape: Any
    crops: Any

    def __post_init__(self) -> None:
        crops = _pairs("crops", self.crops, "BatchToSpaceND")
        block = _blocks("block_shape", self.block_shape, len(crops), "BatchToSpaceND")
        set_fields(self, crops=crops, block_shape=block)

    def compute(self, x: Array) -> Array:
        """Move (N * product, ..., sizes) to (N, ..., sizes * block - crops)."""
        return _to_space(x, self.block_shape, self.crops, "BatchToSpaceND")


class BatchToSpaceNDV2(BoundPrimitive):
    """Batch spread over the last axes; call: ``BatchToSpaceNDV2()(input_x, block_shape, "
    "crops)``."""

    statics: ClassVar[tuple[str, ...]] = ("block_shape", "crops")
    block_shape: Any = field(default=(), kw_only=True)
    crops: Any = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the block and the crops."""
        crops = _pairs("crops", statics.get("crops"), self.name)
        block = _blocks("block_shape", statics.get("block_shape"), len(crops), self.name)
        return {"block_shape": block, "crops": crops}

    def compute(self, x: Array) -> Array:
        """Move (N * product, ..., sizes) to (N, ..., sizes * block - crops)."""
        return _to_space(x, self.block_shape, self.crops, self.name)


def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Tensor:
    """Spread the batch over the last axes (MindSpore: ``ops.batch_to_space_nd``).

    Args:
        input_x: (N * product of the block, ..., sizes).
        block_shape: one int for each of the last axes, or one for all.
        crops: (low, high) for each of them, cut off afterwards.

    Returns:
        Tensor (N, ..., sizes * block - crops).

    Raises:
        ValueError: the sizes do not fit, or a value is too small.
    """
    return BatchToSpaceND(block_shape, crops)(input_x)


class SpaceToBatchND(Primitive):
    """Blocks of the last axes gathered in the batch (MindSpore: ``ops.SpaceToBatchND``).

    Args:
        block_shape: one int for each of the last axes, or one for all.
        paddings: (low, high) zeros for each of them.
    """

    block_shape: Any
    paddings: Any

    def __post_init__(self) -> None:
        pads = _pairs("paddings", self.paddings, "SpaceToBatchND")
        block = _blocks("block_shape", self.block_shape, len(pads), "SpaceToBatchND")
        set_fields(self, paddings=pads, block_shape=block)

    def compute(self, x: Array) -> Array:
        """Move (N, ..., sizes) to (N * product, ..., sizes / block)."""
        return _to_batch(x, self.block_shape, self.paddings, "SpaceToBatchND")


def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Tensor:
    """Gather blocks of the last axes in the batch (MindSpore: ``ops.space_to_batch_nd``).

    Args:
        input_x: (N, ..., sizes).
        block_size: one int for each of the last axes, or one for all.
        paddings: (low, high) zeros for each of them, added before.

    Returns:
        Tensor (N * product of the block, ..., (sizes + paddings) / block).

    Raises:
        RuntimeError: a padded size is not divisible by the block.
        ValueError: a value is too small.
    """
    return SpaceToBatchND(block_size, paddings)(input_x)


def _format_order(record: Any) -> tuple[int, ...]:
    """Give, for each axis of the new format, its place in the old."""
    for name in ("src_format", "dst_format"):
        value = checks.of_type(name, getattr(record, name), str, record.name)
        checks.one_of(name, value, ("NHWC", "NCHW"), record.name)
    return tuple(record.src_format.index(c) for c in record.dst_format)


class DataFormatDimMap(Primitive):
    """Places of axes of one data format in another (MindSpore: ``ops.DataFormatDimMap``).

    Args:
        src_format: ``"NHWC"`` or ``"NCHW"``.
        dst_format: ``"NHWC"`` or ``"NCHW"``.
    """

    src_format: str = "NHWC"
    dst_format: str = "NCHW"

    def __post_init__(self) -> None:
        _format_order(self)

    def compute(self, x: Array) -> Array:
        """Map axes in [-4, 4), whatever the shape."""
        if not jnp.issubdtype(x.dtype, jnp.integer):
            raise located(
                TypeError,
                "For 'DataFormatDimMap', the dtype of 'input_x' must be Int32, but got "
                f"{from_np(x.dtype)}.",
            )
        order = jnp.asarray(_format_order(self), x.dtype)
        return order[jnp.remainder(x, jnp.asarray(4, x.dtype)).astype(np.int32)]


class DataFormatVecPermute(Primitive):
    """A value an axis, from one data format to another (MindSpore: ``ops.DataFormatVecPermute``).

    Args:
        src_format: ``"NHWC"`` or ``"NCHW"``.
        dst_format: ``"NHWC"`` or ``"NCHW"``.
    """

    src_format: str = "NHWC"
    dst_format: str = "NCHW"

    def __post_init__(self) -> None:
        _format_order(self)

    def compute(self, x: Array) -> Array:
        """Permute (4,) or (4, 2), Int32 or Int64."""
        if x.dtype not in (np.int32, np.int64):
            raise located(
                TypeError,
                "For 'DataFormatVecPermute', the dtype of 'input_x' must be Int32 or Int64, but "
                f"got {from_np(x.dtype)}.",
            )
        if x.shape not in ((4,), (4, 2)):
            raise located(
                ValueError,
                f"For DataFormatVecPermute, input shape must be (4, ) or (4, 2), but got "
                f"{x.shape}.",
            )
        return jnp.stack([x[i] for i in _format_order(self)])
