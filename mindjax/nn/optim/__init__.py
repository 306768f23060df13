"""Optimizers: Cells that take gradients and write new values into Parameters."""

from mindjax.nn.optim.adam import Adam as Adam
from mindjax.nn.optim.adam import AdamWeightDecay as AdamWeightDecay
from mindjax.nn.optim.lamb import Lamb as Lamb
from mindjax.nn.optim.momentum import Momentum as Momentum
from mindjax.nn.optim.optimizer import Optimizer as Optimizer
from mindjax.nn.optim.rmsprop import Adagrad as Adagrad
from mindjax.nn.optim.rmsprop import RMSProp as RMSProp
from mindjax.nn.optim.sgd import SGD as SGD
