"""flax nnx modules as Cells, and Cells as nnx modules."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from flax import nnx

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.interop.functional import functional
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter


class _Layout:
    """How an nnx module's state lies in a flat list of arrays."""

    def __init__(self, module: Any) -> None:
        self.graph, state = nnx.split(module)
        leaves, self.tree = jax.tree.flatten(state)
        self.keys = [jax.dtypes.issubdtype(v.dtype, jax.dtypes.prng_key) for v in leaves]
        self.values = [_plain(v) for v in leaves]

    def merge(self, arrays: Any) -> Any:
        """Make the module of a flat list of arrays."""
        leaves = [
            jax.random.wrap_key_data(a) if k else a for a, k in zip(arrays, self.keys, strict=True)
        ]
        return nnx.merge(self.graph, jax.tree.unflatten(self.tree, leaves))


def _plain(value: Any) -> np.ndarray[Any, Any]:
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


class _NnxCall(Primitive, register=False):
    """One call of an nnx module: outputs, then the state after it."""

    layout: Any
    options: Any = ()

    def compute(self, *arrays: Any) -> Any:
        """Merge, call, split."""
        count = len(self.layout.keys)
        module = self.layout.merge(arrays[:count])
        out = module(*arrays[count:], **dict(self.options))
        after = jax.tree.leaves(nnx.split(module)[1])
        state = [
            jax.random.key_data(v) if k else v for v, k in zip(after, self.layout.keys, strict=True)
        ]
        outs = out if isinstance(out, tuple | list) else (out,)
        return (*outs, *state)


class NnxCell(Cell):
    """A flax nnx module as a Cell; see `as_cell`."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        state = nnx.to_flat_state(nnx.split(module)[1])
        self._layouts = {True: _layout(module, True), False: _layout(module, False)}
        values = self._layouts[True].values
        self.state_names = []
        for (path, variable), value in zip(state, values, strict=True):
            name = "_".join(str(p) for p in path)
            trained = isinstance(variable, nnx.Param)
            parameter = Parameter(value, ".".join(str(p) for p in path), requires_grad=trained)
            self.insert_param_to_cell(name, parameter)
            self.state_names.append(name)

    def construct(self, *inputs: Any, **options: Any) -> Any:
        """Call the module.

        Args:
            *inputs: Tensors.
            **options: Python values, constants of the call.

        Returns:
            What the module returns: a Tensor or a tuple of Tensors.
        """
        parameters = [self._params[n] for n in self.state_names]
        record = _NnxCall(self._layouts[bool(self.training)], tuple(sorted(options.items())))
        results = record(*parameters, *inputs)
        count = len(results) - len(parameters)
        for parameter, value in zip(parameters, results[count:], strict=True):
            if not parameter.requires_grad:
                parameter.set_data(value)
        return results[0] if count == 1 else tuple(results[:count])


def _layout(module: Any, training: bool) -> _Layout:
    clone = nnx.clone(module)
    (clone.train if training else clone.eval)()
    return _Layout(clone)


def as_cell(module: Any) -> NnxCell:
    """Make a Cell of a flax nnx module.

    Args:
        module: nnx module that takes and returns arrays. Its ``nnx.Param`` become trainable
            Parameters, its other state (batch statistics, random streams) untrained ones.

    Returns:
        The Cell: `set_train` switches the module between ``train()`` and ``eval()``.

    Raises:
        TypeError: ``module`` is not an nnx module.
    """
    if not isinstance(module, nnx.Module):
        raise located(
            TypeError,
            f"For 'interop.as_cell', a flax nnx module is needed, but got {type(module).__name__}.",
        )
    return NnxCell(module)


class CellModule(nnx.Module):
    """A Cell as a flax nnx module; see `as_nnx`."""

    def __init__(self, cell: Cell) -> None:
        self._pure, params = functional(cell)
        trained = {p.name for p in cell.trainable_params()}
        self.params = nnx.Dict(
            {
                n.replace(".", "__"): (nnx.Param if n in trained else nnx.Variable)(v)
                for n, v in params.items()
            }
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Cell on raw arrays.

        Args:
            *args: arrays.
            **kwargs: arrays or Python values.

        Returns:
            What the Cell returns, with raw arrays in place of Tensors.
        """
        params = {n.replace("__", "."): v[...] for n, v in self.params.items()}
        return self._pure(params, *args, **kwargs)


def as_nnx(cell: Cell) -> CellModule:
    """Make a flax nnx module of a Cell.

    Args:
        cell: the Cell; its Parameters' values are copied.

    Returns:
        The module: trainable Parameters are its ``nnx.Param``.

    Raises:
        TypeError: ``cell`` is not a Cell.
    """
    return CellModule(cell)
