"""Optimizer primitives beyond the common ones: adaptive, sign-based and proximal steps."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.state import write
from mindjax.ops.update import (
    AdamWeightDecay,
    ApplyAdamWithAmsgradV2,
    Update,
    corrected_rate,
    number_like,
    widened,
)

Array = jax.Array


def shrunk(value: Array, threshold: Array) -> Array:
    """Bring values nearer to zero by a threshold, and those within it to zero."""
    return jnp.sign(value) * jnp.maximum(jnp.abs(value) - threshold, 0)


class ApplyAdaMax(Update):
    """Adam with the infinity norm of the gradient in place of its mean square.

    m = beta1 m + (1 - beta1) g; v = max(beta2 v, |g|); var -= lr / (1 - beta1_power) m / (v + eps).
    """

    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 8
    returns: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        m: Array,
        v: Array,
        beta1_power: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        g: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and moments."""
        m = m + (g - m) * (1 - number_like(beta1, var))
        v = jnp.maximum(number_like(beta2, var) * v, jnp.abs(g))
        rate = number_like(lr, var) / (1 - number_like(beta1_power, var))
        return var - rate * m / (v + number_like(epsilon, var)), m, v


class ApplyAdadelta(Update):
    """Adadelta (Zeiler 2012): steps scaled by the ratio of mean squares of steps and gradients."""

    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 6
    returns: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        accum: Array,
        accum_update: Array,
        lr: Array,
        rho: Array,
        epsilon: Array,
        g: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and both mean squares."""
        decay, eps = number_like(rho, var), number_like(epsilon, var)
        accum = decay * accum + (1 - decay) * g * g
        step = jnp.sqrt(accum_update + eps) * g / jnp.sqrt(accum + eps)
        accum_update = decay * accum_update + (1 - decay) * step * step
        return var - number_like(lr, var) * step, accum, accum_update


class ApplyAdagradDA(Update):
    """Adagrad with dual averaging (Duchi et al. 2011): the variable follows from the sums alone.

    Args:
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        total: Array,
        squares: Array,
        g: Array,
        lr: Array,
        l1: Array,
        l2: Array,
        global_step: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable and sums."""
        rate, step = number_like(lr, var), number_like(global_step, var)
        total, squares = total + g, squares + g * g
        kept = shrunk(total, jnp.maximum(number_like(l1, var), 0) * step)
        root = number_like(l2, var) * step * rate + jnp.sqrt(squares)
        return -rate * kept / root, total, squares


class ApplyAdagradV2(Update):
    """Adagrad with eps beside the root.

    Args:
        epsilon: added to the root.
        update_slots: whether the sum of squares grows.
    """

    epsilon: float
    update_slots: bool = True
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 3
    returns: ClassVar[int] = 2

    def step(self, var: Array, accum: Array, lr: Array, g: Array) -> tuple[Array, Array]:
        """Give the new variable and sum of squares."""
        if self.update_slots:
            accum = accum + g * g
        return var - number_like(lr, var) * g / (jnp.sqrt(accum) + self.epsilon), accum


class ApplyAdamWithAmsgrad(Update):
    """Adam with the largest second moment so far, its factors given when it is made.

    Args:
        beta1: decay of the first moment.
        beta2: decay of the second moment.
        epsilon: added to the root.
        use_locking: device tuning only: writes are always whole.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    gradient_at: ClassVar[int] = 7
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
        g: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Give the new variable, moments and maximum."""
        factors = (self.beta1, self.beta2, self.epsilon)
        b1, b2, eps = (jnp.asarray(x, var.dtype) for x in factors)
        record = ApplyAdamWithAmsgradV2()
        return record.step(var, m, v, vhat, beta1_power, beta2_power, lr, b1, b2, eps, g)


class ApplyAddSign(Update):
    """Steps that are larger where gradient and momentum agree in sign (Bello et al. 2017)."""

    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 6
    returns: ClassVar[int] = 2

    def step(
        self,
        var: Array,
        m: Array,
        lr: Array,
        alpha: Array,
        sign_decay: Array,
        beta: Array,
        g: Array,
    ) -> tuple[Array, Array]:
        """Give the new variable and momentum."""
        decay = number_like(beta, var)
        m = decay * m + (1 - decay) * g
        agree = number_like(sign_decay, var) * jnp.sign(g) * jnp.sign(m)
        return var - number_like(lr, var) * (number_like(alpha, var) + agree) * g, m


class ApplyPowerSign(Update):
    """Steps scaled by a power of the agreement of gradient and momentum (Bello et al. 2017)."""

    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 6
    returns: ClassVar[int] = 2

    def step(
        self,
        var: Array,
        m: Array,
        lr: Array,
        logbase: Array,
        sign_decay: Array,
        beta: Array,
        g: Array,
    ) -> tuple[Array, Array]:
        """Give the new variable and momentum."""
        decay = number_like(beta, var)
        m = decay * m + (1 - decay) * g
        agree = number_like(sign_decay, var) * jnp.sign(g) * jnp.sign(m)
        factor = jnp.exp(number_like(logbase, var) * agree)
        return var - number_like(lr, var) * factor * g, m


def ftrl(
    state: tuple[Array, Array, Array],
    g: Array,
    numbers: tuple[Array, ...],
    shrinkage: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Make a step of follow-the-regularized-leader (McMahan et al. 2013).

    Args:
        state: variable, sum of squared gradients and linear coefficient.
        g: gradient.
        numbers: learning rate, strengths of the sparsity and of the quadratic penalty, and power of
            the sum of squares, at most 0; 0-d arrays.
        shrinkage: strength of a penalty on the gradient's part of the linear coefficient.

    Returns:
        The new state.
    """
    var, accum, linear = state
    lr, l1, l2, lr_power = numbers
    grown = accum + g * g
    # A power of exactly 1/2 is a root, which is correctly rounded; 0 ** 0 is 1 as documented.
    before = jnp.where(lr_power == -0.5, jnp.sqrt(accum), jnp.power(accum, -lr_power))
    after = jnp.where(lr_power == -0.5, jnp.sqrt(grown), jnp.power(grown, -lr_power))
    pulled = g + 2 * shrinkage * var if shrinkage else g
    linear = linear + pulled - (after - before) / lr * var
    quadratic = after / lr + 2 * l2
    outside = jnp.abs(linear) > l1
    # Where nothing pulls, the quotient is not used: it may be 0 / 0.
    quotient = (jnp.sign(linear) * l1 - linear) / jnp.where(outside, quadratic, 1)
    return jnp.where(outside, quotient, 0), grown, linear


