"""Distributions of weights: priors and posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindjax.ops as ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.probability.distribution import Normal
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class NormalPrior(Cell):
    """A normal distribution of weights (MindSpore: ``nn.probability.bnn_layers.NormalPrior``).

    Args:
        dtype: of samples.
        mean: number or Tensor.
        std: standard deviation, above 0; the same.
    """

    def __init__(self, dtype: Any = float32, mean: Any = 0, std: Any = 0.1) -> None:
        super().__init__()
        self.normal = Normal(mean, std, dtype=dtype)

    def construct(self, *inputs: Any) -> Any:
        """Compute a function of the distribution by its name."""
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """A normal distribution of weights that is trained (MindSpore: ``NormalPosterior``).

    The deviations are ``log(1 + exp(untransformed_std)) + 1e-6``.

    Args:
        name: before the names of the two Parameters.
        shape: of the weights.
        dtype: of the Parameters.
        loc_mean: mean of the first means.
        loc_std: standard deviation of the first means, from 0 up.
        untransformed_scale_mean: mean of the first untransformed deviations.
        untransformed_scale_std: their standard deviation, from 0 up.

    Raises:
        TypeError: an argument has the wrong type, or a standard deviation is below 0.
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: Any = float32,
        loc_mean: float = 0,
        loc_std: float = 0.1,
        untransformed_scale_mean: float = -5,
        untransformed_scale_std: float = 0.1,
    ) -> None:
        super().__init__()
        if not isinstance(name, str):
            raise _wrong("name", "`str`", name)
        if not isinstance(shape, tuple | list):
            raise _wrong("shape", "`tuple` or `list`", shape)
        means = {"loc_mean": loc_mean, "untransformed_scale_mean": untransformed_scale_mean}
        deviations = {"loc_std": loc_std, "untransformed_scale_std": untransformed_scale_std}
        for key, value in {**means, **deviations}.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or (key in deviations and value < 0):
                end = " and its value must >= 0" if key in deviations else ""
                raise _wrong(key, f"`int` or `float`{end}", value)
        # Numpy's own stream, as the original, so that its seed gives the same numbers.
        first = np.random.normal(loc_mean, loc_std, shape)
        scale = np.random.normal(untransformed_scale_mean, untransformed_scale_std, shape)
        self.mean = Parameter(Tensor(first, dtype=dtype), name=f"{name}_mean")
        self.untransformed_std = Parameter(
            Tensor(scale, dtype=dtype), name=f"{name}_untransformed_std"
        )
        self.normal = Normal()

    def _std_trans(self, std_pre: Any) -> Any:
        return 1e-6 - ops.logsigmoid(-std_pre)

    def construct(self, *inputs: Any) -> Any:
        """Compute a function of the distribution by its name."""
        return self.normal(*inputs, mean=self.mean, sd=self._std_trans(self.untransformed_std))


def _wrong(name: str, kind: str, value: Any) -> TypeError:
    return located(
        TypeError,
        f"For 'NormalPosterior', the type of `{name}` must be {kind}, but got {value!r}.",
    )


def normal_post_fn(name: str, shape: Any) -> NormalPosterior:
    """Make the posterior of weights that layers have without being told.

    Args:
        name: before the names of its Parameters.
        shape: of the weights.
    """
    return NormalPosterior(name=name, shape=shape)


def check_prior(prior: Any, name: str) -> Any:
    """Make a prior, and check that it is a normal distribution with parameters.

    Args:
        prior: the Cell, or what makes it.
        name: of the argument.

    Raises:
        TypeError: it is something else.
    """
    made = prior if isinstance(prior, Cell) else prior()
    for key, cell in made.name_cells().items():
        if key != "normal":
            raise located(
                TypeError, f"The type of distribution of `{name}` must be `normal`, but got {key}."
            )
        if cell._mean_value is None or cell._sd_value is None:
            raise located(
                TypeError, f"The input form of `{name}` is incorrect: mean and std must be given."
            )
    return made


def check_posterior(posterior: Any, shape: Any, parameter: str, name: str) -> Any:
    """Make a posterior, and check that it is a normal distribution.

    Args:
        posterior: what makes it, from ``name`` and ``shape``.
        shape: of the weights.
        parameter: before the names of its Parameters.
        name: of the argument.

    Raises:
        TypeError: it is something else.
    """
    try:
        made = posterior(shape=shape, name=parameter)
    except TypeError as error:
        raise located(
            TypeError, f"The type of `{name}` must be `NormalPosterior`, but got {error}."
        ) from None
    for key in made.name_cells():
        if key != "normal":
            raise located(
                TypeError, f"The type of distribution of `{name}` must be `normal`, but got {key}."
            )
    return made
