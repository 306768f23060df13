"""Kernels and fused segments for the compiler: one definition, for jax.numpy and for numpy.

`compute(xp, *arrays)` is lowered with `xp = jax.numpy` and is the reference with `xp = numpy` in
double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A program, the shapes of its arguments, their type (`half`, `single`, `int`), and blocks."""

    name: str
    compute: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "single"
    positive: bool = False
    blocks: int = 1
    split: tuple[bool, ...] = ()  # which arguments a block gets rows of
    options: tuple[str, ...] = ()  # of the compiler
    kinds: tuple[str, ...] = ()  # the types of the arguments, where they differ from `dtype`


def softmax(xp, x):
    e = xp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(xp, x):
    d = x - x.max(-1, keepdims=True)
    return d - xp.log(xp.exp(d).sum(-1, keepdims=True))


def silu(xp, x):
    return x / (1 + xp.exp(-x))


def gelu(xp, x):
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def rms_norm(xp, x, g):
    return x / xp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def layer_norm(xp, x, g, b):
    d = x - x.mean(-1, keepdims=True)
    return d / xp.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * g + b


def rope(xp, x, c, s):
    a, b = x[:, :32], x[:, 32:]
    return xp.concatenate([a * c - b * s, b * c + a * s], -1)


def adam(xp, p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (xp.sqrt(v) + 1e-8), m, v


def momentum(xp, p, g, a):
    a = 0.9 * a + g
    return p - 0.1 * a, a


def product(xp, a, b):
    """A product that jax sums and keeps in single precision."""
    return a @ b if xp is np else xp.matmul(a, b, preferred_element_type="float32")


def integer_product(xp, a, b, scale):
    """A product of bytes summed in integers, then scaled."""
    if xp is np:
        return a @ b * scale
    return xp.matmul(a, b, preferred_element_type="int32").astype("float32") * scale


def narrow(xp, x):
    """To half precision, except in the reference."""
    return x if xp is np else x.astype("float16")


def attention(xp, q, k, v):
    weights = softmax(xp, product(xp, q, k.T) * 0.125)
    return product(xp, narrow(xp, weights), v)


def attention_single(xp, q, k, v):
    return softmax(xp, q @ k.T * 0.125) @ v


def causal_attention(xp, q, k, v):
    n = q.shape[0]
    seen = xp.arange(n)[:, None] >= xp.arange(n)[None, :]
    weights = softmax(xp, xp.where(seen, product(xp, q, k.T) * 0.125, -1e4))
    return product(xp, narrow(xp, weights), v)


def masked_attention(xp, q, k, v, mask):
    weights = softmax(xp, product(xp, q, k.T) * 0.125 + mask)
    return product(xp, narrow(xp, weights), v)


def batch_norm(xp, x, m, v, g, b):
    return (x - m) / xp.sqrt(v + 1e-5) * g + b


def math_erf(xp, x):
    if xp is np:
        return np.vectorize(math.erf)(x)
    from jax.scipy.special import erf

    return erf(x)


def rms_norm_grad(xp, x, g, d):
    r = 1 / xp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    t = d * g
    return r * t - x * r * r * r * (t * x).mean(-1, keepdims=True)


def layer_norm_grad(xp, x, g, d):
    c = x - x.mean(-1, keepdims=True)
    r = 1 / xp.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)
    t, n = d * g, c * r
    return r * (t - t.mean(-1, keepdims=True) - n * (t * n).mean(-1, keepdims=True))


def gated_mlp(xp, x, w, u, o):
    hidden = silu(xp, product(xp, x, w)) * product(xp, x, u)
    return product(xp, narrow(xp, hidden), o)


def attention_block(xp, q, k, v, o, x):
    return product(xp, narrow(xp, attention(xp, q, k, v)), o) * 0.125 + x


def rope_scores(xp, q, k, c, s):
    return product(xp, narrow(xp, rope(xp, q, c, s)), narrow(xp, rope(xp, k, c, s)).T) * 0.125


