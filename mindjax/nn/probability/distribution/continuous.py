"""Distributions with a location and a scale, and the uniform one."""

# Subclasses name the parameters of their own kind.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mindjax.ops as ops
from mindjax._checkparam import check_type_name
from mindjax.core.dtype import float32, float_type
from mindjax.core.errors import located
from mindjax.nn.probability import conditions
from mindjax.nn.probability.distribution.distribution import (
    Distribution,
    constant,
    exp,
    given,
    log,
)
from mindjax.ops.sampling import draw_normal, draw_uniform

# Uniform numbers start here where their logarithm is taken.
TINY = float(np.finfo(np.float32).tiny)


class Normal(Distribution):
    """The normal distribution (MindSpore: ``nn.probability.distribution.Normal``).

    Args:
        mean: number, list, array or Tensor; None where calls give it.
        sd: standard deviation, above 0; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Normal",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, mean=mean, sd=sd))
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        conditions.positive(self._sd_value, "Standard deviation")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(mean=self._mean_value, standard_deviation=self._sd_value)

    def _get_dist_type(self) -> str:
        return "Normal"

    def _get_dist_args(self, mean: Any = None, sd: Any = None) -> Any:
        return self._given((mean, self._mean_value, "mean"), (sd, self._sd_value, "sd"))

    def _mean(self, mean: Any = None, sd: Any = None) -> Any:
        return self._check_param_type(mean, sd)[0]

    def _mode(self, mean: Any = None, sd: Any = None) -> Any:
        return self._check_param_type(mean, sd)[0]

    def _sd(self, mean: Any = None, sd: Any = None) -> Any:
        return self._check_param_type(mean, sd)[1]

    def _entropy(self, mean: Any = None, sd: Any = None) -> Any:
        _, sd = self._check_param_type(mean, sd)
        return constant(0.5 * math.log(2 * math.pi * math.e)) + log(sd)

    def _cross_entropy(
        self, dist: str, mean_b: Any, sd_b: Any, mean: Any = None, sd: Any = None
    ) -> Any:
        return self._entropy(mean, sd) + self._kl_loss(dist, mean_b, sd_b, mean, sd)

    def _log_prob(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        return -0.5 * ops.square((value - mean) / sd) + (-0.5 * math.log(2 * math.pi) - log(sd))

    def _cdf(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        # The complement of the error function keeps its digits in the tail.
        return 0.5 * ops.erfc((mean - value) / (sd * constant(math.sqrt(2))))

    def _survival_function(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        return 0.5 * ops.erfc((value - mean) / (sd * constant(math.sqrt(2))))

    def _kl_loss(self, dist: str, mean_b: Any, sd_b: Any, mean: Any = None, sd: Any = None) -> Any:
        self._same_kind(dist)
        mean_b, sd_b = self._others(mean_b=mean_b, sd_b=sd_b)
        mean, sd = self._check_param_type(mean, sd)
        scales = log(sd) - log(sd_b)
        apart = ops.square(mean / sd_b - mean_b / sd_b)
        return 0.5 * apart + 0.5 * ops.expm1(2 * scales) - scales

    def _sample(self, shape: Any = (), mean: Any = None, sd: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        mean, sd = self._check_param_type(mean, sd)
        full = shape + tuple(mean.shape)
        return ops.cast(draw_normal(full, float32, mean, sd, self._key()), self.dtype)


class HalfNormal(Distribution):
    """The density of a normal variable's absolute value (MindSpore: ``HalfNormal``).

    Args:
        mean: number, list, array or Tensor; None where calls give it.
        sd: standard deviation of the normal variable, above 0; the same.
        seed: kept; there are no samples.
        dtype: float dtype of values.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "HalfNormal",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, mean=mean, sd=sd))
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        conditions.positive(self._sd_value, "Standard deviation")

    def _prob(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        density = math.sqrt(2 / math.pi) / sd * ops.exp(-0.5 * ops.square((value - mean) / sd))
        return density * ops.cast(value >= 0, self.dtype)

    def _log_prob(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        density = math.log(2 / math.pi) / 2 - log(sd) - 0.5 * ops.square((value - mean) / sd)
        # The logarithm of a density of 0 would have a gradient of NaN.
        return ops.where(value >= 0, density, -math.inf)


class Laplace(Distribution):
    """The density of the Laplace distribution (MindSpore: ``Laplace``).

    Args:
        mean: number, list, array or Tensor; None where calls give it.
        sd: scale, above 0; the same.
        seed: kept; there are no samples.
        dtype: float dtype of values.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Laplace",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, mean=mean, sd=sd))
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        conditions.positive(self._sd_value, "Standard deviation")

    def _log_prob(self, value: Any, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        mean, sd = self._check_param_type(mean, sd)
        return -1.0 * ops.abs((value - mean) / sd) - log(2.0 * sd)


class StudentT(Distribution):
    """The density of Student's t distribution (MindSpore: ``StudentT``).

    Args:
        df: degrees of freedom, above 0: number, list, array or Tensor; None where calls give it.
        mean: location; the same.
        sd: scale, above 0; the same.
        seed: kept; there are no samples.
        dtype: float dtype of values.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``df`` or ``sd`` is not above 0.
    """

    def __init__(
        self,
        df: Any = None,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "StudentT",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, df=df, mean=mean, sd=sd))
        self._df_value = self._add_parameter(df, "df")
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        conditions.positive(self._sd_value, "Standard deviation")
        conditions.positive(self._df_value, "Degrees of freedom")

    def _log_prob(self, value: Any, df: Any = None, mean: Any = None, sd: Any = None) -> Any:
        value = self._value(value)
        df, mean, sd = self._check_param_type(df, mean, sd)
        tail = -0.5 * (df + 1.0) * ops.log1p(ops.square((value - mean) / sd) / df)
        gammas = ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1.0))
        return tail - (log(ops.abs(sd)) + 0.5 * log(df) + 0.5 * math.log(math.pi) + gammas)


class _Located(Distribution):
    """Distributions that a location and a scale move and stretch."""

    def __init__(self, loc: Any, scale: Any, seed: int | None, dtype: Any, name: str) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, loc=loc, scale=scale))
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        conditions.positive(self._scale, "scale")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(location=self._loc, scale=self._scale)

    @property
    def loc(self) -> Any:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _get_dist_args(self, loc: Any = None, scale: Any = None) -> Any:
        return self._given((loc, self._loc, "loc"), (scale, self._scale, "scale"))


class Cauchy(_Located):
    """The Cauchy distribution (MindSpore: ``nn.probability.distribution.Cauchy``).

    Args:
        loc: number, list, array or Tensor; None where calls give it.
        scale: above 0; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``scale`` is not above 0.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Cauchy",
    ) -> None:
        super().__init__(loc, scale, seed, dtype, name)

    def _get_dist_type(self) -> str:
        return "Cauchy"

    def _undefined(self, function: str) -> ValueError:
        return located(ValueError, f"{function} is undefined for Cauchy distribution.")

    def _mean(self, *args: Any, **kwargs: Any) -> Any:
        raise self._undefined("mean")

    def _sd(self, *args: Any, **kwargs: Any) -> Any:
        raise self._undefined("standard deviation")

    def _var(self, *args: Any, **kwargs: Any) -> Any:
        raise self._undefined("variance")

    def _mode(self, loc: Any = None, scale: Any = None) -> Any:
        return self._check_param_type(loc, scale)[0]

    def _entropy(self, loc: Any = None, scale: Any = None) -> Any:
        _, scale = self._check_param_type(loc, scale)
        return log(scale) + math.log(4 * math.pi)

    def _log_prob(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        z, scale = self._standard(value, loc, scale)
        return -1.0 * ops.log1p(ops.square(z)) - log(math.pi * scale)

    def _standard(self, value: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
        value = self._value(value)
        loc, scale = self._check_param_type(loc, scale)
        return (value - loc) / scale, scale

    def _cdf(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        z, _ = self._standard(value, loc, scale)
        return ops.atan(z) / math.pi + 0.5

    def _log_cdf(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        z, _ = self._standard(value, loc, scale)
        return ops.log1p(2.0 * ops.atan(z) / math.pi) - constant(math.log(2))

    def _quantile(self, p: Any, loc: Any = None, scale: Any = None) -> Any:
        loc, scale = self._check_param_type(loc, scale)
        return loc + scale * ops.tan(math.pi * (p - 0.5))

    def _kl_loss(
        self, dist: str, loc_b: Any, scale_b: Any, loc_a: Any = None, scale_a: Any = None
    ) -> Any:
        self._same_kind(dist)
        loc_a, scale_a = self._check_param_type(loc_a, scale_a)
        loc_b, scale_b = self._others(loc_b=loc_b, scale_b=scale_b)
        both = log(ops.square(scale_a + scale_b) + ops.square(loc_a - loc_b))
        return both - constant(math.log(4)) - log(scale_a) - log(scale_b)

    def _cross_entropy(
        self, dist: str, loc_b: Any, scale_b: Any, loc_a: Any = None, scale_a: Any = None
    ) -> Any:
        return self._entropy(loc_a, scale_a) + self._kl_loss(dist, loc_b, scale_b, loc_a, scale_a)

    def _sample(self, shape: Any = (), loc: Any = None, scale: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        loc, scale = self._check_param_type(loc, scale)
        full = shape + tuple(loc.shape)
        drawn = draw_uniform(full, float32, 0.0, 1.0, self._key())
        return ops.cast(self._quantile(drawn, loc, scale), self.dtype)


class Logistic(_Located):
    """The logistic distribution (MindSpore: ``nn.probability.distribution.Logistic``).

    Args:
        loc: number, list, array or Tensor; None where calls give it.
        scale: above 0; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``scale`` is not above 0.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Logistic",
    ) -> None:
        super().__init__(loc, scale, seed, dtype, name)

    def _get_dist_type(self) -> str:
        return "Logistic"

    def _mean(self, loc: Any = None, scale: Any = None) -> Any:
        return self._check_param_type(loc, scale)[0]

    def _mode(self, loc: Any = None, scale: Any = None) -> Any:
        return self._check_param_type(loc, scale)[0]

    def _sd(self, loc: Any = None, scale: Any = None) -> Any:
        return self._check_param_type(loc, scale)[1] * (math.pi / math.sqrt(3))

    def _entropy(self, loc: Any = None, scale: Any = None) -> Any:
        return log(self._check_param_type(loc, scale)[1]) + 2.0

    def _standard(self, value: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
        value = self._value(value)
        loc, scale = self._check_param_type(loc, scale)
        return (value - loc) / scale, scale

    def _log_prob(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        z, scale = self._standard(value, loc, scale)
        return 2.0 * ops.logsigmoid(z) - z - log(scale)

    def _cdf(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        return ops.sigmoid(self._standard(value, loc, scale)[0])

    def _log_cdf(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        return ops.logsigmoid(self._standard(value, loc, scale)[0])

    def _survival_function(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        return ops.sigmoid(-self._standard(value, loc, scale)[0])

    def _log_survival(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        return ops.logsigmoid(-self._standard(value, loc, scale)[0])

    def _sample(self, shape: Any = (), loc: Any = None, scale: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        loc, scale = self._check_param_type(loc, scale)
        full = shape + tuple(loc.shape)
        drawn = draw_uniform(full, float32, TINY, 1.0, self._key())
        return ops.cast((log(drawn) - ops.log1p(-drawn)) * scale + loc, self.dtype)


class Uniform(Distribution):
    """The uniform distribution between two bounds (MindSpore: ``Uniform``).

    Args:
        low: number, list, array or Tensor; None where calls give it.
        high: above ``low``; the same.
        seed: of a stream of its own; None takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no number.
        ValueError: ``low`` is not below ``high``.
    """

    def __init__(
        self,
        low: Any = None,
        high: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Uniform",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, low=low, high=high))
        self._low = self._add_parameter(low, "low")
        self._high = self._add_parameter(high, "high")
        conditions.below(self._low, self._high)

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(low=self._low, high=self._high)

    @property
    def low(self) -> Any:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Any:
        """The upper bound."""
        return self._high

    def _get_dist_type(self) -> str:
        return "Uniform"

    def _get_dist_args(self, low: Any = None, high: Any = None) -> Any:
        return self._given((low, self._low, "low"), (high, self._high, "high"))

    def _range(self, low: Any = None, high: Any = None) -> Any:
        low, high = self._check_param_type(low, high)
        return high - low

    def _mean(self, low: Any = None, high: Any = None) -> Any:
        low, high = self._check_param_type(low, high)
        return (low + high) / 2.0

    def _var(self, low: Any = None, high: Any = None) -> Any:
        return ops.square(self._range(low, high)) / 12.0

    def _entropy(self, low: Any = None, high: Any = None) -> Any:
        return log(self._range(low, high))

    def _cross_entropy(
        self, dist: str, low_b: Any, high_b: Any, low: Any = None, high: Any = None
    ) -> Any:
        return self._entropy(low, high) + self._kl_loss(dist, low_b, high_b, low, high)

    def _prob(self, value: Any, low: Any = None, high: Any = None) -> Any:
        value = self._value(value)
        low, high = self._check_param_type(low, high)
        inside = ops.logical_and(value >= low, value <= high)
        return ops.where(inside, exp(-log(high - low)), 0.0)

    def _kl_loss(
        self, dist: str, low_b: Any, high_b: Any, low: Any = None, high: Any = None
    ) -> Any:
        self._same_kind(dist)
        low_b, high_b = self._others(low_b=low_b, high_b=high_b)
        low, high = self._check_param_type(low, high)
        inside = ops.logical_and(low_b <= low, high <= high_b)
        return ops.where(inside, log(high_b - low_b) - log(high - low), math.inf)

    def _cdf(self, value: Any, low: Any = None, high: Any = None) -> Any:
        value = self._value(value)
        low, high = self._check_param_type(low, high)
        share = (value - low) / (high - low)
        return ops.where(value < low, 0.0, ops.where(value < high, share, 1.0))

    def _sample(self, shape: Any = (), low: Any = None, high: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        low, high = self._check_param_type(low, high)
        full = shape + tuple(low.shape)
        return ops.cast(draw_uniform(full, float32, low, high, self._key()), self.dtype)
