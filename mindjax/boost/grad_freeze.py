"""Training with the gradients of some layers left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax import nn, ops
from mindjax.boost.base import OptimizerProcess, ParameterProcess
from mindjax.boost.grad_accumulation import GradientAccumulation
from mindjax.core.dtype import int32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.training.reducer import DistributedGradReducer
from mindjax.tensor.tensor import Tensor

CONTINUOUS_STRATEGY = 0
INTERVAL_STRATEGY = 1


class FreezeOpt(Cell):
    """An optimizer for each group of Parameters that is trained (MindSpore: ``boost.FreezeOpt``).

    Args:
        opt: optimizer of all Parameters.
        train_parameter_groups: tuple or list of groups; None for one of all.
        train_strategy: index of the group that each step trains: ints or an Int32 Tensor; None for
            one after another.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a strategy without groups, or of something else than ints.
    """

    def __init__(
        self, opt: Any, train_parameter_groups: Any = None, train_strategy: Any = None
    ) -> None:
        super().__init__()
        if not isinstance(opt, nn.Optimizer):
            raise located(
                TypeError, f"The first arg 'opt' must be an Optimizer instance, but got {type(opt)}"
            )
        if train_strategy is not None and train_parameter_groups is None:
            raise located(
                ValueError,
                "When the 'train_strategy' is specified, the value of 'train_parameter_groups' "
                "must also be specified",
            )
        process = OptimizerProcess(opt)
        self.is_lars, self.single_opt = process.is_lars, process.single_opt
        self.parameters = process.single_opt.parameters
        self.learning_rate, self.dynamic_lr = process.learning_rate, process.single_opt.dynamic_lr
        if train_parameter_groups is None:
            train_parameter_groups = [tuple(opt.parameters)]
        elif not isinstance(train_parameter_groups, tuple | list):
            raise located(
                TypeError, "The specified 'train_parameter_groups' should be tuple or list"
            )
        self.groups_num = len(train_parameter_groups)
        self.train_strategy = _strategy(train_strategy)
        rates = self._rates_of_groups()
        self.opts: list[Any] = []
        for index, parameters in enumerate(train_parameter_groups):
            if not isinstance(parameters, tuple | list):
                raise located(
                    TypeError,
                    "The each element of 'train_parameter_groups' should be tuple or list to store "
                    "the Parameter",
                )
            process.origin_params = list(parameters)
            process.learning_rate = rates[index] or self.learning_rate
            made = process.generate_new_optimizer()
            for state in made._params.values():
                if not any(state is p for p in made.parameters):
                    state.name = f"boost_{index}{state.name}"
            self.opts.append(made)
        self.opt_index = len(self.opts)

    def _rates_of_groups(self) -> list[list[float]]:
        """Share the rates of the steps out to the groups that the steps train."""
        rates: list[list[float]] = [[] for _ in range(self.groups_num)]
        if self.dynamic_lr and isinstance(self.learning_rate, list) and self.train_strategy:
            strategy = self.train_strategy.asnumpy().tolist()
            if len(self.learning_rate) <= len(strategy):
                for rate, group in zip(self.learning_rate, strategy, strict=False):
                    rates[group].append(rate)
        return rates


def _strategy(given: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, tuple | list):
        if not all(isinstance(i, int) for i in given):
            raise located(ValueError, "The element in train_strategy should be int number")
        return Tensor(list(given), int32)
    if not isinstance(given, Tensor):
        raise located(
            TypeError, "The specified 'train_strategy' should be None, tuple, list or Tensor"
        )
    if given.ndim != 1 or given.dtype is not int32:
        raise located(
            ValueError,
            "When train_strategy is a Tensor, the dimension should be 1 and the dtype should be "
            "int32",
        )
    return given


class _TrainFreezeCell(Cell):
    """A training step of one group of Parameters."""

    def __init__(
        self,
        net: Cell,
        sens: Any,
        grad: Any,
        grad_reducer: Any,
        use_grad_accumulation: bool,
        optimizer: Any,
        max_accumulation_step: int = 1,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.net, self.grad, self.grad_reducer = net, grad, grad_reducer
        self.opt, self.parameters, self.sens = optimizer, optimizer.parameters, sens
        self.use_grad_accumulation = use_grad_accumulation
        if use_grad_accumulation:
            self.grad_accumulation = GradientAccumulation(max_accumulation_step, optimizer)

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch and give the loss."""
        loss = self.net(*inputs)
        sens = ops.ones_like(loss) * self.sens
        gradients = self.grad_reducer(self.grad(self.net, self.parameters)(*inputs, sens))
        if self.use_grad_accumulation:
            return self.grad_accumulation(loss, gradients)
        self.opt(gradients)
        return loss


