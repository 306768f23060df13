"""Transforms of an image and of the boxes in it.

A box is a row of at least four numbers: column and row of its corner, width, height.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_interval, check_type
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import TensorOperation
from mindjax.dataset.vision.enums import Border, Inter
from mindjax.dataset.vision.geometry import RandomCrop, RandomResizedCrop, crop
from mindjax.dataset.vision.image import check_size
from mindjax.dataset.vision.resize import Resize, resize


class _WithBoxes(TensorOperation):
    def _apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) != 2:
            raise self._fail(
                f"Size of TensorRow should be 2: image and boxes, but got {len(columns)} columns."
            )
        image, boxes = columns
        if image.ndim not in (2, 3):
            raise self._fail(f"image shape should be <H,W> or <H,W,C>, but got rank: {image.ndim}")
        if boxes.ndim != 2 or boxes.shape[1] < 4:
            raise self._fail(
                "boundingbox should have at least 4 features: a table of rows (x, y, w, h), but "
                f"got shape {boxes.shape}."
            )
        x, y, w, h = boxes[:, :4].astype(np.float64).T
        height, width = image.shape[:2]
        if (x + w > width).any() or (y + h > height).any():
            raise self._fail(f"bounding boxes are out of bounds of the image {height} x {width}.")
        if (x < 0).any() or (y < 0).any():
            raise self._fail("bounding boxes have negative corners: min_x or min_y is below 0.")
        return self._change(image, boxes)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


def _placed(boxes: np.ndarray, x: Any, y: Any, w: Any, h: Any) -> np.ndarray:
    out = boxes.copy()
    for place, values in enumerate((x, y, w, h)):
        out[:, place] = values
    return out


def _cut(boxes: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """Cut boxes to a rectangle; if none is inside, the whole rectangle is one."""
    x, y, w, h = boxes[:, :4].astype(np.float64).T
    x1, y1 = np.maximum(x, left) - left, np.maximum(y, top) - top
    x2, y2 = np.minimum(x + w, left + width) - left, np.minimum(y + h, top + height) - top
    inside = (x2 > x1) & (y2 > y1)
    if not inside.any():
        whole = _placed(boxes[:1], 0, 0, width, height)
        whole[:, 4:] = 0
        return whole
    kept = boxes[inside]
    return _placed(kept, *(v[inside] for v in (x1, y1, x2 - x1, y2 - y1)))


class _RandomFlipWithBBox(_WithBoxes):
    is_random, axis = True, 0

    def __init__(self, prob: float = 0.5) -> None:
        owner = type(self).__name__
        check_type(owner, "prob", prob, (float, int))
        check_interval(owner, "prob", prob, 0.0, 1.0)
        self.prob = prob

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if draw().random() >= self.prob:
            return image, boxes
        out, at = boxes.copy(), 1 - self.axis
        out[:, at] = image.shape[self.axis] - boxes[:, at] - boxes[:, at + 2]
        return np.ascontiguousarray(np.flip(image, self.axis)), out


class RandomHorizontalFlipWithBBox(_RandomFlipWithBBox):
    """Swaps left and right of an image and its boxes.

    Args:
        prob: probability of it.
    """

    axis = 1


class RandomVerticalFlipWithBBox(_RandomFlipWithBBox):
    """Swaps top and bottom of an image and its boxes.

    Args:
        prob: probability of it.
    """


class RandomCropWithBBox(_WithBoxes):
    """Cuts a rectangle of a size at random out of an image with boxes.

    Args:
        size: edge of a square, or (height, width).
        padding: pixels put around the image before; see ``Pad``.
        pad_if_needed: whether a smaller image is padded.
        fill_value: value of the new pixels, or one a channel, in [0, 255].
        padding_mode: what surrounds the image.
    """

    is_random = True

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self._crop = RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        height, width = image.shape[:2]
        wide, rows, columns = self._crop._prepare(image, image.ndim)
        top, left = (int(value) for value in draw().integers((rows, columns)))
        # The image stands in the middle of what was put around it by the size.
        before = self._crop.margins
        more_left = max(0, wide.shape[1] - width - before[0] - before[2]) // 2 + before[0]
        more_top = max(0, wide.shape[0] - height - before[1] - before[3]) // 2 + before[1]
        moved = boxes.copy()
        moved[:, 0] = moved[:, 0] + more_left
        moved[:, 1] = moved[:, 1] + more_top
        part = crop(wide, top, left, *self._crop.size)
        return np.ascontiguousarray(part), _cut(moved, top, left, *self._crop.size)


def _scaled(boxes: np.ndarray, before: tuple[int, ...], after: tuple[int, ...]) -> np.ndarray:
    across, down = after[1] / before[1], after[0] / before[0]
    x, y, w, h = boxes[:, :4].astype(np.float64).T
    return _placed(boxes, x * across, y * down, w * across, h * down)


class ResizeWithBBox(_WithBoxes):
    """Resizes an image with boxes.

    Args:
        size: (height, width), or the length of the shorter edge.
        interpolation: interpolation.
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        if interpolation is None:
            raise located(KeyError, "For 'ResizeWithBBox': Interpolation should not be None")
        self.size = check_size("ResizeWithBBox", "size", size)
        check_type("ResizeWithBBox", "interpolation", interpolation, Inter)
        self.interpolation = interpolation

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = Resize(self.size, self.interpolation)(image)
        return out, _scaled(boxes, image.shape, out.shape)


