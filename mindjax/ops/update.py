"""Optimizer primitives: each writes the new values of one Parameter and its state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.dtype import from_np, promote_types
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.kernels import adam
from mindjax.ops.kernels.together import together, wanted
from mindjax.ops.state import write

Array = jax.Array


class Update(Primitive, register=False):
    """Base of primitives whose outputs are the new values of some of their inputs.

    Class variables: the positions of what is written, the variable first, and of the gradient; how
    many new values a call returns; whether a gradient of a wider dtype is narrowed; what is raised
    for a gradient of another shape.
    """

    effect: ClassVar[bool] = True
    writes_result: ClassVar[bool] = True
    gradient_at: ClassVar[int]
    narrows: ClassVar[bool] = False
    misshaped: ClassVar[type[Exception]] = ValueError
    step: ClassVar[Callable[..., tuple[Any, ...]]]
    writes: ClassVar[tuple[int, ...]] = (0,)
    returns: ClassVar[int] = 1

    def __call__(self, *inputs: Any) -> Any:
        """Compute the new values and write them into the inputs that are Tensors.

        Args:
            inputs: as in ``compute``.

        Returns:
            The first ``returns`` new values; all of them when the inputs are raw jax arrays, which
            cannot be written.
        """
        values = super().__call__(*inputs)
        if not isinstance(values[0], Handle):
            return values
        for position, value in zip(self.writes, values, strict=True):
            target = inputs[position]
            if isinstance(target, Handle):
                write(target, value)
        return values[0] if self.returns == 1 else values[: self.returns]

    def compute(self, *inputs: Any) -> tuple[Any, ...]:
        """Check the gradient, and compute in Float32 where the inputs are narrower."""
        arrays = list(inputs)
        for position in self.writes[1:]:
            self._check_state(arrays[self.writes[0]], arrays[position])
        arrays[self.gradient_at] = self._checked(arrays[self.writes[0]], arrays[self.gradient_at])
        outputs = self.step(*(widened(a) for a in arrays))
        return tuple(
            None if value is None else value.astype(inputs[position].dtype)
            for position, value in zip(self.writes, outputs, strict=True)
        )

    def _check_state(self, variable: Array, state: Array | None) -> None:
        if state is not None and state.shape != variable.shape:
            raise located(
                ValueError,
                f"For '{self.name}', the shapes of what is updated must be equal, but got "
                f"{variable.shape} and {state.shape}.",
            )

    def _checked(self, variable: Array, gradient: Array) -> Array:
        if variable.shape != gradient.shape:
            raise _misshaped(self.misshaped, self.name, variable, gradient)
        have, got = from_np(variable.dtype), from_np(gradient.dtype)
        if not self.narrows and promote_types(have, got) is not have:
            raise located(
                TypeError,
                f"For '{self.name}', data type conversion is not supported for a 'Parameter': its "
                f"data type is {have}, the gradient's {got}.",
            )
        return gradient.astype(variable.dtype)


def _misshaped(kind: type[Exception], owner: str, variable: Array, gradient: Array) -> Exception:
    return located(
        kind,
        f"For '{owner}', the gradient_shape must be equal to variable_shape which is "
        f"{variable.shape}, but got {gradient.shape}.",
    )


def widened(value: Any) -> Any:
    """Bring a narrow float to Float32, in which a beta near one is not one."""
    if value is not None and jnp.issubdtype(value.dtype, jnp.floating) and value.dtype.itemsize < 4:
        return value.astype(jnp.float32)
    return value


def number_like(value: Array, like: Array) -> Array:
    """Bring a hyper-parameter of shape () or (1,) to a 0-d array of another array's dtype."""
    return jnp.asarray(value).reshape(()).astype(like.dtype)


