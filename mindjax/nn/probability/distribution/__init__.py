"""Distributions (MindSpore: ``nn.probability.distribution``)."""

from mindjax.nn.probability.distribution.continuous import Cauchy as Cauchy
from mindjax.nn.probability.distribution.continuous import HalfNormal as HalfNormal
from mindjax.nn.probability.distribution.continuous import Laplace as Laplace
from mindjax.nn.probability.distribution.continuous import Logistic as Logistic
from mindjax.nn.probability.distribution.continuous import Normal as Normal
from mindjax.nn.probability.distribution.continuous import StudentT as StudentT
from mindjax.nn.probability.distribution.continuous import Uniform as Uniform
from mindjax.nn.probability.distribution.discrete import Bernoulli as Bernoulli
from mindjax.nn.probability.distribution.discrete import Categorical as Categorical
from mindjax.nn.probability.distribution.discrete import Geometric as Geometric
from mindjax.nn.probability.distribution.discrete import Poisson as Poisson
from mindjax.nn.probability.distribution.distribution import Distribution as Distribution
from mindjax.nn.probability.distribution.positive import Beta as Beta
from mindjax.nn.probability.distribution.positive import Exponential as Exponential
from mindjax.nn.probability.distribution.positive import Gamma as Gamma
from mindjax.nn.probability.distribution.transformed import Gumbel as Gumbel
from mindjax.nn.probability.distribution.transformed import LogNormal as LogNormal
from mindjax.nn.probability.distribution.transformed import (
    TransformedDistribution as TransformedDistribution,
)
