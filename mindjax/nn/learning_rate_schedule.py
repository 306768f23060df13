"""Old import path: ``mindspore.nn.learning_rate_schedule``."""

from mindjax.nn.schedule import CosineDecayLR as CosineDecayLR
from mindjax.nn.schedule import ExponentialDecayLR as ExponentialDecayLR
from mindjax.nn.schedule import InverseDecayLR as InverseDecayLR
from mindjax.nn.schedule import LearningRateSchedule as LearningRateSchedule
from mindjax.nn.schedule import NaturalExpDecayLR as NaturalExpDecayLR
from mindjax.nn.schedule import PolynomialDecayLR as PolynomialDecayLR
from mindjax.nn.schedule import WarmUpLR as WarmUpLR
