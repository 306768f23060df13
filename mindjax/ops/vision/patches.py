"""Sliding blocks of images and volumes: taken out into columns, and added up again."""

from __future__ import annotations

import itertools
import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive, set_fields
from mindjax.ops.shape import reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...]
Edges = tuple[tuple[int, int], ...]


def _pair(name: str, value: Any, owner: str, low: int = 1) -> Sizes:
    """Check one int, or a sequence of one or two, for height and width."""
    checks.of_type(name, value, (int, tuple, list), owner)
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) not in (1, 2):
        raise located(
            ValueError, f"For '{owner}', the {name} size should be in : [1, 2], but got {values}."
        )
    values = tuple(checks.int_at_least(f"{name}[{i}]", v, low, owner) for i, v in enumerate(values))
    return values * 2 if len(values) == 1 else values


def _counts(sizes: Sizes, kernel: Sizes, dilation: Sizes, edges: Edges, stride: Sizes) -> Sizes:
    rows = zip(sizes, kernel, dilation, edges, stride, strict=True)
    return tuple((n + a + b - d * (k - 1) - 1) // s + 1 for n, k, d, (a, b), s in rows)


def blocks(
    x: Array, kernel: Sizes, dilation: Sizes, edges: Edges, stride: Sizes, owner: str
) -> Array:
    """Take out the blocks of the axes after the first two.

    Args:
        x: (N, C, sizes).
        kernel: size of a block, one int an axis.
        dilation: distance of a block's elements.
        edges: (low, high) zeros around each axis.
        stride: step between blocks.
        owner: op named in errors.

    Returns:
        (N, C, elements of a block, numbers of blocks).

    Raises:
        ValueError: no block fits.
    """
    counts = _counts(x.shape[2:], kernel, dilation, edges, stride)
    if any(c < 1 for c in counts):
        raise located(
            ValueError,
            f"For '{owner}', the blocks do not fit: input of shape {x.shape}, kernel {kernel}, "
            f"dilation {dilation}, pads {edges}, stride {stride}.",
        )
    x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0)] * 2 + [(a, b, 0) for a, b in edges])
    parts = []
    for place in itertools.product(*(range(k) for k in kernel)):
        start = [p * d for p, d in zip(place, dilation, strict=True)]
        stop = [a + (c - 1) * s + 1 for a, c, s in zip(start, counts, stride, strict=True)]
        parts.append(lax.slice(x, (0, 0, *start), (*x.shape[:2], *stop), (1, 1, *stride)))
    return jnp.stack(parts, 2)


