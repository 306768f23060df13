"""What all transforms share: the call on one value, and the call on a stack of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core.errors import located


class TensorOperation:
    """Base of all transforms.

    A subclass defines ``_apply`` on the columns of one row. Where one call on stacked rows gives
    the same numbers it defines ``_apply_batch`` too, and pipelines use it.
    """

    _apply: Callable[..., Any]
    _apply_batch: Callable[..., Any] | None = None

    # Whether the result depends on ``run.draw()``.
    is_random = False
    # Whether it is slow enough, and releases the interpreter's lock enough, for threads.
    is_heavy = False

    def __call__(self, *values: Any) -> Any:
        """Transform the columns of one row.

        Args:
            *values: one array a column, or what ``np.asarray`` takes.

        Returns:
            One array, or a tuple of them.
        """
        return self._apply(*[self._to_input(value) for value in values])

    @property
    def is_own(self) -> bool:
        """Whether no code of the user's is in it."""
        return type(self).__module__.startswith(__name__.partition(".")[0] + ".")

    @property
    def batched(self) -> bool:
        """Whether stacked rows may be transformed in one call."""
        return self._apply_batch is not None

    def _to_input(self, value: Any) -> Any:
        return value if isinstance(value, np.ndarray) else np.asarray(value)

    def _fail(self, text: str, error: type[Exception] = RuntimeError) -> Exception:
        return located(error, f"{type(self).__name__}: {text}")


class OneToOne(TensorOperation):
    """A transform of exactly one column."""

    def __call__(self, *values: Any) -> Any:
        """Transform one column; see ``TensorOperation``.

        Raises:
            RuntimeError: there is not exactly one column.
        """
        if len(values) != 1:
            raise self._fail(
                "The op is OneToOne, can only accept one tensor as input, but got "
                f"{len(values)} columns."
            )
        return self._apply(self._to_input(values[0]))


def is_pil(value: Any) -> bool:
    """Tell whether a value is a PIL image, without importing PIL."""
    return any(base.__module__ == "PIL.Image" for base in type(value).__mro__)


def operation_name(operation: Any) -> str:
    """Name a transform or a function in a message."""
    if isinstance(operation, TensorOperation):
        return type(operation).__name__
    return getattr(operation, "__name__", None) or type(operation).__name__
