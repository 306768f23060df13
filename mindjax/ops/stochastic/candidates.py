"""Samplers of candidate classes, with how often each is expected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks, random
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import known_values
from mindjax.ops.sampling import draw

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class _Candidates(Primitive, register=False):
    """Sampled classes, and the expected counts of the true and of the sampled ones."""

    name_of_op: str
    kinds: tuple[str, ...]
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    logarithmic: bool
    remove_hits: bool

    def compute(self, true: Array, seed: Array, offset: Array) -> tuple[Array, Array, Array]:
        op = self.name_of_op
        if str(true.dtype) not in self.kinds:
            raise located(
                TypeError,
                f"For primitive[{op}], the input argument[true_classes] must be a type of "
                f"{list(self.kinds)}, but got {true.dtype}.",
            )
        if true.ndim != 2 or true.shape[1] != self.num_true:
            raise located(
                ValueError,
                f"For '{op}', true_classes must have the shape (rows, {self.num_true}), but got "
                f"{true.shape}.",
            )
        key = random.key(seed, offset)
        classes = true.reshape(-1).astype(np.int64)
        if self.unique or self.remove_hits:
            sampled, tries = self._rejected(key, classes)
        else:
            sampled = self._sample(key, (self.num_sampled,))
            tries = jnp.asarray(self.num_sampled, np.int64)
        return (
            sampled.astype(true.dtype),
            self._expected(true.astype(np.int64), tries),
            self._expected(sampled, tries),
        )

    def _sample(self, key: Array, shape: tuple[int, ...]) -> Array:
        if not self.logarithmic:
            return jax.random.randint(key, shape, 0, self.range_max, np.int64)
        drawn = jax.random.uniform(key, shape, np.float64) * math.log(self.range_max + 1)
        found = jnp.floor(jnp.exp(drawn)).astype(np.int64) - 1
        return jnp.clip(found, 0, self.range_max - 1)

    def _rejected(self, key: Array, true: Array) -> tuple[Array, Array]:
        """Draw one after the other; what is not wanted costs a try."""
        wanted = jnp.asarray(self.num_sampled, np.int64)
        if self.remove_hits:
            # A class is counted once, at its last place; without it there would be no end.
            later = jnp.triu(true[:, None] == true[None, :], 1).any(1)
            free = self.range_max - jnp.sum(~later, dtype=np.int64)
            wanted = jnp.minimum(wanted, free if self.unique else jnp.where(free > 0, wanted, 0))
        zero = jnp.zeros((), np.int64)
        start = jnp.full((self.num_sampled,), -1, np.int64), zero, zero

        def again(state: tuple[Array, Array, Array]) -> Array:
            return state[1] < wanted

        def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            found, count, tries = state
            new = self._sample(jax.random.fold_in(key, tries.astype(np.uint32)), ())
            refused = jnp.any(found == new) if self.unique else jnp.zeros((), np.bool_)
            if self.remove_hits:
                refused = refused | jnp.any(true == new)
            place = jnp.where(refused, self.num_sampled, count)
            return (
                found.at[place].set(new, mode="drop"),
                count + jnp.where(refused, 0, 1),
                tries + 1,
            )

        found, _, tries = lax.while_loop(again, step, start)
        return jnp.maximum(found, 0), tries

    def _expected(self, classes: Array, tries: Array) -> Array:
        if self.logarithmic:
            wide = classes.astype(np.float64)
            chance = jnp.log((wide + 2) / (wide + 1)) / math.log(self.range_max + 1)
        else:
            chance = jnp.full(classes.shape, 1 / self.range_max, np.float64)
        plain = chance * self.num_sampled
        if not self.unique:
            return plain.astype(np.float32)
        once = -jnp.expm1(tries.astype(np.float64) * jnp.log1p(-chance))
        return jnp.where(tries == self.num_sampled, plain, once).astype(np.float32)


def _check(op: str, **numbers: Any) -> None:
    for name, value in numbers.items():
        if name in ("unique", "remove_accidental_hits"):
            checks.of_type(name, value, bool, op)
            continue
        checks.of_type(name, value, int, op)
        (checks.non_negative_int if name == "seed" else checks.positive_int)(name, value, op)
    if numbers["unique"] and numbers["num_sampled"] > numbers["range_max"]:
        raise located(
            ValueError,
            f"For '{op}', the 'range_max' should be >= num_sampled: {numbers['num_sampled']}, but "
            f"got {numbers['range_max']}.",
        )


class _Sampler(Primitive, register=False):
    """What both samplers share: a stream of their own if they are seeded."""

    def __post_init__(self) -> None:
        fields = {f: self.__dict__[f] for f in type(self)._fields}
        _check(self.name, **fields)
        self.__dict__["_own"] = random.seeded(fields["seed"]) if fields["seed"] else None

    def sample(self, true: Any, logarithmic: bool, kinds: tuple[str, ...], remove: bool) -> Any:
        """Draw."""
        fields = self.__dict__
        if remove and fields["unique"]:
            host = known_values(true)
            free = None if host is None else fields["range_max"] - len(np.unique(host))
            if free is not None and free < fields["num_sampled"]:
                raise located(
                    ValueError,
                    f"For '{self.name}', the 'num_sampled' must be at most {free}, the number of "
                    f"classes that are not true ones, but got {fields['num_sampled']}.",
                )
        record = _Candidates(
            self.name,
            kinds,
            fields["num_true"],
            fields["num_sampled"],
            fields["unique"],
            fields["range_max"],
            logarithmic,
            remove,
        )
        return record(true, *draw(self.name, generator=fields["_own"]))


class LogUniformCandidateSampler(_Sampler):
    """Classes of a log-uniform distribution (MindSpore: ``ops.LogUniformCandidateSampler``).

    Args:
        num_true: number of true classes a row.
        num_sampled: how many classes are drawn.
        unique: whether they are distinct.
        range_max: number of classes.
        seed: of a stream of its own; 0 takes the default generator.
    """

    num_true: int = 1
    num_sampled: int = 5
    unique: bool = True
    range_max: int = 5
    seed: int = 0

    def __call__(self, *inputs: Any) -> Any:
        """Draw; the input is Int64 (rows, num_true)."""
        return self.sample(inputs[0], True, ("int64",), False)


class UniformCandidateSampler(_Sampler):
    """Classes of a uniform distribution (MindSpore: ``ops.UniformCandidateSampler``).

    Args:
        num_true: number of true classes a row.
        num_sampled: how many classes are drawn.
        unique: whether they are distinct.
        range_max: number of classes.
        seed: of a stream of its own; 0 takes the default generator.
        remove_accidental_hits: whether true classes are not drawn.
    """

    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int = 0
    remove_accidental_hits: bool = False

    def __call__(self, *inputs: Any) -> Any:
        """Draw; the input is Int32 or Int64 (rows, num_true)."""
        return self.sample(inputs[0], False, ("int32", "int64"), self.remove_accidental_hits)


def log_uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int = 1,
    num_sampled: int = 5,
    unique: bool = True,
    range_max: int = 5,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw classes of a log-uniform distribution (``ops.log_uniform_candidate_sampler``).

    Args:
        true_classes: Int64 Tensor (rows, num_true).
        num_true: number of true classes a row.
        num_sampled: how many classes are drawn.
        unique: whether they are distinct.
        range_max: number of classes.
        seed: fixes the numbers; 0 takes the default generator.

    Returns:
        Classes (num_sampled,), and the Float32 counts to be expected of the true classes and of
        the drawn ones.

    Raises:
        TypeError: an argument has another type.
        ValueError: a number is too small, or the shape does not fit.
    """
    sampler = LogUniformCandidateSampler(num_true, num_sampled, unique, range_max, seed)
    return sampler(true_classes)


def uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw classes of a uniform distribution (MindSpore: ``ops.uniform_candidate_sampler``).

    Args:
        true_classes: Int32 or Int64 Tensor (rows, num_true).
        num_true: number of true classes a row.
        num_sampled: how many classes are drawn.
        unique: whether they are distinct.
        range_max: number of classes.
        seed: fixes the numbers; 0 takes the default generator.
        remove_accidental_hits: whether true classes are not drawn. If a compiled program finds too
            few others, the last places hold 0; PYNATIVE raises.

    Returns:
        Classes (num_sampled,), and the Float32 counts to be expected of the true classes and of
        the drawn ones.

    Raises:
        TypeError: an argument has another type.
        ValueError: a number is too small, or the shape does not fit.
    """
    sampler = UniformCandidateSampler(
        num_true, num_sampled, unique, range_max, seed, remove_accidental_hits
    )
    return sampler(true_classes)
