"""Cells around an optimizer that only a world of many devices has a use for."""

from __future__ import annotations

import os
from typing import Any

from mindjax.core import world
from mindjax.core.context import get_context
from mindjax.core.errors import located
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.nn.cell import Cell
from mindjax.nn.optim.optimizer import Optimizer

_LEAST_DEVICES = 16


class _AdaSum(Cell):
    """Base of both ways to merge by AdaSum (Maleki et al. 2020): the original's conditions."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__(auto_prefix=False)
        owner = self.cls_name
        if get_auto_parallel_context("parallel_mode") == "stand_alone":
            raise located(
                RuntimeError,
                f"For '{owner}', stand alone mode is not supported to apply adasum: use the "
                "optimizer itself.",
            )
        for setting, limit, what in (
            ("enable_parallel_optimizer", False, "the optimizer shard"),
            ("pipeline_stages", 1, "the pipeline parallel"),
        ):
            if get_auto_parallel_context(setting) > limit:
                raise located(
                    RuntimeError,
                    f"For '{owner}', {what} is not supported with applying adasum.",
                )
        size = world.transport.size
        if size < _LEAST_DEVICES or size & (size - 1):
            raise located(
                RuntimeError,
                f"For '{owner}', the device_num must be at least {_LEAST_DEVICES} and must be the "
                f"power of 2 when applying adasum, but got {size}: use the optimizer itself.",
            )
        raise located(
            NotImplementedError,
            f"For '{owner}', a world of {size} processes is not supported: use data parallel "
            "training with the optimizer itself.",
        )


class AdaSumByGradWrapCell(_AdaSum):
    """Merge gradients by AdaSum (MindSpore: ``nn.AdaSumByGradWrapCell``).

    It needs 16 devices and more; with fewer the original raises, and so does this.

    Args:
        optimizer: the optimizer that steps.

    Raises:
        RuntimeError: there are too few devices.
        NotImplementedError: there are enough.
    """


class AdaSumByDeltaWeightWrapCell(_AdaSum):
    """Merge steps by AdaSum (MindSpore: ``nn.AdaSumByDeltaWeightWrapCell``).

    It needs 16 devices and more; with fewer the original raises, and so does this.

    Args:
        optimizer: the optimizer that steps.

    Raises:
        RuntimeError: there are too few devices.
        NotImplementedError: there are enough.
    """


class OptTFTWrapper(Optimizer):
    """An optimizer that reports to MindIO's training fault tolerance (MindSpore: the same name).

    MindIO is a service of Ascend clusters; elsewhere the original raises, and so does this.

    Args:
        opt: the optimizer that steps.
        **kwargs: not used, as in the original.

    Raises:
        TypeError: ``opt`` is no Optimizer.
        ValueError: MS_ENABLE_TFT does not switch it on, or the device is no Ascend.
        NotImplementedError: on an Ascend.
    """

    def __init__(self, opt: Any, **kwargs: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise located(
                TypeError,
                "For 'OptTFTWrapper', the argument 'opt' must be Optimizer type, but got "
                f"{type(opt)}.",
            )
        switches = os.environ.get("MS_ENABLE_TFT", "")
        if not any(f"{name}:1" in switches for name in ("TTP", "UCE", "ARF")):
            raise located(
                ValueError,
                "For 'OptTFTWrapper', MindIO TFT needs MS_ENABLE_TFT='{TTP:1,UCE:1,ARF:1}', but "
                f"got '{switches}': use the optimizer itself.",
            )
        if get_context("device_target") != "Ascend":
            raise located(
                ValueError,
                "For 'OptTFTWrapper', MindIO only supports Ascend devices, but got "
                f"'{get_context('device_target')}': use the optimizer itself.",
            )
        raise located(
            NotImplementedError,
            "For 'OptTFTWrapper', MindIO's service is not supported: use the optimizer itself and "
            "`train.ModelCheckpoint`.",
        )