class ApplyMomentum(Update):
    """Gradient descent with momentum; the update is that of ``optax.trace``.

    v = momentum v + g; p = p - lr v, or p - lr (g + momentum v) with Nesterov's gradient.

    MindSpore: its CPU ignores ``use_nesterov`` and ``gradient_scale``; the documentation does not.
    """

    use_nesterov: bool = False
    use_locking: bool = False
    gradient_scale: float = 1.0
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 3

    def step(
        self,
        variable: Array,
        accumulation: Array,
        learning_rate: Array,
        gradient: Array,
        momentum: Array,
    ) -> tuple[Array, Array]:
        """Give the new variable and accumulation."""
        if self.gradient_scale != 1.0:
            gradient = gradient * self.gradient_scale
        decay = number_like(momentum, variable)
        accumulation = gradient + decay * accumulation
        step = gradient + decay * accumulation if self.use_nesterov else accumulation
        return variable - number_like(learning_rate, variable) * step, accumulation


class SGD(Update):
    """Gradient descent with momentum and dampening.

    MindSpore: the first step, marked by ``stat`` > 0, takes the gradient undampened, and without
    momentum neither ``accum`` nor ``stat`` change.
    """

    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 3, 5)
    gradient_at: ClassVar[int] = 1
    narrows: ClassVar[bool] = True
    misshaped: ClassVar[type[Exception]] = RuntimeError

    def step(
        self,
        parameters: Array,
        gradient: Array,
        learning_rate: Array,
        accum: Array,
        momentum: Array,
        stat: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new parameters, accumulation and marks."""
        if self.weight_decay > 0:
            gradient = gradient + self.weight_decay * parameters
        rate, decay = number_like(learning_rate, parameters), number_like(momentum, parameters)
        moving = decay > 0
        following = decay * accum + (1.0 - self.dampening) * gradient
        accum = jnp.where(moving, jnp.where(stat > 0, gradient, following), accum)
        step = gradient + decay * accum if self.nesterov else jnp.where(moving, accum, gradient)
        stat = jnp.where(moving & (stat > 0), jnp.zeros_like(stat), stat)
        return parameters - rate * step, accum, stat

    def _checked(self, variable: Array, gradient: Array) -> Array:
        checks.floating("gradient", gradient.dtype, self.name)
        return super()._checked(variable, gradient)


class Adam(Update):
    """Adam with bias correction by powers of beta (Kingma & Ba 2015, end of section 2).

    MindSpore: eps is added to the uncorrected root, so optax's update differs.
    """

    use_locking: bool = False
    use_nesterov: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 9
    returns: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        m: Array,
        v: Array,
        beta1_power: Array,
        beta2_power: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        g: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and moments."""
        b1, b2 = number_like(beta1, var), number_like(beta2, var)
        rate = corrected_rate(lr, beta1_power, beta2_power, var)
        if not self.use_nesterov and adam.wanted(var, m, v, g):
            return adam.step(var, m, v, g, adam.numbers_of(1 - b1, 1 - b2, rate, epsilon, 1, 1))
        m = m + (g - m) * (1 - b1)
        v = v + (g * g - v) * (1 - b2)
        step = m * b1 + (1 - b1) * g if self.use_nesterov else m
        # A quotient of two arrays is not vectorized by XLA's CPU backend if rows have 16 elements.
        inverse = 1 / (jnp.sqrt(v) + number_like(epsilon, var))
        return var - rate * (step * inverse), m, v


def corrected_rate(lr: Array, beta1_power: Array, beta2_power: Array, like: Array) -> Array:
    """Give Adam's learning rate with both bias corrections."""
    power1, power2 = number_like(beta1_power, like), number_like(beta2_power, like)
    return number_like(lr, like) * jnp.sqrt(1 - power2) / (1 - power1)


class ApplyAdamWithAmsgradV2(Update):
    """Adam whose second moment is replaced by its maximum so far (Reddi et al. 2018)."""

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 10
    returns: ClassVar[int] = 4

    def step(
        self,
        var: Array,
        m: Array,
        v: Array,
        vhat: Array,
        beta1_power: Array,
        beta2_power: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        g: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, moments and maximum."""
        b1, b2 = number_like(beta1, var), number_like(beta2, var)
        rate = corrected_rate(lr, beta1_power, beta2_power, var)
        m = m + (g - m) * (1 - b1)
        v = v + (g * g - v) * (1 - b2)
        vhat = jnp.maximum(vhat, v)
        return var - rate * m / (jnp.sqrt(vhat) + number_like(epsilon, var)), m, v, vhat


class AdamWeightDecay(Update):
    """Adam with decoupled weight decay and no bias correction (MindSpore: ``AdamWeightDecay``)."""

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 8
    narrows: ClassVar[bool] = True
    returns: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        m: Array,
        v: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        decay: Array,
        g: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and moments."""
        b1, b2 = number_like(beta1, var), number_like(beta2, var)
        if adam.wanted(var, m, v, g):
            keep = 1 if decay is None else 1 - number_like(lr, var) * number_like(decay, var)
            return adam.step(var, m, v, g, adam.numbers_of(1 - b1, 1 - b2, lr, epsilon, keep, 1))
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        step = m / (jnp.sqrt(v) + number_like(epsilon, var))
        if decay is not None:
            step = step + number_like(decay, var) * var
        return var - number_like(lr, var) * step, m, v


class ApplyRMSProp(Update):
    """RMSProp with momentum, eps under the root (Hinton's lecture 6e).

    MindSpore: its CPU adds eps to the root of arrays of 8 and more; the documentation does not.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 4

    def step(
        self,
        var: Array,
        mean_square: Array,
        moment: Array,
        learning_rate: Array,
        g: Array,
        decay: Array,
        momentum: Array,
        epsilon: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable, mean square and moment."""
        mean_square = mean_square + (g * g - mean_square) * (1 - number_like(decay, var))
        root = jnp.sqrt(mean_square + number_like(epsilon, var))
        moment = moment * number_like(momentum, var) + number_like(learning_rate, var) * g / root
        return var - moment, mean_square, moment


class ApplyCenteredRMSProp(Update):
    """RMSProp on the variance of the gradient in place of its mean square (Graves 2013)."""

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 4

    def step(
        self,
        var: Array,
        mean_gradient: Array,
        mean_square: Array,
        moment: Array,
        g: Array,
        learning_rate: Array,
        decay: Array,
        momentum: Array,
        epsilon: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, mean gradient, mean square and moment."""
        rest = 1 - number_like(decay, var)
        mean_square = mean_square + (g * g - mean_square) * rest
        mean_gradient = mean_gradient + (g - mean_gradient) * rest
        root = jnp.sqrt(mean_square - mean_gradient * mean_gradient + number_like(epsilon, var))
        moment = moment * number_like(momentum, var) + number_like(learning_rate, var) * g / root
        return var - moment, mean_gradient, mean_square, moment


class ApplyAdagrad(Update):
    """Adagrad without eps: the sum of squares starts above zero (Duchi et al. 2011).

    MindSpore: its CPU lets the sum grow without ``update_slots`` too; the documentation does not.
    """

    update_slots: bool = True
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 3
    returns: ClassVar[int] = 2

    def step(self, var: Array, accum: Array, lr: Array, g: Array) -> tuple[Array, Array]:
        """Give the new variable and sum of squares."""
        if self.update_slots:
            accum = accum + g * g
        return var - number_like(lr, var) * g / jnp.sqrt(accum), accum


class Lamb(Update):
    """Adam with a trust ratio a layer (You et al. 2020)."""

    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 9

    def step(
        self,
        var: Array,
        m: Array,
        v: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        decay: Array,
        global_step: Array,
        g: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and moments; ``global_step`` counts from one."""
        b1, b2 = number_like(beta1, var), number_like(beta2, var)
        step = number_like(global_step, var)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        update = (m / (1 - b1**step)) / (jnp.sqrt(v / (1 - b2**step)) + number_like(epsilon, var))
        if decay is not None:
            update = update + number_like(decay, var) * var
        weight_norm = jnp.sqrt(jnp.sum(var * var))
        update_norm = jnp.sqrt(jnp.sum(update * update))
        known = (weight_norm > 0) & (update_norm > 0)
        ratio = jnp.where(known, weight_norm / jnp.where(known, update_norm, 1), 1)
        return var - number_like(lr, var) * ratio * update, m, v


def missing_power(beta: float, t: Array) -> Array:
    """Give 1 - beta^t, without the cancellation that costs four digits in the first steps."""
    return -jnp.expm1(t * math.log(beta)) if beta else jnp.ones_like(t)


class AddDecay(Primitive, register=False):
    """A gradient with the decay of its weight added: g + w p."""

    def compute(self, gradient: Array, variable: Array, weight_decay: Array) -> Array:
        """Give the sum, in the gradient's dtype; the two are of one shape."""
        if gradient.shape != variable.shape:
            raise _misshaped(ValueError, "weight_decay", variable, gradient)
        decay = variable * number_like(weight_decay, variable)
        return gradient + decay.astype(gradient.dtype)


class ScaleGradient(Primitive, register=False):
    """A gradient times a number."""

    def compute(self, gradient: Array, scale: Array) -> Array:
        """Give the product, in the gradient's dtype."""
        return gradient * number_like(scale, gradient)


class Together(Primitive, register=False):
    """Gradients, to be used when all are computed."""

    def compute(self, *gradients: Array) -> tuple[Array, ...]:
        """Give them as they are."""
        return together(*gradients) if wanted(gradients) else gradients


class Centralization(Primitive, register=False):
    """A gradient minus its mean over all axes but the first (Yong et al. 2020)."""

    def compute(self, gradient: Array) -> Array:
        """Give the difference."""
        axes = tuple(range(1, gradient.ndim))
        return gradient - jnp.mean(gradient, axes, keepdims=True, dtype=gradient.dtype)


class AdamStep(Update, register=False):
    """Adam with decay in the gradient, or on the weight (Loshchilov & Hutter 2019).

    The last of four moments, there with ``amsgrad``, is the largest second moment so far.
    """

    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    decoupled: bool
    maximize: bool
    amsgrad: bool
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 4

    def step(
        self, var: Array, m: Array, v: Array, vmax: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable and moments; ``step`` counts from one, ``vmax`` may be None."""
        g = -g if self.maximize else g
        rate, t = number_like(lr, var), number_like(step, var)
        coupled = self.weight_decay != 0.0 and not self.decoupled
        if not (self.amsgrad or coupled) and adam.wanted(var, m, v, g):
            numbers = adam.numbers_of(
                1 - self.beta1,
                1 - self.beta2,
                rate / missing_power(self.beta1, t),
                self.eps,
                1 - rate * self.weight_decay,
                1 / jnp.sqrt(missing_power(self.beta2, t)),
            )
            return *adam.step(var, m, v, g, numbers), vmax
        if self.weight_decay != 0.0:
            if self.decoupled:
                var = var * (1 - rate * self.weight_decay)
            else:
                g = g + self.weight_decay * var
        m = self.beta1 * m + (1 - self.beta1) * g
        v = self.beta2 * v + (1 - self.beta2) * g * g
        largest = v
        if self.amsgrad:
            largest = vmax = jnp.maximum(vmax, v)
        root = jnp.sqrt(largest) / jnp.sqrt(missing_power(self.beta2, t)) + self.eps
        return var - rate / missing_power(self.beta1, t) * (m / root), m, v, vmax


class DescentStep(Update, register=False):
    """Gradient descent with momentum whose first sum is the first gradient."""

    momentum: float
    dampening: float
    weight_decay: float
    nesterov: bool
    maximize: bool
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 2

    def step(
        self, var: Array, buffer: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array]:
        """Give the new variable and sum; ``step`` counts from zero."""
        g = -g if self.maximize else g
        if self.weight_decay != 0.0:
            g = g + self.weight_decay * var
        if self.momentum != 0.0:
            following = self.momentum * buffer + (1 - self.dampening) * g
            buffer = jnp.where(step == 0, g, following)
            g = g + self.momentum * buffer if self.nesterov else buffer
        return var - number_like(lr, var) * g, buffer
