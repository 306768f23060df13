"""Transforms that mix the images of a batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.dataset.engine.checks import (
    INT32_MAX,
    check_bool,
    check_int,
    check_interval,
    check_type,
)
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import TensorOperation
from mindjax.dataset.vision.enums import ImageBatchFormat


def _check_alpha(owner: str, alpha: Any) -> float:
    check_type(owner, "alpha", alpha, (int, float))
    check_interval(owner, "alpha", alpha, 0, INT32_MAX, "(]")
    return alpha


class _BatchMixing(TensorOperation):
    is_random = True

    def _checked(self, columns: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 2:
            raise self._fail("size of input data should be 2 (including images or labels).")
        images, labels = columns
        if images.ndim != 4 or labels.ndim not in (2, 3) or len(images) != len(labels):
            raise self._fail(
                "please make sure images are <N,H,W,C> or <N,C,H,W> and labels are one-hot, in as "
                f"many rows, but got shapes {images.shape} and {labels.shape}."
            )
        return images, labels

    def _labels(self, labels: np.ndarray, order: np.ndarray, share: Any) -> np.ndarray:
        weight = np.asarray(share, np.float32).reshape(-1, *([1] * (labels.ndim - 1)))
        return (weight * labels + (1 - weight) * labels[order]).astype(np.float32)


class MixUpBatch(_BatchMixing):
    """Mixes every image of a batch, and its one-hot label, with another one.

    Args:
        alpha: both parameters of the beta distribution of the share.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = _check_alpha("MixUpBatch", alpha)

    def _apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        images, labels = self._checked(columns)
        rng = draw()
        share, order = rng.beta(self.alpha, self.alpha), rng.permutation(len(images))
        mixed = share * images.astype(np.float32) + (1 - share) * images[order]
        return mixed.astype(images.dtype), self._labels(labels, order, share)


class CutMixBatch(_BatchMixing):
    """Puts a rectangle of another image of the batch into images, and mixes one-hot labels.

    Args:
        image_batch_format: order of the axes of the batch.
        alpha: both parameters of the beta distribution of the rectangle's share.
        prob: probability that an image is changed.
    """

    def __init__(
        self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0
    ) -> None:
        owner = "CutMixBatch"
        check_type(owner, "image_batch_format", image_batch_format, ImageBatchFormat)
        self.alpha = _check_alpha(owner, alpha)
        check_type(owner, "prob", prob, (int, float))
        check_interval(owner, "prob", prob, 0, 1)
        self.image_batch_format, self.prob = image_batch_format, prob

    def _apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        images, labels = self._checked(columns)
        rng = draw()
        order = rng.permutation(len(images))
        out = images.copy()
        last = self.image_batch_format == ImageBatchFormat.NHWC
        view = out if last else out.transpose(0, 2, 3, 1)
        source = images if last else images.transpose(0, 2, 3, 1)
        height, width = view.shape[1:3]
        shares = np.ones(len(images))
        for place in range(len(images)):
            if rng.random() >= self.prob:
                continue
            cut = math.sqrt(1 - rng.beta(self.alpha, self.alpha))
            row, column = rng.integers((height, width))
            tall, wide = int(height * cut), int(width * cut)
            rows = slice(max(0, row - tall // 2), min(height, row + (tall + 1) // 2))
            columns_ = slice(max(0, column - wide // 2), min(width, column + (wide + 1) // 2))
            view[place, rows, columns_] = source[order[place], rows, columns_]
            area = (rows.stop - rows.start) * (columns_.stop - columns_.start)
            shares[place] = 1 - area / (height * width)
        return out, self._labels(labels, order, shares)


class MixUp(TensorOperation):
    """Mixes images and one-hot labels with the next ones, or with the batch before.

    Args:
        batch_size: number of images in a batch.
        alpha: both parameters of the beta distribution of the share.
        is_single: whether images are mixed with those of the same batch.
    """

    is_random = True

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.is_single = check_bool("MixUp", "is_single", is_single)
        self.batch_size = check_int("MixUp", "batch_size", batch_size, 1)
        self.alpha = _check_alpha("MixUp", alpha)
        self._before: tuple[Any, Any] | None = None

    def _apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 2:
            raise self._fail(f"needs images and labels, but got {len(columns)} columns.")
        images, labels = columns
        share = draw().beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            order = np.roll(np.arange(self.batch_size), -1)
            others = images[order], labels[order]
        elif self._before is None:
            share, others = np.ones(self.batch_size), (0, 0)
        else:
            others = self._before
        of_image, of_label = share.reshape(-1, 1, 1, 1), share.reshape(-1, 1)
        mixed = (
            of_image * images + (1 - of_image) * others[0],
            of_label * labels + (1 - of_label) * others[1],
        )
        self._before = mixed
        return mixed
