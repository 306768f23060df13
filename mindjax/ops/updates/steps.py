"""Updates that the original writes op by op in its optimizers; each is one record here.

Their last input ``step`` counts from one. They are no primitives of the original: unregistered.
"""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp

from mindjax.ops.update import Update, missing_power, number_like

Array = jax.Array


class GroupStep(Update, register=False):
    """Base of updates of a group: ``prepared`` turns and decays the gradient.

    Args:
        weight_decay: times the weight, added to its gradient.
        maximize: whether to climb.
    """

    weight_decay: float = 0.0
    maximize: bool = False

    def prepared(self, g: Array, var: Array) -> Array:
        """Give the gradient that the step is made of."""
        g = -g if self.maximize else g
        return g + self.weight_decay * var if self.weight_decay else g


class AsgdStep(GroupStep, register=False):
    """Averaged gradient descent (Polyak & Juditsky 1992), with rates as in Bottou 2010.

    Args:
        lambd: decay of the weight by each step.
        alpha: power of the rate's decay.
        t0: step at which the average starts.
    """

    lambd: float = 1e-4
    alpha: float = 0.75
    t0: float = 1e6
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 4

    def _check_state(self, variable: Array, state: Array | None) -> None:
        """Let the rate and the weight of the average be 0-d."""

    def step(
        self, var: Array, ax: Array, eta: Array, mu: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, average, rate and weight of the next value in the average."""
        rate, t = number_like(lr, eta), number_like(step, eta)
        speed = number_like(jnp.where(t == 1, rate, eta), var)
        g = self.prepared(g, var)
        var = var * (1 - self.lambd * speed) - speed * g
        weight = number_like(mu, var)
        ax = jnp.where(weight == 1, var, ax + (var - ax) * weight)
        eta = rate / jnp.power(1 + self.lambd * rate * t, self.alpha)
        return var, ax, eta, 1 / jnp.maximum(1, t - self.t0)


class RpropStep(GroupStep, register=False):
    """Steps by the gradient's sign alone (Riedmiller & Braun 1993), without stepping back.

    Args:
        shrinks: factor of a step where the sign has changed.
        grows: factor of a step where the sign has stayed.
        least: smallest step.
        largest: largest step.
    """

    shrinks: float = 0.5
    grows: float = 1.2
    least: float = 1e-6
    largest: float = 50.0
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3

    def step(
        self, var: Array, prev: Array, size: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array]:
        """Give the new variable, last gradient and step sizes."""
        g = self.prepared(g, var)
        agrees = jnp.sign(g * prev)
        factor = jnp.where(agrees > 0, self.grows, jnp.where(agrees < 0, self.shrinks, 1.0))
        size = jnp.where(number_like(step, var) == 1, number_like(lr, var), size)
        size = jnp.clip(size * factor.astype(var.dtype), self.least, self.largest)
        g = jnp.where(agrees < 0, 0, g)
        return var - jnp.sign(g) * size, g, size


class _MomentStep(GroupStep, register=False):
    """Base of updates with two moments.

    Args:
        beta1: decay of the first moment.
        beta2: decay of the second moment.
        eps: added to the root.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3

    def moments(self, m: Array, v: Array, g: Array) -> tuple[Array, Array]:
        """Give the new moments."""
        m = self.beta1 * m + (1 - self.beta1) * g
        return m, self.beta2 * v + (1 - self.beta2) * g * g


class AdamaxStep(_MomentStep, register=False):
    """Adam with the infinity norm in place of the root (Kingma & Ba 2015), eps in the norm."""

    def step(
        self, var: Array, m: Array, norm: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array]:
        """Give the new variable, moment and norm."""
        g = self.prepared(g, var)
        m = self.beta1 * m + (1 - self.beta1) * g
        norm = jnp.maximum(self.beta2 * norm, jnp.abs(g) + self.eps)
        rate = number_like(lr, var) / missing_power(self.beta1, number_like(step, var))
        return var - rate * m / norm, m, norm


class NadamStep(_MomentStep, register=False):
    """Adam with Nesterov's momentum (Dozat 2016), whose decay follows a schedule.

    Args:
        momentum_decay: how fast the schedule goes to ``beta1``.
    """

    momentum_decay: float = 0.004
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 4

    def _check_state(self, variable: Array, state: Array | None) -> None:
        """Let the product of the momenta be 0-d."""

    def step(
        self, var: Array, m: Array, v: Array, product: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, moments and product of the momenta so far."""
        g, rate, t = self.prepared(g, var), number_like(lr, var), number_like(step, var)
        now, following = (self.beta1 * (1 - 0.5 * self._fading(t + i)) for i in (0, 1))
        product = number_like(product, var) * now
        m, v = self.moments(m, v, g)
        root = jnp.sqrt(v / missing_power(self.beta2, t)) + self.eps
        var = var - rate * (1 - now) / (1 - product) * g / root
        var = var - rate * following / (1 - product * following) * m / root
        return var, m, v, product

    def _fading(self, t: Array) -> Array:
        return jnp.power(0.96, t * self.momentum_decay)


class RadamStep(_MomentStep, register=False):
    """Adam whose adaptive rate waits until its variance is known (Liu et al. 2020)."""

    def step(
        self, var: Array, m: Array, v: Array, g: Array, lr: Array, step: Array
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and moments."""
        g, t = self.prepared(g, var), number_like(step, var)
        m, v = self.moments(m, v, g)
        missing = missing_power(self.beta2, t)
        last = 2 / (1 - self.beta2) - 1
        rho = last - 2 * t * (1 - missing) / missing
        known = rho > 5
        shape = jnp.where(known, rho, 6)
        square = (shape - 4) * (shape - 2) * last / ((last - 4) * (last - 2) * shape)
        adaptive = jnp.sqrt(square) * jnp.sqrt(missing) / (jnp.sqrt(v) + self.eps)
        rate = number_like(lr, var) / missing_power(self.beta1, t)
        return var - rate * m * jnp.where(known, adaptive, 1), m, v


class RmspropStep(GroupStep, register=False):
    """RMSProp with eps beside the root (Hinton, lecture 6e; centered: Graves 2013).

    Args:
        alpha: decay of the means.
        eps: added to the root.
        momentum: decay of the sum of steps.
        centered: whether the variance of the gradient divides.
    """

    alpha: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 4

    def step(
        self, var: Array, mean: Array, square: Array, moment: Array, g: Array, lr: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, means of the gradient and its square, and sum of steps."""
        g, rate = self.prepared(g, var), number_like(lr, var)
        square = self.alpha * square + (1 - self.alpha) * g * g
        variance = square
        if self.centered:
            mean = self.alpha * mean + (1 - self.alpha) * g
            variance = square - mean * mean
        step = g / (jnp.sqrt(variance) + self.eps)
        if self.momentum > 0:
            step = moment = self.momentum * moment + step
        return var - rate * step, mean, square, moment
