"""Switches of the original's search for strategies that libraries set; ours has none of them."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def _set_rp_matmul_mem_coef(rp_matmul_mem_coef: float = 0.1) -> None:
    """Set how the original's recursive search weighs memory of products.

    Args:
        rp_matmul_mem_coef: only the original's default, 0.1, is taken.

    Raises:
        NotImplementedError: it is another number.
    """
    _only("rp_matmul_mem_coef", rp_matmul_mem_coef, 0.1)


def _set_multi_subgraphs(multi_subgraph: bool = False) -> None:
    """Say that a program has several graphs.

    Args:
        multi_subgraph: True or False; a program is one graph here, in which the search sees all.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(multi_subgraph, bool):
        raise located(
            TypeError,
            f"The 'multi_subgraph' must be a bool, but got {type(multi_subgraph).__name__}.",
        )


def _only(name: str, value: Any, default: Any) -> None:
    if value != default:
        raise located(
            NotImplementedError,
            f"For '_set_{name}', the argument must be {default}, but got {value}: the search "
            "reckons with the memory of the devices; set 'device_memory' by "
            "mindspore.runtime.set_memory.",
        )
