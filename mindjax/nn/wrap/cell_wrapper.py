"""Cells around a network: with its loss, with its gradients, and one training step."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

from mindjax import ops
from mindjax.autodiff import GradOperation, value_and_grad
from mindjax.core import checks
from mindjax.core.deferred import held
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.parallel_context import ParallelMode, get_auto_parallel_context
from mindjax.nn.cell import Cell
from mindjax.nn.optim.gradients import fitting
from mindjax.nn.precision import cast_floats
from mindjax.tensor.parameter import ParameterTuple


class WithLossCell(Cell):
    """A network with its loss (MindSpore: ``nn.WithLossCell``).

    Args:
        backbone: network of the data.
        loss_fn: Cell or function of the network's output and the label.
    """

    def __init__(self, backbone: Cell, loss_fn: Callable[..., Any]) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        """Give the loss of a batch.

        Args:
            data: input of the network.
            label: label, as the loss takes it.

        Returns:
            The loss.
        """
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """A network that gives loss, output and label (MindSpore: ``nn.WithEvalCell``).

    Args:
        network: network of the data.
        loss_fn: Cell or function of the network's output and the label.
        add_cast_fp32: whether outputs and floating-point labels are cast to Float32 first.

    Raises:
        TypeError: ``add_cast_fp32`` is not a bool.
    """

    def __init__(
        self, network: Cell, loss_fn: Callable[..., Any], add_cast_fp32: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        checks.of_type("add_cast_fp32", add_cast_fp32, bool, self.cls_name)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = add_cast_fp32

    def construct(self, data: Any, label: Any) -> Any:
        """Give the loss, the network's output and the label of a batch.

        Args:
            data: input of the network.
            label: label, as the loss takes it.

        Returns:
            Loss, output, label.
        """
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = ops.cast(outputs, float32), cast_floats(label, float32)
        return self._loss_fn(outputs, label), outputs, label


class WithGradCell(Cell):
    """The gradients of a network's loss by its Parameters (MindSpore: ``nn.WithGradCell``).

    Args:
        network: network of the data, or one that gives the loss itself.
        loss_fn: Cell or function of the network's output and the label.
        sens: cotangent of the loss, one if None.
    """

    def __init__(
        self, network: Cell, loss_fn: Callable[..., Any] | None = None, sens: Any = None
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        """Give the gradient of each Parameter.

        Args:
            *inputs: a batch.

        Returns:
            Tuple of gradients.
        """
        seeds = () if self.sens is None else (self.sens,)
        return self.grad(self.network_with_loss, self.weights)(*inputs, *seeds)


class ForwardValueAndGrad(Cell):
    """A network's output and gradients (MindSpore: ``nn.ForwardValueAndGrad``).

    Args:
        network: Cell or function.
        weights: Parameters, needed with ``get_by_list``.
        get_all: whether to differentiate by every input, else by the first.
        get_by_list: whether to differentiate by ``weights``.
        sens_param: whether the last input is the cotangent of the output.

    Raises:
        TypeError: an argument is of the wrong type.
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell | FunctionType | MethodType):
            raise located(
                TypeError,
                "For 'ForwardValueAndGrad', the argument 'network' must be cell, function type or "
                f"method type, but got '{type(network)}'",
            )
        for name, flag in (("get_all", get_all), ("get_by_list", get_by_list)):
            if not isinstance(flag, bool):
                raise located(
                    TypeError,
                    f"For 'ForwardValueAndGrad', the type of '{name}' must be bool, but got "
                    f"'{type(flag)}'",
                )
        if get_by_list and not isinstance(weights, tuple | list):
            raise located(
                TypeError,
                "For 'ForwardValueAndGrad', when 'get_by_list' is set to True, the argument "
                f"'weights' must be Parameters array, but got '{type(weights)}'",
            )
        self.network = network
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.grad = GradOperation(get_all, get_by_list, sens_param)

    def construct(self, *inputs: Any) -> Any:
        """Give the output and the gradients.

        Args:
            *inputs: inputs of the network, then the cotangent with ``sens_param``.

        Returns:
            Output, gradients as `GradOperation` gives them.
        """
        output = self.network(*(inputs[:-1] if self.sens_param else inputs))
        weights = self.weights if self.get_by_list else None
        return output, self.grad(self.network, weights)(*inputs)


class TrainOneStepCell(Cell):
    """One training step: loss, gradients, update (MindSpore: ``nn.TrainOneStepCell``).

    Args:
        network: network that gives the loss.
        optimizer: takes the gradients; an unbound one is bound to the network's trainable
            Parameters.
        sens: cotangent of the loss, one if None.
        return_grad: whether a call also gives the gradients, by name.

    Raises:
        ValueError: ``sens`` is zero.
    """

    def __init__(
        self, network: Any, optimizer: Any, sens: Any = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        for name, value, needed in (
            ("network", network, "set_grad"),
            ("optimizer", optimizer, "parameters"),
        ):
            if not hasattr(value, needed):
                raise located(
                    AttributeError,
                    f"For 'TrainOneStepCell', the '{name}' must have '{needed}', but got "
                    f"'{type(value).__name__}'.",
                )
        self.network = network
        self.network.set_grad()
        if getattr(optimizer, "is_bound", True) is False:
            optimizer.bind(network.trainable_params())
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        # Subclasses that define their own step use these four as in the original.
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        mode = get_auto_parallel_context("parallel_mode")
        self.parallel_mode = mode
        self.reducer_flag = mode in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
        self.grad_reducer = _unchanged
        if self.reducer_flag:
            # The reducer's module is one that loads late, and imports this one.
            from mindjax.nn.training.reducer import DistributedGradReducer

            self.grad_reducer = DistributedGradReducer(self.weights)
        if sens == 0:
            raise located(ValueError, "The input argument of 'sens' can not be 0.")
        self.sense_flag = sens is not None
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch.

        Args:
            *inputs: inputs of the network.

        Returns:
            The loss; with ``return_grad`` a pair of it and the gradients by name.
        """
        return held(self._train, *inputs)

    def _train(self, *inputs: Any) -> Any:
        if self.sense_flag:
            (_, loss), gradients = self._scaled_value_and_grad(*inputs)
        else:
            loss, gradients = value_and_grad(self.network, None, self.weights)(*inputs)
        gradients = self.grad_reducer(fitting(self.optimizer, gradients))
        self.optimizer(gradients)
        if self.return_grad:
            names = [w.name for w in self.weights]
            return loss, dict(zip(names, gradients, strict=True))
        return loss

    def _scaled_value_and_grad(self, *inputs: Any) -> Any:
        """Differentiate the loss times ``sens``; the loss comes second."""

        def scaled(*arguments: Any) -> Any:
            loss = self.network(*arguments)
            return loss * self.sens, loss

        return value_and_grad(scaled, None, self.weights, has_aux=True)(*inputs)


def _unchanged(gradients: Any) -> Any:
    return gradients


class _VirtualDatasetCell(Cell):
    """A network whose inputs a data set gives (MindSpore: of ``nn.wrap.cell_wrapper``).

    How parallel training splits them is what ``dataset_strategy`` says for whatever Cell a program
    is made of, so that the network runs as it is.

    Args:
        backbone: network of the inputs.
    """

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        """Give the network's outputs."""
        return self._backbone(*inputs)


def __getattr__(name: str) -> Any:
    # The rest of the original's module of this name lies in modules of its own.
    if name.startswith("_"):
        raise AttributeError(f"module 'mindspore.nn.wrap.cell_wrapper' has no attribute '{name}'")
    return getattr(import_module("mindjax.nn.wrap"), name)
