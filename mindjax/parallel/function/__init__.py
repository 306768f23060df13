"""Functions that lay Tensors out over devices (``mindspore.parallel.function``)."""

from mindjax.ops.collective.resharding import reshard as reshard
