"""optax transformations as Optimizers, and Optimizers as optax transformations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mindjax.core.errors import located
from mindjax.core.handle import Handle, wrap
from mindjax.core.primitive import Primitive
from mindjax.core.state import StateFrame
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.tensor.parameter import Parameter


class _OptaxUpdate(Primitive, register=False):
    """One update of an optax transformation: new weights, then new state."""

    transformation: Any
    tree: Any

    def compute(self, grads: Any, weights: Any, state: Any) -> Any:
        """Update and apply."""
        old = jax.tree.unflatten(self.tree, state)
        updates, new = self.transformation.update(list(grads), old, list(weights))
        fresh = optax.apply_updates(list(weights), updates)
        return (*fresh, *(jnp.asarray(leaf) for leaf in jax.tree.leaves(new)))


class OptaxOptimizer(Optimizer):
    """An optax transformation as an Optimizer; see `optimizer`."""

    def __init__(self, transformation: Any, parameters: Any = MISSING) -> None:
        # The transformation has its own step size; the rate kept by the base is not used.
        super().__init__(1.0, parameters)
        self.transformation = transformation
        self._state_count = 0
        self._tree: Any = None
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the transformation's state as Parameters."""
        if self._tree is not None:
            return
        state = self.transformation.init([jnp.asarray(p.asnumpy()) for p in self.parameters])
        leaves, self._tree = jax.tree.flatten(state)
        self._state_count = len(leaves)
        for i, leaf in enumerate(leaves):
            name = f"optax_state_{i}"
            self.insert_param_to_cell(name, Parameter(np.asarray(leaf), name, requires_grad=False))

    def construct(self, gradients: Any) -> bool:
        """Write the new weights and the new state.

        Args:
            gradients: one Tensor a Parameter.

        Returns:
            True.
        """
        state = [self._params[f"optax_state_{i}"] for i in range(self._state_count)]
        record = _OptaxUpdate(self.transformation, self._tree)
        results = record(tuple(gradients), tuple(self.parameters), tuple(state))
        for parameter, value in zip([*self.parameters, *state], results, strict=True):
            parameter.set_data(value)
        self.global_step.set_data(self.global_step + 1)
        return True


def optimizer(transformation: Any, parameters: Iterable[Parameter] | None = None) -> OptaxOptimizer:
    """Make an Optimizer of an optax transformation.

    Args:
        transformation: ``optax.GradientTransformation``, such as ``optax.adam(1e-3)``.
        parameters: Parameters to update; None leaves it to `Model`, which binds the network's.

    Returns:
        The Optimizer: it works in Model and TrainOneStepCell, and its state is saved like any.

    Raises:
        TypeError: ``transformation`` is not an optax transformation.
    """
    if not (hasattr(transformation, "init") and hasattr(transformation, "update")):
        raise located(
            TypeError,
            "For 'interop.optimizer', an optax GradientTransformation is needed, but got "
            f"{type(transformation).__name__}.",
        )
    return OptaxOptimizer(transformation, MISSING if parameters is None else list(parameters))


class OptimizerState(NamedTuple):
    """The state of an Optimizer as an optax state.

    Attributes:
        values: arrays by name of the state Parameter.
    """

    values: dict[str, Any]


def as_optax(optimizer: Optimizer) -> optax.GradientTransformation:
    """Make an optax transformation of an Optimizer.

    Args:
        optimizer: bound Optimizer. Trees given to the transformation have one leaf a Parameter, in
            the order of ``optimizer.parameters``.

    Returns:
        The transformation; the Optimizer's own state and weights are left alone.

    Raises:
        ValueError: at a call, a tree has another number of leaves, or params are not given.
    """
    weights = list(optimizer.parameters)
    own = {id(w) for w in weights}
    state = [p for p in optimizer.get_parameters() if id(p) not in own]

    def init(params: Any) -> OptimizerState:
        _check(params, weights)
        return OptimizerState({p.name: jnp.asarray(p.array) for p in state})

    def update(grads: Any, old: Any, params: Any = None) -> Any:
        if params is None:
            raise located(ValueError, "For 'interop.as_optax', update() needs the params.")
        _check(grads, weights)
        leaves, tree = jax.tree.flatten(params)
        overlay: list[tuple[Handle, Any]] = list(zip(weights, leaves, strict=True))
        overlay += [(p, old.values[p.name]) for p in state]
        frame = StateFrame(overlay)
        try:
            with frame:
                optimizer._run((tuple(wrap(g) for g in jax.tree.leaves(grads)),), {})
                fresh = [frame.values[w] for w in weights]
                values = {p.name: frame.values[p] for p in state}
        finally:
            frame.restore_attributes()
        updates = [n - o for n, o in zip(fresh, leaves, strict=True)]
        return jax.tree.unflatten(tree, updates), OptimizerState(values)

    return optax.GradientTransformation(init, update)


def _check(tree: Any, weights: list[Parameter]) -> None:
    count = len(jax.tree.leaves(tree))
    if count != len(weights):
        raise located(
            ValueError,
            f"For 'interop.as_optax', the tree must have {len(weights)} leaves, one a Parameter, "
            f"but has {count}.",
        )
