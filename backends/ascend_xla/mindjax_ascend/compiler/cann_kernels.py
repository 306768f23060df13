"""Which operators of CANN's library take the place of kernels that are custom calls.

Kernels whose operator takes other arrays than they do run on the host: those of integers
(QuantBatchMatmul, WeightQuantBatchMatmul), of a cache (PagedAttention, ReshapeAndCache), AdamW,
LSTM, the gradients of RotaryPositionEmbedding and GroupedMatmul, and attention within a band.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindjax_ascend.compiler.cann import FLOAT32, INT32, INT64, convolution
from mindjax_ascend.compiler.graph import strides_of
from mindjax_ascend.compiler.program import Step, Value

_FORMATS = {11: "<f", 12: "<d"}
_UNBOUNDED = 2**31 - 1


@dataclass
class Kernel:
    """A custom call's arrays and attributes."""

    inputs: list[Value]
    outputs: list[Value]
    numbers: dict[str, Any]
    splat: Callable[[Value], bytes | None]

    def is_zero(self, index: int) -> bool:
        """Tell whether an input is known to be zero everywhere."""
        data = self.splat(self.inputs[index])
        return data is not None and not any(data)


def of_step(step: Step, splat: Callable[[Value], bytes | None]) -> str:
    """Write the calls in place of a custom call; nothing where there are none."""
    target, *names = step.text.split("\n")
    write = _WRITERS.get(target.removeprefix("mindjax_"))
    if write is None or not target.startswith("mindjax_"):
        return ""
    numbers = {}
    for i, name in enumerate(names):
        type, bits = step.ints[2 * i : 2 * i + 2]
        if type in _FORMATS:
            form = _FORMATS[type]
            size = struct.calcsize(form)
            bits = struct.unpack(form, (bits & ((1 << 64) - 1)).to_bytes(8, "little")[:size])[0]
        numbers[name] = bits
    return write(Kernel(step.inputs, step.outputs, numbers, splat))


def _rows(value: Value) -> tuple[int, int]:
    last = value.dims[-1]
    return value.elements // max(last, 1), last


def _rms_norm(kernel: Kernel) -> str:
    rows, _ = _rows(kernel.inputs[0])
    return f"aclnnRmsNorm t0 t1 d{kernel.numbers['epsilon']!r} t2 t3:{rows},1"


def _rms_norm_grad(kernel: Kernel) -> str:
    if not kernel.is_zero(4):
        return ""
    rows, _ = _rows(kernel.inputs[1])
    return f"aclnnRmsNormGrad t0 t1 t2:{rows},1 t3 t5 t6"


def _add_rms_norm(kernel: Kernel) -> str:
    rows, _ = _rows(kernel.inputs[0])
    return f"aclnnAddRmsNorm t0 t1 t2 d{kernel.numbers['epsilon']!r} t3 t4:{rows},1 t5"


def _layer_norm(kernel: Kernel) -> str:
    rows, width = _rows(kernel.inputs[0])
    epsilon = kernel.numbers["epsilon"]
    return (
        f"aclnnLayerNorm t0 I{width} t1 t2 d{epsilon!r} t3 t4:{rows},1 t5:{rows},1\n"
        f"aclnnVar t0:{rows},{width} I1 i0 i0 t6:{rows}"
    )


def _layer_norm_grad(kernel: Kernel) -> str:
    if not (kernel.is_zero(5) and kernel.is_zero(6)):
        return ""
    rows, width = _rows(kernel.inputs[1])
    return f"aclnnLayerNormBackward t0 t1 I{width} t2:{rows},1 t3:{rows},1 t4 n B1,1,1 t7 t8 t9"


def _softmax(kernel: Kernel) -> str:
    return "aclnnSoftmax t0 i-1 t1"


def _softmax_grad(kernel: Kernel) -> str:
    return "aclnnSoftmaxBackward t0 t1 i-1 t2"


def _swiglu(kernel: Kernel) -> str:
    return "aclnnSwiGlu t0 i-1 t1"


def _swiglu_grad(kernel: Kernel) -> str:
    return "aclnnSwiGluGrad t0 t1 i-1 t2"


def _rotary(kernel: Kernel) -> str:
    if kernel.numbers["back"] or len(kernel.inputs[0].dims) != 4:
        return ""
    return f"aclnnRotaryPositionEmbedding t0 t1 t2 i{kernel.numbers['interleaved']} t3"


def _gating(kernel: Kernel) -> str:
    dims = kernel.outputs[1].dims
    if len(dims) not in (2, 3):
        return ""
    room = ",".join(map(str, dims))
    return f"aclnnMoeGatingTopKSoftmax t0 n i{dims[-1]} t1 t2 w0:{room}={INT32}"


def _permute(kernel: Kernel) -> str:
    return f"aclnnMoeTokenPermute t0 t1 i{kernel.outputs[0].dims[0]} i0 t2 t3"


def _unpermute(kernel: Kernel) -> str:
    return "aclnnMoeTokenUnpermute t0 t1 t2 i0 n t3"


def _unpermute_grad(kernel: Kernel) -> str:
    return "aclnnMoeTokenUnpermuteGrad t1 t0 t2 t3 i0 n t4 t5"


def _grouped(kernel: Kernel) -> str:
    if kernel.numbers["turned"]:
        return ""
    groups = kernel.inputs[2].elements
    # One result for all groups (3), of rows that are split (0) where the sums of lengths say (0).
    return (
        f"aclnnCast t2 i9 w0:{groups}={INT64}\n"
        "aclnnGroupedMatmulV4 l0 l1 n n n n n n w0 n n n i3 i0 i0 i0 l3 n n"
    )


