"""The base of schedulers."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.graph.jit_class import jit_class
from mindjax.nn.optim.grouped import Optimizer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def each_group(optimizer: Any, values: Any, what: str) -> list[Any]:
    """Give one value a group: a list as it is, another value for all.

    Args:
        optimizer: whose groups are meant.
        values: list, tuple or one value.
        what: the values' name.

    Raises:
        ValueError: there are more or fewer than groups.
    """
    count = len(optimizer.param_groups)
    if not isinstance(values, list | tuple):
        return [values] * count
    if len(values) != count:
        raise located(ValueError, f"Expected {count} {what}, but got {len(values)}.")
    return list(values)


@jit_class
class LRScheduler:
    """Base of schedulers (MindSpore: ``experimental.optim.lr_scheduler.LRScheduler``).

    A subclass's ``get_lr`` gives the groups' next rates; it may read ``last_epoch``, a Parameter,
    ``base_lrs`` and ``_last_lr``.

    Args:
        optimizer: optimizer with ``param_groups``.
        last_epoch: number of steps so far, from -1 up; beyond that groups need ``initial_lr``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: ``last_epoch`` is out of range.
        KeyError: a group has no ``initial_lr``.
    """

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise located(TypeError, f"{type(optimizer).__name__} is not an Optimizer")
        checks.of_type("last_epoch", last_epoch, int, type(self).__name__)
        if last_epoch < -1:
            raise located(ValueError, f"Invalid last_epoch: {last_epoch}")
        for i, group in enumerate(optimizer.param_groups):
            if "initial_lr" in group:
                continue
            if last_epoch != -1:
                raise located(
                    KeyError,
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an "
                    "optimizer",
                )
            group["initial_lr"] = ops.deepcopy(group["lr"])
        self.base_lrs: list[Any] = [group["initial_lr"] for group in optimizer.param_groups]
        self.optimizer = optimizer
        self._last_lr: list[Any] = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        name = f"last_epoch_{type(self).__name__}"
        self.last_epoch = Parameter(Tensor(float(last_epoch), float32), name=name)
        self.step()

    def get_lr(self) -> Any:
        """Give the rates of the groups; subclasses define it."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """Give the rates of the groups as they are, Tensors."""
        return [ops.deepcopy(rate) for rate in self._last_lr]

    def step(self, epoch: Any = None) -> Any:
        """Write the next rates.

        Args:
            epoch: the step that is meant, in place of the one after the last.

        Returns:
            True.
        """
        if epoch is None:
            ops.assign_add(self.last_epoch, 1.0)
            rates = self.get_lr()
        else:
            ops.assign(self.last_epoch, float(epoch) if isinstance(epoch, int) else epoch)
            rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        for holder, rate in zip(self._last_lr, rates, strict=True):
            ops.assign(holder, rate)
        return True
