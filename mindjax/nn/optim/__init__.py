"""Optimizers: Cells that take gradients and write new values into Parameters."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.nn.optim.rare import *  # noqa: F403
    from mindjax.nn.second_order.thor import thor as thor

from mindjax.core.families import Families
from mindjax.nn.optim.adam import Adam as Adam
from mindjax.nn.optim.adam import AdamWeightDecay as AdamWeightDecay
from mindjax.nn.optim.lamb import Lamb as Lamb
from mindjax.nn.optim.momentum import Momentum as Momentum
from mindjax.nn.optim.optimizer import Optimizer as Optimizer
from mindjax.nn.optim.rmsprop import Adagrad as Adagrad
from mindjax.nn.optim.rmsprop import RMSProp as RMSProp
from mindjax.nn.optim.sgd import SGD as SGD

families = Families("mindjax.nn.optim", ("rare",))


def __getattr__(name: str) -> Any:
    if name == "thor":
        from mindjax.nn.second_order.thor import thor

        return thor
    if name in families.index():
        globals()[name] = families.load(name)
        return globals()[name]
    raise AttributeError(f"module 'mindspore.nn.optim' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *families.index(), "thor"})