_RESIZES = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC)


class RandomResizeWithBBox(_WithBoxes):
    """Resizes an image with boxes with a random interpolation.

    Args:
        size: (height, width), or the length of the shorter edge.
    """

    is_random = True

    def __init__(self, size: Any) -> None:
        self.size = check_size("RandomResizeWithBBox", "size", size)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = Resize(self.size, _RESIZES[int(draw().integers(len(_RESIZES)))])(image)
        return out, _scaled(boxes, image.shape, out.shape)


class RandomResizedCropWithBBox(_WithBoxes):
    """Cuts out a rectangle of random area and aspect, with its boxes, and resizes it.

    Args:
        size: edge of a square, or (height, width).
        scale: range of its area, as a share of the image's.
        ratio: range of width / height.
        interpolation: interpolation of ``Resize``.
        max_attempts: draws before the middle is taken.
    """

    is_random = True

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self._crop = RandomResizedCrop(size, scale, ratio, interpolation, max_attempts)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = self._crop._box(*image.shape[:2])
        part = crop(image, *place)
        out = resize(part, part.ndim, self._crop.size, self._crop.interpolation, self._fail)
        return out, _scaled(_cut(boxes, *place), part.shape, out.shape)


class BoundingBoxAugment(_WithBoxes):
    """Applies a transform to the inside of random boxes.

    Args:
        transform: transform of an image.
        ratio: share of the boxes, in [0, 1].
    """

    is_random = True

    def __init__(self, transform: Any, ratio: float = 0.3) -> None:
        check_type("BoundingBoxAugment", "ratio", ratio, (float, int))
        check_interval("BoundingBoxAugment", "ratio", ratio, 0.0, 1.0)
        if not isinstance(transform, TensorOperation):
            raise located(
                TypeError,
                "For 'BoundingBoxAugment': Argument transform is no transform of an image, but got "
                f"{transform!r}.",
            )
        self.transform, self.ratio = transform, ratio

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = int(len(boxes) * self.ratio)
        out = image.copy()
        for place in draw().permutation(len(boxes))[:count]:
            x, y, w, h = (int(value) for value in boxes[place, :4])
            part = self.transform(crop(out, y, x, h, w))
            if part.shape[:2] != (h, w):
                part = resize(part, part.ndim, (h, w), Inter.BILINEAR, self._fail)
            crop(out, y, x, h, w)[...] = part
        return out, boxes
