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


def wanted(image: Array, weight: Array, edges: Edges) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = image.ndim == weight.ndim == 4 and image.dtype == weight.dtype == np.float32
    fits = fits and image.shape[3] == weight.shape[2] and image.size > 0 and weight.size > 0
    fits = fits and all(e >= 0 for pair in edges for e in pair)
    return fits and available("convolution", "convolution", "convolution_grad")


def reference(
    image: Array, weight: Array, stride: tuple[int, int] = (1, 1), edges: Edges = ((0, 0), (0, 0))
) -> Array:
    """Convolve.

    Args:
        image: float (N, H, W, in).
        weight: (KH, KW, in, out).
        stride: steps along H and W.
        edges: zeros before and after H and W.

    Returns:
        (N, H2, W2, out).
    """
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(image, weight, stride, edges, dimension_numbers=layout)


def convolution(
    image: Array, weight: Array, stride: tuple[int, int] = (1, 1), edges: Edges = ((0, 0), (0, 0))
) -> Array:
    """Convolve as `reference` does, by the kernels where they take the arrays."""
    sizes = image.shape[1:3] if image.ndim == 4 else (0, 0)
    fits = all(n + sum(e) >= k for n, e, k in zip(sizes, edges, weight.shape[:2], strict=True))
    if not fits or not wanted(image, weight, edges):
        return reference(image, weight, stride, edges)
    return _convolve(tuple(stride), edges)(image, weight)


def _numbers(stride: tuple[int, int], edges: Edges) -> dict[str, int]:
    return {
        "stride_y": stride[0],
        "stride_x": stride[1],
        "top": edges[0][0],
        "left": edges[1][0],
    }


def _product(image: Array, weight: Array, stride: tuple[int, int], edges: Edges) -> Array:
    sizes = [
        (n + sum(e) - k) // s + 1
        for n, e, k, s in zip(image.shape[1:3], edges, weight.shape[:2], stride, strict=True)
    ]
    outputs = [((image.shape[0], *sizes, weight.shape[3]), np.float32)]
    numbers = _numbers(stride, edges)
    (out,) = call(
        "convolution", "convolution", outputs, image, weight, batched="sequential", **numbers
    )
    return out


def _convolve(stride: tuple[int, int], edges: Edges) -> Any:
    plain = partial(reference, stride=stride, edges=edges)

    def forward(image: Array, weight: Array) -> Any:
        return _product(image, weight, stride, edges), (image, weight)

    def backward(kept: Any, dout: Array) -> tuple[Array, Array]:
        image, weight = kept
        (d_weight,) = call(
            "convolution",
            "convolution_grad",
            [(weight.shape, np.float32)],
            image,
            dout,
            batched="sequential",
            **_numbers(stride, edges),
        )
        reach = [k - 1 for k in weight.shape[:2]]
        around = [(r - low, r - high) for r, (low, high) in zip(reach, edges, strict=True)]
        if stride != (1, 1) or min(min(pair) for pair in around) < 0:
            return jax.vjp(lambda x: plain(x, weight), image)[1](dout)[0], d_weight
        turned = jnp.flip(weight, (0, 1)).swapaxes(2, 3)
        edges_back = (around[0], around[1])
        return _product(dout, turned, (1, 1), edges_back), d_weight

    return with_gradient(forward, backward, plain)
