"""A Cell as a pure function of its Parameters' values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from mindjax.core.errors import located
from mindjax.core.handle import Handle, unwrap
from mindjax.core.layouts import in_order
from mindjax.core.random import default_generator
from mindjax.core.state import StateFrame
from mindjax.nn.cell import Cell
from mindjax.tensor.tensor import Tensor


def functional(
    cell: Cell, mutable: bool = False
) -> tuple[Callable[..., Any], dict[str, jax.Array]]:
    """Turn a Cell into a pure function for jax's transformations and optax.

    Args:
        cell: the Cell; its modes (`set_train`) are read at each trace.
        mutable: whether the function also returns the state after the call. Without it a Cell that
            writes a Parameter or draws random numbers raises an error.

    Returns:
        The pair ``(pure, params)``: ``pure(params, *args, **kwargs)`` takes and returns raw jax
        arrays (with ``mutable``, the pair of outputs and new params); ``params`` maps Parameter
        names to arrays, with ``mutable`` also the random state.

    Raises:
        TypeError: ``cell`` is not a Cell.
        ValueError: two Parameters share a name.
    """
    if not isinstance(cell, Cell):
        raise located(
            TypeError, f"For 'interop.functional', a Cell is needed, but got {type(cell).__name__}."
        )
    cell.check_names()
    handles: dict[str, Handle] = {p.name: p for p in cell.get_parameters()}
    if mutable:
        generator = default_generator()
        handles.update({h.name: h for h in (generator._seed, generator._offset)})

    def pure(params: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        missing = [n for n in handles if n not in params]
        if missing:
            raise located(ValueError, f"For 'interop.functional', params lack {missing}.")
        frame = StateFrame([(h, _raw(params[n])) for n, h in handles.items()])
        try:
            with frame:
                out = unwrap(cell._run(_tensors(args), _tensors(kwargs)))
                new = {n: frame.values[h] for n, h in handles.items()}
        finally:
            frame.restore_attributes()
        outside = [h for h in frame.written if h not in set(handles.values())]
        written = outside if mutable else list(frame.written)
        if written:
            names = [getattr(h, "name", "a Tensor") for h in written]
            raise located(
                RuntimeError,
                f"The call writes {names}: use interop.functional(cell, mutable=True), which "
                "returns the new values.",
            )
        return (out, new) if mutable else out

    return pure, {name: _array(h) for name, h in handles.items()}


def _array(handle: Handle) -> Any:
    value = handle.array
    return jax.numpy.asarray(value) if isinstance(value, np.ndarray) else value


def _raw(value: Any) -> Any:
    return value.array if isinstance(value, Handle) else value


def _tensors(value: Any) -> Any:
    """Make Tensors of the raw arrays in arguments."""
    if isinstance(value, jax.Array):
        return Tensor._from_array(in_order(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)._make(_tensors(v) for v in value)  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value)(_tensors(v) for v in value)
    if isinstance(value, dict):
        return {k: _tensors(v) for k, v in value.items()}
    return value
