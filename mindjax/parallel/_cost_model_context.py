"""Switches of the original's search for strategies that libraries set; ours has none of them."""

from __future__ import annotations

from mindjax.core.errors import located


def _set_rp_matmul_mem_coef(rp_matmul_mem_coef: float = 0.1) -> None:
    """Set how the original's recursive search weighs memory of products.

    Args:
        rp_matmul_mem_coef: only the original's default, 0.1, is taken.

    Raises:
        NotImplementedError: it is another number.
    """
    if rp_matmul_mem_coef != 0.1:
        raise located(
            NotImplementedError,
            "For '_set_rp_matmul_mem_coef', the argument must be 0.1, but got "
            f"{rp_matmul_mem_coef}: the search here has no such weight; leave it out.",
        )


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
