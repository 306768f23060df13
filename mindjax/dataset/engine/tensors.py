"""Turns values into arrays inside a pipeline and arrays into Tensors at its end."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.dataset.engine.failures import pipeline_error

_factory: Callable[[np.ndarray], Any] | None = None


def set_tensor_factory(factory: Callable[[np.ndarray], Any] | None) -> None:
    """Set what iterators call to make a Tensor of an array, in place of ``Tensor.from_numpy``.

    Args:
        factory: function of one numpy array, or None to take it away.
    """
    global _factory
    _factory = factory


def make_tensor(array: Any) -> Any:
    """Make a Tensor of an array; text, bytes and dictionaries stay as they are."""
    if not isinstance(array, np.ndarray) or array.dtype.kind in "USO":
        return array
    if _factory is None:
        # A script may use data sets alone: the Tensor class is loaded with the first Tensor, so
        # that pipelines and their workers never load jax.
        set_tensor_factory(importlib.import_module("mindjax.tensor").Tensor.from_numpy)
    assert _factory is not None
    return _factory(array)


def to_array(value: Any, what: str) -> Any:
    """Bring what user code returned for one column to a numpy array.

    Args:
        value: array, Tensor, number, text, PIL image or nested list of numbers; a ``dict`` stays.
        what: where the value comes from, for the message.

    Returns:
        The array.

    Raises:
        RuntimeError: ``value`` is None or has no element type.
    """
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, dict):
        return value
    elif value is None:
        raise pipeline_error(f"{what} failed. Got None from Python object.")
    elif hasattr(value, "asnumpy"):
        array = np.asarray(value.asnumpy())
    else:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise pipeline_error(
                f"{what} failed. Failed to create tensor from list: {error}"
            ) from None
    if array.dtype.kind == "O":
        if array.ndim == 0 and isinstance(array.item(), dict):
            return array.item()
        raise pipeline_error(
            f"{what} failed. Failed to create tensor from numpy array, data type is unknown: "
            f"{type(value).__name__}.",
        )
    return array
