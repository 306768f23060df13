"""The trainings of `pipelines.py`: networks, schedules and settings."""

import dataclasses

from mindjax import nn
from tests.parallel.pipeline_networks import bert, lenet, llama

STEPS, ROWS, MICROS = 20, 16, 4


@dataclasses.dataclass(frozen=True)
class Case:
    """A training in stages.

    Attributes:
        network: makes it.
        schedule: ``"1f1b"``, ``"gpipe"``, ``"interleaved"`` or ``"zero_bubble_v"``.
        mp: parts of the matrices; the two devices of a stage share the batch or the matrices.
        wrapped: whether `AutoParallel` spreads the training step.
        shared: whether the devices of a stage share Parameters and optimizer state out.
        optimizer: class.
        quick: whether the ordinary suite runs the case.
        again: whether blocks are computed again in the backward pass.
    """

    network: object
    schedule: str
    mp: int = 1
    wrapped: bool = False
    shared: bool = False
    optimizer: type = nn.Momentum
    quick: bool = False
    again: bool = False


CASES = {
    "lenet gpipe": Case(lenet, "gpipe"),
    "lenet 1f1b": Case(lenet, "1f1b", wrapped=True, quick=True),
    "lenet interleaved": Case(lenet, "interleaved"),
    "lenet zero bubble": Case(lenet, "zero_bubble_v"),
    "bert gpipe": Case(bert, "gpipe", optimizer=nn.Adam),
    "bert 1f1b": Case(bert, "1f1b", optimizer=nn.Adam),
    "bert interleaved": Case(bert, "interleaved", optimizer=nn.Adam),
    "bert zero bubble": Case(bert, "zero_bubble_v", optimizer=nn.Adam, wrapped=True),
    "llama gpipe": Case(llama, "gpipe", 2),
    "llama 1f1b": Case(llama, "1f1b", 2, optimizer=nn.AdamWeightDecay),
    "llama interleaved": Case(llama, "interleaved", 2),
    "llama zero bubble": Case(llama, "zero_bubble_v"),
    "llama 1f1b again": Case(llama, "1f1b", again=True),
    "llama 1f1b shared": Case(llama, "1f1b", wrapped=True, shared=True),
}
