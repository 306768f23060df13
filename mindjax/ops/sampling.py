"""Random numbers and permutations, drawn from the generator of `core/random.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import random
from mindjax.core.dtype import Number, as_dtype, float32, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import integer, sizes, static
from mindjax.ops.creation import as_tensor, checked_dtype
from mindjax.ops.shape import broadcast, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def draw(op: str, seed: Any = None, generator: Any = None) -> tuple[Any, Any]:
    """Give seed and offset of the next draw.

    Args:
        op: name of the op, for the message.
        seed: integer that starts a stream of its own; None takes the generator.
        generator: stream; None takes the default one.

    Returns:
        The last two inputs of a random primitive.

    Raises:
        TypeError: ``seed`` is no integer.
        ValueError: ``seed`` is negative.
    """
    if seed is None:
        return (random.default_generator() if generator is None else generator).next_key()
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise located(
            TypeError, f"For '{op}', the 'seed' must be int, but got {type(seed).__name__}."
        )
    if seed < 0:
        raise located(
            ValueError,
            f"For '{op}', the 'seed' must be int and must >= 0, but got '{seed}' with type 'int'.",
        )
    return random.Generator(int(seed)).next_key()


def _run(record: Primitive, *inputs: Any) -> Any:
    return as_tensor(Primitive.__call__(record, *inputs))


class _Normal(Primitive, register=False):
    """Standard normal numbers."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        wide = self.dtype.np if self.dtype.bits >= 32 else np.dtype(np.float32)
        key = random.key(seed, offset)
        return jax.random.normal(key, self.shape, wide).astype(self.dtype.np)


class _Uniform(Primitive, register=False):
    """Numbers uniform in [0, 1)."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        wide = self.dtype.np if self.dtype.bits >= 32 else np.dtype(np.float32)
        key = random.key(seed, offset)
        return jax.random.uniform(key, self.shape, wide).astype(self.dtype.np)


class _Integers(Primitive, register=False):
    """Integers uniform from a lower bound up to, not including, an upper one."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, low: Array, high: Array, seed: Array, offset: Array) -> Array:
        wide = np.int64 if low.dtype == np.int64 else np.int32
        key = random.key(seed, offset)
        drawn = jax.random.randint(key, self.shape, low.astype(wide), high.astype(wide), wide)
        return drawn.astype(self.dtype.np)


class _RandomPrimitive(Primitive, register=False):
    """Base of the original's random primitives: a seed of their own, 0 for the generator's."""

    seed: int = 0
    seed2: int = 0

    def __post_init__(self) -> None:
        for name in ("seed", "seed2"):
            if integer(self.name, name, getattr(self, name)) < 0:
                raise located(
                    ValueError,
                    f"For '{self.name}', the '{name}' must be int and must >= 0, but got "
                    f"'{getattr(self, name)}' with type 'int'.",
                )
        own = random.Generator(self.seed * 2**16 + self.seed2) if self.seed or self.seed2 else None
        self.__dict__["_own"] = own

    def draw(self) -> tuple[Any, Any]:
        """Give seed and offset of the next draw of this primitive."""
        return draw(self.name, generator=self.__dict__["_own"])


