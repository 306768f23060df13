"""Random Primitive classes and functions of named distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks, random
from mindjax.core.dtype import (
    Number,
    as_dtype,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
    to_np,
    uint32,
    uint64,
)
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields
from mindjax.ops.cast import cast
from mindjax.ops.distributions import GammaNumbers, RandomPrimitive, random_categorical
from mindjax.ops.gather import known_values
from mindjax.ops.sampling import (
    bernoulli_by,
    draw,
    draw_bernoulli,
    draw_indices,
    draw_normal,
    randperm,
    run,
)
from mindjax.ops.shape import broadcast, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _one_of(op: str, dtype: Any, kinds: tuple[Number, ...]) -> Number:
    if dtype not in kinds:
        raise located(
            TypeError,
            f"For '{op}', the 'dtype' should be one of {[k.name for k in kinds]}, but got "
            f"'{dtype}'.",
        )
    return as_dtype(dtype)


def _float_kind(op: str, name: str, x: Any, kinds: tuple[str, ...]) -> Any:
    """Check the dtype of an input that is needed before it is drawn; give numpy's."""
    found = as_dtype(x.dtype) if hasattr(x, "dtype") else None
    if found is None or found.name not in kinds:
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[{name}] must be a type of {list(kinds)}, but "
            f"got {type(x).__name__ if found is None else found.name}.",
        )
    return to_np(found)


def _shape_tensor(op: str, shape: Any) -> tuple[int, ...]:
    if not hasattr(shape, "dtype") or as_dtype(shape.dtype) not in (int32, int64):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[shape] must be an Int32 or Int64 Tensor, but "
            f"got {shape!r:.60}.",
        )
    return checks.sizes("shape", shape, op)


class Bernoulli(Primitive):
    """Ones with a probability, else zeros; call: ``Bernoulli()(x, p)``.

    Args:
        seed: of a stream of its own; -1 takes the default generator.
        offset: fixes the numbers with the seed.
    """

    seed: int = -1
    offset: int = 0

    def __post_init__(self) -> None:
        for name in ("seed", "offset"):
            checks.of_type(name, getattr(self, name), int, "Bernoulli")
        if self.seed < -1:
            raise located(
                ValueError, f"Seed must be -1 or a non-negative integer, but got {self.seed}."
            )
        own = random.seeded(self.seed * 2**16 + self.offset) if self.seed >= 0 else None
        self.__dict__["_own"] = own

    def __call__(self, *inputs: Any) -> Any:
        """Draw, with the shape and dtype of ``x``.

        Raises:
            ValueError: a number ``p`` is not in [0, 1].
        """
        x, p = inputs if len(inputs) == 2 else (*inputs, 0.5)
        if isinstance(p, int | float) and not 0 <= p <= 1:
            raise located(ValueError, f"For bernoulli, p should be in [0, 1], but got {p}.")
        return draw_bernoulli(x, p, draw("Bernoulli", generator=self.__dict__["_own"]))


def bernoulli_ext(input: Tensor, *, generator: Any = None) -> Tensor:
    """Draw ones with the probabilities that a Tensor holds (MindSpore: ``ops.bernoulli_ext``).

    Args:
        input: float Tensor of probabilities.
        generator: stream; None takes the default one.

    Returns:
        Tensor like ``input``.

    Raises:
        TypeError: ``input`` holds no floats.
        ValueError: an element is not in [0, 1] (in PYNATIVE on the CPU).
    """
    kinds = ("Float16", "BFloat16", "Float32", "Float64")
    _float_kind("BernoulliExt", "input", input, kinds)
    host = known_values(input)
    if host is not None and not ((host >= 0) & (host <= 1)).all():
        raise located(
            ValueError,
            f"For 'bernoulli_ext', each element must be in [0, 1], but got {host.min()} to "
            f"{host.max()}.",
        )
    return bernoulli_by(input, generator=generator)


