"""Random Primitive classes, and the less common distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax

from mindjax.core import checks, random
from mindjax.core.dtype import Number, float32, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.creation import checked_dtype
from mindjax.ops.rearrange import pad
from mindjax.ops.sampling import (
    Affine,
    Integers,
    Normal,
    Shuffle,
    Uniform,
    draw,
    draw_indices,
    randperm,
    run,
)
from mindjax.ops.shape import broadcast, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class RandomPrimitive(Primitive, register=False):
    """Base of the original's random primitives: a seed of their own, 0 for the generator's."""

    seed: int = 0
    seed2: int = 0

    def __post_init__(self) -> None:
        for name in ("seed", "seed2"):
            if checks.integer(name, getattr(self, name), self.name) < 0:
                raise located(
                    ValueError,
                    f"For '{self.name}', the '{name}' must be int and must >= 0, but got "
                    f"'{getattr(self, name)}' with type 'int'.",
                )
        own = random.seeded(self.seed * 2**16 + self.seed2) if self.seed or self.seed2 else None
        self.__dict__["_own"] = own

    def draw(self) -> tuple[Any, Any]:
        """Give seed and offset of the next draw of this primitive."""
        return draw(self.name, generator=self.__dict__["_own"])


class StandardNormal(RandomPrimitive):
    """Standard normal numbers; call: ``StandardNormal()(shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return run(
            Normal(checks.shape_tuple("shape", shape, "StandardNormal"), float32), *self.draw()
        )


class UniformReal(RandomPrimitive):
    """Numbers uniform in [0, 1); call: ``UniformReal()(shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return run(
            Uniform(checks.shape_tuple("shape", shape, "UniformReal"), float32), *self.draw()
        )


class UniformInt(RandomPrimitive):
    """Integers uniform in [minval, maxval); call: ``UniformInt()(shape, minval, maxval)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Int32 numbers."""
        shape, low, high = inputs
        record = Integers(checks.sizes("shape", shape, "UniformInt"), int32)
        return run(record, _bound(low), _bound(high), *self.draw())


def _bound(value: Any) -> Any:
    return np.asarray(value, np.int64) if isinstance(value, int) else value


class StandardLaplace(RandomPrimitive):
    """Numbers of the Laplace distribution of mean 0 and scale 1."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return run(_Laplace(checks.shape_tuple("shape", shape, "StandardLaplace")), *self.draw())


class _Laplace(Primitive, register=False):
    """Standard Laplace numbers."""

    shape: tuple[int, ...]

    def compute(self, seed: Array, offset: Array) -> Array:
        return jax.random.laplace(random.key(seed, offset), self.shape, np.float32)


def standard_laplace(shape: Any, seed: Any = None) -> Tensor:
    """Draw Laplace numbers of mean 0 and scale 1 (MindSpore: ``ops.standard_laplace``).

    Args:
        shape: sizes of the result.
        seed: of a stream of its own; None takes the default stream.

    Returns:
        Float32 Tensor of ``shape``.

    Raises:
        TypeError: ``shape`` holds no integers.
        ValueError: a size is negative.
    """
    return run(
        _Laplace(checks.shape_tuple("shape", shape, "standard_laplace")),
        *draw("standard_laplace", seed),
    )


class Randperm(Primitive):
    """A permutation padded to a length; call: ``Randperm(max_length, pad, dtype)(n)``."""

    max_length: int = 1
    pad: int = -1
    dtype: Number = int32

    def __call__(self, *inputs: Any) -> Any:
        """Draw the permutation of ``n`` integers."""
        (n,) = inputs
        count = checks.python_value(n)
        count = checks.integer("n", count[0] if isinstance(count, tuple) else count, "Randperm")
        if count > self.max_length:
            raise located(
                ValueError,
                f"For 'Randperm', 'n' must be at most {self.max_length}, but got {count}.",
            )
        return pad(randperm(count, dtype=self.dtype), (0, self.max_length - count), value=self.pad)


class RandomShuffle(RandomPrimitive):
    """Rows in random order; call: ``RandomShuffle()(x)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Shuffle."""
        return Shuffle()(*inputs, *self.draw()) if shape_of(inputs[0]) else inputs[0]


class Multinomial(RandomPrimitive):
    """Indices drawn in proportion to weights; call: ``Multinomial()(x, num_samples)``."""

    dtype: Number = int32

    def __call__(self, *inputs: Any) -> Any:
        """Draw with replacement."""
        x, count = inputs
        return draw_indices(x, count, True, self.dtype, self.draw())


class GammaNumbers(Primitive, register=False):
    """Numbers of gamma distributions."""

    shape: tuple[int, ...]

    def compute(self, alpha: Array, beta: Array, seed: Array, offset: Array) -> Array:
        """Draw."""
        full = self.shape + np.broadcast_shapes(alpha.shape, beta.shape)
        alpha, beta = (broadcast(v.astype(np.float32), full) for v in (alpha, beta))
        return jax.random.gamma(random.key(seed, offset), alpha, full, np.float32) / beta


def gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Tensor:
    """Draw numbers of gamma distributions (MindSpore: ``ops.gamma``).

    Args:
        shape: sizes that stand before the shape of ``alpha`` and ``beta``.
        alpha: float Tensor: shape parameters.
        beta: float Tensor: rates.
        seed: integer that fixes the numbers.

    Returns:
        Float32 Tensor.
    """
    return run(
        GammaNumbers(checks.shape_tuple("shape", shape, "gamma")), alpha, beta, *draw("gamma", seed)
    )


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: Any = None) -> Tensor:
    """Draw Laplace numbers (MindSpore: ``ops.laplace``).

    Args:
        shape: sizes.
        mean: number or Tensor.
        lambda_param: scale, a number or Tensor.
        seed: integer that fixes the numbers.

    Returns:
        Float32 Tensor of the common shape.
    """
    full = np.broadcast_shapes(
        checks.shape_tuple("shape", shape, "laplace"), shape_of(mean), shape_of(lambda_param)
    )
    return Affine()(run(_Laplace(full), *draw("laplace", seed)), lambda_param, mean)


