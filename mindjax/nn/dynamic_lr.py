"""Old import path: ``mindspore.nn.dynamic_lr``."""

from mindjax.nn.schedule import cosine_decay_lr as cosine_decay_lr
from mindjax.nn.schedule import exponential_decay_lr as exponential_decay_lr
from mindjax.nn.schedule import inverse_decay_lr as inverse_decay_lr
from mindjax.nn.schedule import natural_exp_decay_lr as natural_exp_decay_lr
from mindjax.nn.schedule import piecewise_constant_lr as piecewise_constant_lr
from mindjax.nn.schedule import polynomial_decay_lr as polynomial_decay_lr
from mindjax.nn.schedule import warmup_lr as warmup_lr
