"""Functions of one input on the values of a sparse tensor; the places stay.

What is not stored is not computed: ``coo_cos`` keeps zeros where cosine would give one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mindjax import ops
from mindjax.core.errors import located
from mindjax.ops.sparse.formats import COOTensor, CSRTensor

Kind = TypeVar("Kind", COOTensor, CSRTensor)


def _on_values(kind: type[Kind], name: str) -> Callable[[Kind], Kind]:
    """Make ``coo_NAME`` or ``csr_NAME`` of the op of a name."""
    prefix = "coo" if kind is COOTensor else "csr"

    def function(x: Kind) -> Kind:
        if not isinstance(x, kind):
            raise located(
                TypeError, f"Expects {kind.__name__} for {prefix}_{name}, but got {type(x)}."
            )
        op: Any = getattr(ops, name)
        return x.with_values(op(x.values))

    function.__name__ = function.__qualname__ = f"{prefix}_{name}"
    function.__doc__ = (
        f"Take ``ops.{name}`` of the values of a {kind.__name__} (``ops.{prefix}_{name}``)."
    )
    return function


coo_abs = _on_values(COOTensor, "abs")
coo_acos = _on_values(COOTensor, "acos")
coo_acosh = _on_values(COOTensor, "acosh")
coo_asin = _on_values(COOTensor, "asin")
coo_asinh = _on_values(COOTensor, "asinh")
coo_atan = _on_values(COOTensor, "atan")
coo_atanh = _on_values(COOTensor, "atanh")
coo_ceil = _on_values(COOTensor, "ceil")
coo_cos = _on_values(COOTensor, "cos")
coo_cosh = _on_values(COOTensor, "cosh")
coo_exp = _on_values(COOTensor, "exp")
coo_expm1 = _on_values(COOTensor, "expm1")
coo_floor = _on_values(COOTensor, "floor")
coo_inv = _on_values(COOTensor, "inv")
coo_isfinite = _on_values(COOTensor, "isfinite")
coo_isinf = _on_values(COOTensor, "isinf")
coo_isnan = _on_values(COOTensor, "isnan")
coo_log = _on_values(COOTensor, "log")
coo_log1p = _on_values(COOTensor, "log1p")
coo_neg = _on_values(COOTensor, "neg")
coo_relu = _on_values(COOTensor, "relu")
coo_relu6 = _on_values(COOTensor, "relu6")
coo_round = _on_values(COOTensor, "round")
coo_sigmoid = _on_values(COOTensor, "sigmoid")
coo_sin = _on_values(COOTensor, "sin")
coo_sinh = _on_values(COOTensor, "sinh")
coo_softsign = _on_values(COOTensor, "softsign")
coo_sqrt = _on_values(COOTensor, "sqrt")
coo_square = _on_values(COOTensor, "square")
coo_tan = _on_values(COOTensor, "tan")
coo_tanh = _on_values(COOTensor, "tanh")
csr_abs = _on_values(CSRTensor, "abs")
csr_acos = _on_values(CSRTensor, "acos")
csr_acosh = _on_values(CSRTensor, "acosh")
csr_asin = _on_values(CSRTensor, "asin")
csr_asinh = _on_values(CSRTensor, "asinh")
csr_atan = _on_values(CSRTensor, "atan")
csr_atanh = _on_values(CSRTensor, "atanh")
csr_ceil = _on_values(CSRTensor, "ceil")
csr_cos = _on_values(CSRTensor, "cos")
csr_cosh = _on_values(CSRTensor, "cosh")
csr_exp = _on_values(CSRTensor, "exp")
csr_expm1 = _on_values(CSRTensor, "expm1")
csr_floor = _on_values(CSRTensor, "floor")
csr_inv = _on_values(CSRTensor, "inv")
csr_isfinite = _on_values(CSRTensor, "isfinite")
csr_isinf = _on_values(CSRTensor, "isinf")
csr_isnan = _on_values(CSRTensor, "isnan")
csr_log = _on_values(CSRTensor, "log")
csr_log1p = _on_values(CSRTensor, "log1p")
csr_neg = _on_values(CSRTensor, "neg")
csr_relu = _on_values(CSRTensor, "relu")
csr_relu6 = _on_values(CSRTensor, "relu6")
csr_round = _on_values(CSRTensor, "round")
csr_sigmoid = _on_values(CSRTensor, "sigmoid")
csr_sin = _on_values(CSRTensor, "sin")
csr_sinh = _on_values(CSRTensor, "sinh")
csr_softsign = _on_values(CSRTensor, "softsign")
csr_sqrt = _on_values(CSRTensor, "sqrt")
csr_square = _on_values(CSRTensor, "square")
csr_tan = _on_values(CSRTensor, "tan")
csr_tanh = _on_values(CSRTensor, "tanh")
