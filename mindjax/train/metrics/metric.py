"""What all metrics share: the interface, the conversion of inputs and the checks of shapes."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.tensor import Tensor

_EVAL_TYPES = ("classification", "multilabel")


class MetricValue(np.float64):
    """A metric's value: numpy's float, which in a container prints as a plain number.

    ``print(model.eval(data))`` shows ``{'accuracy': 0.96}`` as the original, which uses numpy 1,
    and not ``{'accuracy': np.float64(0.96)}``.
    """

    def __repr__(self) -> str:
        return float.__repr__(self)


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a metric's ``update`` see only the inputs that ``set_indexes`` chose, in that order.

    Args:
        func: method that takes the inputs.

    Returns:
        The method with the inputs chosen.

    MindSpore: ``mindspore.train.rearrange_inputs``.
    """

    @functools.wraps(func)
    def chosen(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *(inputs if not indexes else [inputs[i] for i in indexes]))

    return chosen


class Metric(metaclass=ABCMeta):
    """Base of metrics: ``clear``, then ``update`` for each batch, then ``eval``.

    MindSpore: ``mindspore.train.Metric``.
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    def _convert_data(self, data: Any) -> np.ndarray:
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, np.ndarray | np.generic | list):
            return np.asarray(data)
        raise located(
            TypeError,
            "For 'Metric' and its derived classes, the input data type must be tensor, list or "
            f"numpy.ndarray, but got {type(data)}.",
        )

    @property
    def indexes(self) -> list[int] | None:
        """Positions of the inputs that ``update`` uses, or None for all in their order."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Choose the inputs that ``update`` uses.

        Args:
            indexes: their positions, in the order in which ``update`` wants them.

        Returns:
            The metric itself.

        Raises:
            ValueError: ``indexes`` is not a list of int.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise located(
                ValueError,
                "For 'set_indexes', the argument 'indexes' must be a list and all its elements "
                f"must be int, please check whether it is correct: {indexes}.",
            )
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """Evaluate one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Forget all updates."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take in one batch."""

    @abstractmethod
    def eval(self) -> Any:
        """Compute the value over the batches since ``clear``."""

    def _inputs(self, inputs: tuple[Any, ...], count: int, meaning: str) -> list[np.ndarray]:
        if len(inputs) != count:
            noun = "input" if count == 1 else "inputs"
            raise located(
                ValueError,
                f"For '{type(self).__name__}.update', it needs {count} {noun} ({meaning}), but "
                f"got {len(inputs)}.",
            )
        return [self._convert_data(data) for data in inputs]

    def _pair(self, inputs: tuple[Any, ...]) -> list[np.ndarray]:
        return self._inputs(inputs, 2, "predicted value, true value")

    def _no_samples(self) -> RuntimeError:
        return located(
            RuntimeError,
            f"The '{type(self).__name__}' can not be calculated, because the number of samples is "
            "0, please check whether your inputs (predicted value, true value) are empty, or has "
            "called update method before calling eval method.",
        )

    def _not_updated(self) -> RuntimeError:
        return located(
            RuntimeError,
            f"For '{type(self).__name__}', please call the 'update' method before calling 'eval' "
            "method.",
        )


class EvaluationBase(Metric):
    """Base of metrics over predictions (N, C, ...) and labels (N, ...) or, multilabel, (N, C, ...).

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    Raises:
        TypeError: ``eval_type`` is something else.

    MindSpore: ``mindspore.train.metrics.metric.EvaluationBase``.
    """

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in _EVAL_TYPES:
            raise located(
                TypeError,
                f"The argument 'eval_type' must be in {set(_EVAL_TYPES)}, but got {eval_type}",
            )
        self._type = eval_type

    def _check_shape(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        if self._type == "classification":
            if y_pred.ndim != y.ndim + 1:
                raise located(
                    ValueError,
                    "In classification case, the dimension of y_pred (predicted value) should "
                    "equal to the dimension of y (true value) add 1, but got y_pred dimension: "
                    f"{y_pred.ndim} and y dimension: {y.ndim}.",
                )
            if y.shape != y_pred.shape[:1] + y_pred.shape[2:]:
                raise located(
                    ValueError,
                    "In classification case, y_pred (predicted value) shape and y (true value) "
                    "shape can not match: y shape should be y_pred shape without its second "
                    f"number. But got y_pred shape {y_pred.shape} and y shape {y.shape}",
                )
        elif y_pred.ndim != y.ndim:
            raise located(
                ValueError,
                f"In {self._type} case, the dimension of y_pred (predicted value) should equal to "
                f"the dimension of y (true value), but got y_pred dimension: {y_pred.ndim} and y "
                f"dimension: {y.ndim}.",
            )
        elif y_pred.shape != y.shape:
            raise located(
                ValueError,
                f"In {self._type} case, the shape of y_pred (predicted value) should equal to the "
                f"shape of y (true value), but got y_pred shape: {y_pred.shape} and y shape: "
                f"{y.shape}.",
            )

    def _check_value(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        if self._type != "classification" and not (_is_binary(y_pred) and _is_binary(y)):
            raise located(
                ValueError,
                "In multilabel case, all elements in y_pred (predicted value) and y (true value) "
                "should be 0 or 1. Please check whether your inputs y_pred and y are correct.",
            )

    def _labelled(self, inputs: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Convert and check a batch; one-hot labels become class numbers."""
        y_pred, y = self._pair(inputs)
        if self._type == "classification":
            y = class_numbers(y_pred, y)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        return y_pred, y


class ClassCount:
    """The number of classes, which no batch may change."""

    def __init__(self) -> None:
        self.number = 0

    def check(self, owner: Metric, y_pred: np.ndarray) -> int:
        """Take the number from a batch of predictions (N, C, ...).

        Raises:
            ValueError: an earlier batch had another number.
        """
        found = y_pred.shape[1]
        if self.number not in (0, found):
            raise located(
                ValueError,
                f"For '{type(owner).__name__}.update', class number not match, last input "
                f"predicted data contain {self.number} classes, but current predicted data "
                f"contain {found} classes, please check your predicted value(inputs[0]).",
            )
        self.number = found
        return found


def class_numbers(y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Turn labels of the predictions' shape (N, C, ...) into (N, ...), if they are one-hot."""
    one_hot = y.ndim == y_pred.ndim > 1 and _is_binary(y) and (y.sum(axis=1) == 1).all()
    return y.argmax(axis=1) if one_hot else y


def _is_binary(values: np.ndarray) -> bool:
    return bool(np.isin(values, (0, 1)).all())
