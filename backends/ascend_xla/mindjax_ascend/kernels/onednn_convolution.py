"""Convolutions over one to three axes and their gradients by oneDNN, on CPUs.

Result, image and weights of a convolution are tied by one product of three: each of them is
computed of the other two by an operator that is linear in both, whose derivatives are again these
operators. They are one primitive of jax, with derivatives of any order, forward and reverse.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from mindjax_ascend.kernels import foreign, onednn

Array = jax.Array
Edges = tuple[tuple[int, int], ...]

# What is computed, of which other two in this order.
RESULT, IMAGE, WEIGHT = 0, 1, 2
_OPERANDS = {RESULT: (IMAGE, WEIGHT), IMAGE: (RESULT, WEIGHT), WEIGHT: (IMAGE, RESULT)}


class Numbers(NamedTuple):
    """Numbers of a convolution.

    Attributes:
        stride: steps along the axes of space.
        edges: zeros before and after each of them.
        dilation: steps between the window's elements.
        groups: of channels, which are convolved apart.
        last: whether channels are the last axis: (N, ..., C) and weights (out, ..., in), else
            (N, C, ...) and (out, in, ...).
    """

    stride: tuple[int, ...]
    edges: Edges
    dilation: tuple[int, ...]
    groups: int = 1
    last: bool = False


def reference(image: Array, weight: Array, numbers: Numbers) -> Array:
    """Convolve.

    Args:
        image: float (N, in, ...) or (N, ..., in).
        weight: (out, in / groups, ...) or (out, ..., in / groups).
        numbers: of the convolution.

    Returns:
        (N, out, ...) or (N, ..., out).
    """
    space = "DHW"[3 - len(numbers.stride) :]
    names = [f"N{space}C", f"O{space}I"] if numbers.last else [f"NC{space}", f"OI{space}"]
    return lax.conv_general_dilated(
        image,
        weight,
        numbers.stride,
        numbers.edges,
        rhs_dilation=numbers.dilation,
        dimension_numbers=(names[0], names[1], names[0]),
        feature_group_count=numbers.groups,
    )


def convolution(image: Array, weight: Array, numbers: Numbers) -> Array:
    """Convolve as `reference` does, by the library where it takes the arrays."""
    if not wanted(image, weight, numbers):
        return reference(image, weight, numbers)
    shape = jax.eval_shape(functools.partial(reference, numbers=numbers), image, weight).shape
    if 0 in shape:
        return reference(image, weight, numbers)
    return _convolution.bind(image, weight, role=RESULT, shape=shape, numbers=numbers)


def transposed(result: Array, weight: Array, numbers: Numbers, sizes: tuple[int, ...]) -> Array:
    """Compute the gradient of a convolution's image.

    Args:
        result: the gradient of the result, (N, out, ...).
        weight: (out, in / groups, ...).
        numbers: of the convolution; edges may be such that the last elements are not seen.
        sizes: of the image's axes of space.

    Returns:
        (N, in, ...).
    """
    shape = (result.shape[0], weight.shape[1] * numbers.groups, *sizes)
    return _convolution.bind(result, weight, role=IMAGE, shape=shape, numbers=numbers)


def wanted(image: Array, weight: Array, numbers: Numbers) -> bool:
    """Tell whether the library takes the arrays."""
    fits = 3 <= image.ndim == weight.ndim <= 5 and image.dtype == weight.dtype == np.float32
    fits = fits and image.size > 0 and weight.size > 0
    fits = fits and all(e >= 0 for pair in numbers.edges for e in pair)
    return fits and onednn.available()


_convolution = Primitive("onednn_convolution")


@_convolution.def_abstract_eval
def _abstract(a: Any, b: Any, *, role: int, shape: tuple[int, ...], numbers: Numbers) -> Any:
    del b, role, numbers
    return ShapedArray(shape, a.dtype)


@functools.partial(jax.jit, static_argnames=("role", "shape", "numbers"))
def _alone(a: Array, b: Array, *, role: int, shape: tuple[int, ...], numbers: Numbers) -> Array:
    return _convolution.bind(a, b, role=role, shape=shape, numbers=numbers)


@_convolution.def_impl
def _run(a: Array, b: Array, **params: Any) -> Array:
    # Where the user has disabled it, the compiled form would come back here.
    with jax.disable_jit(False):
        return _alone(a, b, **params)


def _called(a: Array, b: Array, *, role: int, shape: tuple[int, ...], numbers: Numbers) -> Array:
    shapes = {_OPERANDS[role][0]: a.shape, _OPERANDS[role][1]: b.shape, role: shape}
    if not _pays(role, shapes[RESULT], shapes[IMAGE], shapes[WEIGHT], numbers):
        return plain(a, b, role=role, shape=shape, numbers=numbers)
    each: dict[str, Any] = {
        f"{name}_{i}": number
        for name, found in (
            ("stride", numbers.stride),
            ("dilation", numbers.dilation),
            ("low", tuple(e[0] for e in numbers.edges)),
        )
        for i, number in enumerate(found)
    }
    (out,) = foreign.call(
        "onednn_convolution",
        "onednn_convolution",
        [(shape, np.float32)],
        a,
        b,
        role=role,
        groups=numbers.groups,
        channels_last=numbers.last,
        **each,
    )
    return out


def _pays(
    role: int,
    result: tuple[int, ...],
    image: tuple[int, ...],
    weight: tuple[int, ...],
    numbers: Numbers,
) -> bool:
    """Tell whether the library is faster than XLA, for which it pads channels to its vectors."""
    groups, count = numbers.groups, len(numbers.stride)
    outer, inner = weight[0] // groups, weight[-1 if numbers.last else 1]
    few, many = min(outer, inner), max(outer, inner)
    if groups == 1 and (
        (role == RESULT and outer < 12 and inner > 16)
        or (role == IMAGE and ((few < 16 and many >= 32) or inner < 4))
    ):
        return False
    sizes = [a[1:-1] if numbers.last else a[2:] for a in (image, weight, result)]
    low = tuple(e[0] for e in numbers.edges)
    spread = [(*n, *[0] * (3 - count)) for n in (*sizes, numbers.stride, numbers.dilation, low)]
    first = (role, count, int(numbers.last), image[0], groups, outer, inner)
    return onednn.fast((*first, *(n for three in spread for n in three)))


def _transpose(at: int, cotangent: Any, a: Any, b: Any, *, role: int, **params: Any) -> Any:
    """Compute what stands at a place of the operands, of the cotangent and the other operand."""
    asked, other = _OPERANDS[role][at], _OPERANDS[role][1 - at]
    given = {role: cotangent, other: a if at else b}
    operands = [given[name] for name in _OPERANDS[asked]]
    shape = (b if at else a).aval.shape
    return _convolution.bind(*operands, role=asked, shape=shape, numbers=params["numbers"])


ad.defbilinear(_convolution, functools.partial(_transpose, 0), functools.partial(_transpose, 1))


def plain(a: Array, b: Array, *, role: int, shape: tuple[int, ...], numbers: Numbers) -> Array:
    """Compute what the primitive does by XLA's own convolution."""
    if role == RESULT:
        return reference(a, b, numbers)
    missing = jax.ShapeDtypeStruct(shape, a.dtype)
    if role == IMAGE:
        return jax.linear_transpose(lambda x: reference(x, b, numbers), missing)(a)[0]
    return jax.linear_transpose(lambda w: reference(a, w, numbers), missing)(b)[0]


def _lowered(context: Any, *arrays: Any, **params: Any) -> Any:
    """Lower to a call of the library; to XLA's own convolution in what `jax.export` writes."""
    exported = context.module_context.lowering_parameters.for_export
    form = plain if exported else _called
    return mlir.lower_fun(form, multiple_results=False)(context, *arrays, **params)


mlir.register_lowering(_convolution, _lowered)


def _batch(arrays: Any, axes: Any, *, role: int, shape: tuple[int, ...], numbers: Numbers) -> Any:
    """Take a further axis of images or results as part of N; else batch the plain form."""
    a, b = arrays
    params = {"role": role, "shape": shape, "numbers": numbers}
    if role == WEIGHT or axes[1] is not None:
        return jax.vmap(functools.partial(plain, **params), axes)(a, b), 0
    a = jnp.moveaxis(a, axes[0], 0)
    count = a.shape[0]
    whole = (count * shape[0], *shape[1:])
    folded = a.reshape(count * a.shape[1], *a.shape[2:])
    out = _convolution.bind(folded, b, role=role, shape=whole, numbers=numbers)
    return out.reshape(count, *shape), 0


batching.primitive_batchers[_convolution] = _batch
