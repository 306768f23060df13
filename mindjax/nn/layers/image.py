"""Image layers: gradients, similarities and the middle of an image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float16, float32, float64, uint8
from mindjax.core.errors import located
from mindjax.nn.activation import ReLU
from mindjax.nn.cell import Cell
from mindjax.nn.containers import CellList
from mindjax.nn.conv import Conv2d
from mindjax.nn.pooling import AvgPool2d
from mindjax.ops.creation import zeros
from mindjax.ops.exponential import log, square
from mindjax.ops.reduction import mean, prod
from mindjax.ops.sequence import concat, stack
from mindjax.ops.shape import reshape
from mindjax.tensor.tensor import Tensor


def _rank_4(owner: str, **images: Any) -> None:
    for name, x in images.items():
        if len(x.shape) != 4:
            raise located(
                ValueError,
                f"For '{owner}', the dimension of '{name}' must be 4d, but got {len(x.shape)}.",
            )


def _alike(owner: str, one: Any, two: Any) -> None:
    for error, name, a, b in (
        (TypeError, "dtype", one.dtype, two.dtype),
        (ValueError, "shape", one.shape, two.shape),
    ):
        if a != b:
            raise located(
                error,
                f"For 'SameTypeShape', the x {name} should be = y {name}: {b}, but got {a} "
                f"('img1' and 'img2' of {owner}).",
            )


def _of_dtype(owner: str, x: Any, *allowed: Any) -> None:
    if x.dtype not in allowed:
        raise located(
            TypeError,
            f"For '{owner}', the 'img1' should be one of {[str(d) for d in allowed]}, but got "
            f"'{x.dtype}'.",
        )


def _scale(dtype: Any) -> float:
    """Give what brings an image of a dtype to [0, 1]; floats stay as they are."""
    return 1.0 / np.iinfo(dtype.np).max if dtype.kind in ("int", "uint") else 1.0


def _window(size: int, sigma: float) -> Tensor:
    """Give the weights of a Gaussian in a square, as of one filter."""
    places = np.arange(-size // 2 + 1, size // 2 + 1, dtype=np.float64) ** 2
    weights = np.exp(-(places[:, None] + places[None, :]) / (2 * sigma**2))
    return Tensor((weights / weights.sum())[None, None], float32)


class ImageGradients(Cell):
    """Differences of neighbours along height and width (MindSpore: ``nn.ImageGradients``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, images: Any) -> Any:
        """Give both for (N, C, H, W), zeros at the far ends."""
        _rank_4(self.cls_name, images=images)
        n, c, h, w = images.shape
        down = images[:, :, 1:, :] - images[:, :, : h - 1, :]
        right = images[:, :, :, 1:] - images[:, :, :, : w - 1]
        dtype = images.dtype
        return (
            concat([down, zeros((n, c, 1, w), dtype)], 2),
            concat([right, zeros((n, c, h, 1), dtype)], 3),
        )


class _Similarity(Cell):
    """What SSIM and MSSSIM share: checks of their numbers, and one scale."""

    def __init__(
        self, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.max_val = positive_number("max_val", max_val, owner)
        self.filter_size = checks.positive_int("filter_size", filter_size, owner)
        self.filter_sigma = checks.float_above("filter_sigma", filter_sigma, owner)
        self.k1 = checks.of_type("k1", k1, float, owner)
        self.k2 = checks.of_type("k2", k2, float, owner)

    def _filter(self) -> Conv2d:
        window = _window(self.filter_size, self.filter_sigma)
        conv = Conv2d(1, 1, self.filter_size, weight_init=window, pad_mode="valid")
        conv.weight.requires_grad = False
        return conv

    def _fits(self, height: int, width: int) -> None:
        if min(height, width) < self.filter_size:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'img1 shape' must be >= 'filter_size' "
                f"{self.filter_size}, but got {(height, width)}.",
            )

    def _compare(self, conv: Any, one: Any, two: Any, peak: float) -> tuple[Any, Any]:
        """Give the similarity and its part without brightness, (N, C)."""
        n, c, h, w = one.shape
        c1, c2 = (self.k1 * peak) ** 2, (self.k2 * peak) ** 2
        one, two = reshape(one, (n * c, 1, h, w)), reshape(two, (n * c, 1, h, w))
        mean1, mean2 = conv(one), conv(two)
        squares = mean1 * mean1 + mean2 * mean2
        spread = conv(one * one + two * two) - squares
        together = conv(one * two) - mean1 * mean2
        contrast = (2 * together + c2) / (spread + c2)
        similarity = (2 * mean1 * mean2 + c1) / (squares + c1) * contrast
        return tuple(reshape(mean(x, (1, 2, 3)), (n, c)) for x in (similarity, contrast))  # type: ignore[return-value]