class StandardNormal(_RandomPrimitive):
    """Standard normal numbers; call: ``StandardNormal()(shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return _run(_Normal(sizes("StandardNormal", "shape", shape), float32), *self.draw())


class UniformReal(_RandomPrimitive):
    """Numbers uniform in [0, 1); call: ``UniformReal()(shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return _run(_Uniform(sizes("UniformReal", "shape", shape), float32), *self.draw())


class UniformInt(_RandomPrimitive):
    """Integers uniform in [minval, maxval); call: ``UniformInt()(shape, minval, maxval)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Int32 numbers."""
        shape, low, high = inputs
        record = _Integers(sizes("UniformInt", "shape", shape), int32)
        return _run(record, _bound(low), _bound(high), *self.draw())


def _bound(value: Any) -> Any:
    return np.asarray(value, np.int64) if isinstance(value, int) else value


class StandardLaplace(_RandomPrimitive):
    """Numbers of the Laplace distribution of mean 0 and scale 1."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        (shape,) = inputs
        return _run(_Laplace(sizes("StandardLaplace", "shape", shape)), *self.draw())


class _Laplace(Primitive, register=False):
    """Standard Laplace numbers."""

    shape: tuple[int, ...]

    def compute(self, seed: Array, offset: Array) -> Array:
        return jax.random.laplace(random.key(seed, offset), self.shape, np.float32)


def _float_dtype(op: str, dtype: Any, default: Number = float32) -> Number:
    checked = checked_dtype(op, dtype, default)
    if checked.kind != "float":
        raise located(
            ValueError, f"For '{op}', the 'dtype' must be a float type, but got {checked.name}."
        )
    return checked


def _integer_dtype(op: str, dtype: Any, default: Number = int64) -> Number:
    checked = checked_dtype(op, dtype, default)
    if checked.kind not in ("int", "uint"):
        raise located(
            ValueError, f"For '{op}', the 'dtype' must be an int type, but got {checked.name}."
        )
    return checked


def standard_normal(shape: Any, seed: Any = None) -> Tensor:
    """Draw standard normal numbers (MindSpore: ``ops.standard_normal``).

    Args:
        shape: sizes.
        seed: integer that starts a stream of its own.

    Returns:
        Float32 Tensor.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size is negative.
    """
    record = _Normal(sizes("standard_normal", "shape", shape), float32)
    return _run(record, *draw("standard_normal", seed))


def standard_laplace(shape: Any, seed: Any = None) -> Tensor:
    """Draw Laplace numbers of mean 0 and scale 1; as `standard_normal`."""
    return _run(
        _Laplace(sizes("standard_laplace", "shape", shape)), *draw("standard_laplace", seed)
    )


class _Affine(Primitive, register=False):
    """``scale * x + shift``, with x broadcast to the common shape."""

    def compute(self, x: Array, scale: Array, shift: Array) -> Array:
        return x * scale.astype(x.dtype) + shift.astype(x.dtype)


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Tensor:
    """Draw normal numbers (MindSpore: ``ops.normal``).

    Args:
        shape: sizes.
        mean: number or Tensor.
        stddev: number or Tensor; broadcasts with the others.
        seed: integer that starts a stream of its own.

    Returns:
        Float32 Tensor of the common shape of ``shape``, ``mean`` and ``stddev``.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size or the seed is negative, or the shapes do not broadcast.
    """
    size = sizes("normal", "shape", shape)
    full = np.broadcast_shapes(size, shape_of(mean), shape_of(stddev))
    return _Affine()(_run(_Normal(full, float32), *draw("normal", seed)), stddev, mean)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = float32) -> Tensor:
    """Draw uniform numbers from [minval, maxval) (MindSpore: ``ops.uniform``).

    Args:
        shape: sizes.
        minval: Tensor.
        maxval: Tensor; broadcasts with the others.
        seed: integer that starts a stream of its own.
        dtype: Float32, or Int32 for integers.

    Returns:
        Tensor of the common shape.

    Raises:
        TypeError: a bound is no Tensor.
        ValueError: a size or the seed is negative, or the shapes do not broadcast.
    """
    for bound in (minval, maxval):
        if not hasattr(bound, "dtype"):
            raise located(
                TypeError,
                "For functional operator[uniform], the input[minval] and input[maxval] must be a "
                "Tensor.",
            )
    kind = as_dtype(dtype)
    full = np.broadcast_shapes(sizes("uniform", "shape", shape), shape_of(minval), shape_of(maxval))
    key = draw("uniform", seed)
    if kind.kind in ("int", "uint"):
        return _run(_Integers(full, kind), minval, maxval, *key)
    return _Between()(_run(_Uniform(full, kind), *key), minval, maxval)


class _Between(Primitive, register=False):
    """Numbers of [0, 1) brought to [low, high)."""

    def compute(self, x: Array, low: Array, high: Array) -> Array:
        low, high = low.astype(x.dtype), high.astype(x.dtype)
        return x * (high - low) + low


def draw_normal(
    shape: tuple[int, ...], dtype: Number, mean: Any, std: Any, key: tuple[Any, Any]
) -> Any:
    """Draw normal numbers of a shape and float dtype."""
    return _Affine()(_run(_Normal(shape, _float_dtype("normal", dtype)), *key), std, mean)


def draw_uniform(
    shape: tuple[int, ...], dtype: Number, low: Any, high: Any, key: tuple[Any, Any]
) -> Any:
    """Draw uniform numbers of a shape and float dtype from [low, high)."""
    return _Between()(_run(_Uniform(shape, _float_dtype("uniform", dtype)), *key), low, high)


class _Exponential(Primitive, register=False):
    """Numbers of [0, 1) brought to the exponential distribution."""

    def compute(self, x: Array, rate: Array) -> Array:
        return -jnp.log1p(-x) / rate.astype(x.dtype)


def draw_exponential(
    shape: tuple[int, ...], dtype: Number, rate: Any, key: tuple[Any, Any]
) -> Any:
    """Draw numbers of an exponential distribution of a shape and float dtype."""
    return _Exponential()(_run(_Uniform(shape, _float_dtype("exponential", dtype)), *key), rate)


def draw_bernoulli(x: Any, p: Any, key: tuple[Any, Any]) -> Any:
    """Draw ones with a probability, else zeros, with the shape and dtype of a Tensor."""
    return _Bernoulli()(x, p, *key)


def _sizes_of(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    if not size:
        return (1,) if op.startswith("ops.") else ()
    return sizes(op, "size", size[0] if len(size) == 1 else size)


def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) (MindSpore: ``ops.rand``).

    Args:
        size: sizes, as integers or one sequence.
        dtype: float type; Float32 by default.
        seed: integer that starts a stream of its own.

    Returns:
        Tensor.

    Raises:
        ValueError: ``dtype`` is no float type, or a size or the seed is negative.
    """
    record = _Uniform(_sizes_of("ops.rand", size), _float_dtype("rand", dtype))
    return _run(record, *draw("rand", seed))


def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Draw standard normal numbers (MindSpore: ``ops.randn``).

    Args:
        size: sizes, as integers or one sequence.
        dtype: float type; Float32 by default.
        seed: integer that starts a stream of its own.

    Returns:
        Tensor.

    Raises:
        ValueError: ``dtype`` is no float type, or a size or the seed is negative.
    """
    record = _Normal(_sizes_of("ops.randn", size), _float_dtype("randn", dtype))
    return _run(record, *draw("randn", seed))


def draw_integers(
    op: str, low: Any, high: Any, size: tuple[int, ...], dtype: Any, key: tuple[Any, Any]
) -> Any:
    """Draw integers from [low, high).

    Raises:
        TypeError: a bound is no integer.
        ValueError: the range is empty, or ``dtype`` is no int type.
    """
    low, high = integer(op, "low", low), integer(op, "high", high)
    if low >= high:
        raise located(ValueError, f"For '{op}', invalid min/max values: ({low}/{high})")
    record = _Integers(size, _integer_dtype(op, dtype))
    return _run(record, np.asarray(low, np.int64), np.asarray(high, np.int64), *key)


def randint(low: int, high: int, size: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw integers from [low, high) (MindSpore: ``ops.randint``).

    Args:
        low: smallest integer.
        high: integer above the largest.
        size: sizes.
        seed: integer that starts a stream of its own.
        dtype: int type; Int64 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: a bound or size is no integer.
        ValueError: the range is empty, or a size or the seed is negative.
    """
    shape = sizes("randint", "size", size)
    return draw_integers("randint", low, high, shape, dtype, draw("randint", seed))


def rand_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) with the shape and dtype of a Tensor; as `rand`."""
    kind = _float_dtype("rand_like", dtype, as_dtype(input.dtype))
    return _run(_Uniform(shape_of(input), kind), *draw("rand_like", seed))


def randn_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw standard normal numbers with the shape and dtype of a Tensor; as `randn`."""
    kind = _float_dtype("randn_like", dtype, as_dtype(input.dtype))
    return _run(_Normal(shape_of(input), kind), *draw("randn_like", seed))


