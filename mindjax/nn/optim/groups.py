"""Checks of the Parameters that an optimizer is given, and of its groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindjax.core.errors import located
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

GROUP_KEYS = ["params", "lr", "weight_decay", "order_params", "grad_centralization"]


def checked_parameters(parameters: Any, name: str = "parameters") -> list[Any]:
    """Check that an argument holds Parameters or dicts, and list them."""
    if parameters is None:
        raise located(ValueError, f"For 'Optimizer', the argument {name} can not be None.")
    if not isinstance(parameters, Iterable):
        raise located(
            TypeError,
            f"For 'Optimizer', the argument {name} must be Iterable type, but got "
            f"{type(parameters)}.",
        )
    # A Parameter is iterable too, by the rows of its value: it is one wrong element.
    elements = [None] if isinstance(parameters, Tensor) else list(parameters)
    if not elements:
        raise located(ValueError, f"For 'Optimizer', the argument {name} must not be empty.")
    if name == "parameters" and not (
        all(isinstance(x, Parameter) for x in elements)
        or all(isinstance(x, dict) for x in elements)
    ):
        raise located(
            TypeError,
            "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or "
            "'dict', please check the 'parameters'.",
        )
    seen = set()
    for x in elements:
        if isinstance(x, Parameter) and id(x) in seen:
            raise located(
                ValueError,
                f"For 'Optimizer', the Parameter '{x.name}' already exists in the argument {name}: "
                "it is given twice.",
            )
        seen.add(id(x))
    return elements


def checked_groups(groups: list[Any]) -> list[dict[str, Any]]:
    """Check the groups and copy them, with lists of their Parameters."""
    checked = []
    for group in groups:
        group = dict(group)
        checked.append(group)
        unknown = [key for key in group if key not in GROUP_KEYS]
        if unknown:
            raise located(
                KeyError,
                f"For 'Optimizer', the key in group params must be one of in {GROUP_KEYS}, but "
                f"got {unknown}.",
            )
        if "order_params" in group:
            if len(group) > 1:
                raise located(
                    ValueError,
                    "For 'Optimizer', the order params dict in group parameters should only "
                    f"include the 'order_params' key, but got {list(group)}.",
                )
            if not isinstance(group["order_params"], Iterable):
                raise located(
                    TypeError,
                    "For 'Optimizer', the value of 'order_params' in group parameters should be "
                    f"Iterable type, but got {type(group['order_params'])}.",
                )
            continue
        if "params" not in group:
            raise located(KeyError, "For 'Optimizer', a group has no 'params'.")
        group["params"] = checked_parameters(group["params"], "group `params`")
        for index, parameter in enumerate(group["params"]):
            if not isinstance(parameter, Parameter):
                raise located(
                    TypeError,
                    "For 'Optimizer', the element in group parameters must be Parameter type, but "
                    f"got {type(parameter)} at index {index}.",
                )
    return checked


def ordered(slots: dict[str, Any], order: list[Parameter]) -> list[Any]:
    """Bring what belongs to each Parameter's name into the order that a group asks for."""
    names = [p.name for p in order]
    if len(names) != len(slots):
        raise located(
            ValueError,
            "For 'Optimizer', the length of order parameters must be the same as the length of "
            f"group parameters, but got order parameters' length {len(names)}, group parameters' "
            f"length {len(slots)}.",
        )
    for name in slots:
        if name not in names:
            raise located(ValueError, f"For 'Optimizer', '{name}' is not in 'order_params'.")
    return [slots[name] for name in names]
