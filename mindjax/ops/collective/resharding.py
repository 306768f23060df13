"""Layouts of Tensors over devices: `reshard`, and the strategies of a function's inputs."""

from __future__ import annotations

from typing import Any

import jax

from mindjax import log
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive

Array = jax.Array


class Reshard(Primitive):
    """The same Tensor in another layout over devices: it changes placement, never values."""

    in_layout: Any
    out_layout: Any
    in_strategy: Any

    def __post_init__(self) -> None:
        for name in ("in_layout", "out_layout"):
            given = self.__dict__[name]
            for layout in given if isinstance(given, tuple | list) else (given,):
                if layout is not None and not hasattr(layout, "to_dict"):
                    raise located(
                        TypeError,
                        f"For '{self.name}', the '{name}' must be a mindspore.parallel.Layout, but "
                        f"got {type(layout).__name__}.",
                    )
        wanted = self.out_layout if self.out_layout is not None else self.in_strategy
        if wanted is not None:
            entries = wanted if isinstance(wanted, list) else [wanted]
            nested = isinstance(wanted, tuple) and wanted and not isinstance(wanted[0], int)
            self.__dict__["_strategy"] = (tuple(wanted) if nested else tuple(entries)), None

    def compute(self, tensor: Array) -> Array:
        """Give the array; the partitioner lays it out."""
        return tensor


def reshard(tensor: Any, layout: Any) -> Any:
    """Lay a Tensor out over devices (MindSpore: ``ops.reshard``).

    It has an effect in a graph of a parallel mode; one device holds every Tensor whole.

    Args:
        tensor: Tensor.
        layout: ``mindspore.parallel.Layout`` of the Tensor's dimensions.

    Returns:
        Tensor of the same value.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: the layout does not fit the devices or the shape.
    """
    if not isinstance(tensor, Handle):
        raise located(
            TypeError, f"For 'reshard', the 'tensor' must be Tensor, but got {type(tensor)}."
        )
    return Reshard(layout, layout, None)(tensor)


def check_strategies(in_strategy: Any, out_strategy: Any = None) -> None:
    """Check the strategies of a function, as ``shard`` takes them.

    Args:
        in_strategy: for each input a tuple of ints, or a Layout.
        out_strategy: the same of the outputs, or None.

    Raises:
        TypeError: they are of another form.
    """
    if not isinstance(in_strategy, tuple):
        raise located(
            TypeError,
            "For 'Shard', the 'in_strategy' should be a tuple, but got "
            f"{type(in_strategy).__name__}.",
        )
    if out_strategy is not None and not isinstance(out_strategy, tuple):
        raise located(
            TypeError,
            "For 'Shard', the 'out_strategy' should be None or tuple, but got "
            f"{type(out_strategy).__name__}.",
        )
    for name, given in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        kinds: set[bool] = set()
        for entry in given or ():
            laid = hasattr(entry, "to_dict")
            if not laid and not isinstance(entry, tuple):
                raise located(
                    TypeError,
                    f"The '{name}' should be a tuple(tuple(int)) or "
                    f"tuple(mindspore.parallel.Layout), but got {type(entry).__name__}",
                )
            if not laid and not all(type(part) is int for part in entry):
                raise located(
                    TypeError, "The tuple strategy for each dimension should be tuple(int)."
                )
            kinds.add(laid)
        if len(kinds) > 1:
            raise located(
                TypeError,
                "For 'Shard', the strategy can only pass in consistent type for all dimensions.",
            )


def lay_out(values: Any, strategies: tuple[Any, ...]) -> Any:
    """Lay the Tensors of a tuple out, each by a strategy of its own.

    Args:
        values: a Tensor, or a tuple of values.
        strategies: one a value.

    Returns:
        The values in their layouts.

    Raises:
        ValueError: there are more strategies than values.
    """
    if isinstance(values, Handle):
        return _laid(values, strategies[0]) if strategies else values
    if not isinstance(values, tuple | list):
        return values
    if len(strategies) > len(values):
        raise located(
            ValueError,
            f"For 'Shard', there are {len(strategies)} strategies {strategies}, but "
            f"{len(values)} Tensors.",
        )
    placed = [_laid(v, s) for v, s in zip(values, strategies, strict=False)]
    return type(values)([*placed, *values[len(placed) :]])


def _laid(value: Any, strategy: Any) -> Any:
    if not isinstance(value, Handle):
        return value
    if hasattr(strategy, "to_dict"):
        return Reshard(strategy, strategy, None)(value)
    return Reshard(None, None, (strategy,))(value)


class LayInputsOut:
    """A hook that lays the inputs of a Cell out.

    Args:
        strategies: one an input.
    """

    def __init__(self, strategies: tuple[Any, ...]) -> None:
        self.strategies = strategies

    def __call__(self, cell: Any, inputs: Any) -> Any:
        """Give the inputs in their layouts."""
        del cell
        return lay_out(tuple(inputs), self.strategies)


class LayOutputsOut(LayInputsOut):
    """A hook that lays the outputs of a Cell out."""

    def __call__(self, cell: Any, inputs: Any, outputs: Any = None) -> Any:
        """Give the outputs in their layouts."""
        del cell, inputs
        return lay_out(outputs, self.strategies)


def plan_parameters(cell: Any, plan: Any) -> None:
    """Note how Parameters are cut.

    Args:
        cell: the Cell that holds them.
        plan: by name, a tuple of ints or a Layout; None for nothing.

    Raises:
        TypeError: it is no dict of these.
        ValueError: a tuple has another length than the Parameter's shape, or does not divide it.
    """
    if plan is None:
        return
    if not isinstance(plan, dict):
        raise located(
            TypeError,
            "For 'Shard', the 'parameter_plan' should be a dict or None, but got "
            f"{type(plan).__name__}",
        )
    parameters = {p.name: p for p in cell.trainable_params()}
    for name, entry in plan.items():
        if not isinstance(name, str) or not (isinstance(entry, tuple) or hasattr(entry, "to_dict")):
            raise located(
                TypeError,
                "For 'Shard', the type of each key and value in 'parameter_plan' must be str and "
                f"tuple/Layout, but got {type(name).__name__} and {type(entry).__name__}",
            )
        found = parameters.get(name.replace("self.", ""))
        if found is None:
            log.warning(f"{name} is not exist, ignored its setting.")
        elif "_plan" in found.__dict__:
            log.warning(
                f"The layout of parameter '{name}' has been set, current setting will be ignored."
            )
        else:
            if isinstance(entry, tuple):
                _check_plan(name, found.shape, entry)
            found.__dict__["_plan"] = entry


def _check_plan(name: str, shape: tuple[int, ...], plan: tuple[int, ...]) -> None:
    if len(plan) != len(shape):
        raise located(
            ValueError,
            f"For {name}, the length of param_strategy: {len(plan)}, is not equal to param_shape "
            f"len: {len(shape)}.",
        )
    for i, (size, parts) in enumerate(zip(shape, plan, strict=True)):
        if type(parts) is not int or parts < 1 or size % parts:
            raise located(
                ValueError,
                f"For '{name}', the param_shape is {shape} and the setting param_strategy is "
                f"{plan}. The param_shape[{i}]: {size} cannot be divisible by param_strategy[{i}]: "
                f"{parts}.",
            )
