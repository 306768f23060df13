"""Small Cells: write a Parameter, take a row of a queue, hand three inputs on."""

from __future__ import annotations

import logging
from typing import Any

from mindjax import ops
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter

logger = logging.getLogger("mindjax")


class ParameterUpdate(Cell):
    """Write a Tensor to a Parameter (MindSpore: ``nn.ParameterUpdate``).

    Args:
        param: the Parameter.

    Raises:
        TypeError: ``param`` is none.
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise located(
                TypeError,
                f"For 'ParameterUpdate', 'param' must be 'Parameter', but got {type(param)}.",
            )
        self._param = param

    def construct(self, x: Any) -> Any:
        """Write ``x``, of the Parameter's shape, and give it."""
        ops.assign(self._param, x)
        return x


class GetNextSingleOp(Cell):
    """Take the next row of a device's queue (MindSpore: ``nn.GetNextSingleOp``).

    Args:
        dataset_types: dtypes of the columns.
        dataset_shapes: shapes of the columns.
        queue_name: name of the queue.

    Raises:
        NotImplementedError: when called; there are no queues: iterate over the data set.
    """

    def __init__(
        self, dataset_types: list[Any], dataset_shapes: list[Any], queue_name: str
    ) -> None:
        super().__init__()
        self.get_next = ops.GetNext(dataset_types, dataset_shapes, len(dataset_types), queue_name)

    def construct(self) -> Any:
        """Give the columns of the next row."""
        return self.get_next()


class VirtualDatasetCellTriple(Cell):
    """A network of three inputs, which parallel training splits along the batch.

    On one device it is the network itself.

    Args:
        backbone: the network.

    MindSpore: ``nn.VirtualDatasetCellTriple``.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        logger.warning("The usage of VirtualDatasetCellTriple is deprecated.")
        self._backbone = backbone

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        """Give the network's output."""
        return self._backbone(a, b, c)
