"""Random numbers and permutations, drawn from the generator of `core/random.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks, random
from mindjax.core.dtype import Number, as_dtype, float32, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.creation import as_tensor, checked_dtype
from mindjax.ops.shape import broadcast, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def draw(op: str, seed: Any = None, generator: Any = None) -> tuple[Any, Any]:
    """Give seed and offset of the next draw.

    Args:
        op: name of the op, for the message.
        seed: integer that fixes the draw; None takes the next of the generator.
        generator: stream; None takes the default one.

    Returns:
        The last two inputs of a random primitive.

    Raises:
        TypeError: ``seed`` is no integer.
        ValueError: ``seed`` is negative.
    """
    if generator is not None:
        checks.of_type("generator", generator, random.Generator, op)
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
    return np.asarray(int(seed) % 2**32, np.uint32), np.asarray(0, np.uint32)


def run(record: Primitive, *inputs: Any) -> Any:
    """Run a primitive whose inputs are host arrays, and give a Tensor."""
    return as_tensor(Primitive.__call__(record, *inputs))


class Normal(Primitive, register=False):
    """Standard normal numbers."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        """Draw."""
        wide = self.dtype.np if self.dtype.bits >= 32 else np.dtype(np.float32)
        key = random.key(seed, offset)
        return jax.random.normal(key, self.shape, wide).astype(self.dtype.np)


class Uniform(Primitive, register=False):
    """Numbers uniform in [0, 1)."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        """Draw."""
        wide = self.dtype.np if self.dtype.bits >= 32 else np.dtype(np.float32)
        key = random.key(seed, offset)
        return jax.random.uniform(key, self.shape, wide).astype(self.dtype.np)


class Integers(Primitive, register=False):
    """Integers uniform from a lower bound up to, not including, an upper one."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, low: Array, high: Array, seed: Array, offset: Array) -> Array:
        """Draw."""
        wide = np.int64 if low.dtype == np.int64 else np.int32
        key = random.key(seed, offset)
        drawn = jax.random.randint(key, self.shape, low.astype(wide), high.astype(wide), wide)
        return drawn.astype(self.dtype.np)


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
        seed: integer that fixes the numbers.

    Returns:
        Float32 Tensor.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size is negative.
    """
    record = Normal(checks.shape_tuple("shape", shape, "standard_normal"), float32)
    return run(record, *draw("standard_normal", seed))


class Affine(Primitive, register=False):
    """``scale * x + shift``, with x broadcast to the common shape."""

    def compute(self, x: Array, scale: Array, shift: Array) -> Array:
        """Scale and shift."""
        scale, shift = (broadcast(v.astype(x.dtype), x.shape) for v in (scale, shift))
        return x * scale + shift


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Tensor:
    """Draw normal numbers (MindSpore: ``ops.normal``).

    Args:
        shape: sizes.
        mean: number or Tensor.
        stddev: number or Tensor; broadcasts with the others.
        seed: integer that fixes the numbers.

    Returns:
        Float32 Tensor of the common shape of ``shape``, ``mean`` and ``stddev``.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size or the seed is negative, or the shapes do not broadcast.
    """
    size = checks.shape_tuple("shape", shape, "normal")
    full = np.broadcast_shapes(size, shape_of(mean), shape_of(stddev))
    return Affine()(run(Normal(full, float32), *draw("normal", seed)), stddev, mean)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = float32) -> Tensor:
    """Draw uniform numbers from [minval, maxval) (MindSpore: ``ops.uniform``).

    Args:
        shape: sizes.
        minval: Tensor.
        maxval: Tensor; broadcasts with the others.
        seed: integer that fixes the numbers.
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
    full = np.broadcast_shapes(
        checks.shape_tuple("shape", shape, "uniform"), shape_of(minval), shape_of(maxval)
    )
    key = draw("uniform", seed)
    if kind.kind in ("int", "uint"):
        return run(Integers(full, kind), minval, maxval, *key)
    return _Between()(run(Uniform(full, kind), *key), minval, maxval)


