"""Callbacks of data sets (MindSpore: ``dataset.callback``)."""

import importlib
from typing import TYPE_CHECKING, Any

from mindjax.dataset.engine.callbacks import DSCallback as DSCallback

if TYPE_CHECKING:
    from mindjax.train.callback.waited import WaitedDSCallback as WaitedDSCallback

__all__ = ["DSCallback", "WaitedDSCallback"]


def __getattr__(name: str) -> Any:
    # It is a callback of the training too, which loads jax.
    if name == "WaitedDSCallback":
        return importlib.import_module("mindjax.train.callback.waited").WaitedDSCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
