"""Optimizers with ``param_groups``, and their schedulers in `lr_scheduler`."""

from mindjax.experimental.optim import lr_scheduler as lr_scheduler
from mindjax.experimental.optim.descent import ASGD as ASGD
from mindjax.experimental.optim.descent import SGD as SGD
from mindjax.experimental.optim.descent import Rprop as Rprop
from mindjax.experimental.optim.moments import Adam as Adam
from mindjax.experimental.optim.moments import Adamax as Adamax
from mindjax.experimental.optim.moments import AdamW as AdamW
from mindjax.experimental.optim.moments import NAdam as NAdam
from mindjax.experimental.optim.moments import RAdam as RAdam
from mindjax.experimental.optim.squares import Adadelta as Adadelta
from mindjax.experimental.optim.squares import Adagrad as Adagrad
from mindjax.experimental.optim.squares import RMSprop as RMSprop
from mindjax.nn.optim.grouped import Optimizer as Optimizer
