"""Tensor and Parameter: handles with MindSpore's methods."""

import sys
import types
from typing import Any

from mindjax.tensor.parameter import Parameter as Parameter
from mindjax.tensor.parameter import ParameterTuple as ParameterTuple
from mindjax.tensor.storage import UntypedStorage as UntypedStorage
from mindjax.tensor.storage import frombuffer as frombuffer
from mindjax.tensor.storage import swap_tensors as swap_tensors
from mindjax.tensor.tensor import Tensor as Tensor
from mindjax.tensor.tensor import tensor as tensor


class _CallablePackage(types.ModuleType):
    """`mindspore.tensor` is a function in the original, and importing this package hides it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Make a Tensor; the arguments are those of `tensor`."""
        return tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