class _Between(Primitive, register=False):
    """Numbers of [0, 1) brought to [low, high)."""

    def compute(self, x: Array, low: Array, high: Array) -> Array:
        low, high = (broadcast(v.astype(x.dtype), x.shape) for v in (low, high))
        return x * (high - low) + low


def draw_normal(
    shape: tuple[int, ...], dtype: Number, mean: Any, std: Any, key: tuple[Any, Any]
) -> Any:
    """Draw normal numbers of a shape and float dtype."""
    return Affine()(run(Normal(shape, _float_dtype("normal", dtype)), *key), std, mean)


def draw_uniform(
    shape: tuple[int, ...], dtype: Number, low: Any, high: Any, key: tuple[Any, Any]
) -> Any:
    """Draw uniform numbers of a shape and float dtype from [low, high)."""
    return _Between()(run(Uniform(shape, _float_dtype("uniform", dtype)), *key), low, high)


class _Exponential(Primitive, register=False):
    """Numbers of [0, 1) brought to the exponential distribution."""

    def compute(self, x: Array, rate: Array) -> Array:
        return -jnp.log1p(-x) / rate.astype(x.dtype)


def draw_exponential(shape: tuple[int, ...], dtype: Number, rate: Any, key: tuple[Any, Any]) -> Any:
    """Draw numbers of an exponential distribution of a shape and float dtype."""
    return _Exponential()(run(Uniform(shape, _float_dtype("exponential", dtype)), *key), rate)


def draw_bernoulli(x: Any, p: Any, key: tuple[Any, Any]) -> Any:
    """Draw ones with a probability, else zeros, with the shape and dtype of a Tensor."""
    return _Bernoulli()(x, p, *key)


def _sizes_of(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    if not size:
        return (1,) if op.startswith("ops.") else ()
    return checks.sizes("size", size[0] if len(size) == 1 else size, op)


def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) (MindSpore: ``ops.rand``).

    Args:
        size: sizes, as integers or one sequence.
        dtype: float type; Float32 by default.
        seed: integer that fixes the numbers.

    Returns:
        Tensor.

    Raises:
        ValueError: ``dtype`` is no float type, or a size or the seed is negative.
    """
    record = Uniform(_sizes_of("ops.rand", size), _float_dtype("rand", dtype))
    return run(record, *draw("rand", seed))


def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Draw standard normal numbers (MindSpore: ``ops.randn``).

    Args:
        size: sizes, as integers or one sequence.
        dtype: float type; Float32 by default.
        seed: integer that fixes the numbers.

    Returns:
        Tensor.

    Raises:
        ValueError: ``dtype`` is no float type, or a size or the seed is negative.
    """
    record = Normal(_sizes_of("ops.randn", size), _float_dtype("randn", dtype))
    return run(record, *draw("randn", seed))


def draw_integers(
    op: str, low: Any, high: Any, size: tuple[int, ...], dtype: Any, key: tuple[Any, Any]
) -> Any:
    """Draw integers from [low, high).

    Raises:
        RuntimeError: the range is empty.
        TypeError: a bound is no integer.
        ValueError: ``dtype`` is no int type.
    """
    low, high = checks.integer("low", low, op), checks.integer("high", high, op)
    if low >= high:
        raise located(RuntimeError, f"For '{op}', invalid min/max values: ({low}/{high})")
    record = Integers(size, _integer_dtype(op, dtype))
    return run(record, np.asarray(low, np.int64), np.asarray(high, np.int64), *key)