_X = (64, 256)
_V = (256,)
_A, _B = (64, 128), (128, 256)
_DOUBLE = "--enable-auto-multi-buffer=true"
_BARRIERS = "--enable-hivm-inject-barrier-all-sync=true"

CASES = [
    Case("add", lambda xp, a, b: a + b, (_X, _X)),
    Case("multiply_add", lambda xp, a, b, c: a * b + c, (_X, _X, _X)),
    Case("multiply_half", lambda xp, a, b: a * b - a, (_X, _X), "half"),
    Case("add_int", lambda xp, a, b: a + b, (_X, _X), "int"),
    Case("divide", lambda xp, a, b: a / b, (_X, _X), positive=True),
    Case("add_large", lambda xp, a, b: a + b, ((512, 512), (512, 512))),
    Case("relu", lambda xp, a: xp.maximum(a, 0), (_X,)),
    Case("leaky_relu", lambda xp, a: xp.where(a > 0, a, 0.01 * a), (_X,)),
    Case("clip", lambda xp, a: xp.minimum(xp.maximum(a, -1), 1), (_X,)),
    Case("sigmoid", lambda xp, a: 1 / (1 + xp.exp(-a)), (_X,)),
    Case("tanh", lambda xp, a: xp.tanh(a), (_X,)),
    Case("gelu", gelu, (_X,)),
    Case("silu", silu, (_X,)),
    Case("swiglu", lambda xp, a, b: silu(xp, a) * b, (_X, _X)),
    Case("swiglu_half", lambda xp, a, b: silu(xp, a) * b, (_X, _X), "half"),
    Case("swiglu_packed", lambda xp, a: silu(xp, a[:, :128]) * a[:, 128:], (_X,)),
    Case("exp_log_sqrt", lambda xp, a: xp.exp(-a) + xp.log(a) + xp.sqrt(a), (_X,), positive=True),
    Case("sine_cosine", lambda xp, a: xp.sin(a) * xp.cos(a), (_X,)),
    Case("positions", lambda xp, a: a + xp.arange(256), (_X,)),
    Case("sum_rows", lambda xp, a: a.sum(-1), (_X,)),
    Case("max_rows", lambda xp, a: a.max(-1), (_X,)),
    Case("min_rows", lambda xp, a: a.min(-1), (_X,)),
    Case("mean_rows", lambda xp, a: a.mean(-1), (_X,)),
    Case("sum_columns", lambda xp, a: a.sum(0), (_X,)),
    Case("sum_all", lambda xp, a: a.sum(), (_X,)),
    Case("mean_square_error", lambda xp, a, b: ((a - b) ** 2).mean(), (_X, _X)),
    Case("log_sum_exp", lambda xp, a: xp.log(xp.exp(a).sum(-1)), (_X,)),
    Case("softmax", softmax, (_X,)),
    Case("softmax_half", softmax, (_X,), "half"),
    Case("log_softmax", log_softmax, (_X,)),
    Case("softmax_grad", lambda xp, y, g: y * (g - (y * g).sum(-1, keepdims=True)), (_X, _X)),
    Case("rms_norm", rms_norm, (_X, _V)),
    Case("add_rms_norm", lambda xp, a, b, g: (rms_norm(xp, a + b, g), a + b), (_X, _X, _V)),
    Case("layer_norm", layer_norm, (_X, _V, _V)),
    Case("rms_norm_grad", rms_norm_grad, (_X, _V, _X)),
    Case("layer_norm_grad", layer_norm_grad, (_X, _V, _X)),
    Case("batch_norm", batch_norm, (_X, _V, _V, _V, _V), positive=True),
    Case("bias_gelu", lambda xp, a, b: gelu(xp, a + b), (_X, _V)),
    Case("rope", rope, ((64, 64), (64, 32), (64, 32))),
    Case("adam", adam, (_X, _X, _X, _X), positive=True),
    Case("momentum", momentum, (_X, _X, _X)),
    Case("transpose", lambda xp, a: a.T, (_A,)),
    Case("transpose_back", lambda xp, a: xp.transpose(a, (2, 1, 0)), ((4, 16, 32),)),
    Case("every_other_column", lambda xp, a: a[:, 1::2] * 2, ((64, 128),)),
    Case("softmax_batch", softmax, ((4, 16, 64),)),
    Case("scale", lambda xp, a, s: a * s, (_X, ())),
    Case("power", lambda xp, a: a**2.5, (_X,), positive=True),
    Case("std_rows", lambda xp, a: a.std(-1), (_X,)),
    Case("dot", lambda xp, a, b: a @ b, (_V, _V)),
    Case("matrix_vector", lambda xp, a, b: a @ b, (_X, _V)),
    Case("erf", math_erf, (_X,)),
    Case("concatenate", lambda xp, a, b: xp.concatenate([a, b], -1), (_A, _A)),
    Case("matmul", lambda xp, a, b: a @ b, (_A, _B), "half"),
    Case("matmul_single", lambda xp, a, b: a @ b, (_A, _B)),
    Case("matmul_transposed", lambda xp, a, b: a @ b.T, (_A, (256, 128)), "half"),
    Case("matmul_deep", lambda xp, a, b: a @ b, ((64, 768), (768, 64)), "half"),
    Case("matmul_last", lambda xp, a, b: xp.einsum("ik,jk->ij", a, b), (_A, (256, 128))),
    Case("matmul_bfloat", product, (_A, _B), kinds=("bfloat", "bfloat")),
    Case("matmul_int8", integer_product, (_A, _B, _V), kinds=("int8", "int8", "single")),
    Case("multiply_bfloat", lambda xp, a, b: a * b + a, (_X, _X), "bfloat"),
    Case("matmul_relu", lambda xp, a, b: xp.maximum(a @ b, 0), (_A, _B), "half"),
    Case("matmul_bias_gelu", lambda xp, a, b, c: gelu(xp, a @ b + c), (_A, _B, _V), "half"),
    Case("matmul_residual", lambda xp, a, b, c: a @ b + c, (_A, _B, _X), "half"),
    Case("matmul_rms_norm", lambda xp, a, b, g: rms_norm(xp, a @ b, g), (_A, _B, _V)),
    Case("scores", lambda xp, q, k: q @ k.T * 0.125, ((64, 64), (64, 64)), "half"),
    Case("attention", attention, ((64, 64),) * 3, "half"),
    Case("attention_single", attention_single, ((32, 64),) * 3),
    Case("attention_causal", causal_attention, ((64, 64),) * 3, "half"),
    Case("attention_masked", masked_attention, ((64, 64),) * 4, "half"),
    Case("rope_scores", rope_scores, ((64, 64), (64, 64), (64, 32), (64, 32)), "half"),
    Case("attention_block", attention_block, ((64, 64),) * 5, "half"),
    Case("mlp_gated", gated_mlp, ((64, 64), (64, 128), (64, 128), (128, 64)), "half"),
    Case("mlp", lambda xp, a, b, c: xp.maximum(a @ b, 0) @ c, (_A, _B, (256, 128)), "half"),
    Case("attention_heads", attention, ((256, 64),) * 3, "half", False, 4, (True,) * 3),
    Case("matmul_rows", lambda xp, a, b: a @ b, ((256, 128), _B), "half", False, 4, (True, False)),
    Case("layer_norm_rows", layer_norm, (_X, _V, _V), "single", False, 4, (True, False, False)),
    # The same programs in other modes of the compiler.
    Case("add_double_buffer", lambda xp, a, b: a + b, ((512, 512),) * 2, options=(_DOUBLE,)),
    Case("softmax_four_cores", softmax, (_X,), options=("--block-dim=4",)),
    Case("rms_norm_four_cores", rms_norm, (_X, _V), options=("--block-dim=4", _DOUBLE)),
    Case("softmax_all_barriers", softmax, (_X,), options=(_BARRIERS,)),
    Case("attention_all_barriers", attention, ((64, 64),) * 3, "half", options=(_BARRIERS,)),
]