class ApplyFtrl(Update):
    """Follow-the-regularized-leader.

    Args:
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 3

    def step(
        self,
        var: Array,
        accum: Array,
        linear: Array,
        g: Array,
        lr: Array,
        l1: Array,
        l2: Array,
        lr_power: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the new variable, sum of squares and linear coefficient."""
        numbers = tuple(number_like(x, var) for x in (lr, l1, l2, lr_power))
        return ftrl((var, accum, linear), g, numbers)


class ApplyGradientDescent(Update):
    """A step along the change: var - alpha delta."""

    gradient_at: ClassVar[int] = 2

    def step(self, var: Array, alpha: Array, delta: Array) -> tuple[Array]:
        """Give the new variable."""
        return (var - number_like(alpha, var) * delta,)


class ApplyKerasMomentum(Update):
    """Momentum that holds the step itself: accum = momentum accum - lr g; var += accum.

    Args:
        use_locking: device tuning only: writes are always whole.
        use_nesterov: whether the step looks one further ahead.
    """

    use_locking: bool = False
    use_nesterov: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 3
    returns: ClassVar[int] = 2

    def step(
        self, var: Array, accum: Array, lr: Array, g: Array, momentum: Array
    ) -> tuple[Array, Array]:
        """Give the new variable and step."""
        rate, decay = number_like(lr, var), number_like(momentum, var)
        accum = accum * decay - g * rate
        return var + (accum * decay - g * rate if self.use_nesterov else accum), accum


def proximal(var: Array, change: Array, lr: Array, l1: Array, l2: Array) -> Array:
    """Make a forward-backward step (Duchi & Singer 2009): go along the change, then shrink."""
    return shrunk(var - lr * change, lr * l1) / (1 + lr * l2)


