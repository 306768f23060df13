"""Wrappers for data parallel training (``mindspore.parallel.distributed``)."""

from mindjax_parallel.data_parallel import DistributedDataParallel as DistributedDataParallel
