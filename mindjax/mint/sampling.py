"""mint's names for random numbers where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import as_dtype, float32, int64
from mindjax.core.random import Generator
from mindjax.ops.creation import need_no_device
from mindjax.ops.sampling import (
    draw,
    draw_indices,
    draw_integers,
    draw_normal,
    draw_permutation,
    draw_uniform,
)
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _shape(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    return checks.sizes("size", size[0] if len(size) == 1 else size, op)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Generator | None = None
) -> Tensor:
    """Draw normal numbers (MindSpore: ``mint.normal``).

    Args:
        mean: number or Tensor.
        std: number or Tensor.
        size: sizes, when both are numbers.
        generator: stream; None takes the default one.

    Returns:
        Float32 Tensor of ``size``, or of the common shape of the Tensors.
    """
    if size is None:
        size = np.broadcast_shapes(shape_of(mean), shape_of(std))
    shape = checks.sizes("size", size, "normal")
    return draw_normal(shape, float32, mean, std, draw("normal", generator=generator))


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) (MindSpore: ``mint.rand``).

    Args:
        size: sizes, as integers or one sequence.
        generator: stream; None takes the default one.
        dtype: float type; Float32 by default.
        device: must be None.

    Returns:
        Tensor.
    """
    need_no_device("rand", device)
    kind = float32 if dtype is None else as_dtype(dtype)
    return draw_uniform(_shape("rand", size), kind, 0, 1, draw("rand", generator=generator))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw standard normal numbers (MindSpore: ``mint.randn``); as `rand`."""
    need_no_device("randn", device)
    kind = float32 if dtype is None else as_dtype(dtype)
    return draw_normal(_shape("randn", size), kind, 0, 1, draw("randn", generator=generator))


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) with the shape and dtype of a Tensor."""
    need_no_device("rand_like", device)
    kind = as_dtype(input.dtype if dtype is None else dtype)
    return draw_uniform(shape_of(input), kind, 0, 1, draw("rand_like"))


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw standard normal numbers with the shape and dtype of a Tensor."""
    need_no_device("randn_like", device)
    kind = as_dtype(input.dtype if dtype is None else dtype)
    return draw_normal(shape_of(input), kind, 0, 1, draw("randn_like"))


def randint(
    *args: Any, generator: Any = None, dtype: Any = None, device: Any = None, **kwargs: Any
) -> Tensor:
    """Draw integers: ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        args: bounds and sizes; ``low`` is 0 when it is not given.
        generator: stream; None takes the default one.
        dtype: int type; Int64 by default.
        device: must be None.
        kwargs: ``low``, ``high`` and ``size`` by name.

    Returns:
        Tensor.

    Raises:
        RuntimeError: the range is empty.
    """
    need_no_device("randint", device)
    count = len(args) + len(kwargs)
    names = ("low", "high", "size") if count == 3 or "low" in kwargs else ("high", "size")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    shape = checks.sizes("size", given["size"], "randint")
    key = draw("randint", generator=generator)
    kind = int64 if dtype is None else dtype
    return draw_integers("randint", given.get("low", 0), given["high"], shape, kind, key)


def randint_like(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Tensor:
    """Draw integers: ``randint_like(input, high)`` or ``randint_like(input, low, high)``."""
    need_no_device("randint_like", device)
    count = len(args) + len(kwargs)
    names = ("input", "low", "high") if count == 3 or "low" in kwargs else ("input", "high")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    x = given["input"]
    kind = as_dtype(x.dtype if dtype is None else dtype)
    key = draw("randint_like")
    return draw_integers("randint_like", given.get("low", 0), given["high"], shape_of(x), kind, key)


def randperm(n: int, *, generator: Any = None, dtype: Any = int64) -> Tensor:
    """Draw a permutation of the integers below ``n`` (MindSpore: ``mint.randperm``)."""
    return draw_permutation(n, as_dtype(dtype), draw("randperm", generator=generator))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Draw indices in proportion to weights, Int64 (MindSpore: ``mint.multinomial``).

    Raises:
        ValueError: without replacement more are asked for than there are.
    """
    key = draw("multinomial", generator=generator)
    return draw_indices(input, num_samples, replacement, int64, key)
