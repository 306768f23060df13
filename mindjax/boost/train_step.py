"""The training step of `mindspore.boost`: accumulated, frozen, projected or summed gradients."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.autodiff import value_and_grad
from mindjax.boost.adasum import AdaSum
from mindjax.boost.auto_boost import AutoBoost
from mindjax.boost.components import load_matrix
from mindjax.boost.dim_reduce import DimReduce
from mindjax.boost.grad_accumulation import GradientAccumulation
from mindjax.boost.grad_freeze import FreezeOpt, freeze_cell
from mindjax.boost.ranks import process_count, process_rank
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.graph.branch import run_if
from mindjax.nn.cell import Cell
from mindjax.nn.optim.gradients import fitting
from mindjax.nn.training.loss_scale import TrainOneStepWithLossScaleCell
from mindjax.nn.wrap.cell_wrapper import TrainOneStepCell
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class BoostTrainOneStepCell(TrainOneStepCell):
    """A training step with the algorithms that `AutoBoost` and the optimizer ask for.

    Args:
        network: gives the loss.
        optimizer: an optimizer, or a `FreezeOpt`.
        sens: cotangent of the loss, one if None.

    MindSpore: ``boost.BoostTrainOneStepCell``.
    """

    def __init__(self, network: Cell, optimizer: Any, sens: Any = None) -> None:
        super().__init__(network, optimizer, sens)
        self.freeze = isinstance(optimizer, FreezeOpt)
        self.train_strategy = getattr(optimizer, "train_strategy", None)
        self.auto_boost = boost = AutoBoost()
        self.max_accumulation_step = 1
        if boost.boost_config.get("grad_accumulation"):
            self.max_accumulation_step = max(1, boost.grad_accumulation_step)
        self.use_grad_accumulation = self.max_accumulation_step > 1
        self.accumulation_step = Parameter(Tensor(0, int32), name="accumulation_step")
        self.enable_dim_reduce = self.check_dim_reduce_enable()
        if self.enable_dim_reduce:
            self.weights_clone = ParameterTuple(self.weights).clone("weights_clone", "same")
            assert boost.local_pca_mat_path is not None
            self.dim_reduce = DimReduce(
                network,
                optimizer,
                self.weights,
                load_matrix(boost.local_pca_mat_path, boost.timeout),
                boost.n_components,
                boost.rho,
                boost.gamma,
                boost.alpha,
                boost.sigma,
                process_rank(),
                process_count(),
            )
        self.enable_adasum = self.check_adasum_enable()
        if self.enable_adasum:
            self.old_weights = ParameterTuple(self.weights).clone("delta_weight", "same")
            servers = process_count() // boost.device_number
            self.adasum = AdaSum(process_rank(), boost.device_number, servers, self.weights)
        if self.use_grad_accumulation and not self.freeze:
            self.accumulation = GradientAccumulation(self.max_accumulation_step, _Update(self))
            self.accumulation._accumulation_step = self.accumulation_step
        self.step = Parameter(Tensor(0, int32), name="step")
        self.sync_tensor = Parameter(Tensor(0, int32), name="sync_tensor")
        self.__dict__["_at"] = 0
        self.freeze_nets: Any = None
        if self.freeze:
            self.loss = Parameter(Tensor(0.0, float32), name="boost_loss")
            self.freeze_nets = freeze_cell(
                self.reducer_flag,
                network,
                optimizer,
                self.sens,
                self.grad,
                self.use_grad_accumulation,
                max_accumulation_step=self.max_accumulation_step,
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Train on a batch; each group of Parameters that is trained is a program of its own."""
        if self.freeze and current.frame is None and type(self) is BoostTrainOneStepCell:
            return self.gradient_freeze_process(*args)
        return super().__call__(*args, **kwargs)

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch and give the loss."""
        if self.freeze:
            return self.gradient_freeze_process(*inputs)
        if self.sense_flag:
            (_, loss), gradients = self._scaled_value_and_grad(*inputs)
        else:
            loss, gradients = value_and_grad(self.network, None, self.weights)(*inputs)
        gradients = self.grad_reducer(fitting(None, gradients))
        return self._apply(loss, gradients, self.sens, inputs)

    def _apply(self, loss: Any, gradients: Any, sens: Any, inputs: tuple[Any, ...]) -> Any:
        """Use gradients of the scaled loss as the algorithms ask for."""
        if self.use_grad_accumulation:
            return self.gradient_accumulation_process(loss, gradients, sens, *inputs)
        if self.enable_dim_reduce:
            return self.dim_reduce(loss, gradients, sens, self.weights, self.weights_clone, *inputs)
        if self.enable_adasum:
            return self.adasum_process(loss, gradients)
        self.optimizer(gradients)
        return loss

    def gradient_freeze_process(self, *inputs: Any) -> Any:
        """Train the group of Parameters whose turn it is, and give the loss.

        Args:
            *inputs: the batch.
        """
        turns = self.train_strategy
        count = len(self.freeze_nets) if turns is None else turns.shape[0]
        if current.frame is None:
            at = self.__dict__["_at"]
            if "_turns" not in self.__dict__:
                self.__dict__["_turns"] = None if turns is None else turns.asnumpy().tolist()
            order = self.__dict__["_turns"]
            loss = self.freeze_nets[at if order is None else order[at]](*inputs)
            self.__dict__["_at"] = (at + 1) % count
            return loss
        turn = self.step if turns is None else turns[self.step]
        for index, network in enumerate(self.freeze_nets):
            run_if(turn == index, lambda n=network: ops.assign(self.loss, n(*inputs)))
        ops.assign(self.step, (self.step + 1) % count)
        return self.loss + 0

    def gradient_accumulation_process(self, loss: Any, grads: Any, sens: Any, *inputs: Any) -> Any:
        """Add gradients up, use them if it is time, and give the loss.

        Args:
            loss: of the batch.
            grads: its gradients.
            sens: their scale.
            *inputs: the batch.
        """
        return self.accumulation(loss, grads)

    def adasum_process(self, loss: Any, grads: Any) -> Any:
        """Update, combine the changes of all servers, and give the loss.

        Args:
            loss: of the batch.
            grads: its gradients.
        """
        for old, weight in zip(self.old_weights, self.weights, strict=True):
            ops.assign(old, weight + 0)
        self.optimizer(grads)
        changes = [o - w for o, w in zip(self.old_weights, self.weights, strict=True)]
        self.adasum(changes, self.weights, self.old_weights)
        return loss

    def check_adasum_enable(self) -> bool:
        """Tell whether there are several servers whose changes are to be combined."""
        if not getattr(self.optimizer, "adasum", False) or not self.reducer_flag:
            return False
        servers = process_count() // self.auto_boost.device_number
        return servers > 1 and servers & (servers - 1) == 0

    def check_dim_reduce_enable(self) -> bool:
        """Tell whether the optimizer is the one of `DimReduce`."""
        return bool(getattr(self.optimizer, "dim_reduce", False))


class _Update:
    """What accumulated gradients are given to."""

    def __init__(self, step: BoostTrainOneStepCell) -> None:
        self._step, self.parameters = step, step.weights

    def __call__(self, gradients: Any) -> Any:
        """Update the Parameters."""
        if self._step.enable_adasum:
            return self._step.adasum_process(None, gradients)
        return self._step.optimizer(gradients)


class BoostTrainOneStepWithLossScaleCell(BoostTrainOneStepCell):
    """The step with a scaled loss, which updates nothing if the gradients overflow.

    Args:
        network: gives the loss.
        optimizer: takes the unscaled gradients.
        scale_sense: Cell that updates the scale, or the scale as a Tensor of shape () or (1,).

    Raises:
        TypeError: ``scale_sense`` is neither a Cell nor a Tensor.
        ValueError: its shape is another one.

    MindSpore: ``boost.BoostTrainOneStepWithLossScaleCell``.
    """

    def __init__(self, network: Cell, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer, sens=None)
        if self.freeze:
            raise located(
                NotImplementedError,
                "For 'BoostTrainOneStepWithLossScaleCell', a 'FreezeOpt' does not go with a loss "
                "scale that is updated: use BoostTrainOneStepCell with 'sens'.",
            )
        self.scaled = TrainOneStepWithLossScaleCell(network, optimizer, scale_sense)
        self.scale_sense = self.scaled.scale_sense
        self.loss_scaling_manager = self.scaled.loss_scaling_manager

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch; gives the loss, whether the gradients overflow, and the scale."""
        loss, gradients = self.scaled._unscaled(*inputs)
        over = self.scaled.process_loss_scale(self.scaled.get_overflow_status(None, gradients))
        one = Tensor(1.0, float32)
        run_if(ops.logical_not(over), lambda: self._apply(loss, gradients, one, inputs))
        return loss, over, self.scale_sense
