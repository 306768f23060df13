"""The host's memory beside a device: where Parameters wait until a program needs them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import SingleDeviceSharding

logger = logging.getLogger("mindjax")

KIND = "pinned_host"
"""jax's name of memory of the host that a device can read by itself."""


def kinds() -> set[str]:
    """List the kinds of memory of the first device; starts the backend."""
    return {memory.kind for memory in jax.local_devices()[0].addressable_memories()}


@functools.cache
def kind() -> str | None:
    """Give the kind of memory for what waits on the host; None, with a warning, without one."""
    if KIND in kinds():
        return KIND
    logger.warning(
        "The platform %s has no memory of the host beside its devices: what should wait there, "
        "Parameters with device='CPU' or values of Cell.offload, stays on the device.",
        jax.default_backend(),
    )
    return None


def waiting(state: Sequence[Any]) -> list[int]:
    """List the places of the state that waits on the host.

    Args:
        state: Handles.
    """
    found = [i for i, h in enumerate(state) if h.__dict__.get("init_device") == "CPU"]
    return found if found and kind() is not None else []


def fetching(
    function: Callable[..., Any], places: Sequence[int], shardings: Sequence[Any]
) -> Callable[..., Any]:
    """Give a program that brings some of its inputs to the device first.

    Args:
        function: on flat arrays.
        places: of the inputs that lie on the host.
        shardings: where each of them goes.
    """

    def program(*flat: Any) -> Any:
        whole = list(flat)
        for place, sharding in zip(places, shardings, strict=True):
            whole[place] = jax.device_put(whole[place], sharding)
        return function(*whole)

    program.__name__ = program.__qualname__ = getattr(function, "__name__", "program")
    return program


def on_one_device(
    function: Callable[..., Any],
    places: Sequence[int],
    count: int,
    ties: dict[int, int],
    outputs: int,
    **options: Any,
) -> Any:
    """Give the compiled form of a program some of whose state waits on the host.

    Args:
        function: on flat arrays.
        places: of the inputs that lie on the host.
        count: number of inputs.
        ties: output -> input of the same state.
        outputs: number of outputs.
        **options: of `jax.jit`.
    """
    device = jax.local_devices()[0]
    here = SingleDeviceSharding(device, memory_kind=device.default_memory().kind)
    there = SingleDeviceSharding(device, memory_kind=kind())
    inputs = tuple(there if i in places else here for i in range(count))
    results = [there if ties.get(i) in places else here for i in range(outputs)]
    fetched = fetching(function, places, [here] * len(places))
    return jax.jit(fetched, in_shardings=inputs, out_shardings=results, **options)


def move(arrays: Sequence[Any], shardings: Sequence[Any]) -> list[Any]:
    """Put arrays where a program takes them; those that lie there stay.

    Args:
        arrays: numpy or jax arrays.
        shardings: of as many first inputs of the program.
    """
    return [
        a if getattr(a, "sharding", None) == s else jax.device_put(a, s)
        for a, s in zip(arrays, shardings, strict=False)
    ]


def offloaded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what a gradient needs of a function's products wait on the host.

    What else it needs is computed again.

    Args:
        function: of arrays.
    """
    place = kind()
    if place is None:
        return function
    policy = jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", place)
    return jax.checkpoint(function, policy=policy)
