"""Loss scales of one's own training function: scale, unscale, adjust."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.graph import jit_class
from mindjax.ops.updates.status import AllFinite
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def _grad_scale_map(scale_value: Any, inputs: Any) -> Any:
    """Multiply each Tensor of a tree by a scale."""
    if isinstance(inputs, tuple | list):
        return tuple(_grad_scale_map(scale_value, x) for x in inputs)
    return inputs * scale_value.astype(inputs.dtype)


def _grad_unscale_map(scale_value: Any, inputs: Any) -> Any:
    """Divide each Tensor of a tree by a scale."""
    if isinstance(inputs, tuple | list):
        return tuple(_grad_unscale_map(scale_value, x) for x in inputs)
    return inputs * ops.Reciprocal()(scale_value).astype(inputs.dtype)


def all_finite(inputs: Any) -> Tensor:
    """Tell whether Tensors hold neither infinities nor NaN.

    Args:
        inputs: tuple or list of Tensors.

    Returns:
        Bool of shape ().

    MindSpore: ``mindspore.amp.all_finite``.
    """
    return ops.logical_not(AllFinite()(inputs))


class LossScaler(ABC):
    """Base of loss scalers (MindSpore: ``mindspore.amp.LossScaler``)."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # What a scaler of one's own writes is state of the programs that call it.
        jit_class(cls)

    @abstractmethod
    def scale(self, inputs: Any) -> Any:
        """Scale a loss or gradients.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        raise NotImplementedError

    @abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """Undo the scale.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        raise NotImplementedError

    @abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Choose the next scale.

        Args:
            grads_finite: whether the gradients are finite: Bool of shape ().
        """
        raise NotImplementedError


def _first(value: Any) -> Parameter:
    checks.of_type("scale_value", value, (float, int))
    if value < 1.0:
        raise located(ValueError, f"The argument 'scale_value' must be > 1, but got {value}")
    return Parameter(Tensor(value, float32), name="scale_value")


class StaticLossScaler(LossScaler):
    """A scale that never changes.

    Args:
        scale_value: the scale, at least 1.

    Raises:
        TypeError: it is no number.
        ValueError: it is below 1.

    MindSpore: ``mindspore.amp.StaticLossScaler``.
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = _first(scale_value)

    def scale(self, inputs: Any) -> Any:
        """Give the inputs times the scale.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        return _grad_scale_map(self.scale_value, inputs)

    def unscale(self, inputs: Any) -> Any:
        """Give the inputs over the scale.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        return _grad_unscale_map(self.scale_value, inputs)

    def adjust(self, grads_finite: Any) -> bool:
        """Give False: the scale stays.

        Args:
            grads_finite: whether the gradients are finite.
        """
        return False


class DynamicLossScaler(LossScaler):
    """A scale that falls after an overflow and rises after a time without.

    Args:
        scale_value: first scale, at least 1.
        scale_factor: what the scale is divided or multiplied by.
        scale_window: steps without an overflow before the scale rises.

    Raises:
        TypeError: ``scale_value`` is no number, or another argument no int.
        ValueError: an argument is below 1.

    MindSpore: ``mindspore.amp.DynamicLossScaler``.
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        self.scale_value = _first(scale_value)
        self.scale_window = checks.positive_int("scale_window", scale_window)
        self.scale_factor = checks.positive_int("scale_factor", scale_factor)
        self.counter = Parameter(Tensor(0, int32), name="counter")

    def scale(self, inputs: Any) -> Any:
        """Give the inputs times the scale.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        return _grad_scale_map(self.scale_value, inputs)

    def unscale(self, inputs: Any) -> Any:
        """Give the inputs over the scale.

        Args:
            inputs: Tensor or tuple of Tensors.
        """
        return _grad_unscale_map(self.scale_value, inputs)

    def adjust(self, grads_finite: Any) -> bool:
        """Write the next scale.

        Args:
            grads_finite: whether the gradients are finite: Bool of shape ().

        Returns:
            True.
        """
        scale, due = self.scale_value + 0, self.counter == (self.scale_window - 1)
        raised = scale * self.scale_factor
        raised = ops.select(ops.isfinite(raised), raised, scale)
        lowered = ops.maximum(ops.ones((), scale.dtype), scale / self.scale_factor)
        finite = Tensor(grads_finite) if isinstance(grads_finite, bool) else grads_finite
        kept = ops.select(due, raised, scale)
        ops.assign(self.scale_value, ops.select(finite, kept, lowered))
        ops.assign(self.counter, ((self.counter + 1) % self.scale_window) * finite.astype(int32))
        return True
