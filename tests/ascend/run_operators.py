"""Runs programs on the driver `acl` against the stand-in, and tells which operators they called.

Writes a JSON list of a name and what is wrong for each row of the dtypes that it is told.
"""

import ctypes
import json
import os
import sys
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from tests.ascend.cases.operators import ROWS

TYPES = {"f": np.float32, "h": jnp.bfloat16, "e": np.float16, "i": np.int32}
TOLERANCES = {"f": 2e-5, "h": 3e-2, "e": 4e-3, "i": 0}


def run(standin, rows, arrays, tolerance):
    """Run functions as one program; gives pairs of a name and what is wrong with it.

    Args:
        standin: the library.
        rows: name, operators, a function, what is expected of it.
        arrays: of each function.
        tolerance: relative and absolute.
    """
    names = sorted({n for _, called, _, _ in rows for n in called.split()})
    before = {n: standin.standin_left(n.encode()) for n in names}
    program = jax.jit(lambda all: [f(*a) for (_, _, f, _), a in zip(rows, all, strict=True)])
    results = jax.tree.map(np.asarray, program(jax.device_put(arrays)))
    missed = {n for n in names if standin.standin_left(n.encode()) == before[n]}
    for (name, called, _, expected), result in zip(rows, results, strict=True):
        wrong = [f"{n} was not called" for n in called.split() if n in missed]
        for a, b in zip(jax.tree.leaves(result), jax.tree.leaves(expected), strict=True):
            b = np.asarray(b)
            close = np.allclose(a.astype("d"), b.astype("d"), tolerance, tolerance, equal_nan=True)
            if a.shape != b.shape or a.dtype != b.dtype or not close:
                wrong.append(f"{a.dtype}{a.shape} {a.ravel()[:4]} for {b.dtype} {b.ravel()[:4]}")
        yield name, wrong


def load():
    """Load the stand-in, which counts calls of its entry points."""
    standin = ctypes.CDLL(os.environ["MINDJAX_ASCEND_ACL"])
    standin.standin_misuse.restype = ctypes.c_char_p
    standin.standin_left.restype = ctypes.c_int64
    return standin


def operators(standin, kinds):
    """Run the table, all rows of a dtype as one program; gives pairs as `run` does."""
    random = np.random.default_rng(3)
    host = jax.devices("cpu")[0]
    for kind in kinds:
        drawn = random.standard_normal((2, 4, 6)) * (4 if kind == "i" else 1.5)
        arrays = [a.astype(TYPES[kind]) for a in drawn]
        rows = [row for row in ROWS if kind in row[2]]
        plain = jax.jit(lambda x, y, rows=rows: [f(x, y) for *_, f in rows])
        expected = plain(*[jax.device_put(a, host) for a in arrays])
        table = [
            (f"{name} {kind}", called, f, e)
            for (name, called, _, f), e in zip(rows, expected, strict=True)
        ]
        yield from run(standin, table, [arrays] * len(rows), TOLERANCES[kind])