def randint_like(
    input: Tensor, low: int, high: int, seed: Any = None, *, dtype: Any = None
) -> Tensor:
    """Draw integers from [low, high) with the shape and dtype of a Tensor; as `randint`."""
    kind = as_dtype(input.dtype) if dtype is None else dtype
    return draw_integers(
        "randint_like", low, high, shape_of(input), kind, draw("randint_like", seed)
    )


class _Permutation(Primitive, register=False):
    """The integers below n in random order."""

    n: int
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        numbers = lax.iota(np.int32, self.n)
        return jax.random.permutation(random.key(seed, offset), numbers).astype(self.dtype.np)


def randperm(n: int, seed: int = 0, offset: int = 0, dtype: Any = int64) -> Tensor:
    """Draw a permutation of the integers below ``n`` (MindSpore: ``ops.randperm``).

    Args:
        n: number of integers.
        seed: starts a stream of its own; 0 takes the default generator.
        offset: place in that stream.
        dtype: element type.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: ``n`` is no integer.
        ValueError: ``n`` is negative.
    """
    (count,) = sizes("randperm", "n", n)
    record = _Permutation(count, checked_dtype("randperm", dtype, int64))
    if not seed and not offset:
        return _run(record, *draw("randperm"))
    return _run(record, np.asarray(seed % 2**32, np.uint32), np.asarray(offset % 2**32, np.uint32))


