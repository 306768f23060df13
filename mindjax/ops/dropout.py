"""Dropout of elements and of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key, seeded

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _mask(shape: tuple[int, ...], keep_prob: float, seed: Array, offset: Array) -> Array:
    """Draw truths with a probability; one comparison of raw bits an element."""
    if keep_prob >= 1:
        return jnp.ones(shape, np.bool_)
    bits = jax.random.bits(key(seed, offset), shape, np.uint32)
    return bits < np.uint32(keep_prob * 2**32)


def _dropped(x: Array, mask: Array, keep_prob: float) -> Array:
    return jnp.where(mask, x * np.asarray(1 / keep_prob, x.dtype), np.asarray(0, x.dtype))


class Dropout(Primitive):
    """Dropout (Srivastava 2014; MindSpore: ``ops.Dropout``).

    Args:
        keep_prob: probability of an element to stay, in (0, 1].
        Seed0: with ``Seed1``, seed of a stream of its own; both 0 for the global stream.
        Seed1: see ``Seed0``.
    """

    keep_prob: float = 0.5
    Seed0: int = 0
    Seed1: int = 0

    def __post_init__(self) -> None:
        checks.of_type("keep_prob", self.keep_prob, (float, int), "Dropout")
        if not 0 < self.keep_prob <= 1:
            raise located(
                RuntimeError,
                f"For 'Dropout', the 'keep_prob' must be in (0.0, 1.0], but got {self.keep_prob}.",
            )
        for name in ("Seed0", "Seed1"):
            checks.non_negative_int(name, getattr(self, name), "Dropout")
        if self.Seed0 or self.Seed1:
            self.__dict__["_generator"] = seeded(self.Seed0 ^ (self.Seed1 << 16))

    def __call__(self, x: Any) -> Any:
        """Drop elements of a float Tensor of any shape.

        Returns:
            The rest, divided by ``keep_prob``, and the mask, both of the input's dtype.
        """
        generator = self.__dict__.get("_generator") or default_generator()
        return super().__call__(x, *generator.next_key())

    def compute(self, x: Array, seed: Array, offset: Array) -> tuple[Array, Array]:
        """Drop elements with the key of one draw."""
        checks.floating("x", x.dtype, "Dropout")
        mask = _mask(x.shape, self.keep_prob, seed, offset)
        return _dropped(x, mask, self.keep_prob), mask.astype(x.dtype)


class _DropoutElements(Primitive, register=False):
    """Dropout without the mask."""

    keep_prob: float

    def compute(self, x: Array, seed: Array, offset: Array) -> Array:
        checks.floating("x", x.dtype, "Dropout")
        if self.keep_prob == 0:
            return jnp.zeros_like(x)
        return _dropped(x, _mask(x.shape, self.keep_prob, seed, offset), self.keep_prob)


class DropoutChannels(Primitive, register=False):
    """Dropout of whole channels, the axes before ``first``; gives the mask of the input's shape."""

    keep_prob: float
    first: int

    def compute(self, x: Array, seed: Array, offset: Array) -> tuple[Array, Array]:
        """Drop channels with the key of one draw."""
        shape = x.shape[: self.first] + (1,) * (x.ndim - self.first)
        if self.keep_prob == 0:
            return jnp.zeros_like(x), jnp.zeros(x.shape, np.bool_)
        mask = _mask(shape, self.keep_prob, seed, offset)
        return _dropped(x, mask, self.keep_prob), jnp.broadcast_to(mask, x.shape)


class Dropout2D(Primitive):
    """Dropout of whole channels of images (Tompson 2015; MindSpore: ``ops.Dropout2D``).

    Args:
        keep_prob: probability of a channel to stay.
    """

    keep_prob: float = 0.5

    def __post_init__(self) -> None:
        checks.float_in_range("keep_prob", self.keep_prob, 0, 1, "Dropout2D")

    def __call__(self, x: Any) -> Any:
        """Drop channels of (N, C, H, W).

        Returns:
            The rest, divided by ``keep_prob``, and the mask of truths, both of the input's shape.
        """
        check_rank(x, (4,), "Dropout2D")
        return DropoutChannels(float(self.keep_prob), 2)(x, *default_generator().next_key())


