"""Ranks that add up for ever, until one of them does something else."""

import os
import signal
import sys
import time

import mindspore as ms
import numpy as np
from mindspore import ops
from mindspore.communication import get_rank, init

how = sys.argv[1]
if how == "early":
    raise ImportError("nothing to import")
if how == "absent" and os.environ["RANK_ID"] == "1":
    time.sleep(600)
init()
x = ms.Tensor(np.ones(3, np.float32))
for step in range(10**6):
    if step == 3 and get_rank() == 1:
        if how == "raise":
            raise KeyError("no such weight")
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if how == "hang":
            time.sleep(600)
        if how == "exit":
            sys.exit(7)
        if how == "shape":
            x = ms.Tensor(np.ones(1 << 16, np.float32))
    ops.AllReduce()(x).asnumpy()
