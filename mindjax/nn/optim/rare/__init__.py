"""Optimizers that are loaded when first asked for, an explicit list."""

from mindjax.nn.optim.rare.adafactor import AdaFactor as AdaFactor
from mindjax.nn.optim.rare.adaptive import Adadelta as Adadelta
from mindjax.nn.optim.rare.adaptive import AdaMax as AdaMax
from mindjax.nn.optim.rare.direct import ASGD as ASGD
from mindjax.nn.optim.rare.direct import Rprop as Rprop
from mindjax.nn.optim.rare.lars import LARS as LARS
from mindjax.nn.optim.rare.proximal import FTRL as FTRL
from mindjax.nn.optim.rare.proximal import ProximalAdagrad as ProximalAdagrad
from mindjax.nn.optim.rare.special_adam import AdamOffload as AdamOffload
from mindjax.nn.optim.rare.special_adam import LazyAdam as LazyAdam
from mindjax.nn.optim.rare.wrappers import (
    AdaSumByDeltaWeightWrapCell as AdaSumByDeltaWeightWrapCell,
)
from mindjax.nn.optim.rare.wrappers import AdaSumByGradWrapCell as AdaSumByGradWrapCell
from mindjax.nn.optim.rare.wrappers import OptTFTWrapper as OptTFTWrapper
