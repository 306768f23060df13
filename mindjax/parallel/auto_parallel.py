"""A network whose graph is spread over devices (``mindspore.parallel.auto_parallel``)."""

from mindjax_parallel.auto_parallel import AutoParallel as AutoParallel
