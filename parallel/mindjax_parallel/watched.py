"""Programs over the devices of several processes, which the time limit on collectives holds for.

Every process runs such a program, and XLA puts transfers in: a process that is alone with it waits
for ever, unless somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from mindjax.core import world
from mindjax_parallel.agreement import check_agreement
from mindjax_parallel.spread import broken
from mindjax_parallel.transport import ProcessTransport


def watched(lowered: Any, name: str, how: str) -> Any:
    """Let the time limit hold for a lowered program, if several processes run it.

    Args:
        lowered: jax's lowered program, or one of pipeline stages.
        name: what it is called in messages.
        how: how it is spread, in words, in which the ranks must agree.
    """
    transport = world.transport
    if not isinstance(transport, ProcessTransport):
        return lowered
    return _Lowered(lowered, name, how, transport)


class _Lowered:
    """A lowered program."""

    def __init__(self, lowered: Any, name: str, how: str, transport: ProcessTransport) -> None:
        self._lowered, self._name, self._how, self._transport = lowered, name, how, transport

    def compile(self) -> _Compiled:
        """Compile it, if all ranks do."""
        lowered = getattr(self._lowered, "stages", self._lowered)
        check_agreement(self._transport, lowered, self._name, self._how)
        return _Compiled(self._lowered.compile(), self._name, self._transport)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lowered, name)


class _Compiled:
    """A compiled program; every run of it is watched until its results are there."""

    def __init__(self, compiled: Any, name: str, transport: ProcessTransport) -> None:
        self._compiled, self._name, self._transport = compiled, name, transport
        if hasattr(compiled, "run"):
            self.run = self._run_stages

    def __call__(self, *arrays: Any) -> Any:
        """Run the program."""
        return self._noted(lambda: self._compiled(*arrays))

    def _run_stages(self, inputs: Sequence[Any], move: Callable[..., list[Any]]) -> list[Any]:
        return self._noted(lambda: self._compiled.run(inputs, move))

    def _noted(self, run: Callable[[], Any]) -> Any:
        watch = self._transport.ranks.watch
        watch.starts(self._name)
        token = None
        try:
            outputs = run()
            token = next((a for a in jax.tree.leaves(outputs) if isinstance(a, jax.Array)), None)
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            raise broken(self._transport.rank, self._name, error) from None
        finally:
            watch.started(self._name, token)
        return outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)