def check_rank(x: Any, ranks: tuple[int, ...], owner: str) -> None:
    """Raise a ValueError if an input has none of some ranks."""
    checks.tensors(owner, x=x)
    if len(x.shape) not in ranks:
        raise located(
            ValueError,
            f"For primitive[{owner}], the rank of input must be equal to "
            f"{' or '.join(map(str, ranks))}, but got {len(x.shape)}.",
        )


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Drop elements at random and scale the rest (MindSpore: ``ops.dropout``).

    Args:
        input: any shape, float.
        p: probability of an element to be dropped, in [0, 1].
        training: False gives ``input`` itself.
        seed: seed of this draw; None takes the next of the global stream.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``p`` is not a number.
        RuntimeError: ``p`` is outside [0, 1].
    """
    checks.boolean("training", training, "dropout")
    checks.of_type("p", p, (float, int), "dropout")
    if not 0 <= p <= 1:
        raise located(RuntimeError, f"For 'dropout', the 'p' must be in [0, 1], but got {p}.")
    if not training:
        return input
    if seed is not None:
        seed = checks.integer("seed", seed, "dropout")
    generator = default_generator() if seed is None else seeded(seed)
    return _DropoutElements(1.0 - p)(input, *generator.next_key())


def dropout_channels(input: Any, p: float, training: bool, first: int, owner: str) -> Any:
    """Drop whole channels at random and scale the rest.

    Args:
        input: any shape, float.
        p: probability of a channel to be dropped, in [0, 1].
        training: False gives ``input`` itself.
        first: number of leading axes that a channel does not span.
        owner: function named in errors.

    Returns:
        Tensor of the same shape and dtype.
    """
    checks.boolean("training", training, owner)
    checks.float_in_range("p", p, 0, 1, owner)
    if not training:
        return input
    return DropoutChannels(1.0 - p, first)(input, *default_generator().next_key())[0]


def dropout1d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels (Tompson 2014; MindSpore: ``ops.dropout1d``).

    Args:
        input: (N, C, L) or (C, L), float.
        p: probability that a channel becomes 0, in [0, 1].
        training: False gives ``input`` as it is.

    Returns:
        Tensor of the same shape and dtype; kept channels are divided by 1 - ``p``.

    Raises:
        ValueError: ``p`` is outside [0, 1], or ``input`` has another rank.
    """
    check_rank(input, (2, 3), "dropout1d")
    return dropout_channels(input, p, training, len(input.shape) - 1, "dropout1d")


def dropout2d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels (Tompson 2014; MindSpore: ``ops.dropout2d``).

    Args:
        input: (N, C, H, W), float.
        p: probability that a channel becomes 0, in [0, 1].
        training: False gives ``input`` as it is.

    Returns:
        Tensor of the same shape and dtype; kept channels are divided by 1 - ``p``.

    Raises:
        ValueError: ``p`` is outside [0, 1], or ``input`` has another rank.
    """
    check_rank(input, (4,), "Dropout2D")
    return dropout_channels(input, p, training, 2, "dropout2d")


def dropout3d(input: Any, p: float = 0.5, training: bool = True) -> Tensor:
    """Drop whole channels (Tompson 2014; MindSpore: ``ops.dropout3d``).

    Args:
        input: (N, C, D, H, W), float.
        p: probability that a channel becomes 0, in [0, 1].
        training: False gives ``input`` as it is.

    Returns:
        Tensor of the same shape and dtype; kept channels are divided by 1 - ``p``.

    Raises:
        ValueError: ``p`` is outside [0, 1], or ``input`` has another rank.
    """
    check_rank(input, (5,), "Dropout3D")
    return dropout_channels(input, p, training, 2, "dropout3d")
