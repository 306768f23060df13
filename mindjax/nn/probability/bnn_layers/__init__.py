"""Bayesian layers (MindSpore: ``nn.probability.bnn_layers``)."""

from mindjax.nn.probability.bnn_layers.loss_cell import WithBNNLossCell as WithBNNLossCell
from mindjax.nn.probability.bnn_layers.variational import ConvReparam as ConvReparam
from mindjax.nn.probability.bnn_layers.variational import DenseLocalReparam as DenseLocalReparam
from mindjax.nn.probability.bnn_layers.variational import DenseReparam as DenseReparam
from mindjax.nn.probability.bnn_layers.weights import NormalPosterior as NormalPosterior
from mindjax.nn.probability.bnn_layers.weights import NormalPrior as NormalPrior
