"""Programs that the vendor's compiler takes, and whose HIVM is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ascend.hivm.cases import log_softmax, rms_norm

_ROWS = """module {
  func.func @every_other_row(%a: tensor<64x64xf32>) -> tensor<32x64xf32>
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %0 = tensor.extract_slice %a[0, 0] [32, 64] [2, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
}
"""


def sources() -> dict[str, str]:
    """The modules for the compiler, by name."""
    import jax
    import jax.numpy as jnp
    from mindjax_ascend.hivm import lower

    rows = jax.ShapeDtypeStruct((64, 256), jnp.float32)
    line = jax.ShapeDtypeStruct((256,), jnp.float32)

    def cross_entropy(x, t):
        return -(log_softmax(jnp, x) * t).sum(-1).mean()

    def gradients(x, g, d):
        return jax.vjp(lambda a, b: rms_norm(jnp, a, b), x, g)[1](d)

    return {
        "cross_entropy": lower.lower(cross_entropy, rows, rows, name="cross_entropy"),
        "gradients": lower.lower(gradients, rows, line, rows, name="gradients"),
        "every_other_row": _ROWS,
        "batch_slices": Path(__file__).with_name("batch_slices.mlir").read_text(),
    }


def inputs(name: str) -> list[np.ndarray]:
    """Arrays for one of the programs."""
    rows, line = np.ones((64, 256), np.float32), np.ones(256, np.float32)
    slices = np.ones((2, 64, 64), np.float16)
    return {
        "cross_entropy": [rows, rows],
        "gradients": [rows, line, rows],
        "batch_slices": [slices, slices],
    }[name]
