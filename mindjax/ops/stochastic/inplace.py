"""Functions of in-place Tensor methods: random fills, and single functions of elements."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.ops.state import stop_gradient, write


def _need_tensor(op: str, x: Any) -> Any:
    if not hasattr(x, "note_in_place"):
        raise located(TypeError, f"For '{op}', the input must be a Tensor, but got {x!r:.60}.")
    return x


def normal_(input: Any, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Any:
    """Fill a Tensor with normal numbers (MindSpore: ``ops.normal_``).

    Args:
        input: float Tensor, which is changed.
        mean: number.
        std: number.
        generator: stream; None takes the default one.

    Returns:
        ``input``.
    """
    return _need_tensor("normal_", input).normal_(mean, std, generator=generator)


def uniform_(input: Any, from_: Any = 0, to: Any = 1, *, generator: Any = None) -> Any:
    """Fill a Tensor with uniform numbers from [from_, to) (MindSpore: ``ops.uniform_``).

    Args:
        input: float Tensor, which is changed.
        from_: lower bound.
        to: upper bound.
        generator: stream; None takes the default one.

    Returns:
        ``input``.
    """
    return _need_tensor("uniform_", input).uniform_(from_, to, generator=generator)


def random_(input: Any, from_: Any = 0, to: Any = None, *, generator: Any = None) -> Any:
    """Fill a Tensor with integers from [from_, to) (MindSpore: ``ops.random_``).

    Args:
        input: Tensor, which is changed.
        from_: smallest integer; the upper bound when it is the only one.
        to: integer above the largest; by default what the dtype holds exactly.
        generator: stream; None takes the default one.

    Returns:
        ``input``.

    Raises:
        TypeError: a bound is no integer.
        ValueError: the range is empty.
    """
    return _need_tensor("random_", input).random_(from_, to, generator=generator)


def bernoulli_(input: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Fill a Tensor with ones with a probability, else zeros (MindSpore: ``ops.bernoulli_``).

    Args:
        input: Tensor, which is changed.
        p: probability, a number or a Tensor that broadcasts to ``input``.
        generator: stream; None takes the default one.

    Returns:
        ``input``.
    """
    return _need_tensor("bernoulli_", input).bernoulli_(p, generator=generator)


def exponential_(input: Any, lambd: Any = 1, *, generator: Any = None) -> Any:
    """Fill a Tensor with numbers of the exponential distribution (``ops.exponential_``).

    Args:
        input: float Tensor, which is changed.
        lambd: rate.
        generator: stream; None takes the default one.

    Returns:
        ``input``.
    """
    return _need_tensor("exponential_", input).exponential_(lambd, generator=generator)


def clamp_(input: Any, min: Any = None, max: Any = None) -> Any:
    """Bring elements between two bounds, in place (MindSpore: ``ops.clamp_``).

    Args:
        input: Tensor, which is changed.
        min: lower bound, a number or Tensor; None for none.
        max: upper bound, a number or Tensor; None for none.

    Returns:
        ``input``.

    Raises:
        ValueError: both bounds are None.
    """
    return _need_tensor("clamp_", input).clamp_(min, max)


def erfinv_(input: Any) -> Any:
    """Compute the inverse of the error function in place (MindSpore: ``ops.erfinv_``).

    Args:
        input: float Tensor, which is changed.

    Returns:
        ``input``.
    """
    return _need_tensor("erfinv_", input).erfinv_()


def tanh_(input: Any) -> Any:
    """Compute the hyperbolic tangent in place (MindSpore: ``ops.tanh_``).

    Args:
        input: float Tensor, which is changed.

    Returns:
        ``input``.
    """
    return _need_tensor("tanh_", input).tanh_()


def inplace_sigmoid(input: Any) -> Any:
    """Compute the sigmoid in place (MindSpore: ``ops.inplace_sigmoid``).

    Args:
        input: float Tensor, which is changed.

    Returns:
        ``input``.
    """
    return _need_tensor("inplace_sigmoid", input).sigmoid_()


def zero_(input: Any) -> Any:
    """Fill a Tensor with zeros (MindSpore: ``ops.zero_``).

    Args:
        input: Tensor, which is changed.

    Returns:
        ``input``.
    """
    return _need_tensor("zero_", input).zero_()


def stop_gradient_(input: Any) -> Any:
    """Make a Tensor a constant for gradients, in place (MindSpore: ``ops.stop_gradient_``).

    Args:
        input: Tensor, which keeps its value.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is no Tensor.
        RuntimeError: ``input`` is a view of another.
    """
    x = _need_tensor("stop_gradient_", input)
    if x._view is not None:
        raise located(
            RuntimeError, "For 'stop_gradient_', the input must not be a view of another Tensor."
        )
    return write(x, stop_gradient(x))
