"""Old import path: ``mindspore.common.api``, with the executors that users' code calls."""

from __future__ import annotations

from typing import Any

import jax

from mindjax.autodiff import _no_grad as _no_grad
from mindjax.autodiff import register_saved_tensors_hooks as register_saved_tensors_hooks
from mindjax.autodiff import saved_tensors_hooks as saved_tensors_hooks
from mindjax.core.handle import current
from mindjax.graph import jit as jit
from mindjax.graph import jit_class as jit_class
from mindjax.graph import ms_memory_recycle as ms_memory_recycle
from mindjax.graph import set_recursion_limit as set_recursion_limit

ms_function = jit
ms_class = jit_class


class _PyNativeExecutor:
    """The switches of PYNATIVE (MindSpore: ``_pynative_executor``)."""

    def __init__(self) -> None:
        self._disabled: list[Any] = []

    def sync(self) -> None:
        """Wait for all that was dispatched to the devices."""
        jax.effects_barrier()
        for device in jax.local_devices():
            jax.device_put(0.0, device).block_until_ready()

    def enable_grad(self) -> bool:
        """Tell whether ops are recorded where a gradient is being computed."""
        return not current.no_grad

    def set_enable_grad(self, flag: bool) -> None:
        """Switch recording off, as `_no_grad` does, or on again.

        Args:
            flag: whether ops are recorded.
        """
        if flag and self._disabled:
            self._disabled.pop().__exit__(None, None, None)
        elif not flag and not current.no_grad:
            region = _no_grad()
            region.__enter__()
            self._disabled.append(region)


class _CellGraphExecutor:
    """Compilation by hand (MindSpore: ``_cell_graph_executor``)."""

    def compile(
        self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any
    ) -> tuple[str, bool]:
        """Compile a Cell for arguments without running it.

        Args:
            obj: the Cell.
            args: its arguments.
            phase: name for what is compiled.
            kwargs: options of the original's compiler, which XLA has no use for.

        Returns:
            The pair of ``phase`` and True.
        """
        obj.compile(*args)
        return phase, True


_pynative_executor = _PyNativeExecutor()
_cell_graph_executor = _CellGraphExecutor()
