"""Precision of matrix products and convolutions on GPUs."""

import os

from mindjax.core import checks, jax_private
from mindjax.core.errors import located
from mindjax.device_context import kept

_VARIABLE = "NVIDIA_TF32_OVERRIDE"


def matmul_allow_tf32(value: bool) -> None:
    """Say whether Float32 matrix products may be computed in TensorFloat-32.

    False takes TensorFloat-32 from convolutions too: NVIDIA's libraries have one variable for both,
    ``NVIDIA_TF32_OVERRIDE``, which they read when they start.

    Args:
        value: whether they may.

    Raises:
        TypeError: it is no bool.
        RuntimeError: a GPU runs already.
    """
    _allow("matmul_allow_tf32", value)


def conv_allow_tf32(value: bool) -> None:
    """Say whether Float32 convolutions may be computed in TensorFloat-32.

    False takes it from matrix products too, as `matmul_allow_tf32`.

    Args:
        value: whether they may.

    Raises:
        TypeError: it is no bool.
        RuntimeError: a GPU runs already.
    """
    _allow("conv_allow_tf32", value)


def _allow(name: str, value: bool) -> None:
    checks.boolean("value", value, name)
    if not kept.supported("GPU") or value:
        return
    if jax_private.started_backends():
        raise located(
            RuntimeError,
            f"For '{name}', the GPU runs already: call it before the first Tensor is used, or set "
            f"{_VARIABLE}=0.",
        )
    os.environ[_VARIABLE] = "0"
