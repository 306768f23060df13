"""Optimizers with ``param_groups``; their code is in `nn.optim`, which stands above this layer."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.nn.optim.grouped import SGD as SGD
    from mindjax.nn.optim.grouped import Adam as Adam
    from mindjax.nn.optim.grouped import AdamW as AdamW
    from mindjax.nn.optim.grouped import FusedAdamW as FusedAdamW

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("mindjax.nn.optim.grouped"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
