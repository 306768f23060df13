"""Distances between the surfaces of two regions of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.checks import of_type, one_of
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, MetricValue, rearrange_inputs

_DISTANCES = ["euclidean", "chessboard", "taxicab"]


class _SurfaceMetric(Metric):
    """Takes the surfaces of one label in a predicted and a true image; the last update counts."""

    _wrong_index: type[Exception] = ValueError

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        owner = type(self).__name__
        of_type("distance_metric", distance_metric, str, owner)
        self.distance_metric = one_of("distance_metric", distance_metric, _DISTANCES, owner)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._surfaces: tuple[np.ndarray, np.ndarray] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in two images.

        Args:
            *inputs: predicted labels, true labels of the same shape, and the label to be measured.

        Raises:
            ValueError: the number of inputs is not 3, shapes differ or are empty, the label is
                neither int nor float, or is in no image.
            TypeError: `RootMeanSquareDistance` alone: the label is neither int nor float.
        """
        owner = f"For '{type(self).__name__}.update'"
        if len(inputs) != 3:
            raise located(
                ValueError,
                f"{owner}, it needs 3 inputs (predicted value, true value, label index), but got "
                f"{len(inputs)}.",
            )
        y_pred, y = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        label = inputs[2]
        if not isinstance(label, int | float):
            raise located(
                self._wrong_index,
                f"{owner}, the label index (input[2]) must be int or float, but got {type(label)}.",
            )
        if label not in y_pred and label not in y:
            raise located(
                ValueError,
                f"{owner}, the label index (input[2]) must be in predicted value (input[0]) or "
                f"true value (input[1]), but {label} is not.",
            )
        if y_pred.size == 0 or y_pred.shape != y.shape:
            raise located(
                ValueError,
                f"{owner}, the size of predicted value (input[0]) and true value (input[1]) must "
                "be greater than 0, in addition to that, predicted value and true value should "
                f"have the same shape, but got predicted value size: {y_pred.size}, shape: "
                f"{y_pred.shape}, true value size: {y.size}, shape: {y.shape}.",
            )
        self._surfaces = self._find(self._region(y_pred, label), self._region(y, label))

    def _region(self, image: np.ndarray, label: float) -> np.ndarray:
        return image if image.dtype == bool else image == label

    def _find(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _surface(a), _surface(b)

    def _checked(self) -> tuple[np.ndarray, np.ndarray]:
        if self._surfaces is None:
            raise self._not_updated()
        return self._surfaces

    def _distances(self, points: np.ndarray, surface: np.ndarray) -> np.ndarray:
        """Give each point's distance to a surface; infinite where there is none."""
        from scipy import ndimage

        if not surface.any():
            return np.full(np.count_nonzero(points), np.inf)
        if self.distance_metric == "euclidean":
            found = ndimage.distance_transform_edt(~surface)
        else:
            found = ndimage.distance_transform_cdt(~surface, metric=self.distance_metric)
        return np.asarray(found)[points]


def _surface(region: np.ndarray) -> np.ndarray:
    from scipy import ndimage

    return ndimage.binary_erosion(region) ^ region


class HausdorffDistance(_SurfaceMetric):
    """The largest distance from a point of one surface to the other.

    Args:
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.
        percentile: instead of the largest, the percentile of distances, a float from 0 to 100;
            None and 0 stand for the largest.
        directed: whether only distances from the prediction to the truth count.
        crop: whether the images are cut to both regions first; the values differ where the cut
            image has axes of one element.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``distance_metric`` is none of these.

    MindSpore: ``mindspore.train.HausdorffDistance``.
    """

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        super().__init__(distance_metric)
        if percentile is not None:
            of_type("percentile", percentile, float, "HausdorffDistance")
        for name, value in (("directed", directed), ("crop", crop)):
            if value is not None:
                of_type(name, value, bool, "HausdorffDistance")
        self.percentile, self.directed, self.crop = percentile, directed, crop

    def _region(self, image: np.ndarray, label: float) -> np.ndarray:
        return image == label

    def _find(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = a | b
        if self.crop and both.any():
            box = tuple(slice(i.min(), i.max() + 1) for i in np.nonzero(both))
            a, b = np.squeeze(a[box]), np.squeeze(b[box])
        return super()._find(a, b)

    def eval(self) -> MetricValue:
        """Compute the distance.

        Returns:
            The distance; infinite where one image lacks the label.

        Raises:
            RuntimeError: there was no update.
            ValueError: ``percentile`` is not from 0 to 100.
        """
        a, b = self._checked()
        there = self._largest(a, b)
        return MetricValue(there if self.directed else max(there, self._largest(b, a)))

    def _largest(self, points: np.ndarray, surface: np.ndarray) -> Any:
        distances = self._distances(points, surface)
        if not distances.size:
            return np.inf
        if not self.percentile:
            return distances.max()
        if not 0 <= self.percentile <= 100:
            raise located(
                ValueError,
                "For 'HausdorffDistance', the value of the argument 'percentile' must be [0, 100], "
                f"but got {self.percentile}.",
            )
        return np.percentile(distances, self.percentile)


class _MeanDistance(_SurfaceMetric):
    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = of_type("symmetric", symmetric, bool, type(self).__name__)

    def _mean(self, distances: np.ndarray) -> Any:
        raise NotImplementedError

    def _both(self, there: Any, back: Any) -> Any:
        raise NotImplementedError

    def eval(self) -> MetricValue:
        """Compute the distance.

        Returns:
            The distance; infinite where an image lacks the label.

        Raises:
            RuntimeError: there was no update.
        """
        a, b = self._checked()
        means = []
        for points, surface in ((a, b), (b, a))[: 1 + self.symmetric]:
            distances = self._distances(points, surface)
            if not distances.size:
                return MetricValue(np.inf)
            means.append(self._mean(distances))
        return MetricValue(self._both(*means) if self.symmetric else means[0])


class MeanSurfaceDistance(_MeanDistance):
    """The mean distance from the points of the predicted surface to the true one.

    Args:
        symmetric: whether the mean of both directions is taken.
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``distance_metric`` is none of these.

    MindSpore: ``mindspore.train.MeanSurfaceDistance``.
    """

    def _mean(self, distances: np.ndarray) -> Any:
        return distances.mean()

    def _both(self, there: Any, back: Any) -> Any:
        return (there + back) / 2


class RootMeanSquareDistance(_MeanDistance):
    """The mean squared distance of surfaces.

    MindSpore: the root is taken with ``symmetric`` only.

    Args:
        symmetric: whether the root of the mean of both directions is taken.
        distance_metric: ``"euclidean"``, ``"chessboard"`` or ``"taxicab"``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``distance_metric`` is none of these.

    MindSpore: ``mindspore.train.RootMeanSquareDistance``.
    """

    _wrong_index = TypeError

    def _mean(self, distances: np.ndarray) -> Any:
        return (distances**2).mean()

    def _both(self, there: Any, back: Any) -> Any:
        return np.sqrt((there + back) / 2)
