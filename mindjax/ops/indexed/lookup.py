"""Lookups of embedding tables that are split or cached, and the assertion op."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import Gather
from mindjax.ops.masking import need_values

Array = jax.Array


class SparseGatherV2(Primitive):
    """Slices of an axis by index; call: ``SparseGatherV2()(input_params, input_indices, axis)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Take, as `Gather` does."""
        return Gather()(*inputs)


class MapUniform(Primitive):
    """Numbers dealt out to groups: ``key % group_num * per_group_size + key // group_num``.

    Call: ``MapUniform()(input, per_group_size, group_num)``.
    """

    def compute(self, keys: Array, per_group_size: Array, group_num: Array) -> Array:
        """Give the new numbers."""
        if not jnp.issubdtype(keys.dtype, jnp.integer):
            raise located(
                TypeError,
                f"For 'MapUniform', the 'input' must hold integers, but got {keys.dtype}.",
            )
        size, number = per_group_size.astype(keys.dtype), group_num.astype(keys.dtype)
        return keys % number * size + keys // number


class SubAndFilter(Primitive):
    """What lies in [0, max_num) after an offset is subtracted, and where it was.

    Call: ``SubAndFilter()(input_x, max_num, offset)``. The number of results depends on values.
    """

    concrete: ClassVar[bool] = True

    def compute(self, x: Array, max_num: Array, offset: Array) -> tuple[Array, Array]:
        """Subtract and filter on the host."""
        need_values(self.name, "use ops.where(condition, a, b) with a mask", x)
        shifted = np.asarray(x) - np.asarray(offset).astype(x.dtype)
        kept = np.nonzero((shifted >= 0) & (shifted < np.asarray(max_num)))[0]
        return jnp.asarray(shifted[kept]), jnp.asarray(kept.astype(x.dtype))


class Assert(Primitive):
    """An error that shows Tensors, unless a condition holds; call: ``Assert()(condition, data)``.

    A compiled program checks when it runs.

    Args:
        summarize: number of elements that are shown of each Tensor.
    """

    summarize: int = 3
    effect: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.of_type("summarize", self.summarize, int, self.name)

    def __call__(self, *inputs: Any) -> None:
        """Check.

        Raises:
            TypeError: the condition is neither Tensor nor bool, or the data is no sequence.
            RuntimeError: the condition does not hold.
        """
        condition, data = inputs
        if not isinstance(condition, bool | Handle | jax.Array):
            raise located(
                TypeError,
                f"For 'Assert', the 'condition' must be a Tensor or bool, but got {condition!r}.",
            )
        checks.of_type("input_data", data, (tuple, list), self.name)
        arrays = [unwrap(x) for x in data]
        truth = unwrap(condition)
        message = str(located(RuntimeError, "For 'Assert' condition is false."))

        def check(holds: Any, *values: Any) -> None:
            if not np.all(np.asarray(holds)):
                shown = [np.asarray(v).reshape(-1)[: self.summarize].tolist() for v in values]
                raise RuntimeError(f"{message} input data: {shown}")

        if is_traced(truth) or any(is_traced(a) for a in arrays):
            jax.debug.callback(check, truth, *arrays, ordered=True)
        else:
            check(truth, *arrays)


class MapCacheIdx(Primitive):
    """Places of indices in a hashed cache of embedding rows (MindSpore: ``ops.MapCacheIdx``)."""

    def compute(self, *inputs: Array) -> Array:
        """Refuse: the original deprecated this operator and never documented its hash map.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            f"For 'MapCacheIdx', the cache of embedding rows is not supported, but it was given "
            f"{len(inputs)} inputs: use 'nn.Embedding', whose rows lie in the device's memory.",
        )
