"""Adafactor: second moments of matrices held as their row and column means."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.state import write
from mindjax.ops.update import number_like, widened

Array = jax.Array


def _root_mean_square(x: Array) -> Array:
    return jnp.sqrt(jnp.mean(x * x))


class FusedAdaFactor(Primitive):
    """Adafactor (Shazeer & Stern 2018) for one Parameter.

    Args:
        enable_scale_parameter: whether the learning rate is scaled by the Parameter's root mean
            square.
        enable_first_moment: whether steps are averaged.
        enable_weight_decay: whether the Parameter decays.

    Inputs are ``epsilon`` (two numbers: added to squared gradients, and the least scale),
    ``clip_threshold``, ``beta1``, ``beta2``, ``weight_decay``, ``learning_rate``, ``gradient``,
    ``param``, ``exp_avg``, ``exp_avg_sq_row``, ``exp_avg_sq_col`` and ``exp_avg_sq``, of which the
    last five are written. A Parameter of two and more axes uses the row and column means.
    """

    enable_scale_parameter: bool = False
    enable_first_moment: bool = False
    enable_weight_decay: bool = False
    effect: ClassVar[bool] = True
    writes_result: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> Any:
        """Compute the new values and write them; the new Parameter is the result."""
        values = super().__call__(*inputs)
        if not isinstance(values[0], Handle):
            return values
        for target, value in zip(inputs[7:12], values, strict=True):
            if isinstance(target, Handle):
                write(target, value)
        return values[0]

    def compute(self, *inputs: Any) -> tuple[Array, ...]:
        """Give the new Parameter and averages."""
        epsilon, clip, beta1, beta2, decay, rate, gradient = inputs[:7]
        before = inputs[7:12]
        param, average, row, column, square = (widened(x) for x in before)
        gradient = self.scaled(widened(gradient), *inputs[12:])
        b1, b2, d = (number_like(x, param) for x in (beta1, beta2, decay))
        least, scale = (e.astype(param.dtype) for e in jnp.asarray(epsilon).reshape(2))
        squares = gradient * gradient + least
        if param.ndim >= 2:
            row = b2 * row + (1 - b2) * jnp.mean(squares, -1)
            column = b2 * column + (1 - b2) * jnp.mean(squares, -2)
            share = row / jnp.mean(row, -1, keepdims=True)
            step = gradient / jnp.sqrt(share[..., None] * column[..., None, :])
        else:
            square = b2 * square + (1 - b2) * squares
            step = gradient / jnp.sqrt(square)
        step = step / jnp.maximum(1, _root_mean_square(step) / number_like(clip, param))
        speed = number_like(rate, param)
        if self.enable_scale_parameter:
            speed = speed * jnp.maximum(scale, _root_mean_square(param))
        step = step * speed
        if self.enable_first_moment:
            average = step = b1 * average + (1 - b1) * step
        if self.enable_weight_decay:
            param = param - param * d * speed
        after = (param - step, average, row, column, square)
        return tuple(x.astype(old.dtype) for x, old in zip(after, before, strict=True))

    def scaled(self, gradient: Array, *more: Array) -> Array:
        """Give the gradient that the step is made of."""
        return gradient


class FusedAdaFactorWithGlobalNorm(FusedAdaFactor):
    """As `FusedAdaFactor`, with a last input ``global_norm`` that divides the gradient."""

    def scaled(self, gradient: Array, *more: Array) -> Array:
        """Divide by the norm."""
        return gradient / number_like(more[0], gradient)
