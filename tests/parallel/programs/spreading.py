"""Rings, exchanged heads and experts over four processes: the losses are those of one device.

The word is the name of a case. Each process gives the part of a batch that its device has.
"""

import os
import sys

import numpy as np

import mindjax as ms
from mindjax import Tensor, nn
from mindjax.communication import get_group_size, get_rank, init
from tests.parallel import long_sequences, mixtures

# These ask for virtual devices; here each process has one.
os.environ.pop("XLA_FLAGS")
STEPS, ROWS = 20, 16
init()
rank, size = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
LONG, MIXED = long_sequences.Case, mixtures.Case
CASES = {
    "ring": (long_sequences.Llama, LONG(2, 2)),
    "balanced ring of four": (long_sequences.Llama, LONG(1, 4, kind="balanced")),
    "heads": (long_sequences.Llama, LONG(2, 2, kind="heads", keys=4)),
    "experts": (mixtures.Network, MIXED(4, 4)),
    "experts, all tokens": (mixtures.Network, MIXED(2, 2, 2, capacity=None, activation="swiglu")),
}
make, case = CASES[sys.argv[1]]
cut = (case.dp, getattr(case, "sp", 1))
length = long_sequences.LENGTH if "sp" in vars(case) else mixtures.LENGTH
words = mixtures.WORDS


def train(parallel):
    """Train, and give the losses."""
    ms.reset_auto_parallel_context()
    if parallel:
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", dataset_strategy=(cut, cut)
        )
    network = make(case, not parallel)
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.02, 0.9))
    random = np.random.RandomState(7)
    # Devices beyond the parts of a batch have copies of them.
    place = rank * cut[0] * cut[1] // size
    losses = []
    for _ in range(STEPS):
        x = random.randint(0, words, (ROWS, length)).astype(np.int32)
        batch = x, (x * 7 + 3) % words
        if parallel:
            batch = (np.split(a, cut[0])[place // cut[1]] for a in batch)
            batch = (np.split(a, cut[1], 1)[place % cut[1]] for a in batch)
        losses.append(float(step(*map(Tensor, batch)).asnumpy()))
    return losses


losses, expected = train(True), train(False)
np.testing.assert_allclose(losses, expected, rtol=1e-5)
assert losses[-1] < losses[0]
print(f"rank {rank} of {size} is through", flush=True)
