"""Optimizer primitives for gradients of some rows only: those of embeddings.

Rows that are named twice are updated once, with the sum of their gradients.
"""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.ops.scatter import scatter_rows
from mindjax.ops.update import Adam, Update, number_like, widened
from mindjax.ops.updates.dense import (
    ApplyAdadelta,
    ApplyAdagradV2,
    ApplyProximalAdagrad,
    ftrl,
)

Array = jax.Array


def _checked_rows(op: str, variable: Array, gradient: Array, indices: Array) -> None:
    if not variable.ndim or gradient.shape != (*indices.shape, *variable.shape[1:]):
        raise located(
            ValueError,
            f"For '{op}', the gradient's shape must be indices.shape + var.shape[1:], but got "
            f"{gradient.shape}, {indices.shape} and {variable.shape}.",
        )
    if indices.ndim != 1:
        raise located(
            ValueError,
            f"For '{op}', rank(indices) must be 1, but got indices of shape {indices.shape}.",
        )
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[indices] must be a type of {{Int32, Int64}}, "
            f"but got {from_np(indices.dtype)}.",
        )
    checks.same_dtype(op, var=variable.dtype, grad=gradient.dtype)


def merged(gradient: Array, indices: Array, rows: int) -> tuple[Array, Array]:
    """Add up the gradients of equal rows.

    Args:
        gradient: one slice an index.
        indices: integer vector.
        rows: number of rows of the variable.

    Returns:
        Rows in rising order, filled up with ``rows``, which is out of range; their gradients.
    """
    indices = indices.astype(np.int32)
    indices = jnp.where((indices < 0) | (indices >= rows), np.int32(rows), indices)
    ordered, order = lax.sort((indices, lax.iota(np.int32, indices.size)), num_keys=1)
    first = jnp.concatenate([jnp.ones(1, np.bool_), ordered[1:] != ordered[:-1]])[: ordered.size]
    number = lax.cumsum(first.astype(np.int32), 0) - 1
    # The place of each gradient: to add rows where they lie takes less than to sort them.
    place = jnp.zeros_like(number).at[order].set(number, unique_indices=True)
    total = jnp.zeros_like(gradient).at[place].add(gradient)
    unique = jnp.full(indices.shape, np.int32(rows)).at[number].set(ordered)
    return unique, total


class RowUpdate(Update, register=False):
    """Base of updates of some rows: ``step`` sees these rows of what is written, and the others.

    Class variable: the position of the indices; the gradient stands before them.
    """

    indices_at: ClassVar[int]

    def compute(self, *inputs: Any) -> tuple[Any, ...]:
        """Take the rows, update them, and write them back."""
        arrays = [None if x is None else jnp.asarray(x) for x in inputs]
        variable = arrays[self.writes[0]]
        gradient, indices = arrays[self.gradient_at], arrays[self.indices_at]
        assert variable is not None and gradient is not None and indices is not None
        _checked_rows(self.name, variable, gradient, indices)
        where, total = merged(widened(gradient), indices, variable.shape[0])
        for position in self.writes:
            full = arrays[position]
            assert full is not None
            checks.same_shape(self.name, var=variable.shape, state=full.shape)
            arrays[position] = full.at[where].get(mode="fill", fill_value=1)
        arrays[self.gradient_at] = total
        given = [widened(a) for i, a in enumerate(arrays) if i != self.indices_at]
        outputs = self.step(*given)
        return tuple(
            scatter_rows(inputs[p], where[:, None], rows.astype(inputs[p].dtype), "update")
            for p, rows in zip(self.writes, outputs, strict=True)
        )


class SparseApplyAdadelta(RowUpdate):
    """Adadelta on some rows.

    Args:
        epsilon: added under the roots.
        use_locking: device tuning only: writes are always whole.
    """

    epsilon: float
    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 5
    indices_at: ClassVar[int] = 6
    returns: ClassVar[int] = 3

    def __post_init__(self) -> None:
        checks.of_type("epsilon", self.epsilon, float, self.name)
        checks.in_range("epsilon", self.epsilon, 0.0, float("inf"), self.name)

    def step(
        self, var: Array, accum: Array, accum_update: Array, lr: Array, rho: Array, g: Array
    ) -> tuple[Array, Array, Array]:
        """Give the new rows of the variable and of both mean squares."""
        eps = jnp.asarray(self.epsilon, var.dtype)
        return ApplyAdadelta().step(var, accum, accum_update, lr, rho, eps, g)


