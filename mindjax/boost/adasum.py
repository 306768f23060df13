"""Adaptive sums of the weights' changes on several servers."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import world
from mindjax.nn.cell import Cell

_EPSILON = 1e-12


def adaptive_sum(a: Any, b: Any) -> Any:
    """Add two changes: orthogonal ones are added, like ones averaged.

    Maleki and others, "Scaling distributed training with adaptive summation" (2020).

    Args:
        a: Tensor.
        b: Tensor of the same shape.
    """
    both = (a * b).sum() + _EPSILON
    of_a, of_b = (a * a).sum() + _EPSILON, (b * b).sum() + _EPSILON
    return (1 - both / (2 * of_a)) * a + (1 - both / (2 * of_b)) * b


class AdaSum(Cell):
    """Combine the changes of weights on several servers (MindSpore: ``boost.AdaSum``).

    Args:
        rank: of this process.
        device_number: processes of a server.
        group_number: servers, a power of two.
        parameter_tuple: the Parameters.
    """

    def __init__(
        self, rank: int, device_number: int, group_number: int, parameter_tuple: Any
    ) -> None:
        super().__init__()
        self.rank, self.device_number, self.group_number = rank, device_number, group_number
        self.parameter_tuple = parameter_tuple
        self.gather: Any = None
        if group_number > 1:
            place = rank % device_number
            name = f"adasum_{device_number}_{group_number}_{place}"
            world.create(name, [place + i * device_number for i in range(group_number)])
            self.gather = ops.AllGather(name)

    def construct(self, delta_weights: Any, parameters: Any, old_parameters: Any) -> Any:
        """Write the old Parameters less the combined changes.

        Args:
            delta_weights: what each Parameter lost in the step.
            parameters: the Parameters, which are written.
            old_parameters: their values before the step.

        Returns:
            The Parameters.
        """
        for delta, parameter, old in zip(delta_weights, parameters, old_parameters, strict=True):
            ops.assign(parameter, old - self._combined(delta))
        return parameters

    def _combined(self, delta: Any) -> Any:
        if self.gather is None:
            return delta
        found = self.gather(ops.expand_dims(delta, 0))
        parts = [found[i] for i in range(self.group_number)]
        if all(size == 1 for size in delta.shape):
            # MindSpore: what cannot be cut is averaged.
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            return total / self.group_number
        while len(parts) > 1:
            parts = [adaptive_sum(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]
