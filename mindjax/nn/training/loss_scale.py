"""Training steps with a scaled loss, which skip gradients that overflow."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax import ops
from mindjax.autodiff import value_and_grad
from mindjax.core.dtype import bool_, float32, int32
from mindjax.core.errors import located
from mindjax.graph.branch import run_if
from mindjax.nn.cell import Cell
from mindjax.nn.optim.gradients import fitting
from mindjax.nn.wrap.cell_wrapper import TrainOneStepCell
from mindjax.ops.updates.status import AllFinite
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class DynamicLossScaleUpdateCell(Cell):
    """Lower a loss scale after an overflow, raise it after a time without.

    Args:
        loss_scale_value: first scale.
        scale_factor: what the scale is divided or multiplied by.
        scale_window: steps without an overflow before the scale is raised.

    MindSpore: ``nn.DynamicLossScaleUpdateCell``.
    """

    def __init__(self, loss_scale_value: Any, scale_factor: Any, scale_window: Any) -> None:
        super().__init__()
        self.scale_window = Tensor(scale_window, int32)
        self.scale_factor = Tensor(scale_factor, float32)
        self.loss_scale_value = loss_scale_value
        self.cur_iter = Parameter(Tensor(1, int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(Tensor(0, int32), name="last_overflow_iterator_step")
        self.minimum_loss_scale = Tensor(1.0, float32)

    def get_loss_scale(self) -> Any:
        """Give the first scale."""
        return self.loss_scale_value

    def construct(self, loss_scale: Any, overflow: Any) -> Any:
        """Write the next scale.

        Args:
            loss_scale: Parameter of the scale.
            overflow: whether the gradients overflow.

        Returns:
            ``overflow``.
        """
        over = _truth(overflow)
        lowered = ops.maximum(
            loss_scale * ops.Reciprocal()(self.scale_factor), self.minimum_loss_scale
        )
        scale = ops.select(over, lowered, ops.cast(loss_scale, float32))
        due = ops.less_equal(self.scale_window, self.cur_iter - self.last_overflow_iter)
        last = ops.select(ops.logical_or(over, due), self.cur_iter + 0, self.last_overflow_iter + 0)
        ops.assign(self.last_overflow_iter, last)
        raised = ops.logical_and(due, ops.logical_not(over))
        ops.assign(loss_scale, ops.select(raised, scale * self.scale_factor, scale))
        ops.assign(self.cur_iter, self.cur_iter + 1)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """Leave a loss scale as it is (MindSpore: ``nn.FixedLossScaleUpdateCell``).

    Args:
        loss_scale_value: the scale.
    """

    def __init__(self, loss_scale_value: Any) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> Any:
        """Give the scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Any) -> Any:
        """Give ``overflow``."""
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step that scales the loss, and updates nothing if the gradients overflow.

    Args:
        network: network that gives the loss.
        optimizer: takes the unscaled gradients.
        scale_sense: Cell that updates the scale, or the scale as a Tensor of shape () or (1,),
            which `set_sense_scale` changes.

    Raises:
        TypeError: ``scale_sense`` is neither a Cell nor a Tensor.
        ValueError: its shape is another one.

    MindSpore: ``nn.TrainOneStepWithLossScaleCell``.
    """

    # MindSpore: what steps of libraries, derived from this one, find here.
    hyper_map: ClassVar[Any] = ops.HyperMap()
    reduce_sum: ClassVar[Any] = ops.ReduceSum(keep_dims=False)
    reduce_all: ClassVar[Any] = ops.ReduceAll(keep_dims=False)
    less_equal: ClassVar[Any] = ops.LessEqual()
    equal: ClassVar[Any] = ops.Equal()
    logic_not: ClassVar[Any] = ops.LogicalNot()
    gpu_target: ClassVar[bool] = False

    def __init__(self, network: Cell, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer, sens=None)
        self.loss_scaling_manager = None
        self.base = Tensor(1, float32)
        self.is_distributed = self.reducer_flag
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            first = Tensor(scale_sense.get_loss_scale(), float32)  # type: ignore[operator]
            self.scale_sense = Parameter(first, name="scale_sense")
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((1,), ()):
                raise located(
                    ValueError,
                    "For 'TrainOneStepWithLossScaleCell', the shape of 'scale_sense' must be (1,) "
                    f"or (), but got {scale_sense.shape}.",
                )
            self.scale_sense = Parameter(scale_sense, name="scale_sense")
        else:
            raise located(
                TypeError,
                "For 'TrainOneStepWithLossScaleCell', the 'scale_sense' must be Cell or Tensor, "
                f"but got 'scale_sense' type: {type(scale_sense)}.",
            )

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch.

        Args:
            *inputs: inputs of the network.

        Returns:
            The loss, whether the gradients overflow, and the scale.
        """
        loss, gradients = self._unscaled(*inputs)
        status, gradients = self.start_overflow_check(loss, gradients)
        overflow = self.process_loss_scale(self.get_overflow_status(status, gradients))
        run_if(ops.logical_not(_truth(overflow)), lambda: self.optimizer(gradients))
        return loss, overflow, self.scale_sense

    def _unscaled(self, *inputs: Any) -> tuple[Any, Any]:
        """Give the loss, and the gradients of the scaled loss divided by the scale."""

        def scaled(*arguments: Any) -> Any:
            loss = self.network(*arguments)
            return loss * ops.cast(self.scale_sense, loss.dtype), loss

        (_, loss), gradients = value_and_grad(scaled, None, self.weights, has_aux=True)(*inputs)
        gradients = tuple(
            g * ops.cast(ops.Reciprocal()(self.scale_sense), g.dtype)
            for g in fitting(None, gradients)
        )
        return loss, self.grad_reducer(gradients)

    def set_sense_scale(self, sens: Tensor) -> None:
        """Set the scale.

        Args:
            sens: the new scale, of the same shape and dtype.

        Raises:
            TypeError: ``sens`` is no Tensor.
        """
        if not isinstance(sens, Tensor):
            raise located(
                TypeError,
                "For 'TrainOneStepWithLossScaleCell', the type of 'sens' must be Tensor, but got "
                f"{type(sens)}",
            )
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Begin to look for overflows; the gradients themselves show them.

        Args:
            pre_cond: what is computed before.
            compute_input: input of what is looked at.

        Returns:
            A status for `get_overflow_status`, and ``compute_input``.
        """
        return ops.zeros((8,), int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Tell whether there was an overflow.

        Args:
            status: what `start_overflow_check` gave.
            compute_output: the gradients: a Tensor or a tuple of them.

        Returns:
            Bool of shape (): whether an element is an infinity or NaN.
        """
        return AllFinite()(compute_output)

    def process_loss_scale(self, overflow: Any) -> Any:
        """Update the scale.

        Args:
            overflow: whether there was an overflow.

        Returns:
            ``overflow``.
        """
        if self.loss_scaling_manager is not None:
            return self.loss_scaling_manager(self.scale_sense, overflow)
        return overflow


def _truth(value: Any) -> Tensor:
    """Make a Tensor of shape () of a flag."""
    if isinstance(value, Tensor):
        return ops.cast(value, bool_).reshape(())
    return Tensor(bool(value), bool_)
