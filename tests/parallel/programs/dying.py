"""Ranks that add up for ever, until one of them does something else."""

import os
import signal
import sys
import threading
import time

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_rank, init

how = sys.argv[1]
if how == "early":
    raise ImportError("nothing to import")
if how == "absent" and os.environ["RANK_ID"] == "1":
    time.sleep(600)
init()
x = ms.Tensor(np.ones(3, np.float32))
if how == "thread":
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise KeyError("no such weight")
if how == "apart":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    print(nn.Dense(3, 4)(ms.Tensor(np.ones((4 + 2 * get_rank(), 3), np.float32))))
if how == "settings":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", enable_parallel_optimizer=get_rank() == 1
    )
    print(nn.Dense(3, 4)(ms.Tensor(np.ones((4, 3), np.float32))))
if how == "facing":
    ops.Send(0, 1 - get_rank())(x)
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
