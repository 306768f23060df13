"""Which parts of an image a model's decision rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor import Tensor
from mindjax.train.metrics.metric import Metric, rearrange_inputs


class OcclusionSensitivity(Metric):
    """How much a label's score falls when a part of the image is hidden (Zeiler & Fergus 2014).

    Args:
        pad_val: value that hides.
        margin: half the size of the hidden part, one for all axes or a list of one for each.
        n_batch: how many images the model gets at once.
        b_box: first and last place of each axis, ``[min1, max1, min2, ...]``, where a part is
            hidden; None for the whole image.

    Raises:
        TypeError: an argument has the wrong type.

    MindSpore: ``mindspore.train.OcclusionSensitivity``.
    """

    def __init__(
        self,
        pad_val: float = 0.0,
        margin: int | list[int] = 2,
        n_batch: int = 128,
        b_box: list[int] | None = None,
    ) -> None:
        super().__init__()
        owner = "OcclusionSensitivity"
        self.pad_val = of_type("pad_val", pad_val, float, owner)
        self.margin = of_type("margin", margin, (int, list), owner)
        self.n_batch = of_type("n_batch", n_batch, int, owner)
        self.b_box = b_box if b_box is None else of_type("b_box", b_box, list, owner)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._loss: np.ndarray | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one image.

        Args:
            *inputs: the model, a Cell that maps images (N, ...) to scores (N, classes); the image
                (1, ...); and the number of the class.

        Raises:
            ValueError: the number of inputs is not 3, or ``b_box`` does not fit the image.
            TypeError: the model is no Cell.
            RuntimeError: there is more than one image or label.
        """
        owner = "OcclusionSensitivity"
        if len(inputs) != 3:
            raise located(
                ValueError,
                f"For '{owner}.update', it needs 3 inputs (classification model, predicted value, "
                f"label), but got {len(inputs)}.",
            )
        model, image = inputs[0], self._convert_data(inputs[1])
        label = self._convert_data([inputs[2]] if isinstance(inputs[2], int) else inputs[2])
        of_type("model", model, Cell, owner)
        if image.shape[0] > 1:
            raise located(
                RuntimeError,
                f"For '{owner}.update', the shape at index 0 of the predicted value (input[1]) "
                f"must be 1, but got {image.shape[0]}.",
            )
        if label.size != image.shape[0]:
            raise located(
                RuntimeError,
                f"For '{owner}.update', the number of the label (input[2]) must be same as the "
                f"batches, but got the label number {label.size}, and batches {image.shape[0]}.",
            )
        sizes = image.shape[1:]
        low, high = self._box(sizes)
        wanted = int(label.reshape(-1)[0])
        hidden = tuple(b - a + 1 for a, b in zip(low, high, strict=True))
        margins = self._margins(len(sizes))
        baseline = model(Tensor(image)).asnumpy()[0, wanted]
        places = [np.add(np.unravel_index(i, hidden), low) for i in range(int(np.prod(hidden)))]
        scores = []
        for start in range(0, len(places), self.n_batch):
            part = places[start : start + self.n_batch]
            images = np.repeat(image, len(part), axis=0)
            for changed, place in zip(images, part, strict=True):
                window = zip(place, margins, sizes, strict=True)
                changed[tuple(slice(max(0, p - m), min(n, p + m)) for p, m, n in window)] = (
                    self.pad_val
                )
            scores.append(model(Tensor(images)).asnumpy()[:, wanted])
        self._loss = np.squeeze(baseline - np.concatenate(scores).reshape(hidden))

    def _margins(self, axes: int) -> list[int]:
        margins = [self.margin] * axes if isinstance(self.margin, int) else self.margin
        if len(margins) != axes:
            raise located(
                ValueError,
                f"For 'OcclusionSensitivity', the 'margin' must have one number for each of {axes} "
                f"axes, but got {margins}.",
            )
        return margins

    def _box(self, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        ends = np.asarray(sizes) - 1
        if self.b_box is None:
            return np.zeros_like(ends), ends
        if len(self.b_box) != 2 * len(sizes):
            raise located(
                ValueError,
                "For 'OcclusionSensitivity', the bounding box must contain upper and lower for all "
                "dimensions (except batch number), and the length of 'b_box' must be twice as long "
                "as predicted value's (except batch number), but got 'b_box' length "
                f"{len(self.b_box)}, predicted value length (except batch number) {len(sizes)}.",
            )
        low, high = np.maximum(self.b_box[::2], 0), np.asarray(self.b_box[1::2])
        high = np.where(high < 0, ends, high)
        if np.any(high > ends):
            raise located(
                ValueError,
                "For 'OcclusionSensitivity', maximum bounding box must be smaller than image size "
                f"for all values, but got {self.b_box}.",
            )
        if np.any(low > high):
            raise located(
                ValueError,
                "For 'OcclusionSensitivity', minimum bounding box must be smaller than maximum "
                f"bounding box for all values, but got {self.b_box}.",
            )
        return low, high

    def eval(self) -> Any:
        """Compute how far the score falls.

        Returns:
            Array of the image's or the box's sizes, without axes of one element.

        Raises:
            RuntimeError: there was no update.
        """
        if self._loss is None:
            raise self._not_updated()
        return self._loss
