"""Faces of the original's fault tolerance: a service of its cluster, which MindJAX has not."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from mindjax.communication.management import get_group_size
from mindjax.core.errors import located
from mindjax.ops import AllReduce, Assign, depend
from mindjax.tensor import Tensor

_VARIABLE = "MS_ENABLE_TFT"


class TFTCommValue:
    """Values of the variable ``MS_ENABLE_TFT``, by what they switch on."""

    ENABLE_MINDX: ClassVar[list[str]] = ["TTP:1", "UCE:1", "ARF:1", "TSP:1", "HCCE:1", "RSC:1"]
    NEED_MINDIO: ClassVar[list[str]] = ["TTP:1", "UCE:1", "ARF:1", "TSP:1", "HCCE:1"]
    DISABLE_WATCHDOG: ClassVar[list[str]] = ["ARF:1", "TSP:1", "HCCE:1"]


def _refused(name: str) -> NotImplementedError:
    return located(
        NotImplementedError,
        f"For '{name}', {_VARIABLE}={os.environ.get(_VARIABLE, '')} asks for a service of the "
        "original's cluster: use train.ModelCheckpoint and start again from the last checkpoint.",
    )


def _asked() -> bool:
    return any(value in os.environ.get(_VARIABLE, "") for value in TFTCommValue.ENABLE_MINDX)


class RSCPluginHandle:
    """The plugin by which a cluster's service starts processes again."""

    def __init__(self) -> None:
        self.enable = _asked()

    def check_enable(self) -> bool:
        """Tell whether ``MS_ENABLE_TFT`` asks for it."""
        return self.enable

    def register_callback(self, func_map: dict[str, Any]) -> bool:
        """Give False: no service takes functions.

        Args:
            func_map: functions by name.

        Raises:
            ValueError: it is no dict.
        """
        if not isinstance(func_map, dict):
            raise located(
                ValueError, f"The value of 'func_map' should be a dict, but got {func_map!r}."
            )
        return False

    def start(self) -> None:
        """Refuse: there is no service.

        Raises:
            RuntimeError: always.
        """
        raise located(RuntimeError, "Mindx unavailable, can not start training.")


class _TftHandle:
    """What starts the service on a rank."""

    def get_tft(self) -> Any:
        """Give None: the service does not run."""

    def init(self, **kwargs: Any) -> None:
        """Do nothing, as the original, unless ``MS_ENABLE_TFT`` asks for the service.

        Raises:
            NotImplementedError: it does.
        """
        if _asked():
            raise _refused("_tft_handler.init")

    def unregister_tft(self) -> None:
        """Do nothing: nothing was registered."""


_tft_handler = _TftHandle()


class ExitByRequest:
    """Lets all ranks stop at one step when every one of them was asked to."""

    def __init__(self) -> None:
        self.group_size = get_group_size()

    def exit_by_request(self, grad: Any, init_value: Any, exit_value: Any) -> Any:
        """Write into a flag whether all ranks were asked to stop.

        Args:
            grad: gradients, which are given back.
            init_value: Int32 Tensor of shape (1,), 1 where this rank was asked.
            exit_value: Bool Parameter that is written; alone, a rank leaves it as it is.

        Returns:
            The gradients.
        """
        if self.group_size <= 1:
            return grad
        asked = AllReduce()(init_value) == Tensor([self.group_size], init_value.dtype)
        return depend(grad, Assign()(exit_value, asked.all()))
