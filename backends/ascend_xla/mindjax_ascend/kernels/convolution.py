"""Convolution over two axes and its gradients, for small images."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels.foreign import available, call, operator, with_gradient

Array = jax.Array
Edges = tuple[tuple[int, int], tuple[int, int]]

ACLNN = (
    operator(
        "aclnnConvolution",
        "in:input in:weight optional:bias ints:stride ints:padding ints:dilation "
        "bool:transposed ints:outputPadding int:groups out:output int:cubeMathType",
    ),
    operator(
        "aclnnConvolutionBackward",
        "in:gradOutput in:input in:weight ints:biasSizes ints:stride ints:padding ints:dilation "
        "bool:transposed ints:outputPadding int:groups bools:outputMask int:cubeMathType "
        "out:gradInput out:gradWeight out:gradBias",
    ),
)


def wanted(image: Array, weight: Array, edges: Edges, channels_first: bool = False) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = image.ndim == weight.ndim == 4 and image.dtype == weight.dtype == np.float32
    fits = fits and image.shape[1 if channels_first else 3] == weight.shape[2]
    fits = fits and image.size > 0 and weight.size > 0
    fits = fits and all(e >= 0 for pair in edges for e in pair)
    return fits and available("convolution", "convolution", "convolution_grad")


def reference(
    image: Array,
    weight: Array,
    stride: tuple[int, int] = (1, 1),
    edges: Edges = ((0, 0), (0, 0)),
    channels_first: bool = False,
) -> Array:
    """Convolve.

    Args:
        image: float (N, H, W, in), or (N, in, H, W) with ``channels_first``.
        weight: (KH, KW, in, out).
        stride: steps along H and W.
        edges: zeros before and after H and W.
        channels_first: whether images have their channels before H and W.

    Returns:
        (N, H2, W2, out), or (N, out, H2, W2).
    """
    name = "NCHW" if channels_first else "NHWC"
    layout = (name, "HWIO", name)
    return jax.lax.conv_general_dilated(image, weight, stride, edges, dimension_numbers=layout)


def convolution(
    image: Array,
    weight: Array,
    stride: tuple[int, int] = (1, 1),
    edges: Edges = ((0, 0), (0, 0)),
    channels_first: bool = False,
    weights_alone: bool = False,
) -> Array:
    """Convolve as `reference` does, by the kernels where they take the arrays.

    With ``weights_alone`` the kernel is that of the weights' gradient; the other products are left
    to the platform's own form, as on `ascend`, where a step slides over planes.
    """
    if not wanted(image, weight, edges, channels_first):
        return reference(image, weight, stride, edges, channels_first)
    sizes = _sizes(image, weight, stride, edges, channels_first)
    if min(sizes) < 1:
        return reference(image, weight, stride, edges, channels_first)
    kept = (stride[0], stride[1]), edges, channels_first
    return _convolve(*kept, weights_alone)(image, weight)


def _sizes(
    image: Array, weight: Array, stride: tuple[int, int], edges: Edges, channels_first: bool
) -> list[int]:
    space = image.shape[2:] if channels_first else image.shape[1:3]
    return [
        (n + sum(e) - k) // s + 1
        for n, e, k, s in zip(space, edges, weight.shape[:2], stride, strict=True)
    ]


def _numbers(stride: tuple[int, int], edges: Edges, channels_first: bool) -> dict[str, Any]:
    return {
        "stride_y": stride[0],
        "stride_x": stride[1],
        "top": edges[0][0],
        "left": edges[1][0],
        "channels_first": channels_first,
    }


def _product(
    image: Array, weight: Array, stride: tuple[int, int], edges: Edges, channels_first: bool
) -> Array:
    sizes = _sizes(image, weight, stride, edges, channels_first)
    channels = (weight.shape[3],)
    shape = (*channels, *sizes) if channels_first else (*sizes, *channels)
    (out,) = call(
        "convolution",
        "convolution",
        [((image.shape[0], *shape), np.float32)],
        image,
        weight,
        batched="sequential",
        **_numbers(stride, edges, channels_first),
    )
    return out


def _convolve(
    stride: tuple[int, int], edges: Edges, channels_first: bool, weights_alone: bool
) -> Any:
    plain = partial(reference, stride=stride, edges=edges, channels_first=channels_first)

    def forward(image: Array, weight: Array) -> Any:
        if weights_alone:
            return plain(image, weight), (image, weight)
        return _product(image, weight, stride, edges, channels_first), (image, weight)

    def backward(kept: Any, dout: Array) -> tuple[Array, Array]:
        image, weight = kept
        (d_weight,) = call(
            "convolution",
            "convolution_grad",
            [(weight.shape, np.float32)],
            image,
            dout,
            batched="sequential",
            **_numbers(stride, edges, channels_first),
        )
        low = [k - 1 - e[0] for k, e in zip(weight.shape[:2], edges, strict=True)]
        high = [k - 1 - e[1] for k, e in zip(weight.shape[:2], edges, strict=True)]
        if weights_alone or stride != (1, 1) or min(*low, *high) < 0:
            return jax.vjp(lambda x: plain(x, weight), image)[1](dout)[0], d_weight
        turned = jnp.flip(weight, (0, 1)).swapaxes(2, 3)
        around = ((low[0], high[0]), (low[1], high[1]))
        return _product(dout, turned, (1, 1), around, channels_first), d_weight

    return with_gradient(forward, backward, plain)
