"""Cells around networks: loss, gradients, training steps."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.nn.training import *  # noqa: F403

from mindjax.core.families import Families
from mindjax.nn.wrap.cell_wrapper import ForwardValueAndGrad as ForwardValueAndGrad
from mindjax.nn.wrap.cell_wrapper import TrainOneStepCell as TrainOneStepCell
from mindjax.nn.wrap.cell_wrapper import WithEvalCell as WithEvalCell
from mindjax.nn.wrap.cell_wrapper import WithGradCell as WithGradCell
from mindjax.nn.wrap.cell_wrapper import WithLossCell as WithLossCell

# The rest is loaded when it is first asked for.
families = Families("mindjax.nn", ("training",))


def __getattr__(name: str) -> Any:
    if name == "TimeDistributed":
        # A layer, which the original shows here too.
        return getattr(import_module("mindjax.nn.layers.combined"), name)
    if name in families.index():
        globals()[name] = families.load(name)
        return globals()[name]
    raise AttributeError(f"module 'mindspore.nn.wrap' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *families.index(), "TimeDistributed"})