class _CauchyNumbers(Primitive, register=False):
    """Numbers of the Cauchy distribution."""

    shape: tuple[int, ...]
    median: float
    sigma: float

    def compute(self, seed: Array, offset: Array) -> Array:
        drawn = jax.random.cauchy(random.key(seed, offset), self.shape, np.float32)
        return drawn * self.sigma + self.median


class Cauchy(Primitive):
    """Numbers of the Cauchy distribution; call: ``Cauchy(size)()``.

    Args:
        size: list of sizes.
        median: of the distribution.
        sigma: scale, half of the width at half of the height.
    """

    size: Any
    median: float = 0.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        checks.of_type("size", self.size, list, "Cauchy")
        checks.of_type("median", self.median, float, "Cauchy")
        checks.of_type("sigma", self.sigma, float, "Cauchy")
        if not self.size:
            raise located(ValueError, "For 'Cauchy', the length of 'size' must be greater than 0.")
        for i, value in enumerate(self.size):
            checks.positive_int(f"size[{i}]", value, "Cauchy")

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers."""
        return run(_CauchyNumbers(tuple(self.size), self.median, self.sigma), *draw("Cauchy"))


class Gamma(RandomPrimitive):
    """Numbers of gamma distributions; call: ``Gamma()(shape, alpha, beta)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Float32 numbers in ``shape`` broadcast with those of ``alpha`` and ``beta``.

        Raises:
            TypeError: ``alpha`` or ``beta`` is no Float32 Tensor.
        """
        shape, alpha, beta = inputs
        for name, value in (("alpha", alpha), ("beta", beta)):
            _float_kind("Gamma", name, value, ("Float32",))
        sizes = checks.sizes("shape", shape, "Gamma")
        full = np.broadcast_shapes(sizes, shape_of(alpha), shape_of(beta))
        return run(_BroadcastGamma(full), alpha, beta, *self.draw())


class _BroadcastGamma(Primitive, register=False):
    """Numbers of gamma distributions in a shape that the parameters broadcast to."""

    shape: tuple[int, ...]

    def compute(self, alpha: Array, beta: Array, seed: Array, offset: Array) -> Array:
        alpha, beta = (broadcast(v, self.shape) for v in (alpha, beta))
        return GammaNumbers(()).compute(alpha, beta, seed, offset)


class _UnitGamma(Primitive, register=False):
    """Numbers of gamma distributions of rate 1, in the dtype of their shape parameters."""

    shape: tuple[int, ...]

    def compute(self, alpha: Array, seed: Array, offset: Array) -> Array:
        wide = np.dtype(np.float64 if alpha.dtype == np.float64 else np.float32)
        full = broadcast(alpha.astype(wide), self.shape + alpha.shape)
        drawn = jax.random.gamma(random.key(seed, offset), full, full.shape, wide)
        return drawn.astype(alpha.dtype)


_GAMMA_KINDS = ("Float16", "Float32", "Float64")


class RandomGamma(RandomPrimitive):
    """Numbers of gamma distributions of rate 1; call: ``RandomGamma()(shape, alpha)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw in ``shape`` followed by that of ``alpha``, whose dtype the numbers have."""
        shape, alpha = inputs
        _float_kind("RandomGamma", "alpha", alpha, _GAMMA_KINDS)
        return run(_UnitGamma(_shape_tensor("RandomGamma", shape)), alpha, *self.draw())


def random_gamma(shape: Tensor, alpha: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers of gamma distributions of rate 1 (MindSpore: ``ops.random_gamma``).

    Args:
        shape: Int32 or Int64 Tensor with one axis: sizes in front of those of ``alpha``.
        alpha: Float16, Float32 or Float64 Tensor of shape parameters.
        seed: integer that fixes the numbers.

    Returns:
        Tensor of the dtype of ``alpha``.

    Raises:
        TypeError: a dtype is another, or ``seed`` is no int.
        ValueError: a size or the seed is negative.
    """
    _float_kind("RandomGamma", "alpha", alpha, _GAMMA_KINDS)
    record = _UnitGamma(_shape_tensor("RandomGamma", shape))
    return run(record, alpha, *draw("random_gamma", seed))


