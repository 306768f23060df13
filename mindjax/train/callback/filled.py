"""The network that what a program saves is filled into."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.checkpoint import load_param_into_net
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

_networks: list[Cell] = []


def set_cur_net(net: Cell | None) -> None:
    """Choose the network that `checkpoint_cb_for_save_op` fills next.

    Args:
        net: the network; None for none.
    """
    _networks[:] = [] if net is None else [net]


def checkpoint_cb_for_save_op(parameter_list: list[dict[str, Any]]) -> bool:
    """Fill values into the chosen network, which is chosen no longer then.

    Args:
        parameter_list: dicts of ``name`` and ``data``, a Tensor; the list is emptied.

    Returns:
        Whether a network was chosen.
    """
    if not _networks:
        return False
    values = {}
    while parameter_list:
        part = parameter_list.pop(0)
        array = np.asarray(part["data"].asnumpy())
        values[part["name"]] = Parameter(Tensor(array), name=part["name"])
    load_param_into_net(_networks.pop(), values, strict_load=True)
    return True