class Randperm(Primitive):
    """A permutation padded to a length; call: ``Randperm(max_length, pad, dtype)(n)``."""

    max_length: int = 1
    pad: int = -1
    dtype: Number = int32

    def __call__(self, *inputs: Any) -> Any:
        """Draw the permutation of ``n`` integers."""
        from mindjax.ops.rearrange import pad

        (n,) = inputs
        count = static(n)
        count = integer("Randperm", "n", count[0] if isinstance(count, tuple) else count)
        if count > self.max_length:
            raise located(
                ValueError,
                f"For 'Randperm', 'n' must be at most max_length {self.max_length}, but got {count}.",
            )
        return pad(randperm(count, dtype=self.dtype), (0, self.max_length - count), value=self.pad)


class _Shuffle(Primitive, register=False):
    """Rows in random order."""

    def compute(self, x: Array, seed: Array, offset: Array) -> Array:
        order = jax.random.permutation(random.key(seed, offset), lax.iota(np.int32, x.shape[0]))
        return jnp.take(x, order, axis=0, mode="clip")


class RandomShuffle(_RandomPrimitive):
    """Rows in random order; call: ``RandomShuffle()(x)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Shuffle."""
        return _Shuffle()(*inputs, *self.draw()) if shape_of(inputs[0]) else inputs[0]


def shuffle(x: Tensor, seed: Any = None) -> Tensor:
    """Put the rows of a Tensor in random order (MindSpore: ``ops.shuffle``).

    Args:
        x: Tensor.
        seed: integer that starts a stream of its own.

    Returns:
        Tensor of the same shape.
    """
    return _Shuffle()(x, *draw("shuffle", seed)) if shape_of(x) else x


class _Bernoulli(Primitive, register=False):
    """Ones with a probability, else zeros."""

    dtype: Number | None = None

    def compute(self, x: Array, p: Array, seed: Array, offset: Array) -> Array:
        dtype = x.dtype if self.dtype is None else self.dtype.np
        wide = p.dtype if jnp.issubdtype(p.dtype, jnp.floating) else np.dtype(np.float32)
        chance = broadcast(p.astype(wide), x.shape)
        drawn = jax.random.uniform(random.key(seed, offset), x.shape, np.float32)
        return (drawn.astype(wide) < chance).astype(dtype)


def bernoulli(input: Tensor, p: Any = 0.5, seed: Any = None) -> Tensor:
    """Draw ones with a probability, else zeros (MindSpore: ``ops.bernoulli``).

    Args:
        input: Tensor that gives shape and dtype.
        p: probability, a number or a Tensor that broadcasts to ``input``.
        seed: integer that starts a stream of its own.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: a number ``p`` is not in [0, 1].
    """
    if isinstance(p, int | float) and not 0 <= p <= 1:
        raise located(ValueError, f"For bernoulli, p should be in [0, 1], but got {p}.")
    return _Bernoulli()(input, p, *draw("bernoulli", seed))


def bernoulli_by(input: Tensor, *, generator: Any = None) -> Tensor:
    """Draw ones with the probabilities that a Tensor holds (``mint.bernoulli``).

    Args:
        input: float Tensor of probabilities.
        generator: stream; None takes the default one.

    Returns:
        Tensor like ``input``.
    """
    return _Bernoulli()(input, input, *draw("bernoulli", generator=generator))


class _Multinomial(Primitive, register=False):
    """Indices drawn in proportion to weights of the last axis."""

    count: int
    replacement: bool
    dtype: Number

    def compute(self, weights: Array, seed: Array, offset: Array) -> Array:
        if weights.ndim not in (1, 2):
            raise located(
                ValueError,
                f"For 'multinomial', the rank of input must be 1 or 2, but got {weights.ndim}.",
            )
        key = random.key(seed, offset)
        wide = weights.dtype if weights.dtype == np.float64 else np.dtype(np.float32)
        logits = jnp.log(weights.astype(wide))
        if self.replacement:
            shape = (*weights.shape[:-1], self.count, weights.shape[-1])
        else:
            shape = weights.shape
        scores = jax.random.gumbel(key, shape, wide)
        if self.replacement:
            return lax.argmax(scores + logits[..., None, :], len(shape) - 1, np.int32).astype(
                self.dtype.np
            )
        # The largest of Gumbel-perturbed logits are a draw without replacement.
        order = lax.top_k(scores + logits, self.count)[1]
        return order.astype(self.dtype.np)