class LogNormalReverse(Primitive):
    """Numbers whose logarithms are normal; call: ``LogNormalReverse()(x)``.

    Args:
        mean: of the logarithms.
        std: of the logarithms.
    """

    mean: float = 1.0
    std: float = 2.0

    def __post_init__(self) -> None:
        checks.of_type("mean", self.mean, float, "LogNormalReverse")
        checks.of_type("std", self.std, float, "LogNormalReverse")

    def __call__(self, *inputs: Any) -> Any:
        """Draw, with the shape and dtype of ``x``."""
        (x,) = inputs
        _float_kind("LogNormalReverse", "x", x, _GAMMA_KINDS)
        kind, key = as_dtype(x.dtype), draw("LogNormalReverse")
        return _Exponentials()(draw_normal(shape_of(x), kind, self.mean, self.std, key))


class _Exponentials(Primitive, register=False):
    """E to the power of each element."""

    def compute(self, x: Array) -> Array:
        return jnp.exp(x)


class PoissonNumbers(Primitive, register=False):
    """Numbers of Poisson distributions; the rates stand behind a shape, or broadcast to it."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, rate: Array, seed: Array, offset: Array) -> Array:
        """Draw."""
        rate = broadcast(rate.astype(np.float32), self.shape)
        # A rate that is not positive counts as 0, as in the original.
        drawn = jax.random.poisson(random.key(seed, offset), jnp.maximum(rate, 0), self.shape)
        return drawn.astype(self.dtype.np)


def _poisson(op: str, shape: Any, mean: Any, dtype: Number, key: tuple[Any, Any]) -> Any:
    _float_kind(op, "mean", mean, ("Float32",))
    full = np.broadcast_shapes(checks.sizes("shape", shape, op), shape_of(mean))
    return run(PoissonNumbers(full, dtype), mean, *key)


class Poisson(RandomPrimitive):
    """Numbers of Poisson distributions; call: ``Poisson()(shape, mean)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw Int32 numbers in ``shape`` broadcast with that of ``mean``."""
        shape, mean = inputs
        checks.of_type("shape", shape, (tuple, list), "Poisson")
        return _poisson("Poisson", shape, mean, int32, self.draw())


def poisson(shape: Any, mean: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers of Poisson distributions (MindSpore: ``ops.poisson``).

    Args:
        shape: tuple of sizes.
        mean: Float32 Tensor; its shape broadcasts with ``shape``.
        seed: integer that fixes the numbers.

    Returns:
        Float32 Tensor of the common shape.

    Raises:
        TypeError: ``shape`` is no tuple, ``mean`` no Float32 Tensor, or ``seed`` no int.
        ValueError: a size or the seed is negative.
    """
    checks.of_type("shape", shape, (tuple, list), "poisson")
    return _poisson("poisson", shape, mean, float32, draw("poisson", seed))


_POISSON_RATES = ("Float16", "Float32", "Float64", "Int32", "Int64")
_POISSON_TYPES = (int64, int32, float16, float32, float64)


class RandomPoisson(RandomPrimitive):
    """Numbers of Poisson distributions; call: ``RandomPoisson()(shape, rate)``.

    Args:
        seed: with the next, of a stream of its own; 0 for both takes the default generator.
        seed2: see ``seed``.
        dtype: Int32, Int64, Float16, Float32 or Float64.
    """

    dtype: Number = int64

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("RandomPoisson", self.dtype, _POISSON_TYPES)

    def __call__(self, *inputs: Any) -> Any:
        """Draw in ``shape`` followed by that of ``rate``."""
        shape, rate = inputs
        _float_kind("RandomPoisson", "rate", rate, _POISSON_RATES)
        full = _shape_tensor("RandomPoisson", shape) + shape_of(rate)
        return run(PoissonNumbers(full, self.dtype), rate, *self.draw())