class SparseApplyAdagrad(RowUpdate):
    """Adagrad without eps on some rows.

    Args:
        lr: learning rate.
        update_slots: whether the sum of squares grows.
        use_locking: device tuning only: writes are always whole.
    """

    lr: float
    update_slots: bool = True
    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 2
    indices_at: ClassVar[int] = 3
    returns: ClassVar[int] = 2

    def step(self, var: Array, accum: Array, g: Array) -> tuple[Array, Array]:
        """Give the new rows of the variable and of the sum of squares."""
        record = ApplyAdagradV2(0.0, self.update_slots)
        return record.step(var, accum, jnp.asarray(self.lr, var.dtype), g)


class SparseApplyAdagradV2(RowUpdate):
    """Adagrad with eps beside the root on some rows.

    Args:
        lr: learning rate.
        epsilon: added to the root.
        use_locking: device tuning only: writes are always whole.
        update_slots: whether the sum of squares grows.
    """

    lr: float
    epsilon: float
    use_locking: bool = False
    update_slots: bool = True
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 2
    indices_at: ClassVar[int] = 3
    returns: ClassVar[int] = 2

    def __post_init__(self) -> None:
        checks.of_type("lr", self.lr, float, self.name)
        checks.of_type("epsilon", self.epsilon, float, self.name)

    def step(self, var: Array, accum: Array, g: Array) -> tuple[Array, Array]:
        """Give the new rows of the variable and of the sum of squares."""
        record = ApplyAdagradV2(self.epsilon, self.update_slots)
        return record.step(var, accum, jnp.asarray(self.lr, var.dtype), g)


class _RowFtrl(RowUpdate, register=False):
    """Follow-the-regularized-leader on some rows, its numbers given when it is made."""

    lr: float
    l1: float
    l2: float
    lr_power: float
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3
    indices_at: ClassVar[int] = 4
    returns: ClassVar[int] = 3

    def __post_init__(self) -> None:
        for name in ("lr", "l1", "l2", "lr_power"):
            checks.of_type(name, getattr(self, name), float, self.name)
        if self.lr <= 0 or self.l1 < 0 or self.l2 < 0 or self.lr_power > 0:
            raise located(
                ValueError,
                f"For '{self.name}', 'lr' must be above 0, 'l1' and 'l2' at least 0 and 'lr_power' "
                f"at most 0, but got {self.lr}, {self.l1}, {self.l2} and {self.lr_power}.",
            )

    def step(self, var: Array, accum: Array, linear: Array, g: Array) -> tuple[Array, Array, Array]:
        """Give the new rows of the variable, sum of squares and linear coefficient."""
        values = (self.lr, self.l1, self.l2, self.lr_power)
        numbers = tuple(jnp.asarray(x, var.dtype) for x in values)
        return ftrl((var, accum, linear), g, numbers)


