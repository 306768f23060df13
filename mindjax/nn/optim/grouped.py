"""Optimizers whose hyper-parameters live in ``param_groups``, as `mint.optim` has them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.nn.optim.step import StepCell, one_program
from mindjax.ops.update import AdamStep, DescentStep
from mindjax.tensor.parameter import Parameter, ParameterTuple, changed
from mindjax.tensor.tensor import Tensor


class _Group(dict[str, Any]):
    """A group; compiled programs are looked at again when it changes."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        changed()

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        changed()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several values."""
        super().update(*args, **kwargs)
        changed()


class Optimizer(StepCell):
    """Base of optimizers with ``param_groups`` (MindSpore: ``experimental.optim.Optimizer``).

    A learning rate is a Parameter: written, it takes effect without a compilation. The other
    values of a group are constants of the compiled program, which follows when they change.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the defaults' keys.
        defaults: hyper-parameters by name.

    Raises:
        TypeError: an argument or an element is of the wrong type.
        ValueError: there are no Parameters, or one stands in two groups.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        groups = _check_params(params)
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self._kept: dict[str, tuple[Any, bool]] = {}
        self._is_made = False
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)
        self.parameters = ParameterTuple([p for g in self.param_groups for p in g["params"]])
        self._is_made = True

    def keep(self, name: str, init: Any = "zeros", number: bool = False) -> None:
        """Make a state of each Parameter, and of those that are added later.

        Args:
            name: of the attribute, and before each Parameter's name.
            init: first value, as in `Parameter.clone`; a float if it is a number.
            number: whether it is a number each, and no Tensor of the Parameter's shape.
        """
        self._kept[name] = (init, number)
        setattr(self, name, self._made(name, self.parameters))

    def _made(self, name: str, parameters: ParameterTuple) -> ParameterTuple:
        init, number = self._kept[name]
        if not number:
            return parameters.clone(prefix=name, init=init)
        return ParameterTuple(
            [Parameter(Tensor(init, float32), f"{name}_{p.name}") for p in parameters]
        )

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, whose Parameters come after the others.

        Args:
            param_group: dict of ``params`` with any of the defaults' keys.

        Raises:
            TypeError: it is no dict, or an element is no Parameter.
            ValueError: a Parameter stands in two groups.
        """
        if not isinstance(param_group, dict):
            raise located(TypeError, "Param group must be a dict.")
        group = _Group(self.defaults | param_group)
        group["params"] = self._check_group(param_group["params"])
        name = f"learning_rate_group_{len(self.param_groups)}"
        group["lr"] = self._rate(group.get("lr"), name)
        decay = group.setdefault("weight_decay", 0.0)
        if not isinstance(decay, float | int):
            raise located(
                TypeError,
                "For 'Optimizer', the argument 'Weight_decay' must be int or float, but got "
                f"{type(decay)}",
            )
        checks.float_above("weight_decay", float(decay), self.cls_name, ">=")
        self.param_groups.append(group)
        if self._is_made:
            fresh = ParameterTuple(group["params"])
            for kept in self._kept:
                together = [*getattr(self, kept), *self._made(kept, fresh)]
                setattr(self, kept, ParameterTuple(together))
            self.parameters = ParameterTuple([*self.parameters, *fresh])
            changed()

    @property
    def lrs(self) -> list[Any]:
        """The learning rate of each group."""
        return [group["lr"] for group in self.param_groups]

    @property
    def group_start_id(self) -> list[int]:
        """Where each group's Parameters begin among all, and the number of all at the end."""
        return [0, *itertools.accumulate(len(group["params"]) for group in self.param_groups)]

    def _check_group(self, params: Any) -> list[Parameter]:
        if isinstance(params, set):
            raise located(
                TypeError,
                "Optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead.",
            )
        params = [params] if isinstance(params, Parameter) else list(params)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for p in params:
            if not isinstance(p, Parameter):
                raise located(
                    TypeError,
                    f"Optimizer can only optimize Parameters, but one of the params is {type(p)}.",
                )
            if id(p) in known:
                raise located(
                    ValueError, "some parameters appear in more than one parameter group."
                )
        return params

    def _rate(self, rate: Any, name: str) -> Parameter:
        if isinstance(rate, Tensor):
            if rate.ndim != 0:
                raise located(
                    ValueError,
                    "For 'Optimizer', if 'learning_rate' is a Tensor, then it should be scalar "
                    "Tensor",
                )
            return Parameter(Tensor(rate, float32), name)
        if not isinstance(rate, float | int):
            raise located(
                TypeError,
                "For 'Optimizer', the argument 'learning_rate' must be int, float or Tensor, but "
                f"got {type(rate)}.",
            )
        checks.float_above("learning rate", float(rate), self.cls_name, ">=")
        return Parameter(Tensor(float(rate), float32), name)

    def guard(self) -> Any:
        """Give what a compiled program takes as constant, the groups' values among it."""
        values = [
            (
                key,
                type(value),
                value if isinstance(value, bool | int | float | tuple) else id(value),
            )
            for group in self.param_groups
            for key, value in group.items()
        ]
        return super().guard(), values

    def _check_gradients(self, gradients: Any) -> None:
        if not isinstance(gradients, tuple | list):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the gradients must be a tuple or list of Tensors, but got "
                f"'{type(gradients).__name__}'.",
            )
        if len(gradients) != len(self.parameters):
            raise located(
                RuntimeError,
                f"For '{self.cls_name}', {len(gradients)} gradients are given for "
                f"{len(self.parameters)} parameters.",
            )
        for gradient in gradients:
            if isinstance(gradient, bool | int | float | complex):
                raise located(
                    TypeError,
                    f"For '{self.cls_name}', each gradient must be a Tensor, but got "
                    f"{type(gradient).__name__}.",
                )

    def construct(self, gradients: Any) -> Any:
        """Write the new values; subclasses define it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"\nParameter Group {i}\n")
            for key in sorted(group.keys() - {"params"}):
                value = group[key]
                lines.append(f"    {key}: {float(value) if key == 'lr' else value}\n")
        return f"{type(self).__name__} ({''.join(lines)})"


class AdamW(Optimizer):
    """Adam with decoupled weight decay (MindSpore: ``mint.optim.AdamW``; Loshchilov & Hutter 2019).

    Args:
        params: as in `Optimizer`.
        lr: learning rate, a float from 0 up.
        betas: decays of the two moments, two floats from 0 up and below 1.
        eps: float from 0 up, added to the root.
        weight_decay: float from 0 up.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _decoupled = True
    _first_step = -1.0

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        _check_adam(type(self).__name__, lr, betas, eps, weight_decay, amsgrad, maximize)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.keep("exp_avg")
        self.keep("exp_avg_sq")
        for group in self.param_groups:
            self._keep_largest(group)
        self.state_step = Parameter(Tensor([self._first_step], float32), "state_step")
        self.increase_tensor = Tensor([1.0], float32)

    def _keep_largest(self, group: dict[str, Any]) -> None:
        if group["amsgrad"]:
            largest = ParameterTuple(group["params"]).clone("max_exp_avg_sq", "zeros")
            group["max_exp_avg_sq"] = largest

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, as in `Optimizer`."""
        super().add_param_group(param_group)
        if self._is_made:
            self._keep_largest(self.param_groups[-1])

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and moments.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        ops.assign_add(self.state_step, self.increase_tensor)
        step = self.state_step - self._first_step
        place = 0
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            record = AdamStep(
                beta1,
                beta2,
                group["eps"],
                float(group["weight_decay"]),
                self._decoupled,
                group["maximize"],
                group["amsgrad"],
            )
            for i, parameter in enumerate(group["params"]):
                largest = group["max_exp_avg_sq"][i] if group["amsgrad"] else None
                moments = self.exp_avg[place], self.exp_avg_sq[place], largest
                record(parameter, *moments, gradients[place], group["lr"], step)
                place += 1
        return True


class FusedAdamW(AdamW):
    """The same as `AdamW`: XLA fuses the update (MindSpore: ``mint.optim.FusedAdamW``).

    Args:
        params: as in `Optimizer`; ``amsgrad`` is the same in all groups.
        lr: learning rate, a float from 0 up.
        betas: decays of the two moments, two floats from 0 up and below 1.
        eps: float from 0 up, added to the root.
        weight_decay: float from 0 up.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range, or groups differ in ``amsgrad``.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
        self.global_amsgrad: bool = self.param_groups[0]["amsgrad"]
        self.inject_group_amsgrad_states()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, as in `Optimizer`.

        Raises:
            ValueError: the group differs from the others in ``amsgrad``.
        """
        super().add_param_group(param_group)
        if self._is_made:
            self.inject_group_amsgrad_states()

    def inject_group_amsgrad_states(self) -> None:
        """Check that ``amsgrad`` is the same in all groups; each holds its largest moments.

        Raises:
            ValueError: groups differ.
        """
        flags = [bool(group["amsgrad"]) for group in self.param_groups]
        if len(set(flags)) > 1:
            raise located(
                ValueError,
                f"{self.cls_name} does not support mixed amsgrad across param_groups: {flags}.",
            )

    def contiguous_params(self, start_id: int, end_id: int, param_group: dict[str, Any]) -> None:
        """Do nothing: the original puts a group into one block of memory, XLA lays it out itself.

        Args:
            start_id: where the group begins among all Parameters.
            end_id: where it ends.
            param_group: the group.
        """

    def set_contiguous_params(self) -> None:
        """Do nothing, as in `contiguous_params`."""


class Adam(AdamW):
    """Adam with weight decay added to the gradients (MindSpore: ``mint.optim.Adam``).

    Args:
        params: as in `Optimizer`.
        lr: learning rate, a float from 0 up.
        betas: decays of the two moments, two floats from 0 up and below 1.
        eps: float from 0 up, added to the root.
        weight_decay: float from 0 up.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _decoupled = False
    _first_step = 0.0

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class SGD(Optimizer):
    """Gradient descent with momentum (MindSpore: ``mint.optim.SGD``).

    Args:
        params: as in `Optimizer`.
        lr: learning rate, from 0 up.
        momentum: share of the sum that stays, from 0 up.
        dampening: share of the gradient that is left out after the first step.
        weight_decay: number from 0 up, times each weight added to its gradient.
        nesterov: whether to look one step ahead; it needs momentum and no dampening.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        checks.of_type("lr", lr, (float, int, bool, Tensor), name)
        for key, value in (
            ("momentum", momentum),
            ("weight_decay", weight_decay),
            ("dampening", dampening),
        ):
            checks.of_type(key, value, (float, int, bool), name)
        checks.of_type("nesterov", nesterov, bool, name)
        checks.of_type("maximize", maximize, bool, name)
        if not isinstance(lr, Tensor):
            _check_at_least_zero("learning rate", lr)
        _check_at_least_zero("momentum value", momentum)
        _check_at_least_zero("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise located(
                ValueError,
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must "
                f"equal to 0.0, but got 'momentum' {momentum}, 'dampening' {dampening}",
            )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "dampening": dampening,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.keep("momentum_buf")
        self.step_t = Parameter(Tensor(0, int32), "step_t")
        self.increase_tensor = Tensor(1, int32)

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and sums.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        place = 0
        for group in self.param_groups:
            record = DescentStep(
                float(group["momentum"]),
                float(group["dampening"]),
                float(group["weight_decay"]),
                group["nesterov"],
                group["maximize"],
            )
            for parameter in group["params"]:
                buffer = self.momentum_buf[place]
                record(parameter, buffer, gradients[place], group["lr"], self.step_t)
                place += 1
        ops.assign_add(self.step_t, self.increase_tensor)
        return True


def _check_params(params: Any) -> Sequence[Any]:
    if params is None:
        raise located(ValueError, "For 'Optimizer', the argument params can not be None.")
    if isinstance(params, Tensor) or not hasattr(params, "__iter__"):
        raise located(
            TypeError,
            f"For 'Optimizer', the argument params must be Iterable type, but got {type(params)}.",
        )
    params = list(params)
    if not params:
        raise located(ValueError, "For 'Optimizer', the argument params must not be empty.")
    return params


def _check_adam(
    name: str, lr: Any, betas: Any, eps: Any, weight_decay: Any, amsgrad: Any, maximize: Any
) -> None:
    checks.of_type("betas", betas, tuple, name)
    if len(betas) != 2:
        raise located(
            ValueError, f"For '{name}', the size of 'betas' must be 2, but got {len(betas)}."
        )
    for key, value in (
        ("betas[0]", betas[0]),
        ("betas[1]", betas[1]),
        ("eps", eps),
        ("weight_decay", weight_decay),
        ("lr", lr),
    ):
        checks.of_type(key, value, float, name)
    checks.of_type("amsgrad", amsgrad, bool, name)
    checks.of_type("maximize", maximize, bool, name)
    _check_at_least_zero("learning rate", lr)
    _check_at_least_zero("epsilon value", eps)
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise located(ValueError, f"Invalid beta parameter at index {i}: {beta}")
    _check_at_least_zero("weight_decay value", weight_decay)


def _check_at_least_zero(what: str, value: float) -> None:
    if value < 0.0:
        raise located(ValueError, f"Invalid {what}: {value}")