class Im2Col(Primitive):
    """Blocks of images as columns (MindSpore: ``ops.Im2Col``).

    Args:
        ksizes: int or (height, width) of a block.
        strides: int or (height, width).
        dilations: int or (height, width).
        pads: int or (height, width), zeros on both sides.
    """

    ksizes: Any
    strides: Any = 1
    dilations: Any = 1
    pads: Any = 0
    owner: str = field(default="Im2Col", kw_only=True)
    names: tuple[str, ...] = field(default=("ksizes", "strides", "dilations", "pads"), kw_only=True)

    def __post_init__(self) -> None:
        values = (self.ksizes, self.strides, self.dilations, self.pads)
        lows = (1, 1, 1, 0)
        checked = [
            _pair(name, value, self.owner, low)
            for name, value, low in zip(self.names, values, lows, strict=True)
        ]
        set_fields(self, **dict(zip(("ksizes", "strides", "dilations", "pads"), checked)))  # noqa: B905

    def compute(self, x: Array) -> Array:
        """Take out the blocks of (N, C, H, W).

        Returns:
            (N, C, elements of a block, number of blocks).
        """
        if x.ndim != 4:
            raise located(
                ValueError,
                f"For primitive[Im2Col], the dimension of input x must be equal to 4, but got "
                f"{x.ndim}.",
            )
        edges = tuple((p, p) for p in self.pads)
        out = blocks(x, self.ksizes, self.dilations, edges, self.strides, "Im2Col")
        return out.reshape(*out.shape[:3], -1)


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Take out sliding blocks of images as columns (MindSpore: ``ops.unfold``).

    Args:
        input: (N, C, H, W).
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width), distance of a block's elements.
        padding: int or (height, width), zeros on both sides.
        stride: int or (height, width), step between blocks.

    Returns:
        Tensor (N, C * elements of a block, number of blocks).

    Raises:
        TypeError: an argument is neither int nor tuple nor list.
        ValueError: a value is out of range, ``input`` has another rank, or no block fits.
    """
    names = ("kernel_size", "stride", "dilation", "padding")
    record = Im2Col(kernel_size, stride, dilation, padding, owner="unfold", names=names)
    columns = record(input)
    n, c, k, count = shape_of(columns)
    return reshape(columns, (n, c * k, count))


class Col2Im(BoundPrimitive):
    """Blocks added up to images; call: ``Col2Im(kernel_size, ...)(x, output_size)``.

    MindSpore: ``ops.Col2Im``.

    Args:
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width).
        padding: int or (height, width), what is cut off both sides.
        stride: int or (height, width).
    """

    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1
    statics: ClassVar[tuple[str, ...]] = ("output_size",)
    output_size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        set_fields(
            self,
            kernel_size=_pair("kernel_size", self.kernel_size, "Col2Im"),
            dilation=_pair("dilation", self.dilation, "Col2Im"),
            padding=_pair("padding", self.padding, "Col2Im", 0),
            stride=_pair("stride", self.stride, "Col2Im"),
        )

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the size of the images."""
        size = statics.get("output_size")
        size = checks.integers(
            "output_size", (size,) * 2 if isinstance(size, int) else size, self.name
        )
        if len(size) != 2 or min(size) < 1:
            raise located(
                ValueError,
                f"For 'Col2Im', the 'output_size' must be two ints above 0, but got {size}.",
            )
        return {"output_size": size}

    def compute(self, x: Array) -> Array:
        """Add (N, C, elements of a block, number of blocks) up to (N, C, height, width)."""
        if x.ndim != 4:
            raise located(
                ValueError,
                f"For primitive[Col2Im], the dimension of input x must be equal to 4, but got "
                f"{x.ndim}.",
            )
        window = (self.kernel_size, self.dilation, tuple((p, p) for p in self.padding), self.stride)
        counts = _counts(self.output_size, *window)
        n, channels, elements, number = x.shape
        if elements != math.prod(self.kernel_size):
            raise located(
                ValueError,
                f"For 'Col2Im', the third size of the input must be {math.prod(self.kernel_size)}, "
                f"the elements of 'kernel_size' {self.kernel_size}, but got shape {x.shape}.",
            )
        if min(counts) < 1 or number != math.prod(counts):
            raise located(
                ValueError,
                "For 'Col2Im', size of input's 4th dimension must be equal to calculated number of "
                f"sliding blocks {math.prod(counts)}, but got {number}.",
            )
        like = jax.ShapeDtypeStruct((n, channels, *self.output_size), x.dtype)
        add_up = jax.linear_transpose(lambda image: blocks(image, *window, "Col2Im"), like)
        return add_up(x.reshape(n, channels, elements, *counts))[0]