def random_categorical(
    logits: Tensor, num_sample: int, seed: int = 0, dtype: Any = int64
) -> Tensor:
    """Draw categories from logits (MindSpore: ``ops.random_categorical``).

    Args:
        logits: float Tensor of shape (rows, categories).
        num_sample: number of draws a row.
        seed: fixes the numbers; 0 takes the default generator.
        dtype: element type.

    Returns:
        Tensor of shape (rows, num_sample).
    """
    number = checks.integer("num_sample", num_sample, "RandomCategorical")
    count = checks.positive_int("num_sample", number, "RandomCategorical")
    kind = checked_dtype("random_categorical", dtype, int64)
    if kind.kind != "int":
        raise located(
            TypeError,
            f"For 'RandomCategorical', the 'dtype' must be Int16, Int32 or Int64, but got {kind}.",
        )
    record = _Categorical(count, kind)
    return record(logits, *draw("random_categorical", seed or None))


class _Categorical(Primitive, register=False):
    """Categories drawn from logits."""

    count: int
    dtype: Number

    def compute(self, logits: Array, seed: Array, offset: Array) -> Array:
        checks.floating("logits", logits.dtype, "RandomCategorical")
        if logits.ndim != 2:
            raise located(
                ValueError,
                f"For 'RandomCategorical', the 'logits' must have 2 axes, but got {logits.shape}.",
            )
        shape = (logits.shape[0], self.count, logits.shape[1])
        scores = jax.random.gumbel(random.key(seed, offset), shape, logits.dtype)
        return lax.argmax(scores + logits[:, None, :], 2, np.int32).astype(self.dtype.np)


class TruncatedNormal(Primitive):
    """Normal numbers within two standard deviations; call: ``TruncatedNormal()(shape)``."""

    dtype: Number = float32
    seed: int = 0
    seed2: int = 0

    def __call__(self, *inputs: Any) -> Any:
        """Draw."""
        (shape,) = inputs
        record = _Truncated(checks.sizes("shape", shape, "TruncatedNormal"), self.dtype)
        return run(record, *draw("TruncatedNormal", self.seed or self.seed2 or None))


class _Truncated(Primitive, register=False):
    """Standard normal numbers between -2 and 2."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        key = random.key(seed, offset)
        drawn = jax.random.truncated_normal(key, -2.0, 2.0, self.shape, np.float32)
        return drawn.astype(self.dtype.np)