def kernel_rows():
    """Kernels as custom calls: name, operators, the function, its plain form, arrays."""
    from mindjax_ascend.kernels import (
        convolution,
        flash_attention,
        grouped_matmul,
        layer_norm,
        moe,
        rms_norm,
        rotary,
        softmax,
        swiglu,
    )

    random = np.random.default_rng(4)
    draw = lambda *dims: random.standard_normal(dims).astype("f")  # noqa: E731
    wide = [draw(5, 8), draw(8), draw(8)]

    def pulled(function):
        def both(*arrays):
            out, pull = jax.vjp(lambda *a: jax.tree.leaves(function(*a))[0], *arrays)
            return out, pull(jnp.sin(out))

        return both

    def row(name, called, function, plain, arrays, gradient=True):
        wrap = pulled if gradient else lambda f: f
        return name, called, wrap(function), wrap(plain), arrays

    yield row("RmsNorm", "aclnnRmsNorm aclnnRmsNormGrad", rms_norm.rms_norm, rms_norm.reference,
              wide[:2])  # fmt: skip
    yield row("AddRmsNorm", "aclnnAddRmsNorm", rms_norm.add_rms_norm, rms_norm.add_reference,
              [draw(5, 8), *wide[:2]])  # fmt: skip
    yield row("LayerNorm", "aclnnLayerNorm aclnnVar aclnnLayerNormBackward", layer_norm.layer_norm,
              layer_norm.reference, wide)  # fmt: skip
    yield row("LayerNorm's moments", "aclnnLayerNorm aclnnVar", layer_norm.layer_norm,
              layer_norm.reference, wide, False)  # fmt: skip
    yield row("Softmax", "aclnnSoftmax aclnnSoftmaxBackward", softmax.softmax, softmax.reference,
              wide[:1])  # fmt: skip
    yield row("SwiGlu", "aclnnSwiGlu aclnnSwiGluGrad", swiglu.swiglu, swiglu.reference, wide[:1])
    for pairs in (False, True):
        angles = [draw(2, 3, 4, 8), draw(1, 3, 1, 8), draw(1, 3, 1, 8)]
        yield row(f"Rotary {pairs}", "aclnnRotaryPositionEmbedding",
                  lambda *a, p=pairs: rotary.rotary(*a, p),
                  lambda *a, p=pairs: rotary.reference(*a, p), angles)  # fmt: skip
    yield row("Gating", "aclnnMoeGatingTopKSoftmax", lambda x: moe.gating_top_k(x, 3),
              lambda x: moe.gating_reference(x, 3), [draw(6, 8)], False)  # fmt: skip
    tokens, chosen = draw(6, 8), random.integers(0, 4, (6, 2)).astype("i")
    yield row("Permute", "aclnnMoeTokenPermute", lambda t, e: moe.permute(t, e, 12),
              lambda t, e: moe.permute_reference(t, e, 12), [tokens, chosen], False)  # fmt: skip
    places = random.permutation(12).astype("i")
    rows = [draw(12, 8), draw(6, 2)]
    shares = lambda f: lambda r, s: f(r, places, s)  # noqa: E731
    yield row("Unpermute", "aclnnMoeTokenUnpermute aclnnMoeTokenUnpermuteGrad",
              shares(moe.unpermute), shares(moe.unpermute_reference), rows)  # fmt: skip
    ends = np.array([2, 2, 5], "i")
    groups = lambda f: lambda x, w: f(x, w, ends)  # noqa: E731
    yield row("GroupedMatmul", "aclnnGroupedMatmulV4 aclnnCast",
              groups(grouped_matmul.grouped_matmul), groups(grouped_matmul.reference),
              [draw(5, 4), draw(3, 4, 6)], False)  # fmt: skip
    heads = [draw(2, 5, 4, 8), draw(2, 7, 2, 8), draw(2, 7, 2, 8)]
    attention = "aclnnFlashAttentionScore aclnnFlashAttentionScoreGrad aclnnInplaceCopy"
    hidden = random.random((2, 1, 5, 7)) > 0.7
    for name, mask in (("", None), (" masked", hidden)):
        yield row(f"Attention{name}", attention,
                  lambda *a, m=mask: flash_attention.flash_attention(*a, m, 0.3),
                  lambda *a, m=mask: flash_attention.reference(*a, m, 0.3), heads)  # fmt: skip
    edges = ((1, 1), (0, 0))
    for first in (False, True):
        dims = (2, 3, 7, 6) if first else (2, 7, 6, 3)
        yield row(f"Convolution {first}", "aclnnConvolution",
                  lambda *a, f=first: convolution.convolution(*a, (1, 1), edges, f),
                  lambda *a, f=first: convolution.reference(*a, (1, 1), edges, f),
                  [draw(*dims), draw(3, 2, 3, 4)])  # fmt: skip


def kernels(standin):
    """Run the kernels; gives pairs as `operators` does."""
    # Kernels are for programs of one device; the stand-in has two.
    with mock.patch("jax.device_count", lambda: 1):
        rows = list(kernel_rows())
        with jax.default_device(jax.devices("cpu")[0]):
            plain = jax.jit(
                lambda all: [f(*a) for (_, _, _, f, _), a in zip(rows, all, strict=True)]
            )
            expected = plain([r[4] for r in rows])
        table = [
            (name, called, f, e) for (name, called, f, _, _), e in zip(rows, expected, strict=True)
        ]
        yield from run(standin, table, [r[4] for r in rows], 5e-5)


if __name__ == "__main__":
    jax.devices()
    library = load()
    for row in operators(library, sys.argv[1]):
        print(json.dumps(row))
    print(json.dumps(["misuse", [library.standin_misuse().decode()]]))
