"""The trainings of `modes.py`: networks, strategies and settings."""

import dataclasses

from mindjax import nn
from tests.parallel.networks import Bert, LeNet, Llama

STEPS = 20


@dataclasses.dataclass(frozen=True)
class Case:
    """A training on several devices.

    Attributes:
        network: the class; its operators take the strategies of ``dp`` and ``mp``.
        dp: parts of the batch.
        mp: parts of the matrices.
        mode: ``parallel_mode`` of the context, or of `AutoParallel` if ``wrapped``.
        wrapped: whether `AutoParallel` spreads the training step.
        context: further settings of the context.
        hsdp: arguments of `AutoParallel.hsdp`.
        data: dataset strategy.
        optimizer: class.
        quick: whether the ordinary suite runs the case.
    """

    network: type
    dp: int = 1
    mp: int = 1
    mode: str = "semi_auto_parallel"
    wrapped: bool = False
    context: tuple = ()
    hsdp: tuple = ()
    data: object = "data_parallel"
    optimizer: type = nn.Momentum
    quick: bool = False


CASES = {
    "lenet data": Case(LeNet, mode="data_parallel", quick=True),
    "lenet semi": Case(LeNet, 4, 2),
    "lenet propagation": Case(
        LeNet, 2, 4, "sharding_propagation", True, data="full_batch", quick=True
    ),
    "bert data": Case(Bert, mode="data_parallel", optimizer=nn.Adam),
    "bert semi": Case(Bert, 2, 4, optimizer=nn.Adam, quick=True),
    "bert level 1": Case(
        Bert, 4, 2, "semi_auto", True, hsdp=(("threshold", 0), ("optimizer_level", "level1"))
    ),
    "bert search": Case(Bert, mode="recursive_programming", wrapped=True),
    "llama search": Case(Llama, mode="auto_parallel"),
    "llama data": Case(Llama, mode="data_parallel"),
    "llama semi": Case(Llama, 2, 4, data=((2, 1), (2, 1)), quick=True),
    "llama semi full batch": Case(Llama, 1, 4, data="full_batch"),
    "llama level 1": Case(
        Llama,
        2,
        4,
        context=(
            ("enable_parallel_optimizer", True),
            ("parallel_optimizer_config", {"parallel_optimizer_threshold": 0}),
        ),
        optimizer=nn.AdamWeightDecay,
    ),
    "llama level 2": Case(
        Llama,
        4,
        2,
        "semi_auto",
        True,
        hsdp=(("threshold", 0), ("optimizer_level", "level2")),
        optimizer=nn.Adam,
    ),
    "llama level 3": Case(
        Llama,
        8,
        1,
        "semi_auto",
        True,
        hsdp=(("threshold", 0), ("optimizer_level", "level3")),
        quick=True,
    ),
    "llama shard size 2": Case(
        Llama,
        8,
        1,
        "semi_auto",
        True,
        hsdp=(("threshold", 0), ("shard_size", 2)),
    ),
}