def col2im(
    input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """Add sliding blocks up to images (MindSpore: ``ops.col2im``).

    Args:
        input_x: (N, C, elements of a block, number of blocks).
        output_size: (height, width), a Tensor or ints.
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width), distance of a block's elements.
        padding_value: int or (height, width), what is cut off both sides.
        stride: int or (height, width), step between blocks.

    Returns:
        Tensor (N, C, height, width).

    Raises:
        TypeError: an argument is neither int nor tuple nor list.
        ValueError: a value is out of range, or the sizes do not fit.
    """
    return Col2Im(kernel_size, dilation, padding_value, stride)(input_x, output_size)


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Add columns, sliding blocks, up to images (MindSpore: ``ops.fold``).

    Args:
        input: (N, C * elements of a block, number of blocks).
        output_size: (height, width), a Tensor or ints.
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width), distance of a block's elements.
        padding: int or (height, width), what is cut off both sides.
        stride: int or (height, width), step between blocks.

    Returns:
        Tensor (N, C, height, width).

    Raises:
        TypeError: an argument is neither int nor tuple nor list.
        ValueError: a value is out of range, or the sizes do not fit.
    """
    shape, kernel = shape_of(input), _pair("kernel_size", kernel_size, "fold")
    if len(shape) != 3 or shape[1] % math.prod(kernel):
        raise located(
            ValueError,
            f"For 'fold', the 'input' must be (N, C * {math.prod(kernel)}, L), but got shape "
            f"{shape}.",
        )
    columns = reshape(input, (shape[0], shape[1] // math.prod(kernel), -1, shape[2]))
    record = Col2Im(
        kernel,
        _pair("dilation", dilation, "fold"),
        _pair("padding", padding, "fold", 0),
        _pair("stride", stride, "fold"),
    )
    return record(columns, output_size)


def _leading_ones(name: str, value: Any, count: int, owner: str, kinds: Any) -> Sizes:
    """Check sizes that are written with ones for N and C, or with one int for all."""
    checks.of_type(name, value, kinds, owner)
    if isinstance(value, int):
        return (checks.positive_int(name, value, owner),) * count
    values = tuple(checks.positive_int(f"{name} item", v, owner) for v in value)
    if len(values) == count + 2 and values[:2] == (1, 1):
        return values[2:]
    if len(values) == count and kinds is not _LISTS:
        return values
    raise located(
        ValueError,
        f"For '{owner}', the '{name}' must be {count + 2} ints that begin with (1, 1), but got "
        f"{values}.",
    )


_LISTS = (list, tuple)


def _patches(x: Array, kernel: Sizes, stride: Sizes, rates: Sizes, padding: str, op: str) -> Array:
    """Put a block's elements into the channels, elements first."""
    reach = tuple(r * (k - 1) + 1 for k, r in zip(kernel, rates, strict=True))
    if padding == "VALID":
        edges = ((0, 0),) * len(kernel)
    else:
        edges = tuple(
            (int(a), int(b)) for a, b in lax.padtype_to_pads(x.shape[2:], reach, stride, "SAME")
        )
    out = blocks(x, kernel, rates, edges, stride, op)
    out = jnp.swapaxes(out, 1, 2)
    return out.reshape(x.shape[0], -1, *out.shape[3:])


class ExtractImagePatches(Primitive):
    """Blocks of images in the channels (MindSpore: ``ops.ExtractImagePatches``).

    Args:
        ksizes: (1, 1, height, width) of a block.
        strides: (1, 1, height, width).
        rates: (1, 1, height, width), distance of a block's elements.
        padding: ``"VALID"`` or ``"SAME"``, in either case.
    """

    ksizes: Any
    strides: Any
    rates: Any
    padding: str = "VALID"

    def __post_init__(self) -> None:
        owner = "ExtractImagePatches"
        checks.of_type("padding", self.padding, str, owner)
        set_fields(
            self,
            padding=checks.one_of("padding", self.padding.upper(), ("VALID", "SAME"), owner),
            **{
                name: _leading_ones(name, getattr(self, name), 2, owner, _LISTS)
                for name in ("ksizes", "strides", "rates")
            },
        )

    def compute(self, x: Array) -> Array:
        """Turn (N, C, H, W) into (N, height * width * C, H', W')."""
        if x.ndim != 4:
            raise located(
                ValueError,
                f"For 'ExtractImagePatches', the input must have 4 dims, but got {x.ndim}.",
            )
        return _patches(x, self.ksizes, self.strides, self.rates, self.padding, self.name)


class ExtractVolumePatches(Primitive):
    """Blocks of volumes in the channels (MindSpore: ``ops.ExtractVolumePatches``).

    Args:
        kernel_size: int, or (1, 1, depth, height, width) or the last three.
        strides: the same.
        padding: ``"VALID"`` or ``"SAME"``, in either case.
    """

    kernel_size: Any
    strides: Any
    padding: str

    def __post_init__(self) -> None:
        owner, kinds = "ExtractVolumePatches", (int, tuple, list)
        checks.of_type("padding", self.padding, str, owner)
        set_fields(
            self,
            padding=checks.one_of("padding", self.padding.upper(), ("VALID", "SAME"), owner),
            kernel_size=_leading_ones("kernel_size", self.kernel_size, 3, owner, kinds),
            strides=_leading_ones("strides", self.strides, 3, owner, kinds),
        )

    def compute(self, x: Array) -> Array:
        """Turn (N, C, D, H, W) into (N, depth * height * width * C, D', H', W')."""
        if x.ndim != 5:
            raise located(
                ValueError,
                f"For 'ExtractVolumePatches', the input must have 5 dims, but got {x.ndim}.",
            )
        return _patches(x, self.kernel_size, self.strides, (1, 1, 1), self.padding, self.name)
