"""Names of the original's inner ``ops`` modules that its examples and user code still use.

``ops.function.math_func.amax_ext``, ``ops.auto_generate.narrow_view`` and the like are other names
of public functions: ``_ext`` is mint's function of that name, ``_view`` and ``_ext_view`` its view.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = ("mint", "mint.nn.functional", "mint.special", "mint.linalg", "ops")
_ENDS = ("_ext_view", "_view", "_ext")
# The last ones stand in the documentation's examples alone.
_OTHER = {
    **{name: f"mint.{name}" for name in ("batch_norm_elemt", "batch_norm_stats", "clone")},
    **{name: f"mint.{name}" for name in ("conv_tbc", "convolution", "kthvalue", "npu_gelu")},
    **{name: f"mint.{name}" for name in ("triangular_solve", "vdot")},
    "batch_norm_gather_stats_with_counts": "mint.batch_norm_gather_stats_with_counts",
    **{name: f"ops.sparse.rows.{name}" for name in ("COO2CSR", "CSR2COO", "CSRGather")},
    **{name: f"ops.sparse.rows.{name}" for name in ("CSRMM", "CSRMV")},
    "inplace_hardtanh": "mint.nn.functional.hardtanh_",
    "linalg_norm": "mint.linalg.norm",
    "linalg_vector_norm": "mint.linalg.vector_norm",
    "empty_like": "mint.empty_like",
    "relu_": "mint.nn.functional.relu_",
    "threshold_": "mint.nn.functional.threshold_",
}


def find(name: str) -> Any:
    """Find what a name inside the original's ``ops`` stands for.

    Args:
        name: such as ``"amax_ext"`` or ``"narrow_view"``.

    Returns:
        The function; None if there is none.
    """
    generated = import_module("mindjax.ops.generated").find(name)
    if generated is not None:
        return generated
    if name in _OTHER:
        home, _, name = _OTHER[name].rpartition(".")
        return _public(home, name)
    end = next((e for e in _ENDS if name.endswith(e)), None)
    if end is None or name.startswith("_"):
        return None
    found = (_public(home, name.removesuffix(end)) for home in _HOMES)
    return next((f for f in found if f is not None), None)


def _public(home: str, name: str) -> Any:
    try:
        return getattr(import_module(f"mindjax.{home}"), name, None)
    except ModuleNotFoundError:
        return None
