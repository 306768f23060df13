"""mint's names for random numbers where the signature differs from ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import as_dtype, float32, int64
from mindjax.core.errors import located
from mindjax.core.random import Generator
from mindjax.ops.creation import need_no_device
from mindjax.ops.sampling import (
    bernoulli_by,
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

bernoulli = bernoulli_by


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
    """Draw standard normal numbers (MindSpore: ``mint.randn``).

    Args:
        size: sizes, as integers or one sequence.
        generator: stream; None takes the default one.
        dtype: float type; Float32 by default.
        device: must be None.

    Returns:
        Tensor.

    Raises:
        NotImplementedError: ``device`` is given.
        ValueError: a size is negative.
    """
    need_no_device("randn", device)
    kind = float32 if dtype is None else as_dtype(dtype)
    return draw_normal(_shape("randn", size), kind, 0, 1, draw("randn", generator=generator))


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw uniform numbers from [0, 1) with the shape of a Tensor (MindSpore: ``mint.rand_like``).

    Args:
        input: Tensor of any shape.
        dtype: float type; by default that of ``input``.
        device: must be None.

    Returns:
        Tensor of the same shape.

    Raises:
        NotImplementedError: ``device`` is given.
    """
    need_no_device("rand_like", device)
    checks.tensors("rand_like", input=input)
    kind = as_dtype(input.dtype if dtype is None else dtype)
    return draw_uniform(shape_of(input), kind, 0, 1, draw("rand_like"))


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw standard normal numbers with the shape of a Tensor (MindSpore: ``mint.randn_like``).

    Args:
        input: Tensor of any shape.
        dtype: float type; by default that of ``input``.
        device: must be None.

    Returns:
        Tensor of the same shape.

    Raises:
        NotImplementedError: ``device`` is given.
    """
    need_no_device("randn_like", device)
    checks.tensors("randn_like", input=input)
    kind = as_dtype(input.dtype if dtype is None else dtype)
    return draw_normal(shape_of(input), kind, 0, 1, draw("randn_like"))


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw integers: ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        args: bounds and sizes; ``low`` is 0 when it is not given.
        generator: stream; None takes the default one.
        dtype: int type; Int64 by default.
        device: must be None.

    Returns:
        Tensor.

    Raises:
        NotImplementedError: ``device`` is given.
        RuntimeError: the range is empty.
        TypeError: there are fewer than two or more than three arguments.
    """
    need_no_device("randint", device)
    low, high, size = _with_low("randint", args, ("high", "size"))
    shape = checks.sizes("size", size, "randint")
    key = draw("randint", generator=generator)
    return draw_integers("randint", low, high, shape, int64 if dtype is None else dtype, key)


def _with_low(op: str, args: tuple[Any, ...], names: tuple[str, str]) -> tuple[Any, ...]:
    """Put 0 before ``high`` where ``low`` is not given.

    Raises:
        TypeError: there are fewer than two or more than three arguments.
    """
    place = names.index("high")
    if len(args) == 2:
        return (*args[:place], 0, *args[place:])
    if len(args) != 3:
        full = (*names[:place], "low", *names[place:])
        raise located(
            TypeError,
            f"For '{op}', the arguments must be {names} or {full}, but got {len(args)} of them.",
        )
    return args


def randint_like(*args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Draw integers: ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Args:
        args: Tensor of the wanted shape, then the bounds; ``low`` is 0 when it is not given.
        dtype: element type; by default that of the Tensor.
        device: must be None.

    Returns:
        Tensor of the same shape.

    Raises:
        NotImplementedError: ``device`` is given.
        RuntimeError: the range is empty.
        TypeError: there are fewer than two or more than three arguments.
        ValueError: the element type is no integer.
    """
    need_no_device("randint_like", device)
    x, low, high = _with_low("randint_like", args, ("input", "high"))
    kind = as_dtype(x.dtype if dtype is None else dtype)
    return draw_integers("randint_like", low, high, shape_of(x), kind, draw("randint_like"))


def randperm(n: int, *, generator: Any = None, dtype: Any = int64) -> Tensor:
    """Draw a permutation of the integers below ``n`` (MindSpore: ``mint.randperm``).

    Args:
        n: how many, not negative.
        generator: stream; None takes the default one.
        dtype: element type.

    Returns:
        Tensor (n,).

    Raises:
        ValueError: ``n`` is negative.
    """
    return draw_permutation(n, as_dtype(dtype), draw("randperm", generator=generator))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Draw indices in proportion to weights (MindSpore: ``mint.multinomial``).

    Args:
        input: (C,) or (N, C), float: weights, not negative.
        num_samples: how many.
        replacement: whether an index may come again.
        generator: stream; None takes the default one.

    Returns:
        Int64 Tensor (num_samples,) or (N, num_samples).

    Raises:
        ValueError: without replacement more are asked for than there are.
    """
    key = draw("multinomial", generator=generator)
    return draw_indices(input, num_samples, replacement, int64, key)