def draw_indices(
    input: Tensor, num_samples: Any, replacement: bool, dtype: Number, key: tuple[Any, Any]
) -> Any:
    """Draw indices of the last axis in proportion to its weights.

    Raises:
        ValueError: without replacement more are asked for than there are.
    """
    count = integer("multinomial", "num_samples", num_samples)
    if count < 0 or not replacement and count > shape_of(input)[-1]:
        raise located(
            ValueError,
            "For 'multinomial', the 'num_samples' must be less than the last dimension of input "
            f"without 'replacement', but got 'num_samples': {count} and 'replacement': {replacement}",
        )
    return _Multinomial(count, bool(replacement), dtype)(input, *key)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = True, seed: Any = None
) -> Tensor:
    """Draw indices in proportion to weights (MindSpore: ``ops.multinomial``).

    Args:
        input: float Tensor with one or two axes: weights, not negative.
        num_samples: number of indices a row.
        replacement: whether an index may be drawn again.
        seed: integer that starts a stream of its own.

    Returns:
        Int32 Tensor of shape (num_samples,) or (rows, num_samples).

    Raises:
        ValueError: without replacement more are asked for than there are.
    """
    return draw_indices(input, num_samples, replacement, int32, draw("multinomial", seed))


class Multinomial(_RandomPrimitive):
    """Indices drawn in proportion to weights; call: ``Multinomial()(x, num_samples)``."""

    dtype: Number = int32

    def __call__(self, *inputs: Any) -> Any:
        """Draw with replacement."""
        x, count = inputs
        return draw_indices(x, count, True, self.dtype, self.draw())


class _Gamma(Primitive, register=False):
    """Numbers of gamma distributions."""

    shape: tuple[int, ...]

    def compute(self, alpha: Array, beta: Array, seed: Array, offset: Array) -> Array:
        full = self.shape + np.broadcast_shapes(alpha.shape, beta.shape)
        drawn = jax.random.gamma(random.key(seed, offset), alpha.astype(np.float32), full)
        return drawn / beta.astype(np.float32)


def gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Tensor:
    """Draw numbers of gamma distributions (MindSpore: ``ops.gamma``).

    Args:
        shape: sizes that stand before the shape of ``alpha`` and ``beta``.
        alpha: float Tensor: shape parameters.
        beta: float Tensor: rates.
        seed: integer that starts a stream of its own.

    Returns:
        Float32 Tensor.
    """
    return _run(_Gamma(sizes("gamma", "shape", shape)), alpha, beta, *draw("gamma", seed))


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: Any = None) -> Tensor:
    """Draw Laplace numbers (MindSpore: ``ops.laplace``).

    Args:
        shape: sizes.
        mean: number or Tensor.
        lambda_param: scale, a number or Tensor.
        seed: integer that starts a stream of its own.

    Returns:
        Float32 Tensor of the common shape.
    """
    full = np.broadcast_shapes(
        sizes("laplace", "shape", shape), shape_of(mean), shape_of(lambda_param)
    )
    return _Affine()(_run(_Laplace(full), *draw("laplace", seed)), lambda_param, mean)


def random_categorical(
    logits: Tensor, num_sample: int, seed: int = 0, dtype: Any = int64
) -> Tensor:
    """Draw categories from logits (MindSpore: ``ops.random_categorical``).

    Args:
        logits: float Tensor of shape (rows, categories).
        num_sample: number of draws a row.
        seed: starts a stream of its own; 0 takes the default generator.
        dtype: element type.

    Returns:
        Tensor of shape (rows, num_sample).
    """
    count = integer("random_categorical", "num_sample", num_sample)
    record = _Categorical(count, checked_dtype("random_categorical", dtype, int64))
    return record(logits, *draw("random_categorical", seed or None))


class _Categorical(Primitive, register=False):
    """Categories drawn from logits."""

    count: int
    dtype: Number

    def compute(self, logits: Array, seed: Array, offset: Array) -> Array:
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
        record = _Truncated(sizes("TruncatedNormal", "shape", shape), self.dtype)
        return _run(record, *draw("TruncatedNormal", self.seed or self.seed2 or None))


class _Truncated(Primitive, register=False):
    """Standard normal numbers between -2 and 2."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        key = random.key(seed, offset)
        drawn = jax.random.truncated_normal(key, -2.0, 2.0, self.shape, np.float32)
        return drawn.astype(self.dtype.np)