class SparseApplyFtrl(_RowFtrl):
    """Follow-the-regularized-leader on some rows.

    Args:
        lr: learning rate, above 0.
        l1: strength of the sparsity penalty.
        l2: strength of the quadratic penalty.
        lr_power: power of the sum of squares, at most 0.
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False


class FusedSparseFtrl(_RowFtrl):
    """As `SparseApplyFtrl`, whose name the original reserves for indices without repetition."""

    use_locking: bool = False


class SparseApplyFtrlV2(RowUpdate):
    """Follow-the-regularized-leader with shrinkage on some rows.

    Args:
        lr: learning rate, above 0.
        l1: strength of the sparsity penalty.
        l2: strength of the quadratic penalty.
        l2_shrinkage: strength of the penalty on the gradient's part of the linear coefficient.
        lr_power: power of the sum of squares, at most 0.
        use_locking: device tuning only: writes are always whole.
    """

    lr: float
    l1: float
    l2: float
    l2_shrinkage: float
    lr_power: float
    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3
    indices_at: ClassVar[int] = 4
    returns: ClassVar[int] = 3

    def __post_init__(self) -> None:
        SparseApplyFtrl(self.lr, self.l1, self.l2, self.lr_power)
        checks.of_type("l2_shrinkage", self.l2_shrinkage, float, self.name)

    def step(self, var: Array, accum: Array, linear: Array, g: Array) -> tuple[Array, Array, Array]:
        """Give the new rows of the variable, sum of squares and linear coefficient."""
        values = (self.lr, self.l1, self.l2, self.lr_power)
        numbers = tuple(jnp.asarray(x, var.dtype) for x in values)
        return ftrl((var, accum, linear), g, numbers, self.l2_shrinkage)


class SparseApplyProximalAdagrad(RowUpdate):
    """Adagrad followed by shrinking, on some rows.

    Args:
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 5
    indices_at: ClassVar[int] = 6
    returns: ClassVar[int] = 2

    def step(
        self, var: Array, accum: Array, lr: Array, l1: Array, l2: Array, g: Array
    ) -> tuple[Array, Array]:
        """Give the new rows of the variable and of the sum of squares."""
        return ApplyProximalAdagrad().step(var, accum, lr, l1, l2, g)


class FusedSparseProximalAdagrad(SparseApplyProximalAdagrad):
    """As `SparseApplyProximalAdagrad`; the original's has indices that may repeat."""


class SparseApplyRMSProp(RowUpdate):
    """RMSProp with momentum on some rows.

    Args:
        rho: decay of the mean square, from 0 to 1.
        momentum: decay of the step.
        epsilon: added under the root, above 0.
        use_locking: device tuning only: writes are always whole.
    """

    rho: float
    momentum: float
    epsilon: float
    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 4
    indices_at: ClassVar[int] = 5
    returns: ClassVar[int] = 3

    def __post_init__(self) -> None:
        checks.float_in_range("rho", self.rho, 0.0, 1.0, self.name)
        checks.float_in_range("momentum", self.momentum, 0.0, float("inf"), self.name, "[)")
        checks.float_in_range("epsilon", self.epsilon, 0.0, float("inf"), self.name, "()")

    def step(
        self, var: Array, ms: Array, mom: Array, lr: Array, g: Array
    ) -> tuple[Array, Array, Array]:
        """Give the new rows of the variable, mean square and step."""
        ms = self.rho * ms + (1 - self.rho) * g * g
        mom = self.momentum * mom + number_like(lr, var) * g / jnp.sqrt(ms + self.epsilon)
        return var - mom, ms, mom


class FusedSparseAdam(Update):
    """Adam whose gradient names some rows; the moments of all rows decay.

    Args:
        use_locking: device tuning only: writes are always whole.
        use_nesterov: whether the step looks one further ahead.
    """

    use_locking: bool = False
    use_nesterov: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 9
    returns: ClassVar[int] = 3

    def compute(self, *inputs: Any) -> tuple[Any, ...]:
        """Spread the gradient over all rows, and update as `Adam` does."""
        variable, gradient, indices = inputs[0], inputs[9], inputs[10]
        _checked_rows(self.name, variable, gradient, indices)
        where, total = merged(widened(gradient), indices, variable.shape[0])
        start = jnp.zeros(variable.shape, total.dtype)
        full = scatter_rows(start, where[:, None], total, "add").astype(variable.dtype)
        return Adam(self.use_locking, self.use_nesterov).compute(*inputs[:9], full)


class FusedSparseLazyAdam(RowUpdate):
    """Adam on some rows; the moments of the others stay.

    Args:
        use_locking: device tuning only: writes are always whole.
        use_nesterov: whether the step looks one further ahead.
    """

    use_locking: bool = False
    use_nesterov: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 9
    indices_at: ClassVar[int] = 10
    returns: ClassVar[int] = 3

    def step(self, *rows: Array) -> tuple[Array, Array, Array]:
        """Give the new rows of the variable and moments."""
        return Adam(self.use_locking, self.use_nesterov).step(*rows)
