"""Seeds of everything random (MindSpore: ``mindspore.common.seed`` and ``common.generator``)."""

from __future__ import annotations

from typing import Any

from mindjax.core import random
from mindjax.core.random import Generator as Generator
from mindjax.core.random import get_seed as get_seed


def set_seed(seed: int) -> None:
    """Set the seed of ops, initializers, numpy's global stream and datasets.

    Args:
        seed: integer from 0 up.

    Raises:
        TypeError: ``seed`` is not an integer.
        ValueError: ``seed`` is negative.
    """
    random.set_seed(seed)
    from mindjax.dataset import config

    config.set_seed(seed)


def manual_seed(seed: int) -> Generator:
    """Start the default generator again from a seed, and give it.

    Args:
        seed: integer from 0 up.

    Raises:
        TypeError: ``seed`` is not an integer.
        ValueError: ``seed`` is negative.
    """
    return random.default_generator().manual_seed(seed)


def seed() -> int:
    """Start the default generator again from a new seed, and give the seed."""
    return random.default_generator().seed()


def initial_seed() -> int:
    """Give the seed that the default generator was started from."""
    return random.default_generator().initial_seed()


def get_rng_state() -> Any:
    """Give the default generator's state as a Tensor."""
    return random.default_generator().get_state()


def set_rng_state(state: Any) -> None:
    """Put back a state that `get_rng_state` gave.

    Args:
        state: Tensor of shape (2,), Int64.
    """
    random.default_generator().set_state(state)


def __getattr__(name: str) -> Any:
    if name == "default_generator":
        return random.default_generator()
    raise AttributeError(f"module 'mindspore.common.seed' has no attribute '{name}'")