def random_poisson(
    shape: Tensor, rate: Tensor, seed: int | None = None, dtype: Any = float32
) -> Tensor:
    """Draw numbers of Poisson distributions (MindSpore: ``ops.random_poisson``).

    Args:
        shape: Int32 or Int64 Tensor with one axis: sizes in front of those of ``rate``.
        rate: float, Int32 or Int64 Tensor.
        seed: integer that fixes the numbers.
        dtype: Int32, Int64, Float16, Float32 or Float64.

    Returns:
        Tensor of ``dtype``.

    Raises:
        TypeError: a dtype is another, or ``seed`` is no int.
        ValueError: a size or the seed is negative.
    """
    kind = _one_of("RandomPoisson", dtype, _POISSON_TYPES)
    _float_kind("RandomPoisson", "rate", rate, _POISSON_RATES)
    full = _shape_tensor("RandomPoisson", shape) + shape_of(rate)
    return run(PoissonNumbers(full, kind), rate, *draw("random_poisson", seed))


class MultinomialWithReplacement(Primitive):
    """Indices drawn in proportion to weights; call: ``record(x, seed, offset)``.

    Args:
        numsamples: how many indices a row.
        replacement: whether an index may be drawn again.
    """

    numsamples: int
    replacement: bool = False

    def __post_init__(self) -> None:
        op = "MultinomialWithReplacement"
        checks.of_type("numsamples", self.numsamples, int, op)
        checks.non_negative_int("numsamples", self.numsamples, op)
        checks.of_type("replacement", self.replacement, bool, op)

    def __call__(self, *inputs: Any) -> Any:
        """Draw Int64 indices; a seed and offset of 0 take the default generator.

        Raises:
            ValueError: without replacement more are asked for than there are.
        """
        x, *numbers = inputs
        op = "MultinomialWithReplacement"
        seed, offset = (
            checks.integer(n, v, op) for n, v in zip(("seed", "offset"), numbers, strict=True)
        )
        return _weighted(x, seed, offset, self.numsamples, self.replacement, (0, 0))


def _weighted(
    x: Any, seed: int, offset: int, count: int, replacement: bool, unseeded: tuple[int, int]
) -> Any:
    if (seed, offset) == unseeded:
        key = draw("multinomial_with_replacement")
    else:
        key = np.asarray(seed % 2**32, np.uint32), np.asarray(offset % 2**32, np.uint32)
    return draw_indices(x, count, replacement, int64, key)


