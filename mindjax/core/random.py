"""Random state: generators, whose seed and offset are state, and the host's stream."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.errors import located
from mindjax.core.handle import Array, Handle, current
from mindjax.core.primitive import Primitive


class RandomState(Handle):
    """One cell of random state; it is read and written through frames as Parameters are."""

    is_parameter = True
    requires_grad = False

    def __init__(self, value: int, name: str) -> None:
        self._init_handle(np.asarray(value % 2**32, np.uint32))
        # State belongs to no frame, even when it is first needed while a graph is compiled.
        self._frame = None
        self.name = name


class _Advance(Primitive, register=False):
    """The next offset."""

    def compute(self, offset: Any) -> Any:
        return offset + np.uint32(1)


class Generator:
    """A stream of random numbers (MindSpore: ``Generator``).

    The same seed (`manual_seed`) gives the same stream in PYNATIVE and GRAPH.
    """

    def __init__(self) -> None:
        seed = int.from_bytes(os.urandom(4), "little")
        self._initial = seed
        # One made inside a user's jax trace dies with it: it may advance there.
        self._inside_trace = jax_private.tracing()
        self._seed = RandomState(seed, "generator.seed")
        self._offset = RandomState(0, "generator.offset")

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream again from a seed.

        Args:
            seed: integer from 0 to 2**63 - 1.

        Returns:
            The generator itself.

        Raises:
            TypeError: ``seed`` is not an integer.
            ValueError: ``seed`` is negative.
        """
        self._initial = check_seed(seed)
        self._seed.assign_value(np.asarray(seed % 2**32, np.uint32))
        self._offset.assign_value(np.asarray(0, np.uint32))
        return self

    def seed(self) -> int:
        """Start again from a seed of the operating system's, and give it."""
        seed = int.from_bytes(os.urandom(4), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Give the seed that the stream was started from."""
        return self._initial

    def get_state(self) -> Any:
        """Give the state as a Tensor: the bytes of seed and offset, shape (16,), UInt8."""
        pair = [int(np.asarray(h.array)) for h in (self._seed, self._offset)]
        return Handle.tensor_class(np.asarray(pair, "<i8").view(np.uint8))

    def set_state(self, state: Any) -> None:
        """Put back a state that `get_state` gave.

        Args:
            state: Tensor of shape (16,), UInt8.

        Raises:
            TypeError: it is not.
        """
        given = np.asarray(state.array) if isinstance(state, Handle) else state
        if getattr(given, "dtype", None) != np.uint8 or given.shape != (16,):
            raise located(
                TypeError,
                "For 'set_state', the 'state' must be what get_state() gave, a Tensor of 16 UInt8, "
                f"but got {state!r}.",
            )
        seed, offset = (int(v) for v in given.view("<i8"))
        self.manual_seed(seed)
        self._offset.assign_value(np.asarray(offset, np.uint32))

    def next_key(self) -> tuple[Any, Any]:
        """Give the pair (seed, offset) of the next draw, two 0-d UInt32 arrays, and advance.

        Random primitives take the pair as their last two inputs and make their key with `key`.
        """
        seed, offset = self._seed, self._offset
        host = offset._value
        on_host = current.frame is None and type(host) is np.ndarray
        if on_host and (self._inside_trace or not jax_private.tracing()):
            offset._value = np.asarray(host + np.uint32(1), np.uint32)
            offset._version += 1
            return seed.array if type(seed._value) is not np.ndarray else seed._value, host
        drawn = offset.array
        following = _Advance()(drawn)
        offset.assign_value(following._value if isinstance(following, Handle) else following)
        return seed.array, drawn


def seeded(seed: int) -> Generator:
    """Make a generator with a seed of its own; also inside a user's jax trace.

    Args:
        seed: integer from 0 up.

    Returns:
        The generator.
    """
    generator = Generator()
    generator._initial = seed
    generator._seed = RandomState(seed, "generator.seed")
    return generator


def check_seed(seed: Any) -> int:
    """Check a seed.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is negative.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise located(
            TypeError, f"The argument 'seed' must be type of int, but got {type(seed).__name__}."
        )
    if seed < 0:
        raise located(
            ValueError, f"The argument 'seed' must be greater or equal to 0, but got {seed}."
        )
    return int(seed)


def key(seed: Array, offset: Array) -> Array:
    """Make the jax random key of one draw, inside a `compute`.

    Args:
        seed: 0-d UInt32.
        offset: 0-d UInt32.

    Returns:
        A threefry key, whatever the user's default generator is.
    """
    base = jax.random.key(seed, impl="threefry2x32")
    return jax.random.fold_in(base, offset)


class _Global:
    generator: Generator | None = None
    seed: int | None = None
    host: np.random.Generator | None = None


def default_generator() -> Generator:
    """Give the generator of ops that get none."""
    if _Global.generator is None:
        _Global.generator = Generator() if _Global.seed is None else seeded(_Global.seed)
        # It outlives the trace in which it was first needed.
        _Global.generator._inside_trace = False
    return _Global.generator


@contextlib.contextmanager
def seeded_host(seed: int) -> Iterator[None]:
    """Let weight initialisers draw from a numpy stream with a seed of its own.

    Args:
        seed: integer from 0 up.
    """
    before, _Global.host = _Global.host, np.random.default_rng(seed)
    try:
        yield
    finally:
        _Global.host = before


def host_seed() -> int:
    """Give the seed of one draw of a weight initialiser.

    It is taken from numpy's global stream, as in the original: `numpy.random.seed` fixes the
    weights too, and what a script draws from numpy after making a layer is the same.
    """
    if _Global.host is not None:
        return int(_Global.host.integers(1, 1 << 63))
    return int(np.random.randint(1, 1 << 63, dtype=np.int64))


def host_permutation(size: int) -> np.ndarray[Any, Any]:
    """Give a random order of so many rows, from numpy's global stream itself."""
    return np.random.permutation(size) if _Global.host is None else _Global.host.permutation(size)


def set_seed(seed: int) -> None:
    """Set the seed of everything random (MindSpore: ``set_seed``).

    Numpy's global stream is seeded too, as in the original.

    Args:
        seed: integer from 0 up.

    Raises:
        TypeError: ``seed`` is not an integer.
        ValueError: ``seed`` is negative.
    """
    seed = check_seed(seed)
    _Global.seed = seed
    _Global.host = None
    np.random.seed(seed % 2**32)
    default_generator().manual_seed(seed)


def get_seed() -> int | None:
    """Give the seed that `set_seed` set, None if it was never called."""
    return _Global.seed
