"""Transforms that change an image's values or the order of its axes."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_interval, check_type
from mindjax.dataset.transforms import compose
from mindjax.dataset.transforms.arrays import TypeCast, cast, output_dtype
from mindjax.dataset.transforms.operation import OneToOne, is_pil
from mindjax.dataset.vision.image import ImageOperation, from_pil

_BYTES = np.arange(256, dtype=np.uint8)
_TO_UNIT = np.float32(1.0 / 255.0)


class Rescale(ImageOperation):
    """Multiplies and adds: ``x * rescale + shift``, in float32 with one rounding.

    Args:
        rescale: factor.
        shift: addend.
    """

    def __init__(self, rescale: float, shift: float) -> None:
        check_type("Rescale", "rescale", rescale, Number)
        check_type("Rescale", "shift", shift, Number)
        self.rescale, self.shift = np.float32(rescale), np.float32(shift)
        self._table = self._compute(_BYTES)

    def _compute(self, image: np.ndarray) -> np.ndarray:
        # The product of two float32 is exact in float64: this is a fused multiply-add.
        wide = image.astype(np.float64)
        wide *= np.float64(self.rescale)
        wide += np.float64(self.shift)
        with np.errstate(over="ignore"):
            return wide.astype(np.float32)

    def _apply(self, image: Any) -> np.ndarray:
        image = from_pil(image) if is_pil(image) else image
        if image.dtype == np.uint8:
            return self._table.take(image)
        if image.dtype.kind in "USO" or image.dtype in (np.uint32, np.int64, np.uint64):
            raise self._fail(f"load image failed: its dtype {image.dtype} is not supported.")
        return self._compute(image)

    _apply_batch = _apply


class Normalize(ImageOperation):
    """Subtracts a mean and divides by a deviation, channel by channel, in float32.

    Args:
        mean: one number a channel, in [0, 255]; a single one serves all channels.
        std: one number a channel, in (0, 255].
        is_hwc: whether channels are the last axis and not the first.
    """

    def __init__(self, mean: Any, std: Any, is_hwc: bool = True) -> None:
        for name, values, bounds in (("mean", mean, "[]"), ("std", std, "(]")):
            check_type("Normalize", name, values, (list, tuple))
            for place, value in enumerate(values):
                check_type("Normalize", f"{name}[{place}]", value, Number)
                check_interval("Normalize", f"{name}[{place}]", value, 0, 255, bounds)
        if len(mean) != len(std):
            raise located(
                ValueError,
                f"For 'Normalize': Length of mean and std must be equal, but got {len(mean)} and "
                f"{len(std)}.",
            )
        self.is_hwc = check_bool("Normalize", "is_hwc", is_hwc)
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
        self._table = (_BYTES - self.mean[0]) / self.std[0] if len(self.mean) == 1 else None

    def _apply(self, image: Any) -> np.ndarray:
        image = from_pil(image) if is_pil(image) else image
        return self._normalize(image, image.ndim)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        return self._normalize(rows, rows.ndim - 1)

    def _normalize(self, image: np.ndarray, rank: int) -> np.ndarray:
        if rank < 2:
            raise self._fail(f"input tensor should have at least 2 dimensions, but got: {rank}")
        axis = -1 if self.is_hwc else -3
        channels = 1 if rank == 2 else image.shape[axis]
        if len(self.mean) not in (1, channels):
            raise self._fail(
                "number of channels does not match the size of mean and std vectors, got channels: "
                f"{channels}, size of mean: {len(self.mean)}"
            )
        if self._table is not None and image.dtype == np.uint8:
            return self._table.take(image)
        mean, std = self.mean, self.std
        if rank > 2 and not self.is_hwc:
            mean, std = mean[:, None, None], std[:, None, None]
        out = image.astype(np.float32) - mean
        out /= std
        return out


class HWC2CHW(ImageOperation):
    """Moves the channels to the front: (H, W, C) to (C, H, W); an (H, W) image stays."""

    def _apply(self, image: Any) -> np.ndarray:
        image = from_pil(image) if is_pil(image) else image
        self._check_rank(image, 2, 3)
        return image if image.ndim == 2 else np.ascontiguousarray(image.transpose(2, 0, 1))

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check_rank(rows[0], 2, 3)
        return rows if rows.ndim == 3 else np.ascontiguousarray(rows.transpose(0, 3, 1, 2))


class ToTensor(ImageOperation):
    """Divides by 255 and moves the channels to the front: (H, W[, C]) to (C, H, W).

    Args:
        output_type: dtype of the result.
    """

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = output_dtype("ToTensor", "output_type", output_type)
        self._table = self._scale(_BYTES)

    def _scale(self, image: np.ndarray) -> np.ndarray:
        return cast(image.astype(np.float32) * _TO_UNIT, self.output_type)

    def _check(self, image: np.ndarray) -> None:
        if image.ndim < 2:
            raise self._fail(f"rank of input data should be greater than: 2, but got:{image.ndim}")
        if image.ndim > 3:
            raise self._fail(f"image shape should be <H,W,C>, but got rank: {image.ndim}")
        if image.dtype.kind in "USO" or image.dtype in (np.uint32, np.int64, np.uint64):
            raise self._fail(
                "Input includes unsupported data type in [uint32, int64, uint64, string, bytes], "
                f"got {image.dtype}."
            )

    def _apply(self, image: Any) -> np.ndarray:
        image = from_pil(image) if is_pil(image) else image
        self._check(image)
        return self._apply_batch(image[None])[0]

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check(rows[0])
        scaled = self._table.take(rows) if rows.dtype == np.uint8 else self._scale(rows)
        if rows.ndim == 3:
            return scaled[:, None]
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))


class NormalizePad(Normalize):
    """Normalizes three channels and adds a fourth one of zeros.

    Args:
        mean: one number a channel, in [0, 255].
        std: one number a channel, in (0, 255].
        dtype: "float32" or "float16".
        is_hwc: whether channels are the last axis and not the first.
    """

    def __init__(self, mean: Any, std: Any, dtype: str = "float32", is_hwc: bool = True) -> None:
        super().__init__(mean, std, is_hwc)
        if not isinstance(dtype, str):
            raise located(
                TypeError, f"For 'NormalizePad': dtype should be string, but got {dtype!r}."
            )
        if dtype not in ("float32", "float16"):
            raise located(
                ValueError,
                f"For 'NormalizePad': dtype only supports float32 or float16, but got {dtype!r}.",
            )
        self.dtype = np.dtype(dtype)

    def _normalize(self, image: np.ndarray, rank: int) -> np.ndarray:
        if rank not in (2, 3):
            raise self._fail(f"input tensor should have 2 or 3 dimensions, but got: {rank}")
        if rank == 2:
            image, rank = image[..., None] if self.is_hwc else image[..., None, :, :], 3
        out = super()._normalize(image, rank)
        widths = [(0, 0)] * out.ndim
        widths[-1 if self.is_hwc else -3] = (0, 1)
        return np.pad(out, widths).astype(self.dtype)


class ToNumpy(OneToOne):
    """Makes an array of a PIL image, or of what ``np.array`` takes."""

    def _to_input(self, value: Any) -> Any:
        return value

    def _apply(self, image: Any) -> np.ndarray:
        return np.array(image)


class ToType(TypeCast):
    """Casts to another dtype; ``transforms.TypeCast`` under its name here.

    Args:
        data_type: MindSpore or numpy dtype.
    """


def not_random(func: Any) -> Any:
    """Mark a function whose results depend on its arguments alone.

    Args:
        func: the function or class.

    Returns:
        It, marked.
    """
    return compose.not_random(func)
