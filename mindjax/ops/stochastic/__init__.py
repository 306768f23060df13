"""Random ops, samplers of classes, and the functions of in-place methods."""

from mindjax.ops.stochastic.candidates import (
    LogUniformCandidateSampler as LogUniformCandidateSampler,
)
from mindjax.ops.stochastic.candidates import UniformCandidateSampler as UniformCandidateSampler
from mindjax.ops.stochastic.candidates import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from mindjax.ops.stochastic.candidates import uniform_candidate_sampler as uniform_candidate_sampler
from mindjax.ops.stochastic.inplace import bernoulli_ as bernoulli_
from mindjax.ops.stochastic.inplace import clamp_ as clamp_
from mindjax.ops.stochastic.inplace import erfinv_ as erfinv_
from mindjax.ops.stochastic.inplace import exponential_ as exponential_
from mindjax.ops.stochastic.inplace import inplace_sigmoid as inplace_sigmoid
from mindjax.ops.stochastic.inplace import normal_ as normal_
from mindjax.ops.stochastic.inplace import random_ as random_
from mindjax.ops.stochastic.inplace import stop_gradient_ as stop_gradient_
from mindjax.ops.stochastic.inplace import tanh_ as tanh_
from mindjax.ops.stochastic.inplace import uniform_ as uniform_
from mindjax.ops.stochastic.inplace import zero_ as zero_
from mindjax.ops.stochastic.sources import Bernoulli as Bernoulli
from mindjax.ops.stochastic.sources import Cauchy as Cauchy
from mindjax.ops.stochastic.sources import Gamma as Gamma
from mindjax.ops.stochastic.sources import LogNormalReverse as LogNormalReverse
from mindjax.ops.stochastic.sources import MultinomialWithReplacement as MultinomialWithReplacement
from mindjax.ops.stochastic.sources import NonDeterministicInts as NonDeterministicInts
from mindjax.ops.stochastic.sources import (
    ParameterizedTruncatedNormal as ParameterizedTruncatedNormal,
)
from mindjax.ops.stochastic.sources import Poisson as Poisson
from mindjax.ops.stochastic.sources import RandomCategorical as RandomCategorical
from mindjax.ops.stochastic.sources import RandomChoiceWithMask as RandomChoiceWithMask
from mindjax.ops.stochastic.sources import RandomGamma as RandomGamma
from mindjax.ops.stochastic.sources import RandomPoisson as RandomPoisson
from mindjax.ops.stochastic.sources import RandpermV2 as RandpermV2
from mindjax.ops.stochastic.sources import bernoulli_ext as bernoulli_ext
from mindjax.ops.stochastic.sources import choice_with_mask as choice_with_mask
from mindjax.ops.stochastic.sources import (
    multinomial_with_replacement as multinomial_with_replacement,
)
from mindjax.ops.stochastic.sources import poisson as poisson
from mindjax.ops.stochastic.sources import random_gamma as random_gamma
from mindjax.ops.stochastic.sources import random_poisson as random_poisson
