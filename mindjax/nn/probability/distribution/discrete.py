"""Distributions of integers: Bernoulli, geometric, Poisson and categorical."""

# Subclasses name the parameters of their own kind.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mindjax.ops as ops
from mindjax._checkparam import check_type_name
from mindjax.core.dtype import float32, float_type, int32, int_type, uint_type
from mindjax.core.errors import located
from mindjax.nn.probability import conditions
from mindjax.nn.probability.distribution.distribution import Distribution, exp, given, log
from mindjax.ops.sampling import draw_indices, draw_uniform
from mindjax.ops.stochastic.sources import PoissonNumbers

_TYPES = int_type + uint_type + float_type


class Bernoulli(Distribution):
    """The distribution of one with a probability, else zero (MindSpore: ``Bernoulli``).

    Args:
        probs: probability of one, between 0 and 1: number, list, array or Tensor; None where calls
            give it.
        seed: of a stream of its own; None takes the default stream.
        dtype: dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of numbers, or a parameter is no number.
        ValueError: ``probs`` is not between 0 and 1.
    """

    def __init__(
        self,
        probs: Any = None,
        seed: int | None = None,
        dtype: Any = int32,
        name: str = "Bernoulli",
    ) -> None:
        check_type_name("dtype", dtype, _TYPES, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, probs=probs))
        self._probs = self._add_parameter(probs, "probs")
        conditions.probabilities(self._probs)

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(probs=self._probs)

    @property
    def probs(self) -> Any:
        """The probability of one."""
        return self._probs

    def _get_dist_type(self) -> str:
        return "Bernoulli"

    def _get_dist_args(self, probs1: Any = None) -> Any:
        return self._given((probs1, self._probs, "probs"))

    def _mean(self, probs1: Any = None) -> Any:
        return self._check_param_type(probs1)

    def _mode(self, probs1: Any = None) -> Any:
        return ops.cast(self._check_param_type(probs1) > 0.5, self.dtype)

    def _var(self, probs1: Any = None) -> Any:
        probs = self._check_param_type(probs1)
        return probs * (1.0 - probs)

    def _entropy(self, probs1: Any = None) -> Any:
        probs = self._check_param_type(probs1)
        rest = 1.0 - probs
        return -(rest * log(rest)) - probs * log(probs)

    def _cross_entropy(self, dist: str, probs1_b: Any, probs1: Any = None) -> Any:
        return self._entropy(probs1) + self._kl_loss(dist, probs1_b, probs1)

    def _log_prob(self, value: Any, probs1: Any = None) -> Any:
        value = ops.cast(self._check_value(value, "value"), self.parameter_type)
        probs = self._check_param_type(probs1)
        eps = float(np.finfo(probs.dtype.np if probs.dtype in float_type[:3] else np.float32).eps)
        probs = ops.clip_by_value(probs, eps, 1 - eps)
        return log(probs) * value + log(1.0 - probs) * (1.0 - value)

    def _cdf(self, value: Any, probs1: Any = None) -> Any:
        value = ops.cast(self._check_value(value, "value"), self.parameter_type)
        value = ops.floor(value)
        rest = 1.0 - self._check_param_type(probs1)
        return ops.where(value < 1.0, ops.where(value < 0.0, 0.0, rest), 1.0)

    def _kl_loss(self, dist: str, probs1_b: Any, probs1: Any = None) -> Any:
        self._same_kind(dist)
        (other,) = self._others(probs1_b=probs1_b)
        probs = self._check_param_type(probs1)
        rest = 1.0 - probs
        return probs * log(probs / other) + rest * log(rest / (1.0 - other))

    def _sample(self, shape: Any = (), probs1: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        probs = self._check_param_type(probs1)
        full = shape + tuple(probs.shape)
        drawn = draw_uniform(full, float32, 0.0, 1.0, self._key())
        return ops.cast(drawn < probs, self.dtype)


class Geometric(Distribution):
    """The number of failures before the first success (MindSpore: ``Geometric``).

    Args:
        probs: probability of success, between 0 and 1: number, list, array or Tensor; None where
            calls give it.
        seed: of a stream of its own; None takes the default stream.
        dtype: dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of numbers, or a parameter is no number.
        ValueError: ``probs`` is not between 0 and 1.
    """

    def __init__(
        self,
        probs: Any = None,
        seed: int | None = None,
        dtype: Any = int32,
        name: str = "Geometric",
    ) -> None:
        check_type_name("dtype", dtype, _TYPES, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, probs=probs))
        self._probs = self._add_parameter(probs, "probs")
        conditions.probabilities(self._probs)

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(probs=self._probs)

    @property
    def probs(self) -> Any:
        """The probability of success."""
        return self._probs

    def _get_dist_type(self) -> str:
        return "Geometric"

    def _get_dist_args(self, probs1: Any = None) -> Any:
        return self._given((probs1, self._probs, "probs"))

    def _mean(self, probs1: Any = None) -> Any:
        probs = self._check_param_type(probs1)
        return (1.0 - probs) / probs

    def _mode(self, probs1: Any = None) -> Any:
        return ops.zeros(tuple(self._check_param_type(probs1).shape), self.dtype)

    def _var(self, probs1: Any = None) -> Any:
        probs = self._check_param_type(probs1)
        return (1.0 - probs) / ops.square(probs)

    def _entropy(self, probs1: Any = None) -> Any:
        probs = self._check_param_type(probs1)
        rest = 1.0 - probs
        return (-rest * log(rest) - probs * log(probs)) / probs

    def _cross_entropy(self, dist: str, probs1_b: Any, probs1: Any = None) -> Any:
        return self._entropy(probs1) + self._kl_loss(dist, probs1_b, probs1)

    def _count(self, value: Any) -> Any:
        return ops.floor(ops.cast(self._check_value(value, "value"), self.parameter_type))

    def _prob(self, value: Any, probs1: Any = None) -> Any:
        value = self._count(value)
        probs = self._check_param_type(probs1)
        return ops.where(value < 0, 0.0, exp(log(1.0 - probs) * value + log(probs)))

    def _cdf(self, value: Any, probs1: Any = None) -> Any:
        value = self._count(value)
        rest = 1.0 - self._check_param_type(probs1)
        return ops.where(value < 0, 0.0, 1.0 - ops.pow(rest, value + 1.0))

    def _kl_loss(self, dist: str, probs1_b: Any, probs1: Any = None) -> Any:
        self._same_kind(dist)
        (other,) = self._others(probs1_b=probs1_b)
        probs = self._check_param_type(probs1)
        rest = 1.0 - probs
        return log(probs / other) + rest / probs * log(rest / (1.0 - other))

    def _sample(self, shape: Any = (), probs1: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        probs = self._check_param_type(probs1)
        full = shape + tuple(probs.shape)
        drawn = draw_uniform(full, float32, 0.0, 1.0, self._key())
        return ops.cast(ops.floor(ops.log1p(-drawn) / ops.log1p(-probs)), self.dtype)


class Poisson(Distribution):
    """The Poisson distribution (MindSpore: ``nn.probability.distribution.Poisson``).

    Args:
        rate: above 0: list, array or Tensor; None where calls give it.
        seed: of a stream of its own; None takes the default stream.
        dtype: dtype of samples and values.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of numbers, or ``rate`` is a number or something else.
        ValueError: ``rate`` is not above 0.
    """

    def __init__(
        self,
        rate: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Poisson",
    ) -> None:
        check_type_name("dtype", dtype, _TYPES, type(self).__name__)
        if isinstance(rate, int | float):
            raise located(TypeError, f"Input rate can't be scalar, but got {rate}.")
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
        return "Poisson"

    def _get_dist_args(self, rate: Any = None) -> Any:
        return self._given((rate, self._rate, "rate"))

    def _mean(self, rate: Any = None) -> Any:
        return self._check_param_type(rate)

    def _mode(self, rate: Any = None) -> Any:
        return ops.floor(self._check_param_type(rate))

    def _var(self, rate: Any = None) -> Any:
        return self._check_param_type(rate)

    def _log_prob(self, value: Any, rate: Any = None) -> Any:
        value = self._value(value)
        rate = self._check_param_type(rate)
        safe = ops.where(value < 0, 0, value)
        return ops.where(value < 0, -math.inf, log(rate) * safe - ops.lgamma(safe + 1.0)) - rate

    def _cdf(self, value: Any, rate: Any = None) -> Any:
        value = self._value(value)
        rate = self._check_param_type(rate)
        safe = ops.where(value < 0, 0, value)
        return ops.where(value < 0, 0.0, 1.0 - ops.igamma(1.0 + safe, rate))

    def _sample(self, shape: Any = (), rate: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        rate = ops.cast(self._check_param_type(rate), float32)
        full = shape + tuple(rate.shape)
        return ops.cast(PoissonNumbers(full, float32)(rate, *self._key()), self.dtype)


class Categorical(Distribution):
    """The distribution of one of some categories, numbered from 0 (MindSpore: ``Categorical``).

    Args:
        probs: probabilities, which sum up to 1 along the last axis: list, array or Tensor; None
            where calls give it.
        seed: of a stream of its own; None takes the default stream.
        dtype: dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of numbers, or ``probs`` is no array.
        ValueError: ``probs`` has no axis, is not between 0 and 1 or does not sum up to 1.
    """

    def __init__(
        self,
        probs: Any = None,
        seed: int | None = None,
        dtype: Any = int32,
        name: str = "Categorical",
    ) -> None:
        check_type_name("dtype", dtype, _TYPES, type(self).__name__)
        super().__init__(seed, dtype, name, given(seed, dtype, name, probs=probs))
        self._probs = self._add_parameter(probs, "probs")
        if self._probs is not None:
            conditions.categories(self._probs)
            conditions.probabilities(self._probs)
            shape = tuple(self._probs.shape)[:-1]
            self.__dict__["_is_scalar_batch"] = self._is_scalar_batch or not shape
            self.__dict__["_broadcast_shape"] = shape

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(probs=self._probs)

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._probs

    def _get_dist_type(self) -> str:
        return "Categorical"

    def _get_dist_args(self, probs: Any = None) -> Any:
        return self._given((probs, self._probs, "probs"))

    def _moment(self, probs: Any, power: int) -> Any:
        places = ops.arange(0, probs.shape[-1], 1, dtype=probs.dtype)
        return ops.ReduceSum(keep_dims=True)(ops.pow(places, power) * probs, -1)

    def _mean(self, probs: Any = None) -> Any:
        return self._moment(self._check_param_type(probs), 1)

    def _var(self, probs: Any = None) -> Any:
        probs = self._check_param_type(probs)
        return self._moment(probs, 2) - ops.square(self._moment(probs, 1))

    def _mode(self, probs: Any = None) -> Any:
        return ops.cast(ops.argmax(self._check_param_type(probs), -1), self.dtype)

    def _entropy(self, probs: Any = None) -> Any:
        probs = self._check_param_type(probs)
        return ops.squeeze(-ops.ReduceSum()(log(probs) * probs, -1))

    def _kl_loss(self, dist: str, probs_b: Any, probs: Any = None) -> Any:
        self._same_kind(dist)
        (other,) = self._others(probs_b=probs_b)
        own = log(self._check_param_type(probs))
        apart = ops.log_softmax(own, -1) - ops.log_softmax(log(other), -1)
        return ops.squeeze(ops.ReduceSum()(ops.softmax(own, -1) * apart, -1))

    def _cross_entropy(self, dist: str, probs_b: Any, probs: Any = None) -> Any:
        return self._entropy(probs) + self._kl_loss(dist, probs_b, probs)

    def _at(self, rows: Any, value: Any) -> tuple[Any, Any]:
        """Take the value's element of each row; give the value too, in the result's shape."""
        # Between -1 and 0 a value counts as 0.
        value = ops.where(ops.logical_and(value < 0, value > -1.0), 0.0, ops.floor(value))
        batch = np.broadcast_shapes(tuple(rows.shape)[:-1], tuple(value.shape))
        last = rows.shape[-1] - 1
        value = self._spread(value, batch)
        index = ops.expand_dims(ops.cast(ops.clip_by_value(value, 0.0, float(last)), int32), -1)
        rows = self._spread(rows, (*batch, last + 1))
        return ops.squeeze(ops.gather_elements(rows, len(batch), index), -1), value

    def _log_prob(self, value: Any, probs: Any = None) -> Any:
        value = self._check_value(value, "value")
        probs = self._check_param_type(probs)
        found, value = self._at(log(probs), ops.cast(value, probs.dtype))
        outside = ops.logical_or(value < 0.0, value > float(probs.shape[-1] - 1))
        return ops.where(outside, math.nan, found)

    def _cdf(self, value: Any, probs: Any = None) -> Any:
        value = self._check_value(value, "value")
        probs = self._check_param_type(probs)
        sums = ops.cumsum(probs, -1)
        found, value = self._at(sums, ops.cast(value, probs.dtype))
        return ops.where(value < 0.0, 0.0, found)

    def _sample(self, shape: Any = (), probs: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        probs = self._check_param_type(probs)
        classes, batch = probs.shape[-1], tuple(probs.shape)[:-1]
        rows = ops.reshape(probs, (-1, classes))
        drawn = draw_indices(rows, math.prod(shape), True, int32, self._key())
        return ops.cast(ops.reshape(ops.transpose(drawn, (1, 0)), shape + batch), self.dtype)
