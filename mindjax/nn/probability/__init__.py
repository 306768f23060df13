"""Probability (MindSpore: ``nn.probability``): distributions, bijectors and Bayesian layers."""

from mindjax.nn.probability import bijector as bijector
from mindjax.nn.probability import bnn_layers as bnn_layers
from mindjax.nn.probability import distribution as distribution
