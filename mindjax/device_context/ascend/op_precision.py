"""Precision of ops on Ascend devices: device tuning; `mindspore.amp` casts on every device."""

import os

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.device_context import kept

_MODES = [
    "force_fp16",
    "allow_fp32_to_fp16",
    "allow_mix_precision",
    "must_keep_origin_dtype",
    "force_fp32",
    "allow_fp32_to_bf16",
    "allow_mix_precision_fp16",
    "allow_mix_precision_bf16",
]


def precision_mode(mode: str) -> None:
    """Keep how the original's compiler may change the precision; ours keeps it as written.

    Args:
        mode: name of the rule.

    Raises:
        ValueError: there is none of this name.
        RuntimeError: it is another already.
    """
    kept.one_of("precision_mode", mode, _MODES)
    kept.keep("Ascend", "precision_mode", mode)


def op_precision_mode(path: str) -> None:
    """Keep a file with the precision of single ops.

    Args:
        path: the file.

    Raises:
        TypeError: it is no string.
        ValueError: there is no such file.
        RuntimeError: it is another already.
    """
    checks.of_type("path", path, str, "op_precision_mode")
    if kept.supported("Ascend") and not os.path.exists(os.path.realpath(path)):
        raise located(ValueError, f"For 'op_precision_mode', the 'path' is invalid, got '{path}'.")
    kept.keep("Ascend", "op_precision_mode", path)


def matmul_allow_hf32(value: bool) -> None:
    """Keep whether matrix products may round Float32 to HFloat32.

    Args:
        value: whether they may.

    Raises:
        ValueError: it is no bool.
        RuntimeError: it is another already.
    """
    kept.one_of("matmul_allow_hf32", value, [True, False])
    kept.keep("Ascend", "matmul_allow_hf32", value)


def conv_allow_hf32(value: bool) -> None:
    """Keep whether convolutions may round Float32 to HFloat32.

    Args:
        value: whether they may.

    Raises:
        ValueError: it is no bool.
        RuntimeError: it is another already.
    """
    kept.one_of("conv_allow_hf32", value, [True, False])
    kept.keep("Ascend", "conv_allow_hf32", value)
