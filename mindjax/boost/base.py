"""Optimizers and groups of Parameters, made anew for `mindspore.boost`."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from typing import Any

from mindjax import nn
from mindjax.boost.less_bn import CommonHeadLastFN
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.optim.step import arguments_of
from mindjax.tensor.parameter import Parameter

logger = logging.getLogger("mindjax")


def made_with(optimizer: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Give the Parameters or groups, the rate and the other arguments that made an optimizer.

    Args:
        optimizer: any but LARS.

    Raises:
        TypeError: it is a copy, whose arguments are not known.
    """
    found = arguments_of(optimizer)
    if found is None:
        raise located(
            TypeError,
            f"For 'boost', the arguments of this '{type(optimizer).__name__}' are not known: make "
            "it by its constructor.",
        )
    bound = inspect.signature(type(optimizer)).bind_partial(*found[0], **found[1])
    given = dict(bound.arguments)
    parameters = given.pop("params", None)
    if parameters is None or inspect.isgenerator(parameters):
        parameters = list(optimizer.parameters)
    rate = given.pop("learning_rate", None)
    return parameters, optimizer.learning_rate if rate is None else rate, given


def _checked(parameters: Any) -> list[Any]:
    found = list(parameters) if parameters is not None else []
    if not found:
        raise located(ValueError, "Optimizer got an empty parameter list.")
    if not isinstance(found[0], dict | Parameter):
        raise located(TypeError, "Only a list of Parameter or dict can be supported.")
    return found


class OptimizerProcess:
    """Make an optimizer anew, with other groups (MindSpore: ``boost.OptimizerProcess``).

    Args:
        opt: the optimizer.
    """

    def __init__(self, opt: Any) -> None:
        self.is_lars = isinstance(opt, nn.LARS)
        self.lars_init_args: dict[str, Any] = {}
        if self.is_lars:
            (_, *more), named = arguments_of(opt) or ((None,), {})
            names = list(inspect.signature(nn.LARS).parameters)[1:]
            self.lars_init_args = {**dict(zip(names, more, strict=False)), **named}
            self.lars_init_args.pop("optimizer", None)
            opt = opt.opt
        self.single_opt = opt
        self.opt_class = type(opt)
        self.origin_params, self.learning_rate, self.opt_init_args = made_with(opt)

    @staticmethod
    def build_params_dict(network: Cell) -> dict[int, Cell]:
        """Map the id of each Parameter to the Cell that owns it.

        Args:
            network: the network.
        """
        return {
            id(p): cell
            for _, cell in network.cells_and_names()
            for p in cell.get_parameters(expand=False)
        }

    @staticmethod
    def build_gc_params_group(params_dict: dict[int, Cell], parameters: list[Any]) -> list[Any]:
        """Split groups into those whose gradients are centralized and the others.

        Args:
            params_dict: of `build_params_dict`.
            parameters: groups.

        Returns:
            Groups, of which weights of layers but those of grouped convolutions and of
            `CommonHeadLastFN` have ``grad_centralization``.
        """
        groups = []
        for group in parameters:
            if "order_params" in group:
                groups.append(group)
                continue
            chosen = [p for p in group["params"] if _centralized(p, params_dict.get(id(p)))]
            others = [p for p in group["params"] if not any(p is c for c in chosen)]
            if chosen:
                groups.append({**group, "params": chosen, "grad_centralization": True})
            if others:
                groups.append({**group, "params": others})
        return groups

    def add_grad_centralization(self, network: Cell) -> None:
        """Centralize the gradients of the network's weights; only groups can be.

        Args:
            network: the network.

        Raises:
            ValueError: there are no Parameters.
            TypeError: they are of another type.
        """
        parameters = _checked(self.origin_params)
        if isinstance(parameters[0], Parameter):
            logger.warning("Only group parameters support gradient centralization.")
            return
        self.origin_params = self.build_gc_params_group(self.build_params_dict(network), parameters)

    def generate_new_optimizer(self) -> Any:
        """Make the optimizer of the new groups."""
        made = self.opt_class(
            params=self.origin_params, learning_rate=self.learning_rate, **self.opt_init_args
        )
        return nn.LARS(made, **self.lars_init_args) if self.is_lars else made


def _centralized(parameter: Any, owner: Cell | None) -> bool:
    if any(word in parameter.name for word in ("beta", "gamma", "bias")):
        return False
    grouped = isinstance(owner, nn.Conv2d) and owner.group > 1
    return not grouped and not isinstance(owner, CommonHeadLastFN)


class ParameterProcess:
    """Group Parameters (MindSpore: ``boost.ParameterProcess``)."""

    def __init__(self) -> None:
        self._parameter_indices = 1

    @staticmethod
    def generate_group_params(parameters: Sequence[Any], origin_params: Any) -> list[Any]:
        """Give groups of some Parameters like those that an optimizer was made of.

        Args:
            parameters: the Parameters.
            origin_params: Parameters or groups that the optimizer was made of.

        Raises:
            ValueError: ``origin_params`` is empty.
            TypeError: it holds something else.
        """
        origin = _checked(origin_params)
        if isinstance(origin[0], Parameter):
            return [{"params": parameters}]
        named = {p.name: p for p in parameters}
        left, groups = dict(named), []
        # What stands in no group takes the settings of the group that has most.
        fullest: dict[str, Any] = {}
        for group in origin:
            if "order_params" in group:
                groups.append({**group, "order_params": parameters})
                continue
            chosen = [named[p.name] for p in group["params"] if p.name in named]
            for p in chosen:
                left.pop(p.name, None)
            groups.append({**group, "params": chosen})
            if len(group) > len(fullest):
                fullest = group
        if left:
            groups.append({**fullest, "params": list(left.values())})
        return groups

    def assign_parameter_group(self, parameters: Any, split_point: list[int] | None = None) -> Any:
        """Number the groups in which gradients are sent together; noted on the Parameters.

        Args:
            parameters: the Parameters.
            split_point: indices at which a group begins; None for the middle.

        Returns:
            The Parameters.
        """
        if not isinstance(parameters, list | tuple) or not parameters:
            return parameters
        points = split_point or [len(parameters) // 2]
        for i, parameter in enumerate(parameters):
            if i in points:
                self._parameter_indices += 1
            parameter.comm_fusion = self._parameter_indices
        return parameters
