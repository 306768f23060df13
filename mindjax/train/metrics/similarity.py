"""How alike things are: ``CosineSimilarity`` of rows, ``Dice`` of regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.checks import float_above, of_type, one_of
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, rearrange_inputs


class CosineSimilarity(Metric):
    """Products of all pairs of rows of a matrix; only the last update counts.

    Args:
        similarity: ``"cosine"`` divides rows by their norm first, ``"dot"`` does not.
        reduction: ``"none"``, or ``"sum"`` or ``"mean"`` over the last axis.
        zero_diagonal: whether a row's product with itself is set to 0.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``similarity`` or ``reduction`` is none of these.

    MindSpore: ``mindspore.train.CosineSimilarity``.
    """

    def __init__(
        self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True
    ) -> None:
        super().__init__()
        owner = "CosineSimilarity"
        of_type("similarity", similarity, str, owner)
        self.similarity = one_of("similarity", similarity, ["dot", "cosine"], owner)
        of_type("reduction", reduction, str, owner)
        self.reduction = one_of("reduction", reduction, ["none", "sum", "mean"], owner)
        self.zero_diagonal = of_type("zero_diagonal", zero_diagonal, bool, owner)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._products: np.ndarray | None = None

    @rearrange_inputs
    def update(self, inputs: Any) -> None:
        """Take in the matrix.

        Args:
            inputs: Tensor, list or array (N, features).

        Raises:
            AxisError: it has not 2 axes; a ValueError of numpy's.
        """
        rows = self._convert_data(inputs)
        if rows.ndim != 2:
            raise located(
                np.exceptions.AxisError,
                "For 'CosineSimilarity.update', the inputs must have 2 axes (axis 1 is out of "
                f"bounds otherwise), but got shape {rows.shape}.",
            )
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, ord=2, axis=1)[:, None]
        self._products = np.dot(rows, rows.T)

    def eval(self) -> Any:
        """Compute the products.

        Returns:
            Array (N, N), or (N,) after a reduction.

        Raises:
            RuntimeError: there was no update.
        """
        if self._products is None:
            raise self._not_updated()
        products = self._products.copy()
        if self.zero_diagonal:
            np.fill_diagonal(products, 0)
        if self.reduction == "mean":
            return products.mean(axis=-1)
        return products.sum(axis=-1) if self.reduction == "sum" else products


class Dice(Metric):
    """Twice the overlap of two regions over the sum of their sizes, divided by the samples.

    Args:
        smooth: what is added to the sum, so that it is never 0; a float above 0.

    Raises:
        TypeError: ``smooth`` is not a float.
        ValueError: ``smooth`` is not above 0.

    MindSpore: ``mindspore.train.Dice``.
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = float_above("smooth", smooth, "Dice")
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predicted and true membership, both (N, ...), 0 to 1.

        Raises:
            ValueError: the number of inputs is not 2, or their shapes differ.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.shape != y.shape:
            raise located(
                ValueError,
                "For 'Dice.update', predicted value (input[0]) and true value (input[1]) should "
                f"have same shape, but got predicted value shape: {y_pred.shape}, true value "
                f"shape: {y.shape}.",
            )
        # Small integers and truth values would overflow.
        a, b = (v.ravel() if v.dtype.kind == "f" else v.ravel().astype(float) for v in (y_pred, y))
        self._sum += 2 * float(a @ b) / float(a @ a + b @ b + self.smooth)
        self._samples_num += y.shape[0]

    def eval(self) -> float:
        """Compute the sum of the batches' coefficients over the number of samples.

        Raises:
            RuntimeError: there was no update.
        """
        if self._samples_num == 0:
            raise self._no_samples()
        return self._sum / self._samples_num