def positive_number(name: str, value: Any, owner: str) -> Any:
    """Check that an argument is an int or float above 0.

    Args:
        name: of the argument.
        value: to be checked.
        owner: class named in the error.

    Raises:
        TypeError: it is no number.
        ValueError: it is not above 0.
    """
    checks.of_type(name, value, (int, float), owner)
    if value <= 0:
        raise located(ValueError, f"For '{owner}', the '{name}' must be > 0.0, but got {value}.")
    return value


class SSIM(_Similarity):
    """Structural similarity of images (Wang 2004; MindSpore: ``nn.SSIM``).

    Args:
        max_val: greatest value of an element.
        filter_size: width of the Gaussian window.
        filter_sigma: standard deviation of the Gaussian.
        k1: constant of the brightness.
        k2: constant of the contrast.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value is out of range.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv = self._filter()

    def construct(self, img1: Any, img2: Any) -> Any:
        """Compare two Float16 or Float32 Tensors (N, C, H, W); gives (N,)."""
        _of_dtype(self.cls_name, img1, float32, float16)
        _rank_4(self.cls_name, img1=img1)
        self._fits(*img1.shape[2:])
        _alike(self.cls_name, img1, img2)
        one, two = img1.astype(float32), img2.astype(float32)
        return mean(self._compare(self.conv, one, two, float(self.max_val))[0], -1)


class MSSSIM(_Similarity):
    """Structural similarity at several scales (Wang 2003; MindSpore: ``nn.MSSSIM``).

    Args:
        max_val: greatest value of an element.
        power_factors: tuple or list of exponents, one a scale; each scale halves the images.
        filter_size: width of the Gaussian window.
        filter_sigma: standard deviation of the Gaussian.
        k1: constant of the brightness.
        k2: constant of the contrast.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value is out of range.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        checks.of_type("power_factors", power_factors, (tuple, list), self.cls_name)
        self.level = len(power_factors)
        self.multi_convs_list = CellList([self._filter() for _ in range(self.level)])
        self.weight_tensor = Tensor(power_factors, float32)
        self.avg_pool = AvgPool2d(kernel_size=2, stride=2, pad_mode="valid")
        self.relu = ReLU()

    def construct(self, img1: Any, img2: Any) -> Any:
        """Compare two Tensors (N, C, H, W) of floats or UInt8; gives (N,)."""
        _rank_4(self.cls_name, img1=img1, img2=img2)
        _of_dtype(self.cls_name, img1, float64, float32, float16, uint8)
        _alike(self.cls_name, img1, img2)
        factor = _scale(img1.dtype)
        one, two = img1.astype(float32) * factor, img2.astype(float32) * factor
        parts: list[Any] = []
        similarity = None
        for i in range(self.level):
            if i:
                one, two = self.avg_pool(one), self.avg_pool(two)
            self._fits(*one.shape[2:])
            conv = self.multi_convs_list[i]
            similarity, contrast = self._compare(conv, one, two, self.max_val * factor)
            parts.append(self.relu(contrast))
        parts[-1] = self.relu(similarity)
        return mean(prod(stack(parts, -1) ** self.weight_tensor, -1), -1)


class PSNR(Cell):
    """Peak signal-to-noise ratio of images, in decibels (MindSpore: ``nn.PSNR``).

    Args:
        max_val: greatest value of an element.

    Raises:
        TypeError: ``max_val`` is not a number.
        ValueError: it is not above 0.
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = positive_number("max_val", max_val, self.cls_name)

    def construct(self, img1: Any, img2: Any) -> Any:
        """Compare two Tensors (N, C, H, W); gives (N,)."""
        _rank_4(self.cls_name, img1=img1, img2=img2)
        _alike(self.cls_name, img1, img2)
        factor = _scale(img1.dtype)
        one, two = img1.astype(float32) * factor, img2.astype(float32) * factor
        error = mean(square(one - two), (-3, -2, -1))
        return log((self.max_val * factor) ** 2 / error) * (10 / math.log(10))


class CentralCrop(Cell):
    """The middle of an image (MindSpore: ``nn.CentralCrop``).

    Args:
        central_fraction: part of height and width that stays, in (0, 1].

    Raises:
        TypeError: it is not a float.
        ValueError: it is out of range.
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        checks.of_type("central_fraction", central_fraction, float, self.cls_name)
        self.central_fraction = checks.float_in_range(
            "central_fraction", central_fraction, 0, 1, self.cls_name, "(]"
        )

    def construct(self, image: Any) -> Any:
        """Cut (C, H, W) or (N, C, H, W)."""
        if len(image.shape) not in (3, 4):
            raise located(
                ValueError,
                f"For '{self.cls_name}', the image must be 3d or 4d, but got shape {image.shape}",
            )
        if self.central_fraction == 1.0:
            return image
        edges = [int((n - n * self.central_fraction) / 2) for n in image.shape[-2:]]
        (top, left), (h, w) = edges, image.shape[-2:]
        return image[..., top : h - top, left : w - left]
