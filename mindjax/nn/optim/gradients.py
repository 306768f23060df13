"""What optimizers do to gradients before they step; a sparse gradient names some rows.

A sparse gradient is a `RowTensor`, the one tuple among gradients: its class need not be loaded.
"""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.ops.update import AddDecay, Centralization, ScaleGradient

_ADD_DECAY, _CENTRALIZATION, _SCALE_GRADIENT = AddDecay(), Centralization(), ScaleGradient()


def is_sparse(gradient: Any) -> bool:
    """Tell whether a gradient is that of some rows."""
    return isinstance(gradient, tuple)


def _on_values(record: Any, gradient: Any, *rest: Any) -> Any:
    if not is_sparse(gradient):
        return record(gradient, *rest)
    indices, values, shape = gradient.to_tuple()
    return type(gradient)(indices, record(values, *rest), shape)


def decayed(gradient: Any, parameter: Any, decay: Any) -> Any:
    """Add the decay of a weight, or of the rows of it that a sparse gradient names."""
    if is_sparse(gradient):
        parameter = ops.gather(parameter, gradient.indices, 0)
    return _on_values(_ADD_DECAY, gradient, parameter, decay)


def centralized(gradient: Any) -> Any:
    """Take the mean off a gradient of two and more axes.

    MindSpore: only where axis 1 is a multiple of 16.
    """
    shape = gradient.dense_shape if is_sparse(gradient) else gradient.shape
    if len(shape) < 2 or shape[1] % 16:
        return gradient
    return _on_values(_CENTRALIZATION, gradient)


def scaled(gradient: Any, scale: Any) -> Any:
    """Multiply a gradient by a number."""
    return _on_values(_SCALE_GRADIENT, gradient, scale)


def fitting(optimizer: Any, gradients: Any) -> Any:
    """Give gradients as an optimizer takes them: dense ones, unless it knows sparse ones.

    Args:
        optimizer: the Cell that gets them; None for what takes dense ones alone.
        gradients: a tuple.
    """
    if getattr(optimizer, "_sparse", False) or not any(map(is_sparse, gradients)):
        return gradients
    return tuple(_dense(g) if is_sparse(g) else g for g in gradients)


def _dense(gradient: Any) -> Any:
    indices, values, shape = gradient.to_tuple()
    return ops.unsorted_segment_sum(values, indices, shape[0])