def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw indices in proportion to weights (MindSpore: ``ops.multinomial_with_replacement``).

    Args:
        x: float Tensor with one or two axes: weights, not negative.
        seed: fixes the numbers with the offset; -1 with offset 0 takes the default generator.
        offset: see ``seed``.
        numsamples: how many indices a row.
        replacement: whether an index may be drawn again.

    Returns:
        Int64 Tensor (numsamples,) or (rows, numsamples).

    Raises:
        TypeError: an argument has another type.
        ValueError: without replacement more are asked for than there are.
    """
    record = MultinomialWithReplacement(numsamples, replacement)
    seed = checks.integer("seed", seed, "multinomial_with_replacement")
    offset = checks.integer("offset", offset, "multinomial_with_replacement")
    return _weighted(x, seed, offset, record.numsamples, record.replacement, (-1, 0))


class _Bits(Primitive, register=False):
    """Integers uniform over all of a dtype."""

    shape: tuple[int, ...]
    dtype: Number

    def compute(self, seed: Array, offset: Array) -> Array:
        unsigned = np.dtype(f"uint{self.dtype.bits}")
        drawn = jax.random.bits(random.key(seed, offset), self.shape, unsigned)
        return jax.lax.bitcast_convert_type(drawn, self.dtype.np)


class NonDeterministicInts(Primitive):
    """Integers uniform over all of a dtype; call: ``NonDeterministicInts()(shape)``.

    Args:
        dtype: Int32, Int64, UInt32 or UInt64.
    """

    dtype: Number = int64

    def __post_init__(self) -> None:
        _one_of("NonDeterministicInts", self.dtype, (int32, int64, uint32, uint64))

    def __call__(self, *inputs: Any) -> Any:
        """Draw in a shape of two axes or more that an integer Tensor gives.

        Raises:
            TypeError: the shape is no integer Tensor.
            ValueError: it has fewer than two sizes, or one is negative.
        """
        sizes = _shape_tensor("NonDeterministicInts", inputs[0])
        if len(sizes) < 2:
            raise located(
                ValueError,
                f"For 'NonDeterministicInts', 'shape' must have at least 2 sizes, but got {sizes}.",
            )
        return run(_Bits(sizes, self.dtype), *draw("NonDeterministicInts"))


class _TruncatedNumbers(Primitive, register=False):
    """Normal numbers between two limits, one set of parameters a row."""

    shape: tuple[int, ...]

    def compute(
        self, mean: Array, std: Array, low: Array, high: Array, seed: Array, offset: Array
    ) -> Array:
        wide = np.dtype(np.float64 if mean.dtype == np.float64 else np.float32)
        rows = (-1,) + (1,) * (len(self.shape) - 1)
        mean, std, low, high = (v.astype(wide).reshape(rows) for v in (mean, std, low, high))
        first, last = ((v - mean) / std for v in (low, high))
        key = random.key(seed, offset)
        first, last = (broadcast(v, self.shape) for v in (first, last))
        drawn = jax.random.truncated_normal(key, first, last, self.shape, wide)
        return jnp.clip(drawn * std + mean, low, high)


class ParameterizedTruncatedNormal(RandomPrimitive):
    """Normal numbers between limits; call: ``record(shape, mean, stdevs, min, max)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Draw in a shape that an integer Tensor gives; parameters are 0-d or one a row.

        Raises:
            TypeError: an input has another dtype, or the parameters have different ones.
            ValueError: there are fewer than two sizes, or the parameters do not fit the rows.
            RuntimeError: a deviation is not above 0 (in PYNATIVE on the CPU).
        """
        op = "ParameterizedTruncatedNormal"
        shape, *parameters = inputs
        sizes = _shape_tensor(op, shape)
        if len(sizes) < 2:
            raise located(
                ValueError, f"For '{op}', 'shape' must have at least 2 sizes, but got {sizes}."
            )
        names = ("mean", "stdevs", "min", "max")
        kinds = {
            _float_kind(op, n, p, _GAMMA_KINDS) for n, p in zip(names, parameters, strict=True)
        }
        if len(kinds) > 1:
            raise located(TypeError, f"For '{op}', the parameters must have one dtype.")
        for name, value in zip(names, parameters, strict=True):
            if shape_of(value) not in ((), (1,), sizes[:1]):
                raise located(
                    ValueError,
                    f"For '{op}', the shape of '{name}' must be () or ({sizes[0]},), but got "
                    f"{shape_of(value)}.",
                )
        if len(kinds) > 1:
            raise located(TypeError, f"For '{op}', the parameters must have one dtype.")
        host = known_values(parameters[1])
        if host is not None and not (host > 0).all():
            raise located(
                RuntimeError,
                f"For {op}, stdevs value must be greater than 0 in each batch, but got "
                f"{host.min()}.",
            )
        drawn = run(_TruncatedNumbers(sizes), *parameters, *self.draw())
        return cast(drawn, as_dtype(parameters[0].dtype))


class RandomCategorical(Primitive):
    """Categories drawn from logits; call: ``RandomCategorical()(logits, num_sample, seed)``.

    Args:
        dtype: Int16, Int32 or Int64.
    """

    dtype: Number = int64

    def __post_init__(self) -> None:
        _one_of("RandomCategorical", self.dtype, (int32, int16, int64))

    def __call__(self, *inputs: Any) -> Any:
        """Draw ``num_sample`` categories a row."""
        logits, count, *seed = inputs
        number = checks.integer("seed", seed[0] if seed else 0, "RandomCategorical")
        return random_categorical(logits, count, number, self.dtype)


class RandpermV2(Primitive):
    """A permutation of the integers below n; call: ``RandpermV2()(n)``.

    Args:
        seed: fixes the numbers; 0 takes the default generator.
        offset: fixes the numbers with the seed.
        dtype: element type.
    """

    seed: int = 0
    offset: int = 0
    dtype: Number = int64

    def __call__(self, *inputs: Any) -> Any:
        """Draw the permutation."""
        count = checks.integer("n", inputs[0], "RandpermV2")
        return randperm(count, self.seed, self.offset, self.dtype)


class _Choice(Primitive, register=False):
    """Places of true elements, drawn without replacement, and which of them are there."""

    count: int

    def compute(self, x: Array, seed: Array, offset: Array) -> tuple[Array, Array]:
        if x.dtype != np.bool_:
            raise located(
                TypeError,
                "For primitive[RandomChoiceWithMask], the input argument[input_x] must be a type "
                f"of {{Tensor[Bool]}}, but got {x.dtype}.",
            )
        if not 1 <= x.ndim <= 5:
            raise located(
                ValueError,
                f"For 'RandomChoiceWithMask', input[0] rank should be between 1 and 5, but got: "
                f"{x.ndim}.",
            )
        flat = x.reshape(-1)
        scores = jax.random.uniform(random.key(seed, offset), flat.shape, np.float32)
        taken = min(self.count, flat.shape[0])
        scores, places = jax.lax.top_k(jnp.where(flat, scores, -1.0), taken)
        spare = self.count - taken
        mask = jnp.pad(scores >= 0, (0, spare))
        places = jnp.where(mask, jnp.pad(places, (0, spare)), 0)
        index = (
            jnp.stack(jnp.unravel_index(places, x.shape), -1)
            if flat.shape[0]
            else (jnp.zeros((self.count, x.ndim), np.int32))
        )
        return index.astype(np.int32), mask


class RandomChoiceWithMask(RandomPrimitive):
    """Places of true elements; call: ``RandomChoiceWithMask(count)(x)``.

    Args:
        count: how many.
        seed: with the next, of a stream of its own; 0 for both takes the default generator.
        seed2: see ``seed``.
    """

    count: int = 256

    def __init__(self, count: int = 256, seed: int = 0, seed2: int = 0) -> None:
        # The original's order of arguments is not that of the base's fields.
        set_fields(self, count=count, seed=seed, seed2=seed2)
        checks.positive_int("count", count, "RandomChoiceWithMask")
        self.__post_init__()

    def __call__(self, *inputs: Any) -> Any:
        """Draw an Int32 index tuple a row, and a Bool mask of the rows that hold one."""
        return _Choice(self.count)(*inputs, *self.draw())


def choice_with_mask(
    input_x: Tensor, count: int = 256, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    """Draw places of true elements without replacement (MindSpore: ``ops.choice_with_mask``).

    Args:
        input_x: Bool Tensor with one to five axes.
        count: how many.
        seed: integer that fixes the numbers.

    Returns:
        Int32 Tensor (count, rank) of index tuples, and Bool Tensor (count,): which rows hold one.

    Raises:
        TypeError: ``input_x`` is not Bool, or ``count`` no int.
        ValueError: ``count`` is not above 0, or the rank is another.
    """
    checks.positive_int("count", count, "RandomChoiceWithMask")
    return _Choice(count)(input_x, *draw("choice_with_mask", seed))