def randint(low: int, high: int, size: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw integers from [low, high) (MindSpore: ``ops.randint``).

    Args:
        low: smallest integer.
        high: integer above the largest.
        size: sizes.
        seed: integer that fixes the numbers.
        dtype: int type; Int64 by default.

    Returns:
        Tensor.

    Raises:
        RuntimeError: the range is empty.
        TypeError: a bound or size is no integer.
        ValueError: a size or the seed is negative.
    """
    shape = checks.sizes("size", size, "randint")
    return draw_integers("randint", low, high, shape, dtype, draw("randint", seed))


def rand_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) with the shape of a Tensor (MindSpore: ``ops.rand_like``).

    Args:
        input: Tensor of any shape.
        seed: of a stream of its own; None takes the default stream.
        dtype: float type; by default that of ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: ``dtype`` is no float type.
    """
    checks.tensors("rand_like", input=input)
    kind = _float_dtype("rand_like", dtype, as_dtype(input.dtype))
    return run(Uniform(shape_of(input), kind), *draw("rand_like", seed))


def randn_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Draw standard normal numbers with the shape of a Tensor (MindSpore: ``ops.randn_like``).

    Args:
        input: Tensor of any shape.
        seed: of a stream of its own; None takes the default stream.
        dtype: float type; by default that of ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: ``dtype`` is no float type.
    """
    checks.tensors("randn_like", input=input)
    kind = _float_dtype("randn_like", dtype, as_dtype(input.dtype))
    return run(Normal(shape_of(input), kind), *draw("randn_like", seed))


def randint_like(
    input: Tensor, low: int, high: int, seed: Any = None, *, dtype: Any = None
) -> Tensor:
    """Draw integers from [low, high) with the shape of a Tensor (MindSpore: ``ops.randint_like``).

    Args:
        input: Tensor of any shape.
        low: smallest integer.
        high: integer above the largest.
        seed: of a stream of its own; None takes the default stream.
        dtype: integer type; by default that of ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: a bound is no integer.
        RuntimeError: the range is empty.
        ValueError: ``dtype`` is no integer type.
    """
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
        seed: fixes the numbers; 0 takes the default generator.
        offset: fixes the numbers with the seed.
        dtype: element type.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: ``n`` is no integer.
        ValueError: ``n`` is negative.
    """
    kind = checked_dtype("randperm", dtype, int64)
    if not seed and not offset:
        return draw_permutation(n, kind, draw("randperm"))
    own = np.asarray(seed % 2**32, np.uint32), np.asarray(offset % 2**32, np.uint32)
    return draw_permutation(n, kind, own)


def draw_permutation(n: int, dtype: Number, key: tuple[Any, Any]) -> Any:
    """Draw a permutation of the integers below n."""
    (count,) = checks.sizes("n", n, "randperm")
    return run(_Permutation(count, dtype), *key)


class Shuffle(Primitive, register=False):
    """Rows in random order."""

    def compute(self, x: Array, seed: Array, offset: Array) -> Array:
        """Take the rows in a random order."""
        order = jax.random.permutation(random.key(seed, offset), lax.iota(np.int32, x.shape[0]))
        return jnp.take(x, order, axis=0, mode="clip")


def shuffle(x: Tensor, seed: Any = None) -> Tensor:
    """Put the rows of a Tensor in random order (MindSpore: ``ops.shuffle``).

    Args:
        x: Tensor.
        seed: integer that fixes the numbers.

    Returns:
        Tensor of the same shape.
    """
    return Shuffle()(x, *draw("shuffle", seed)) if shape_of(x) else x


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
        seed: integer that fixes the numbers.

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
    count = checks.integer("num_samples", num_samples, "multinomial")
    if count < 0 or (not replacement and count > shape_of(input)[-1]):
        raise located(
            ValueError,
            "For 'multinomial', the 'num_samples' must be less than the last dimension of input "
            f"without 'replacement', but got 'num_samples': {count}.",
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
        seed: integer that fixes the numbers.

    Returns:
        Int32 Tensor of shape (num_samples,) or (rows, num_samples).

    Raises:
        ValueError: without replacement more are asked for than there are.
    """
    return draw_indices(input, num_samples, replacement, int32, draw("multinomial", seed))
