"""The base of optimizers: parameter groups, learning rates, weight decay, gradient scaling."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mindjax import ops
from mindjax.core import checks, world
from mindjax.core.context import get_context
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.containers import CellList
from mindjax.nn.optim.gradients import centralized, decayed, is_sparse, scaled
from mindjax.nn.optim.groups import checked_groups, checked_parameters, ordered
from mindjax.nn.optim.step import StepCell
from mindjax.nn.schedule import LearningRateSchedule
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class _Missing:
    """The default of arguments that may come later, or must come."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Any = _Missing()


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Keep what an optimizer's ``__init__`` is called with (MindSpore's name, of libraries' use).

    The optimizer gets ``init_params`` (a dict of ``params``), ``init_learning_rate`` (numbers of
    Tensors) and ``init_args``, a dict of the other arguments.

    Args:
        fn: the ``__init__``, with an argument ``params`` or ``optimizer``.

    Returns:
        The ``__init__`` to put in its place.
    """
    arguments_of = inspect.signature(fn)

    @functools.wraps(fn)
    def keeping(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = arguments_of.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        rate = given.pop("learning_rate", None)
        if isinstance(rate, Tensor) and not isinstance(rate, Parameter):
            rate = rate.asnumpy().tolist()
        optimizer = given.get("optimizer")
        fn(self, *args, **kwargs)
        if "params" in given:
            self.init_params = {"params": given.pop("params")}
        elif optimizer is not None:
            self.init_params = getattr(optimizer, "init_params", None)
            rate = getattr(optimizer, "init_learning_rate", rate)
        self.init_learning_rate = rate
        self.init_args = given

    return keeping


@dataclass
class _Settings:
    """Learning rate and weight decay as given, until the Parameters are known."""

    learning_rate: Any
    weight_decay: Any


@dataclass
class _Slot:
    """One Parameter with what its group says."""

    parameter: Parameter
    learning_rate: Any
    weight_decay: Any
    centralization: bool


class Optimizer(StepCell):
    """Base of optimizers (MindSpore: ``nn.Optimizer``).

    A call takes the gradients in the order of ``parameters`` and writes the new values. A subclass
    makes its state in ``create_state`` and its update in ``construct``. Without ``parameters`` the
    optimizer is unbound until `bind`.

    Args:
        learning_rate: number, 0-d Tensor, one rate a step (Tensor or iterable; past its end the
            last one stays), or LearningRateSchedule.
        parameters: Parameters, or groups: dicts of ``params`` with ``lr``, ``weight_decay``,
            ``grad_centralization``; a dict of ``order_params`` alone gives the order.
        weight_decay: number, or Cell of the step, times each weight added to its gradient; outside
            groups not for names with ``beta`` or ``gamma``.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError: an argument or an element is of the wrong type.
        ValueError: there are no Parameters, or a number is out of range.
        KeyError: a group has another key.
        RuntimeError: a Parameter stands in two groups.
    """

    learning_rate: Any
    # MindSpore: what optimizers of libraries find here; every rank updates all weights.
    map_: ClassVar[Any] = ops.Map()
    hyper_map: ClassVar[Any] = ops.HyperMap()
    hyper_map_reverse: ClassVar[Any] = ops.HyperMap(None, True)
    use_parallel: ClassVar[bool] = False
    # MindSpore: what 'target' may be set to: nothing, the own device, or any, which is not used.
    _targets: ClassVar[str] = "none"
    # Whether gradients of some rows (RowTensor) are taken.
    _sparse: bool = False
    # What is raised where no gradients are given, and where one is None or a text.
    _no_gradients: ClassVar[type[Exception]] = TypeError
    _no_gradient: ClassVar[type[Exception]] = TypeError

    def __init__(
        self,
        learning_rate: Any,
        parameters: Any = MISSING,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(auto_prefix=False)
        given = None if parameters is MISSING else checked_parameters(parameters)
        if isinstance(loss_scale, int):
            loss_scale = float(loss_scale)
        checks.of_type("loss_scale", loss_scale, float, self.cls_name)
        checks.float_above("loss_scale", loss_scale, self.cls_name)
        self.loss_scale = loss_scale
        self.need_scale = loss_scale != 1.0
        self.reciprocal_scale = Tensor(1.0 / loss_scale, float32)
        self.assignadd = ops.AssignAdd()
        self.global_step = Parameter(initializer(0, [1], int32), name="global_step")
        self.global_step_increase_tensor = Tensor([1], int32)
        self.dynamic_lr = self.dynamic_weight_decay = False
        self.is_group = self.is_group_lr = self.is_group_params_ordered = False
        self.is_bound = self.exec_weight_decay = False
        self._unique = True
        self.parameters = ParameterTuple(())
        rate = self._check_rate(learning_rate)
        if given is None:
            self.learning_rate = self._build_rate(rate, "learning_rate")
            self._check_decay(weight_decay)
        self._settings = _Settings(rate, weight_decay)
        if given is not None:
            self._take(given)

    # -- parameters --

    def bind(self, parameters: Any) -> Optimizer:
        """Give an optimizer that was made without Parameters those that it updates.

        Args:
            parameters: as in the constructor.

        Returns:
            The optimizer itself.

        Raises:
            RuntimeError: it has Parameters already.
        """
        if self.is_bound:
            raise located(
                RuntimeError, f"For '{self.cls_name}', the optimizer already has its parameters."
            )
        self._take(checked_parameters(parameters))
        self.create_state()
        return self

    def create_state(self) -> None:
        """Make the state of each Parameter; called once ``parameters`` are known."""

    def _take(self, parameters: list[Any]) -> None:
        settings = self._settings
        if isinstance(parameters[0], dict):
            slots = self._slots_of_groups(parameters, settings.learning_rate, settings.weight_decay)
            self.is_group = True
        else:
            decay = self._check_decay(settings.weight_decay)
            slots = [_Slot(p, None, decay, False) for p in parameters]
        if self.is_group_lr:
            rates = [s.learning_rate for s in slots]
            kind: Callable[[list[Any]], Any] = (
                (lambda cells: CellList(cells, auto_prefix=False))
                if self.dynamic_lr
                else ParameterTuple
            )
            if "learning_rate" in self._params or "learning_rate" in self._cells:
                del self.learning_rate
            self.learning_rate = kind(rates)
        elif not hasattr(self, "learning_rate"):
            self.learning_rate = self._build_rate(settings.learning_rate, "learning_rate")
        self.parameters = ParameterTuple([s.parameter for s in slots])
        self._set_decay(slots)
        self.grad_centralization_flags = tuple(s.centralization for s in slots)
        self.is_bound = True

    def _set_decay(self, slots: list[_Slot]) -> None:
        decays = [s.weight_decay for s in slots]
        dynamic = tuple(isinstance(d, Cell) for d in decays)
        if self.is_group:
            self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in decays)
            self.dynamic_decay_flags: Any = dynamic
            self.exec_weight_decay = any(self.decay_flags)
            self.weight_decay: Any = tuple(
                d if isinstance(d, Cell) else Tensor(d, float32) for d in decays
            )
        else:
            decay = decays[0]
            # MindSpore: normalisation weights are told by their names.
            self.decay_flags = tuple(
                "beta" not in s.parameter.name and "gamma" not in s.parameter.name for s in slots
            )
            self.dynamic_decay_flags = dynamic[0]
            self.exec_weight_decay = dynamic[0] or decay > 0
            self.weight_decay = decay if dynamic[0] else Tensor(decay, float32)

    @property
    def _parameters(self) -> ParameterTuple:
        return self.parameters

    @property
    def param_length(self) -> int:
        """Number of Parameters."""
        return len(self.parameters)

    @property
    def optim_filter(self) -> tuple[bool, ...]:
        """Which Parameters this rank updates: all."""
        return (True,) * len(self.parameters)

    @property
    def unique(self) -> bool:
        """Whether the rows of sparse gradients are taken as distinct; here equal rows are added."""
        return self._unique

    @unique.setter
    def unique(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise located(
                TypeError,
                f"For 'Optimizer', the property 'unique' must be bool, but got {type(value)}",
            )
        self._unique = value

    @property
    def target(self) -> str:
        """The device that updates run on, the network's own."""
        return get_context("device_target")

    @target.setter
    def target(self, value: str) -> None:
        if self._targets == "none":
            raise located(
                NotImplementedError,
                f"For '{self.cls_name}', the property 'target' cannot be set: updates run on the "
                "network's device.",
            )
        self._set_base_target(value)

    def _set_base_target(self, value: str) -> None:
        """Check a device that updates are to run on; libraries call it in setters of theirs."""
        if not isinstance(value, str):
            raise located(
                TypeError,
                f"For '{self._owner}', the property 'target' must be string, but got {type(value)}",
            )
        if value not in ("CPU", "Ascend", "GPU"):
            raise located(
                ValueError,
                f"For '{self._owner}', the property 'target' must be one of ['CPU', 'Ascend', "
                f"'GPU'], but got {value}.",
            )
        if self._targets == "own" and value != self.target:
            raise located(
                ValueError,
                f"For 'Optimizer', the property 'target' cannot be set to '{value}' in the "
                f"'{self.target}' environment.",
            )

    @property
    def _owner(self) -> str:
        return "Optimizer" if self._targets == "own" else self.cls_name

    def broadcast_params(self, optim_result: Any) -> bool:
        """Bring every rank the weights that other ranks have updated: none in a world of one.

        Args:
            optim_result: what the update gave, which comes first.

        Returns:
            True.

        Raises:
            NotImplementedError: there are several ranks, each of which updates all weights here.
        """
        if world.transport.size > 1:
            raise located(
                NotImplementedError,
                f"For '{self.cls_name}', 'broadcast_params' is not supported in a world of "
                f"{world.transport.size} processes: each of them updates all parameters.",
            )
        return True

    # -- learning rate --

    def _check_rate(self, rate: Any) -> Any:
        """Bring a learning rate to a float, a Tensor or a schedule."""
        if isinstance(rate, float | int):
            rate = float(rate)
            checks.float_above("learning rate", rate, self.cls_name, ">=")
            return rate
        if isinstance(rate, Tensor):
            if rate.ndim > 1:
                raise located(
                    ValueError,
                    "For 'Optimizer', if 'learning_rate' is Tensor type, then the dimension of it "
                    f"should be 0 or 1, but got {rate.ndim}.",
                )
            self.dynamic_lr = self.dynamic_lr or rate.ndim == 1
            return Tensor(rate, float32)
        if isinstance(rate, LearningRateSchedule):
            self.dynamic_lr = True
            return rate
        if isinstance(rate, Iterable):
            self.dynamic_lr = True
            try:
                return Tensor(np.array(list(rate)).astype(np.float32))
            except (TypeError, ValueError) as error:
                raise located(
                    type(error), f"For '{self.cls_name}', the argument 'learning_rate': {error}"
                ) from None
        raise located(
            TypeError,
            "For 'Optimizer', the argument 'learning_rate' must be int, float, Tensor, Iterable or "
            f"LearningRateSchedule, but got {type(rate)}.",
        )

    def _build_rate(self, rate: Any, name: str) -> Any:
        """Make the Parameter or Cell that holds a learning rate."""
        if isinstance(rate, LearningRateSchedule):
            return rate
        if isinstance(rate, Tensor) and rate.ndim == 1:
            return _RateOfStep(rate, name)
        parameter = Parameter(rate if isinstance(rate, Tensor) else Tensor(rate, float32), name)
        return _ConstantRate(parameter) if self.is_group_lr and self.dynamic_lr else parameter

    def get_lr(self) -> Any:
        """Give the next step's learning rate, a tuple of one a Parameter where groups differ."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            return tuple(ops.reshape(rate(self.global_step), ()) for rate in self.learning_rate)
        return ops.reshape(self.learning_rate(self.global_step), ())

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        """Tell whether rate or decay follow the step; libraries count it up themselves then."""
        return self.dynamic_lr or self.dynamic_weight_decay

    def get_lr_parameter(self, param: Any) -> Any:
        """Give what holds a Parameter's learning rate: a Parameter, or a schedule.

        Args:
            param: Parameter of this optimizer, or list of such.

        Returns:
            The holder, or a list of such.

        Raises:
            TypeError: ``param`` is neither.
            ValueError: a Parameter is not one of this optimizer's.
        """
        if not isinstance(param, Parameter | list):
            raise located(
                TypeError,
                "For 'get_lr_parameter', the 'param' must be 'Parameter' or 'list' type, but got "
                f"{type(param)}.",
            )
        places = {id(p): i for i, p in enumerate(self.parameters)}
        holders = []
        for p in param if isinstance(param, list) else [param]:
            checks.of_type("parameter", p, Parameter, self.cls_name)
            if id(p) not in places:
                raise located(
                    ValueError,
                    f"For 'get_lr_parameter', the parameter {p.name} is not in optimizer, please "
                    "check whether the argument 'param' is correct.",
                )
            rate = self.learning_rate
            rate = rate[places[id(p)]] if self.is_group_lr else rate
            holders.append(rate.learning_rate if isinstance(rate, _HeldRate) else rate)
        return holders if isinstance(param, list) else holders[0]

    # -- gradients --

    def _check_decay(self, decay: Any) -> Any:
        """Bring a weight decay to a float or a Cell, times the loss scale."""
        if isinstance(decay, float | int):
            decay = float(decay)
            checks.float_above("weight_decay", decay, self.cls_name, ">=")
            return decay * self.loss_scale
        if isinstance(decay, Cell):
            self.dynamic_weight_decay = True
            return _ScaledDecay(decay, self.loss_scale) if self.need_scale else decay
        raise located(
            TypeError,
            "For 'Optimizer', the argument 'Weight_decay' must be int, float or Cell. but got "
            f"{type(decay)}",
        )

    def get_weight_decay(self) -> Any:
        """Give the weight decay of the next step, a tuple of one a Parameter with groups."""
        if not self.dynamic_weight_decay:
            return self.weight_decay
        if self.is_group:
            return tuple(
                decay(self.global_step) if isinstance(decay, Cell) else decay
                for decay in self.weight_decay
            )
        return self.weight_decay(self.global_step)

    def decay_weight(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Add the decay of each weight to its gradient.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            The sums.
        """
        if not self.exec_weight_decay:
            return gradients
        return tuple(
            gradient if decay is None else decayed(gradient, parameter, decay)
            for gradient, parameter, decay in zip(
                gradients, self.parameters, self._decays(), strict=True
            )
        )

    def _decays(self) -> list[Any]:
        """List the weight decay of each Parameter in the next step, None for those without."""
        if not self.exec_weight_decay:
            return [None] * len(self.parameters)
        each = self._each(self.get_weight_decay(), self.is_group)
        return [d if decayed else None for d, decayed in zip(each, self.decay_flags, strict=True)]

    def gradients_centralization(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Take the mean off the gradients of groups that ask for it.

        MindSpore: only where axis 1 is a multiple of 16.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            The differences.
        """
        if not any(self.grad_centralization_flags):
            return gradients
        return tuple(
            centralized(g) if asked else g
            for g, asked in zip(gradients, self.grad_centralization_flags, strict=True)
        )

    def scale_grad(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Divide the gradients by the loss scale.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            The quotients.
        """
        if not self.need_scale:
            return gradients
        return tuple(scaled(g, self.reciprocal_scale) for g in gradients)

    def _grad_sparse_indices_deduplicate(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Give the gradients as they are: equal rows are added where they are used."""
        return gradients

    def flatten_gradients(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Give the gradients as they are: XLA lays memory out itself."""
        return gradients

    def _prepare(self, gradients: Any, decay: bool = True) -> tuple[Any, Any]:
        """Count a step; give its gradients, decayed, centralized and scaled, and its rates."""
        self._check_gradients(gradients)
        if decay:
            gradients = self.decay_weight(gradients)
        gradients = self.scale_grad(self.gradients_centralization(gradients))
        rates = self._each(self.get_lr(), self.is_group_lr)
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return gradients, rates

    def _each(self, value: Any, separate: bool) -> Sequence[Any]:
        return value if separate else (value,) * len(self.parameters)

    def _check_gradients(self, gradients: Any) -> None:
        if not self.is_bound:
            raise located(
                RuntimeError,
                f"For '{self.cls_name}', no parameters are bound: give 'params' to the constructor "
                "or call 'bind(network.trainable_params())' before the first step.",
            )
        if not isinstance(gradients, tuple | list):
            raise located(
                self._no_gradients,
                f"For '{self.cls_name}', the gradients must be a tuple or list of Tensors, but got "
                f"'{type(gradients).__name__}'.",
            )
        if len(gradients) != len(self.parameters):
            raise located(
                RuntimeError,
                f"For '{self.cls_name}', the tuples of gradients and parameters should have the "
                f"same length, but got {len(gradients)} gradients for {len(self.parameters)} "
                "parameters.",
            )
        for gradient in gradients:
            if gradient is None or isinstance(gradient, str | bool | int | float | complex):
                unfit = gradient is None or isinstance(gradient, str)
                raise located(
                    self._no_gradient if unfit else TypeError,
                    f"For '{self.cls_name}', each gradient must be a Tensor, but got "
                    f"{type(gradient).__name__}.",
                )
        if not self._sparse and any(is_sparse(g) for g in gradients):
            raise located(
                TypeError,
                f"For '{self.cls_name}', gradients of some rows (RowTensor) are not supported: use "
                "Adam, LazyAdam, FTRL or ProximalAdagrad, or give the dense gradient.",
            )

    def construct(self, gradients: Any, /) -> Any:
        """Write the new values; subclasses define it."""
        raise NotImplementedError

    # -- groups --

    def _slots_of_groups(self, groups: list[Any], rate: Any, decay: Any) -> list[_Slot]:
        groups = checked_groups(groups)
        self._check_rates_of_groups(groups, rate)
        default = None
        if not all("lr" in g for g in groups if "params" in g):
            default = self._build_rate(rate, "learning_rate")
        slots: dict[str, _Slot] = {}
        order: list[Parameter] = []
        for number, group in enumerate(groups):
            if "order_params" in group:
                order = list(group["order_params"])
                self.is_group_params_ordered = True
                continue
            own = default
            if "lr" in group:
                own = self._check_rate(group["lr"])
                own = self._build_rate(own, f"learning_rate_group_{number}")
            own_decay = self._check_decay(group.get("weight_decay", decay))
            centralization = group.get("grad_centralization", False)
            if not isinstance(centralization, bool):
                raise located(
                    TypeError,
                    "For 'Optimizer', the 'gradients_centralization' must be bool type, but got "
                    f"{type(centralization)}.",
                )
            for parameter in group["params"]:
                if parameter.name in slots:
                    raise located(
                        RuntimeError,
                        f"For 'Optimizer', the {parameter.name} parameter already exists, it does "
                        "not support repeated setting: it stands in two groups.",
                    )
                slots[parameter.name] = _Slot(parameter, own, own_decay, centralization)
        if not self.is_group_lr:
            self.learning_rate = default
        return ordered(slots, order) if order else list(slots.values())

    def _check_rates_of_groups(self, groups: list[Any], rate: Any) -> None:
        """Look at every group's rate before any is built: one that changes makes all Cells."""
        lengths = {rate.size} if isinstance(rate, Tensor) and rate.ndim == 1 else set()
        for group in groups:
            if "lr" in group:
                self.is_group_lr = True
                own = self._check_rate(group["lr"])
                if isinstance(own, Tensor) and own.ndim == 1:
                    lengths.add(own.size)
        if len(lengths) > 1:
            raise located(
                ValueError,
                "For 'Optimizer', the Tensor type dynamic learning rate in group must be the same "
                "size as the argument 'learning_rate'.",
            )


class _HeldRate(LearningRateSchedule):
    """A learning rate that is not computed but kept in a Parameter."""

    learning_rate: Parameter


class _ConstantRate(_HeldRate):
    """A constant rate among groups whose rates change.

    MindSpore: adds and subtracts one, which rounds the rate to a multiple of 1.2e-7; here it is
    exact.
    """

    def __init__(self, rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = rate

    def construct(self, global_step: Any) -> Any:
        """Give the rate."""
        return self.learning_rate


class _RateOfStep(_HeldRate):
    """One rate a step; past the end the last one stays."""

    def __init__(self, rates: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(rates, name)

    def construct(self, global_step: Any) -> Any:
        """Give the rate of a step."""
        last = self.learning_rate.size - 1
        return ops.gather(self.learning_rate, ops.minimum(global_step, last), 0)


class _ScaledDecay(Cell):
    """A changing weight decay times the loss scale."""

    def __init__(self, weight_decay: Cell, loss_scale: float) -> None:
        super().__init__()
        self.weight_decay = weight_decay
        self.loss_scale = loss_scale

    def construct(self, global_step: Any) -> Any:
        """Give the weight decay of a step."""
        return self.weight_decay(global_step) * self.loss_scale
