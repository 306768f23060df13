"""Transforms made of other transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_interval, check_type
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import TensorOperation


def _checked(owner: str, transforms: Any) -> list[Any]:
    check_type(owner, "transforms list", transforms, list)
    if not transforms:
        raise located(ValueError, f"For '{owner}': transforms list can not be empty.")
    for place, transform in enumerate(transforms):
        if not callable(transform) or isinstance(transform, type):
            raise located(
                TypeError,
                f"For '{owner}': transforms[{place}] is neither a transforms op (TensorOperation) "
                f"nor a callable pyfunc, but got {transform!r}.",
            )
    return transforms


def _chain(transforms: list[Any], columns: tuple[Any, ...]) -> Any:
    result: Any = columns
    for transform in transforms:
        result = transform(*columns)
        columns = result if isinstance(result, tuple) else (result,)
    return result


class _Composite(TensorOperation):
    """A transform of several; is random if it or one of them is."""

    chooses = True

    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = _checked(type(self).__name__, transforms)

    @property
    def is_random(self) -> bool:  # type: ignore[override]
        """Whether the result depends on ``run.draw()``."""
        return self.chooses or any(getattr(op, "is_random", False) for op in self.transforms)

    @property
    def is_own(self) -> bool:
        """Whether no code of the user's is in it."""
        return all(getattr(op, "is_own", False) for op in self.transforms)

    @property
    def is_heavy(self) -> bool:  # type: ignore[override]
        """Whether one of the transforms is slow enough for threads."""
        return any(getattr(op, "is_heavy", False) for op in self.transforms)

    @property
    def batched(self) -> bool:
        """Whether stacked rows may be transformed in one call."""
        return False

    def _to_input(self, value: Any) -> Any:
        return value


class Compose(_Composite):
    """Applies transforms one after the other.

    Args:
        transforms: list of transforms or functions.
    """

    chooses = False

    @property
    def batched(self) -> bool:
        """Whether every transform takes stacked rows."""
        return all(isinstance(op, TensorOperation) and op.batched for op in self.transforms)

    def _apply(self, *columns: Any) -> Any:
        return _chain(self.transforms, columns)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        for transform in self.transforms:
            rows = transform._apply_batch(rows)
        return rows


class RandomApply(_Composite):
    """Applies all transforms, or none.

    Args:
        transforms: list of transforms or functions.
        prob: probability that they are applied.
    """

    def __init__(self, transforms: list[Any], prob: float = 0.5) -> None:
        super().__init__(transforms)
        check_type("RandomApply", "prob", prob, (float, int))
        check_interval("RandomApply", "prob", prob, 0.0, 1.0)
        self.prob = prob

    def _apply(self, *columns: Any) -> Any:
        if draw().random() < self.prob:
            return _chain(self.transforms, columns)
        return columns[0] if len(columns) == 1 else columns


class RandomChoice(_Composite):
    """Applies one of the transforms.

    Args:
        transforms: list of transforms or functions.
    """

    def _apply(self, *columns: Any) -> Any:
        return self.transforms[draw().integers(len(self.transforms))](*columns)


class RandomOrder(_Composite):
    """Applies all transforms in a random order.

    Args:
        transforms: list of transforms or functions.
    """

    def _apply(self, *columns: Any) -> Any:
        order = draw().permutation(len(self.transforms))
        return _chain([self.transforms[place] for place in order], columns)


def not_random(function: Any) -> Any:
    """Mark a function whose results depend on its arguments alone.

    Args:
        function: the function or class.

    Returns:
        It, marked.
    """
    function.random = False
    return function
