"""Old import path: ``mindspore.common._register_for_tensor``."""

from mindjax.ops.custom.registry import Registry as Registry
from mindjax.ops.custom.registry import tensor_operator_registry as tensor_operator_registry
