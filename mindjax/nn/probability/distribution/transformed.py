"""Distributions of functions of a random variable: transformed, Gumbel and log-normal."""

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
from mindjax.nn.probability.bijector.bijector import Bijector
from mindjax.nn.probability.bijector.gumbel_cdf import GumbelCDF
from mindjax.nn.probability.bijector.invert import Invert
from mindjax.nn.probability.bijector.power_transform import Exp
from mindjax.nn.probability.distribution.continuous import TINY, Normal, Uniform
from mindjax.nn.probability.distribution.distribution import (
    Distribution,
    _stream,
    constant,
    exp,
    log,
)


class TransformedDistribution(Distribution):
    """The distribution of a function of a random variable (MindSpore: ``TransformedDistribution``).

    Args:
        bijector: the function.
        distribution: of the variable, of floats.
        seed: of a stream of its own; None or 0 takes the distribution's.
        name: of the distribution.

    Raises:
        TypeError: ``bijector`` is no Bijector, or ``distribution`` none of floats.
    """

    def __init__(
        self,
        bijector: Any,
        distribution: Any,
        seed: int | None = None,
        name: str = "transformed_distribution",
    ) -> None:
        owner = type(self).__name__
        for key, value, kind in (
            ("bijector", bijector, Bijector),
            ("distribution", distribution, Distribution),
        ):
            if not isinstance(value, kind):
                raise located(
                    TypeError,
                    f"For '{owner}', the type of '{key}' should be '{kind.__name__}', but got type "
                    f"'{type(value).__name__}'.",
                )
        check_type_name("dtype", distribution.dtype, float_type, owner)
        param = {"bijector": bijector, "distribution": distribution, "seed": seed, "name": name}
        super().__init__(seed, distribution.dtype, name, param)
        self._bijector = bijector
        self._distribution = distribution
        own = self.__dict__
        own["_is_linear_transformation"] = bijector.is_constant_jacobian
        own["_is_scalar_batch"] = distribution.is_scalar_batch and bijector.is_scalar_batch
        own["_batch_shape"] = distribution.batch_shape
        own["default_parameters"] = distribution.default_parameters
        own["parameter_names"] = distribution.parameter_names
        own["parameter_type"] = distribution.parameter_type
        shapes = distribution.batch_shape, bijector.batch_shape
        own["_broadcast_shape"] = None if None in shapes else np.broadcast_shapes(*shapes)

    @property
    def bijector(self) -> Any:
        """The function."""
        return self._bijector

    @property
    def distribution(self) -> Any:
        """The distribution of the variable."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the function is linear."""
        return self._is_linear_transformation

    def _cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return self.distribution("cdf", self.bijector("inverse", value), *args, **kwargs)

    def _log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        inner = self.distribution("log_prob", self.bijector("inverse", value), *args, **kwargs)
        whole = inner + self.bijector("inverse_log_jacobian", value)
        return ops.where(inner == -math.inf, inner, whole)

    def _sample(self, *args: Any, **kwargs: Any) -> Any:
        return self.bijector("forward", self._drawn(*args, **kwargs))

    def _drawn(self, *args: Any, **kwargs: Any) -> Any:
        """Draw the variable, from the own stream if there is one."""
        if self._generator is None:
            return self.distribution("sample", *args, **kwargs)
        token = _stream.set(_stream.get() or self._generator)
        try:
            return self.distribution.sample(*args, **kwargs)
        finally:
            _stream.reset(token)

    def _mean(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_linear_transformation:
            raise located(
                ValueError, "mean function must be implemented for non-linear transformation"
            )
        return self.bijector("forward", self.distribution("mean", *args, **kwargs))


class Gumbel(TransformedDistribution):
    """The Gumbel distribution of maxima (MindSpore: ``nn.probability.distribution.Gumbel``).

    Args:
        loc: float, list, array or Tensor of floats.
        scale: above 0; the same.
        seed: of a stream of its own; 0 takes the default stream.
        dtype: float dtype of samples.
        name: of the distribution.

    Raises:
        TypeError: ``dtype`` is not one of floats, or a parameter is no float.
        ValueError: ``scale`` is not above 0.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        seed: int | None = 0,
        dtype: Any = float32,
        name: str = "Gumbel",
    ) -> None:
        check_type_name("dtype", dtype, float_type, type(self).__name__)
        cdf = GumbelCDF(loc, scale)
        super().__init__(Invert(cdf), Uniform(0.0, 1.0, dtype=dtype), seed, name)
        self._reset_parameters()
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        self._gumbel_bijector = cdf

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(loc=self._loc, scale=self._scale)

    @property
    def loc(self) -> Any:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _get_dist_type(self) -> str:
        return "Gumbel"

    def _get_dist_args(self, loc: Any = None, scale: Any = None) -> Any:
        return self._given((loc, self._loc, "loc"), (scale, self._scale, "scale"))

    def _full(self, value: Any) -> Any:
        return self._spread(value, self._broadcast_shape or ())

    def _mean(self) -> Any:
        return self.loc + self.scale * float(np.euler_gamma)

    def _mode(self) -> Any:
        return self._full(self.loc)

    def _sd(self) -> Any:
        return self._full(self.scale) * math.pi / constant(math.sqrt(6))

    def _entropy(self) -> Any:
        return 1.0 + log(self._full(self.scale)) + float(np.euler_gamma)

    def _log_prob(self, value: Any) -> Any:
        z = (self._value(value) - self.loc) / self.scale
        return -(z + exp(-z)) - log(self.scale)

    def _cdf(self, value: Any) -> Any:
        return self._gumbel_bijector("forward", self._value(value))

    def _cross_entropy(self, dist: str, loc_b: Any, scale_b: Any) -> Any:
        return self._entropy() + self._kl_loss(dist, loc_b, scale_b)

    def _kl_loss(self, dist: str, loc_b: Any, scale_b: Any) -> Any:
        self._same_kind(dist)
        loc_b, scale_b = self._others(loc_b=loc_b, scale_b=scale_b)
        ratio = self.scale / scale_b
        first = log(scale_b / self.scale) + float(np.euler_gamma) * (ratio - 1.0)
        last = ops.expm1((loc_b - self.loc) / scale_b + ops.lgamma(ratio + 1.0))
        return first + (self.loc - loc_b) / scale_b + last

    def _sample(self, shape: Any = ()) -> Any:
        shape = self.checktuple(shape, "shape")
        drawn = self._drawn(shape + (self._broadcast_shape or ()))
        drawn = ops.clip_by_value(ops.cast(drawn, self.dtype), TINY, 1.0)
        return self.bijector("forward", drawn)


class LogNormal(TransformedDistribution):
    """The distribution of e to the power of a normal variable (MindSpore: ``LogNormal``).

    Args:
        loc: mean of the normal variable: number, list, array or Tensor; None where calls give it.
        scale: its standard deviation, above 0; the same.
        seed: of a stream of its own; 0 takes the default stream.
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
        seed: int | None = 0,
        dtype: Any = float32,
        name: str = "LogNormal",
    ) -> None:
        super().__init__(Exp(), Normal(loc, scale, dtype=dtype), seed, name)
        self._reset_parameters()
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(loc=self._loc, scale=self._scale)

    @property
    def loc(self) -> Any:
        """The mean of the normal variable."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal variable."""
        return self._scale

    def _get_dist_type(self) -> str:
        return "LogNormal"

    def _get_dist_args(self, loc: Any = None, scale: Any = None) -> Any:
        return self._given((loc, self._loc, "loc"), (scale, self._scale, "scale"))

    def _mean(self, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        return exp(mean + 0.5 * ops.square(sd))

    def _mode(self, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        return exp(mean - ops.square(sd))

    def _var(self, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        var = ops.square(sd)
        return ops.expm1(var) * exp(2.0 * mean + var)

    def _entropy(self, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        return mean + 0.5 + log(sd) + 0.5 * math.log(2 * math.pi)

    def _cdf(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        self._check_value(value, "value")
        # No logarithm, and no gradient of one, where there is none.
        safe = ops.where(value > 0.0, value, 1.0)
        below = self.distribution("cdf", self.bijector("inverse", safe), mean, sd)
        return ops.where(value > 0.0, below, 0.0)

    def _log_prob(self, value: Any, loc: Any = None, scale: Any = None) -> Any:
        mean, sd = self._check_param_type(loc, scale)
        inner = self.distribution("log_prob", self.bijector("inverse", value), mean, sd)
        return inner + self.bijector("inverse_log_jacobian", value)

    def _cross_entropy(
        self, dist: str, loc_b: Any, scale_b: Any, loc_a: Any = None, scale_a: Any = None
    ) -> Any:
        return self._entropy(loc_a, scale_a) + self._kl_loss(dist, loc_b, scale_b, loc_a, scale_a)

    def _kl_loss(
        self, dist: str, loc_b: Any, scale_b: Any, loc_a: Any = None, scale_a: Any = None
    ) -> Any:
        self._same_kind(dist)
        own = (loc_a, scale_a) if loc_a is not None or scale_a is not None else ()
        return self.distribution("kl_loss", "Normal", loc_b, scale_b, *own)

    def _sample(self, shape: Any = (), loc: Any = None, scale: Any = None) -> Any:
        shape = self.checktuple(shape, "shape")
        mean, sd = self._check_param_type(loc, scale)
        drawn = ops.cast(self._drawn(shape, mean, sd), self.dtype)
        return self.bijector("forward", drawn)