class ApplyProximalAdagrad(Update):
    """Adagrad followed by shrinking; each element has the learning rate that Adagrad gives it.

    MindSpore: its documentation shrinks by the undivided learning rate, its CPU as done here.

    Args:
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1)
    gradient_at: ClassVar[int] = 5
    returns: ClassVar[int] = 2

    def step(
        self, var: Array, accum: Array, lr: Array, l1: Array, l2: Array, g: Array
    ) -> tuple[Array, Array]:
        """Give the new variable and sum of squares."""
        accum = accum + g * g
        rate, first, second = (number_like(x, var) for x in (lr, l1, l2))
        return proximal(var, g, rate / jnp.sqrt(accum), first, second), accum


class ApplyProximalGradientDescent(Update):
    """A step along the change followed by shrinking."""

    gradient_at: ClassVar[int] = 4

    def step(self, var: Array, alpha: Array, l1: Array, l2: Array, delta: Array) -> tuple[Array]:
        """Give the new variable."""
        numbers = (number_like(x, var) for x in (alpha, l1, l2))
        return (proximal(var, delta, *numbers),)


class AdamNoUpdateParam(Primitive):
    """Adam's step, which is returned and not added to a variable; the moments are written.

    Args:
        use_locking: device tuning only: writes are always whole.
        use_nesterov: whether the step looks one further ahead.
    """

    use_locking: bool = False
    use_nesterov: bool = False
    effect: ClassVar[bool] = True
    writes_result: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> Any:
        """Compute the step, and write the moments, the first two inputs.

        Args:
            inputs: as in ``compute``.

        Returns:
            The step; step and moments when the inputs are raw jax arrays, which cannot be written.
        """
        values = super().__call__(*inputs)
        if not isinstance(values[0], Handle):
            return values
        for target, value in zip(inputs, values[1:], strict=False):
            if isinstance(target, Handle):
                write(target, value)
        return values[0]

    def compute(
        self,
        m: Array,
        v: Array,
        beta1_power: Array,
        beta2_power: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        gradient: Array,
    ) -> tuple[Array, Array, Array]:
        """Give the step and the new moments."""
        checks.same_shape(self.name, m=m.shape, v=v.shape, gradient=gradient.shape)
        checks.same_dtype(self.name, m=m.dtype, v=v.dtype, gradient=gradient.dtype)
        g = widened(gradient)
        b1, b2 = number_like(beta1, g), number_like(beta2, g)
        rate = corrected_rate(lr, beta1_power, beta2_power, g)
        first = widened(m) + (g - widened(m)) * (1 - b1)
        second = widened(v) + (g * g - widened(v)) * (1 - b2)
        ahead = b1 * first + (1 - b1) * g if self.use_nesterov else first
        step = -rate * ahead / (jnp.sqrt(second) + number_like(epsilon, g))
        return step.astype(gradient.dtype), first.astype(m.dtype), second.astype(v.dtype)


class FusedCastAdamWeightDecay(Update):
    """`AdamWeightDecay` for narrow gradients and wide moments; a last input divides the gradient.

    Args:
        use_locking: device tuning only: writes are always whole.
    """

    use_locking: bool = False
    writes: ClassVar[tuple[int, ...]] = (0, 1, 2)
    gradient_at: ClassVar[int] = 8
    narrows: ClassVar[bool] = True
    returns: ClassVar[int] = 3

    def step(self, var: Array, *rest: Array) -> tuple[Array, Array, Array]:
        """Give the new variable and moments."""
        m, v, lr, beta1, beta2, epsilon, decay, g, global_norm = rest
        g = g / number_like(global_norm, var)
        return AdamWeightDecay().step(var, m, v, lr, beta1, beta2, epsilon, decay, g)


class FusedWeightScaleApplyMomentum(Update):
    """Momentum on the gradient with the decay added, times a scale.

    v = momentum v + loss_scale (g + weight_decay p); p -= lr v.
    """

    writes: ClassVar[tuple[int, ...]] = (2, 3)
    gradient_at: ClassVar[int] = 5

    def step(
        self,
        weight_decay: Array,
        loss_scale: Array,
        variable: Array,
        accumulation: Array,
        learning_rate: Array,
        gradient: Array,
        momentum: Array,
    ) -> tuple[Array, Array]:
        """Give the new variable and accumulation."""
        decayed = gradient + number_like(weight_decay, variable) * variable
        accumulation = number_like(momentum, variable) * accumulation
        accumulation = accumulation + number_like(loss_scale, variable) * decayed
        return variable - number_like(learning_rate, variable) * accumulation, accumulation


class LARSUpdate(Primitive):
    """A gradient with decay, scaled by the ratio of the norms of weight and gradient (LARS).

    Args:
        epsilon: added to the denominator of the ratio.
        hyperpara: trust coefficient.
        use_clip: whether the ratio is limited to the learning rate, and divided by it.
    """

    epsilon: float = 1e-5
    hyperpara: float = 0.001
    use_clip: bool = False

    def __post_init__(self) -> None:
        checks.of_type("epsilon", self.epsilon, float, self.name)
        checks.of_type("hyperpara", self.hyperpara, float, self.name)
        checks.of_type("use_clip", self.use_clip, bool, self.name)

    def compute(
        self,
        weight: Array,
        gradient: Array,
        norm_weight: Array,
        norm_gradient: Array,
        weight_decay: Array,
        learning_rate: Array,
    ) -> Array:
        """Give the new gradient; the norms are sums of squares."""
        checks.same_shape(self.name, weight=weight.shape, gradient=gradient.shape)
        checks.same_dtype(self.name, weight=weight.dtype, gradient=gradient.dtype)
        w, g = widened(weight), widened(gradient)
        decay = number_like(weight_decay, w)
        of_weight = jnp.sqrt(number_like(norm_weight, w))
        of_gradient = jnp.sqrt(number_like(norm_gradient, w))
        below = of_gradient + decay * of_weight + self.epsilon
        ratio = self.hyperpara * of_weight / below
        if self.use_clip:
            ratio = jnp.minimum(ratio / number_like(learning_rate, w), 1)
        return (ratio * (g + decay * w)).astype(gradient.dtype)