class GradientFreeze:
    """Choose at random which layers each step trains (MindSpore: ``boost.GradientFreeze``).

    Args:
        param_groups: number of groups; group i leaves the first i parts of the network out.
        freeze_type: 0: steps of all layers, then one step of each group; 1: in turn.
        freeze_p: part of the steps that leaves layers out.
        total_steps: steps of the training.
    """

    def __init__(
        self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int
    ) -> None:
        self._param_groups, self._freeze_type = param_groups, freeze_type
        self._freeze_p, self._total_steps = freeze_p, total_steps
        self.grad_reducer = nn.Identity()

    def split_parameters_groups(self, net: Cell, freeze_para_groups_number: int) -> list[list[Any]]:
        """Give groups of Parameters, each without the first ones of the group before it.

        Args:
            net: the network.
            freeze_para_groups_number: number of groups.
        """
        parts: list[list[Any]] = []
        part: list[Any] = []
        for parameter in net.trainable_params():
            # A normalization or bias stays with its layer.
            if "bn" not in parameter.name and "bias" not in parameter.name and len(part) >= 3:
                parts.append(part)
                part = []
            part.append(parameter)
        if part:
            parts.append(part)
        stride = len(parts) // freeze_para_groups_number
        return [
            [p for part in parts[i * stride :] for p in part]
            for i in range(freeze_para_groups_number)
        ]

    def generate_freeze_index_sequence(
        self,
        parameter_groups_number: int,
        freeze_strategy: int,
        freeze_p: float,
        total_steps: int,
    ) -> list[int]:
        """Give the index of the group that each step trains.

        Args:
            parameter_groups_number: number of groups.
            freeze_strategy: 0 or 1, see the class.
            freeze_p: part of the steps that leaves layers out.
            total_steps: steps of the training; one in a hundred more are given.

        Raises:
            ValueError: another strategy.
        """
        count = int(total_steps * 1.01)
        if parameter_groups_number <= 1:
            return [0] * count
        others = list(range(1, parameter_groups_number))
        if freeze_strategy == CONTINUOUS_STRATEGY:
            zeros = int(freeze_p * (parameter_groups_number - 1) // (1 - freeze_p) + 0.5)
            round_ = [0] * zeros + others
            return round_ * max(1, -(-count // len(round_)))
        if freeze_strategy == INTERVAL_STRATEGY:
            chances = [x / sum(others) for x in others]
            indexes, frozen = [0], 0
            while len(indexes) < count:
                if frozen / len(indexes) < 1 - freeze_p:
                    indexes.append(int(np.random.choice(others[::-1], p=chances)))
                    frozen += 1
                else:
                    indexes.append(0)
            return indexes
        raise located(ValueError, f"Unsupported freezing training strategy '{freeze_strategy}'")

    def freeze_generate(self, network: Cell, optimizer: Any) -> tuple[Cell, FreezeOpt]:
        """Give the network and an optimizer of its groups.

        Args:
            network: the network.
            optimizer: of all its Parameters.
        """
        origin = OptimizerProcess(optimizer).origin_params
        groups = [
            ParameterProcess.generate_group_params(group, origin)
            for group in self.split_parameters_groups(network, self._param_groups)
        ]
        strategy = self.generate_freeze_index_sequence(
            self._param_groups, self._freeze_type, self._freeze_p, self._total_steps
        )
        return network, FreezeOpt(optimizer, groups, strategy)


def freeze_cell(
    reducer_flag: bool,
    network: Cell,
    optimizer: FreezeOpt,
    sens: Any,
    grad: Any,
    use_grad_accumulation: bool,
    mean: bool | None = None,
    degree: int | None = None,
    max_accumulation_step: int = 1,
) -> Sequence[Cell]:
    """Give a training step for each group (MindSpore: ``boost.freeze_cell``).

    Args:
        reducer_flag: whether gradients are summed over processes.
        network: gives the loss.
        optimizer: of the groups.
        sens: cotangent of the loss.
        grad: a `GradOperation` by list and with ``sens_param``.
        use_grad_accumulation: whether gradients of several steps are added up.
        mean: whether the sums are divided by ``degree``.
        degree: number of processes.
        max_accumulation_step: number of those steps.
    """
    process = ParameterProcess()
    steps = []
    for opt in optimizer.opts:
        reducer: Any = nn.Identity()
        if reducer_flag:
            parameters = process.assign_parameter_group(tuple(opt.parameters))
            reducer = DistributedGradReducer(parameters, mean, degree)
        steps.append(
            _TrainFreezeCell(
                network, sens, grad, reducer, use_grad_accumulation, opt, max_accumulation_step
            )
        )
    return tuple(steps)