def _everything(kernel: Kernel) -> str | None:
    """Write the mask and how it is read; None for a band that the operator wants in a form."""
    if min(kernel.numbers["before"], kernel.numbers["after"]) < _UNBOUNDED:
        return None
    return "t3 i1" if kernel.inputs[3].elements else "n i0"


def _attention(kernel: Kernel) -> str:
    mask = _everything(kernel)
    if mask is None:
        return ""
    batch, queries, heads, _ = kernel.inputs[0].dims
    hidden, mode = mask.split()
    lots, rows = f"i{_UNBOUNDED} i{_UNBOUNDED}", f"{batch},{heads},{queries}"
    strides = f"{heads * queries * 8},{queries * 8},8"
    return (
        f"aclnnFlashAttentionScore t0 t1 t2 n n n {hidden} n d{kernel.numbers['scale']!r} d1 "
        f"{lots} i{heads} cBSND i0 {mode} w0:{rows},8={FLOAT32} w1:{rows},8={FLOAT32} "
        f"w2:0={FLOAT32} t4\n"
        f"aclnnInplaceCopy t5 w0:{rows}/{strides}\n"
        f"aclnnInplaceCopy t6 w1:{rows}/{strides}"
    )


def _attention_grad(kernel: Kernel) -> str:
    mask = _everything(kernel)
    if mask is None:
        return ""
    batch, queries, heads, _ = kernel.inputs[0].dims
    hidden, mode = mask.split()
    lots, rows = f"i{_UNBOUNDED} i{_UNBOUNDED}", f"{batch},{heads},{queries}"
    return (
        f"aclnnInplaceCopy w0:{rows},8={FLOAT32} t5:{rows},1\n"
        f"aclnnInplaceCopy w1:{rows},8={FLOAT32} t6:{rows},1\n"
        f"aclnnFlashAttentionScoreGrad t0 t1 t2 t7 n n n {hidden} w0 w1 n t4 n "
        f"d{kernel.numbers['scale']!r} d1 {lots} i{heads} cBSND i0 {mode} t8 t9 t10 "
        f"w2:0={FLOAT32}"
    )


def _convolution(kernel: Kernel) -> str:
    (image, weight), (result,) = kernel.inputs, kernel.outputs
    first = kernel.numbers["channels_first"]
    axes = (0, 1, 2, 3) if first else (0, 3, 1, 2)
    taps_y, taps_x, inner, outer = weight.dims
    step = [kernel.numbers["stride_y"], kernel.numbers["stride_x"]]
    low = [kernel.numbers["top"], kernel.numbers["left"]]
    n, _, height, width = (image.dims[a] for a in axes)
    _, _, rows, columns = (result.dims[a] for a in axes)
    a = [strides_of(image.dims)[x] for x in axes]
    c = [strides_of(result.dims)[x] for x in axes]
    k = strides_of(weight.dims)
    ints = [n, 1, inner, outer, 2, height, width, rows, columns, taps_y, taps_x, *step, *low]
    ints += [1, 1, 1, 1, 0, 0, *a, k[3], k[2], k[0], k[1], *c, 0, 0, 0]
    return convolution(ints, FLOAT32)


def _convolution_grad(kernel: Kernel) -> str:
    """The gradient of weights: images are convolved with gradients, channels taken as images."""
    (image, dout), (result,) = kernel.inputs, kernel.outputs
    first = kernel.numbers["channels_first"]
    axes = (0, 1, 2, 3) if first else (0, 3, 1, 2)
    taps_y, taps_x, inner, outer = result.dims
    step = [kernel.numbers["stride_y"], kernel.numbers["stride_x"]]
    low = [kernel.numbers["top"], kernel.numbers["left"]]
    n, _, height, width = (image.dims[a] for a in axes)
    _, _, rows, columns = (dout.dims[a] for a in axes)
    a = [strides_of(image.dims)[x] for x in axes]
    g = [strides_of(dout.dims)[x] for x in axes]
    k = strides_of(result.dims)
    ints = [inner, 1, n, outer, 2, height, width, taps_y, taps_x, rows, columns, 1, 1, *low]
    ints += [1, 1, *step, 0, 0, a[1], a[0], *a[2:], g[1], g[0], *g[2:]]
    ints += [k[2], k[3], k[0], k[1], 0, 0, 0]
    return convolution(ints, FLOAT32)


_WRITERS: dict[str, Callable[[Kernel], str]] = {
    "rms_norm": _rms_norm,
    "rms_norm_grad": _rms_norm_grad,
    "add_rms_norm": _add_rms_norm,
    "layer_norm": _layer_norm,
    "layer_norm_grad": _layer_norm_grad,
    "softmax": _softmax,
    "softmax_grad": _softmax_grad,
    "swiglu": _swiglu,
    "swiglu_grad": _swiglu_grad,
    "rotary": _rotary,
    "gating_top_k": _gating,
    "moe_permute": _permute,
    "moe_unpermute": _unpermute,
    "moe_unpermute_grad": _unpermute_grad,
    "grouped_matmul": _grouped,
    "flash_attention": _attention,
    "flash_attention_grad": _attention_grad,
    "convolution": _convolution,
    "convolution_grad": _convolution_grad,
}
