"""Distributions of positive numbers: exponential, gamma and beta."""

# Subclasses name the parameters of their own kind.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import math
from typing import Any

import mindjax.ops as ops
from mindjax._checkparam import check_type_name
from mindjax.core.dtype import float32, float_type
from mindjax.core.errors import located
from mindjax.nn.probability import conditions
from mindjax.nn.probability.distribution.distribution import Distribution, exp, given, log
from mindjax.ops.distributions import GammaNumbers
from mindjax.ops.sampling import draw_uniform, run


def _no_scalar(name: str, value: Any, kinds: tuple[type, ...]) -> None:
    if isinstance(value, kinds):
        raise located(TypeError, f"Input {name} can't be scalar, but got {value}.")


class Exponential(Distribution):
    """The exponential distribution (MindSpore: ``nn.probability.distribution.Exponential``).

    Args:
        rate: above 0: number, list, array or Tensor; None where calls give it.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``rate`` is not above 0.
    """

    def __init__(
        self,
        rate: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Exponential",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, rate=rate))
        self._rate = self._add_parameter(rate, "rate")
        conditions.positive(self._rate, "rate")

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(rate=self._rate)

    @property
    def rate(self) -> Any:
        """The rate."""
        return self._rate

    def _get_dist_type(self) -> str:
        return "Exponential"

    def _get_dist_args(self, rate: Any = None) -> Any:
        return self._given((rate, self._rate, "rate"))

    def _mean(self, rate: Any = None) -> Any:
        return 1.0 / self._check_param_type(rate)

    def _sd(self, rate: Any = None) -> Any:
        return 1.0 / self._check_param_type(rate)

    def _mode(self, rate: Any = None) -> Any:
        return ops.zeros(tuple(self._check_param_type(rate).shape), self.dtype)

    def _entropy(self, rate: Any = None) -> Any:
        return 1.0 - log(self._check_param_type(rate))

    def _cross_entropy(self, dist: str, rate_b: Any, rate: Any = None) -> Any:
        return self._entropy(rate) + self._kl_loss(dist, rate_b, rate)

    def _log_prob(self, value: Any, rate: Any = None) -> Any:
        value = self._value(value)
        rate = self._check_param_type(rate)
        return ops.where(value < 0, -math.inf, log(rate) - rate * value)

    def _cdf(self, value: Any, rate: Any = None) -> Any:
        value = self._value(value)
        rate = self._check_param_type(rate)
        return ops.where(value < 0, 0.0, 1.0 - exp(-1.0 * rate * value))

    def _log_survival(self, value: Any, rate: Any = None) -> Any:
        value = self._value(value)
        rate = self._check_param_type(rate)
        return ops.where(value < 0, 0.0, -1.0 * rate * value)

    def _kl_loss(self, dist: str, rate_b: Any, rate: Any = None) -> Any:
        self._same_kind(dist)
        (rate_b,) = self._others(rate_b=rate_b)
        rate = self._check_param_type(rate)
        return log(rate) - log(rate_b) + rate_b / rate - 1.0

    def _sample(self, shape: Any = (), rate: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        rate = self._check_param_type(rate)
        full = shape + tuple(rate.shape)
        drawn = draw_uniform(full, float32, 0.0, 1.0, self._key())
        return ops.cast(-ops.log1p(-drawn) / rate, self.dtype)


class Gamma(Distribution):
    """The gamma distribution (MindSpore: ``nn.probability.distribution.Gamma``).

    Args:
        concentration: above 0: list, array or Tensor; None where calls give it.
        rate: above 0; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is a number or something else.
        ValueError: a parameter is not above 0.
    """

    def __init__(
        self,
        concentration: Any = None,
        rate: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Gamma",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        _no_scalar("concentration", concentration, (int, float))
        _no_scalar("rate", rate, (int, float))
        values = {"concentration": concentration, "rate": rate}
        super().__init__(seed, dtype, name, given(seed, dtype, name, **values))
        self._concentration = self._add_parameter(concentration, "concentration")
        self._rate = self._add_parameter(rate, "rate")
        conditions.positive(self._concentration, "concentration")
        conditions.positive(self._rate, "rate")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(concentration=self._concentration, rate=self._rate)

    @property
    def concentration(self) -> Any:
        """The concentration."""
        return self._concentration

    @property
    def rate(self) -> Any:
        """The rate."""
        return self._rate

    def _get_dist_type(self) -> str:
        return "Gamma"

    def _get_dist_args(self, concentration: Any = None, rate: Any = None) -> Any:
        return self._given(
            (concentration, self._concentration, "concentration"), (rate, self._rate, "rate")
        )

    def _mean(self, concentration: Any = None, rate: Any = None) -> Any:
        concentration, rate = self._check_param_type(concentration, rate)
        return concentration / rate

    def _var(self, concentration: Any = None, rate: Any = None) -> Any:
        concentration, rate = self._check_param_type(concentration, rate)
        return concentration / ops.square(rate)

    def _sd(self, concentration: Any = None, rate: Any = None) -> Any:
        concentration, rate = self._check_param_type(concentration, rate)
        return ops.sqrt(concentration) / rate

    def _mode(self, concentration: Any = None, rate: Any = None) -> Any:
        concentration, rate = self._check_param_type(concentration, rate)
        return ops.where(concentration > 1.0, (concentration - 1.0) / rate, math.nan)

    def _entropy(self, concentration: Any = None, rate: Any = None) -> Any:
        a, rate = self._check_param_type(concentration, rate)
        return a - log(rate) + ops.lgamma(a) + (1.0 - a) * ops.digamma(a)

    def _cross_entropy(
        self,
        dist: str,
        concentration_b: Any,
        rate_b: Any,
        concentration_a: Any = None,
        rate_a: Any = None,
    ) -> Any:
        apart = self._kl_loss(dist, concentration_b, rate_b, concentration_a, rate_a)
        return self._entropy(concentration_a, rate_a) + apart

    def _log_prob(self, value: Any, concentration: Any = None, rate: Any = None) -> Any:
        value = self._value(value)
        a, rate = self._check_param_type(concentration, rate)
        return (a - 1.0) * log(value) - rate * value - (ops.lgamma(a) - a * log(rate))

    def _cdf(self, value: Any, concentration: Any = None, rate: Any = None) -> Any:
        value = self._value(value)
        concentration, rate = self._check_param_type(concentration, rate)
        return ops.igamma(concentration, rate * value)

    def _kl_loss(
        self,
        dist: str,
        concentration_b: Any,
        rate_b: Any,
        concentration_a: Any = None,
        rate_a: Any = None,
    ) -> Any:
        self._same_kind(dist)
        b, rate_b = self._others(concentration_b=concentration_b, rate_b=rate_b)
        a, rate_a = self._check_param_type(concentration_a, rate_a)
        gammas = ops.lgamma(b) - ops.lgamma(a) + b * log(rate_a) - b * log(rate_b)
        return (a - b) * ops.digamma(a) + gammas + a * (rate_b / rate_a - 1.0)

    def _sample(self, shape: Any = (), concentration: Any = None, rate: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        concentration, rate = self._check_param_type(concentration, rate)
        drawn = run(GammaNumbers(shape), concentration, rate, *self._key())
        return ops.cast(drawn, self.dtype)


class Beta(Distribution):
    """The beta distribution (MindSpore: ``nn.probability.distribution.Beta``).

    Args:
        concentration1: above 0: list, array or Tensor; None where calls give it.
        concentration0: above 0; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is a float or something else.
        ValueError: a parameter is not above 0.
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Beta",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        _no_scalar("concentration0", concentration0, (float,))
        _no_scalar("concentration1", concentration1, (float,))
        values = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(seed, dtype, name, given(seed, dtype, name, **values))
        self._concentration1 = self._add_parameter(concentration1, "concentration1")
        self._concentration0 = self._add_parameter(concentration0, "concentration0")
        conditions.positive(self._concentration1, "concentration1")
        conditions.positive(self._concentration0, "concentration0")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(
            concentration1=self._concentration1, concentration0=self._concentration0
        )

    @property
    def concentration1(self) -> Any:
        """The power of x, plus 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The power of 1 - x, plus 1."""
        return self._concentration0

    def _get_dist_type(self) -> str:
        return "Beta"

    def _get_dist_args(self, concentration1: Any = None, concentration0: Any = None) -> Any:
        return self._given(
            (concentration1, self._concentration1, "concentration1"),
            (concentration0, self._concentration0, "concentration0"),
        )

    def _mean(self, concentration1: Any = None, concentration0: Any = None) -> Any:
        a, b = self._check_param_type(concentration1, concentration0)
        return a / (a + b)

    def _var(self, concentration1: Any = None, concentration0: Any = None) -> Any:
        a, b = self._check_param_type(concentration1, concentration0)
        return a * b / (ops.square(a + b) * (a + b + 1.0))

    def _mode(self, concentration1: Any = None, concentration0: Any = None) -> Any:
        a, b = self._check_param_type(concentration1, concentration0)
        inside = ops.logical_and(a > 1.0, b > 1.0)
        total = ops.where(inside, a + b - 2.0, 1.0)
        return ops.where(inside, (a - 1.0) / total, math.nan)

    def _entropy(self, concentration1: Any = None, concentration0: Any = None) -> Any:
        a, b = self._check_param_type(concentration1, concentration0)
        own = (a - 1.0) * ops.digamma(a) + (b - 1.0) * ops.digamma(b)
        return _log_beta(a, b) - own + (a + b - 2.0) * ops.digamma(a + b)

    def _cross_entropy(
        self,
        dist: str,
        concentration1_b: Any,
        concentration0_b: Any,
        concentration1_a: Any = None,
        concentration0_a: Any = None,
    ) -> Any:
        own = concentration1_a, concentration0_a
        return self._entropy(*own) + self._kl_loss(dist, concentration1_b, concentration0_b, *own)

    def _log_prob(self, value: Any, concentration1: Any = None, concentration0: Any = None) -> Any:
        value = self._value(value)
        a, b = self._check_param_type(concentration1, concentration0)
        return (a - 1.0) * log(value) + (b - 1.0) * ops.log1p(-value) - _log_beta(a, b)

    def _kl_loss(
        self,
        dist: str,
        concentration1_b: Any,
        concentration0_b: Any,
        concentration1_a: Any = None,
        concentration0_a: Any = None,
    ) -> Any:
        self._same_kind(dist)
        other1, other0 = self._others(
            concentration1_b=concentration1_b, concentration0_b=concentration0_b
        )
        a, b = self._check_param_type(concentration1_a, concentration0_a)
        norms = _log_beta(other1, other0) - _log_beta(a, b)
        own = ops.digamma(a) * (other1 - a) + ops.digamma(b) * (other0 - b)
        return norms - own + ops.digamma(a + b) * (other1 + other0 - a - b)

    def _sample(
        self, shape: Any = (), concentration1: Any = None, concentration0: Any = None
    ) -> Any:
        shape = self.checktuple(shape, "shape")
        a, b = self._check_param_type(concentration1, concentration0)
        first, second = (
            run(GammaNumbers(shape), v, ops.ones_like(v), *self._key()) for v in (a, b)
        )
        return ops.cast(first / (first + second), self.dtype)


def _log_beta(a: Any, b: Any) -> Any:
    return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
