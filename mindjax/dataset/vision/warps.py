"""Transforms that turn, shear and project an image, with the arithmetic of OpenCV."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_interval, check_type
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.color import ColorOperation, check_factor
from mindjax.dataset.vision.enums import Inter
from mindjax.dataset.vision.geometry import check_fill
from mindjax.dataset.vision.image import ImageOperation

# OpenCV moves pixels by whole 1/1024, and mixes them by whole 1/32.
_STEP = 1024
_PARTS = 32
_INT32 = 2147483647


def _sampled(
    image: np.ndarray, columns: np.ndarray, rows: np.ndarray, fill: Any, linear: bool
) -> np.ndarray:
    """Read an image at places in 1/32 pixel, or in pixels where ``linear`` is False."""
    framed = np.pad(image, [(1, 1), (1, 1), *[(0, 0)] * (image.ndim - 2)])
    colour = np.asarray(fill, np.float64)[: image.shape[2] if image.ndim == 3 else 1]
    colour = colour.astype(image.dtype)
    edge = np.ones(framed.shape[:2], bool)
    edge[1:-1, 1:-1] = False
    framed[edge] = colour if image.ndim == 3 else colour[0]
    height, width = image.shape[:2]

    def at(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return framed[np.clip(row, -1, height) + 1, np.clip(column, -1, width) + 1]

    if not linear:
        return at(rows, columns)
    left, top = columns >> 5, rows >> 5
    across, down = columns & 31, rows & 31
    tail = (...,) + (None,) * (image.ndim - 2)
    weights = (
        (_PARTS - across) * (_PARTS - down),
        across * (_PARTS - down),
        (_PARTS - across) * down,
        across * down,
    )
    places = ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1))
    if image.dtype == np.uint8:
        total = sum(
            weight[tail] * at(*place).astype(np.int64)
            for weight, place in zip(weights, places, strict=True)
        )
        return ((np.asarray(total) + 512) >> 10).astype(np.uint8)
    mixed = sum(
        weight[tail].astype(np.float32) / np.float32(1024) * at(*place)
        for weight, place in zip(weights, places, strict=True)
    )
    return np.asarray(mixed).astype(image.dtype)


def _round(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), -_INT32 - 1, _INT32).astype(np.int64)


def warp_affine(
    image: np.ndarray, matrix: np.ndarray, size: tuple[int, int], fill: Any, linear: bool
) -> np.ndarray:
    """Move an image by an affine map.

    Args:
        image: (H, W) or (H, W, C).
        matrix: (2, 3) map from old to new places, (column, row).
        size: (height, width) of the result.
        fill: colour of places outside the image.
        linear: whether neighbours are mixed and not the nearest taken.

    Returns:
        The moved image.
    """
    a, b, c, d, e, f = matrix.ravel().tolist()
    scale = a * e - b * d
    scale = 1 / scale if scale else 0.0
    m0, m4 = e * scale, a * scale
    m1, m3 = -b * scale, -d * scale
    m2, m5 = -m0 * c - m1 * f, -m3 * c - m4 * f
    x, y = np.arange(size[1], dtype=np.float64), np.arange(size[0], dtype=np.float64)
    half = _STEP // _PARTS // 2 if linear else _STEP // 2
    columns = _round((m1 * y + m2) * _STEP)[:, None] + half + _round(m0 * x * _STEP)
    rows = _round((m4 * y + m5) * _STEP)[:, None] + half + _round(m3 * x * _STEP)
    shift = 5 if linear else 10
    return _sampled(image, columns >> shift, rows >> shift, fill, linear)


def warp_perspective(image: np.ndarray, matrix: np.ndarray, linear: bool) -> np.ndarray:
    """Move an image by a projective map, (3, 3), from old to new places; zeros surround it."""
    m = np.linalg.inv(matrix)
    y, x = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float64)
    depth = m[2, 0] * x + m[2, 1] * y + m[2, 2]
    with np.errstate(divide="ignore"):
        depth = np.where(depth == 0, 0, (_PARTS if linear else 1) / depth)
    columns = _round((m[0, 0] * x + m[0, 1] * y + m[0, 2]) * depth)
    rows = _round((m[1, 0] * x + m[1, 1] * y + m[1, 2]) * depth)
    return _sampled(image, columns, rows, (0, 0, 0), linear)


def affine_matrix(
    shape: tuple[int, ...],
    degrees: float,
    move: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
) -> np.ndarray:
    """Give the map that shears, scales and turns around the middle, and then moves.

    Args:
        shape: shape of the image.
        degrees: angle, clockwise, in degrees.
        move: pixels to the right and down.
        scale: factor.
        shear: angles along columns and rows, in degrees.

    Returns:
        Array of float64, shape (2, 3).
    """
    angle, shear_x, shear_y = (math.radians(value) for value in (degrees, *shear))
    x, y = (shape[1] - 1) / 2.0, (shape[0] - 1) / 2.0
    sheared = angle - shear_y
    a = scale * math.cos(sheared) / math.cos(shear_y)
    b = scale * (-math.cos(sheared) * math.tan(shear_x) / math.cos(shear_y) - math.sin(angle))
    d = scale * math.sin(sheared) / math.cos(shear_y)
    e = scale * (-math.sin(sheared) * math.tan(shear_x) / math.cos(shear_y) + math.cos(angle))
    c = (1 - a) * x - b * y + move[0]
    f = (1 - e) * y - d * x + move[1]
    return np.array([[a, b, c], [d, e, f]], np.float32).astype(np.float64)


def check_inter(owner: str, name: str, value: Any) -> bool:
    """Check an interpolation of a warp, and tell whether it mixes neighbours.

    Raises:
        TypeError: it is no ``Inter``.
        NotImplementedError: it is neither the nearest nor bilinear.
    """
    check_type(owner, name, value, Inter)
    if value not in (Inter.NEAREST, Inter.BILINEAR):
        raise located(
            NotImplementedError,
            f"For '{owner}': {name} {value!r} is not there; use Inter.NEAREST or Inter.BILINEAR.",
        )
    return value == Inter.BILINEAR


def three(fill: tuple[int, ...]) -> tuple[int, ...]:
    """Give a colour three channels."""
    return fill * 3 if len(fill) == 1 else fill


class _Warp(ColorOperation):
    ranks, channels, dtypes = (2, 3), (1, 3), ("uint8", "float32")


class Affine(_Warp):
    """Turns, moves, scales and shears an image around its middle.

    Args:
        degrees: angle, clockwise, in [-180, 180].
        translate: shares of width and height it is moved by, in [-1, 1].
        scale: factor, positive.
        shear: angle along the columns, or (along columns, along rows), in [-180, 180].
        resample: interpolation.
        fill_value: value of places outside the image, or one a channel.
    """

    def __init__(
        self,
        degrees: float,
        translate: Any,
        scale: float,
        shear: Any,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = check_factor("Affine", "degrees", degrees, -180, 180)
        check_type("Affine", "translate", translate, (list, tuple))
        if len(translate) != 2:
            raise located(TypeError, "For 'Affine': The length of translate should be 2.")
        self.translate = [
            check_factor("Affine", f"translate[{n}]", value, -1.0, 1.0)
            for n, value in enumerate(translate)
        ]
        check_type("Affine", "scale", scale, (int, float))
        check_interval("Affine", "scale", scale, 0, _INT32, "(]")
        check_type("Affine", "shear", shear, (Number, tuple, list))
        pair: Any = (shear, 0.0) if isinstance(shear, Number) else tuple(shear)
        if len(pair) != 2:
            raise located(TypeError, "For 'Affine': The length of shear should be 2.")
        for place, value in enumerate(pair):
            check_factor("Affine", f"shear[{place}]", value, -180, 180)
        self.linear = check_inter("Affine", "resample", resample)
        self.scale, self.shear = scale, (pair[0], pair[1])
        self.fill = three(check_fill("Affine", fill_value))

    def _apply(self, image: np.ndarray) -> np.ndarray:
        height, width = image.shape[:2]
        move = self.translate[0] * width, self.translate[1] * height
        matrix = affine_matrix(image.shape, self.degrees, move, self.scale, self.shear)
        return warp_affine(image, matrix, (height, width), self.fill, self.linear)


def rotate(
    image: np.ndarray, degrees: float, center: Any, expand: bool, fill: Any, linear: bool
) -> np.ndarray:
    """Turn an image counter-clockwise.

    Args:
        image: (H, W) or (H, W, C).
        degrees: angle.
        center: (column, row) it turns around; None for the middle.
        expand: whether the result has room for the whole turned image.
        fill: colour of places outside the image; the original takes it from blue to red.
        linear: whether neighbours are mixed and not the nearest taken.

    Returns:
        The turned image.
    """
    if image.ndim == 3 and image.shape[2] == 3:
        fill = tuple(fill)[::-1]
    height, width = image.shape[:2]
    x, y = center or ((width - 1) / 2, (height - 1) / 2)
    angle = math.radians(degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    matrix = np.array([[cos, sin, (1 - cos) * x - sin * y], [-sin, cos, sin * x + (1 - cos) * y]])
    size = (height, width)
    if expand:
        tall = width * abs(sin) + height * abs(cos)
        wide = width * abs(cos) + height * abs(sin)
        size = round(tall), round(wide)
        matrix[0, 2] += (wide - width) / 2.0
        matrix[1, 2] += (tall - height) / 2.0
    return warp_affine(image, matrix, size, fill, linear)


def _check_rotation(
    owner: str, resample: Any, expand: Any, center: Any, fill_value: Any
) -> tuple[bool, bool, Any, tuple[int, ...]]:
    linear = check_inter(owner, "resample", resample)
    check_bool(owner, "expand", expand)
    if center is not None:
        check_type(owner, "center", center, tuple)
        if len(center) != 2:
            raise located(ValueError, f"For '{owner}': center must be a 2-tuple.")
        for value in center:
            check_type(owner, "center", value, (int, float))
    return linear, expand, center, three(check_fill(owner, fill_value))


class Rotate(_Warp):
    """Turns an image counter-clockwise.

    Args:
        degrees: angle.
        resample: interpolation.
        expand: whether the result has room for the whole turned image.
        center: (column, row) it turns around; None for the middle.
        fill_value: value of places outside the image, or one a channel.
    """

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        check_type("Rotate", "degrees", degrees, (float, int))
        self.degrees = degrees % 360
        self.linear, self.expand, self.center, self.fill = _check_rotation(
            "Rotate", resample, expand, center, fill_value
        )

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return rotate(image, self.degrees, self.center, self.expand, self.fill, self.linear)


def check_degrees(owner: str, degrees: Any) -> tuple[float, float]:
    """Bring an angle, or a range of angles, to a range."""
    check_type(owner, "degrees", degrees, (int, float, list, tuple))
    if isinstance(degrees, int | float):
        check_interval(owner, "degrees", degrees, 0, 3.4028235e38)
        return -degrees, degrees
    if len(degrees) != 2:
        raise located(TypeError, f"For '{owner}': If degrees is a sequence, the length must be 2.")
    for value in degrees:
        check_type(owner, "degrees", value, (int, float))
    if degrees[0] > degrees[1]:
        raise located(
            ValueError, f"For '{owner}': degrees should be in (min,max) format. Got (max,min)."
        )
    return degrees[0], degrees[1]


class RandomRotation(_Warp):
    """Turns an image counter-clockwise by a random angle.

    Args:
        degrees: greatest angle to both sides, or (least, greatest).
        resample: interpolation.
        expand: whether the result has room for the whole turned image.
        center: (column, row) it turns around; None for the middle.
        fill_value: value of places outside the image, or one a channel.
    """

    is_random = True

    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ) -> None:
        self.degrees = check_degrees("RandomRotation", degrees)
        self.linear, self.expand, self.center, self.fill = _check_rotation(
            "RandomRotation", resample, expand, center, fill_value
        )

    def _apply(self, image: np.ndarray) -> np.ndarray:
        angle = draw().uniform(*self.degrees)
        return rotate(image, angle, self.center, self.expand, self.fill, self.linear)


class RandomAffine(_Warp):
    """Turns, moves, scales and shears an image at random around its middle.

    Args:
        degrees: greatest angle to both sides, or (least, greatest).
        translate: (least, greatest) share of the width it is moved by, and maybe of the height.
        scale: (least, greatest) factor; None for 1.
        shear: greatest angle along the columns, (least, greatest), or those of columns and rows.
        resample: interpolation.
        fill_value: value of places outside the image, or one a channel.
    """

    is_random = True

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        owner = "RandomAffine"
        self.degrees = check_degrees(owner, degrees)
        self.translate = self._range(owner, "translate", translate)
        for place, value in enumerate(self.translate):
            check_interval(owner, f"translate at {place}", value, -1.0, 1.0)
        self.scale: tuple[float, float] = (1.0, 1.0)
        if scale is not None:
            check_type(owner, "scale", scale, (tuple, list))
            if len(scale) != 2:
                raise located(
                    TypeError, f"For '{owner}': scale should be a list or tuple of length 2."
                )
            if scale[0] > scale[1]:
                raise located(
                    ValueError,
                    f"For '{owner}': Input scale[1] must be equal to or greater than scale[0].",
                )
            check_interval(owner, "scale[0]", scale[0], 0, _INT32)
            check_interval(owner, "scale[1]", scale[1], 0, _INT32, "(]")
            self.scale = (scale[0], scale[1])
        if isinstance(shear, Number):
            check_interval(owner, "shear", shear, 0, _INT32, "(]")  # type: ignore[arg-type]
            shear = (-shear, shear)  # type: ignore[operator]
        self.shear = self._range(owner, "shear", shear)
        if self.shear[0] > self.shear[1] or self.shear[2] > self.shear[3]:
            raise located(
                ValueError,
                f"For '{owner}': Input shear[1] must be equal to or greater than shear[0], but got "
                f"{shear!r}.",
            )
        self.linear = check_inter(owner, "resample", resample)
        self.fill = three(check_fill(owner, fill_value))

    @staticmethod
    def _range(owner: str, name: str, values: Any) -> tuple[float, float, float, float]:
        if values is None:
            return 0.0, 0.0, 0.0, 0.0
        check_type(owner, name, values, (tuple, list))
        if len(values) not in (2, 4):
            raise located(
                TypeError, f"For '{owner}': {name} should be a list or tuple of length 2 or 4."
            )
        for place, value in enumerate(values):
            check_type(owner, f"{name}[{place}]", value, (int, float))
        four = [*values, 0.0, 0.0] if len(values) == 2 else list(values)
        return four[0], four[1], four[2], four[3]

    def _apply(self, image: np.ndarray) -> np.ndarray:
        rng = draw()
        height, width = image.shape[:2]
        move = (
            rng.uniform(*self.translate[:2]) * width,
            rng.uniform(*self.translate[2:]) * height,
        )
        shear = rng.uniform(*self.shear[:2]), rng.uniform(*self.shear[2:])
        matrix = affine_matrix(
            image.shape, rng.uniform(*self.degrees), move, rng.uniform(*self.scale), shear
        )
        return warp_affine(image, matrix, (height, width), self.fill, self.linear)


def _check_points(owner: str, name: str, points: Any) -> list[tuple[int, int]]:
    check_type(owner, name, points, (list, tuple))
    if len(points) != 4:
        raise located(TypeError, f"For '{owner}': {name} should be a list or tuple of length 4.")
    for place, point in enumerate(points):
        check_type(owner, f"{name}[{place}]", point, (list, tuple))
        if len(point) != 2:
            raise located(
                TypeError, f"For '{owner}': {name}[{place}] should be a list or tuple of length 2."
            )
        for axis, value in enumerate(point):
            check_type(owner, f"{name}[{place}][{axis}]", value, int)
            check_interval(owner, f"{name}[{place}][{axis}]", value, -_INT32 - 1, _INT32)
    return [(point[0], point[1]) for point in points]


def projection(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> np.ndarray:
    """Give the projective map, (3, 3), that takes four points to four others."""
    rows, right = [], []
    for (x, y), (u, v) in zip(before, after, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -x * u, -y * u], [0, 0, 0, x, y, 1, -x * v, -y * v]]
        right += [u, v]
    return np.append(np.linalg.solve(np.array(rows, float), np.array(right, float)), 1.0).reshape(
        3, 3
    )


# Pillow's PERSPECTIVE, and its resampling for ours.
_PIL_PERSPECTIVE = 2
_PIL_RESAMPLING = {Inter.NEAREST: 0, Inter.BILINEAR: 2, Inter.BICUBIC: 3}


def project_pil(image: Any, before: Any, after: Any, interpolation: Inter) -> Any:
    """Project a PIL image so that four points come to four others."""
    inverse = projection(after, before).ravel()[:8].tolist()
    return image.transform(image.size, _PIL_PERSPECTIVE, inverse, _PIL_RESAMPLING[interpolation])


class Perspective(ImageOperation):
    """Projects an image so that four points come to four others.

    Args:
        start_points: four points (column, row).
        end_points: where they come to.
        interpolation: interpolation.
    """

    def __init__(
        self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR
    ) -> None:
        self.start_points = _check_points("Perspective", "start_points", start_points)
        self.end_points = _check_points("Perspective", "end_points", end_points)
        check_type("Perspective", "interpolation", interpolation, Inter)
        if interpolation not in _PIL_RESAMPLING:
            raise located(
                TypeError,
                f"For 'Perspective': the interpolation {interpolation!r} is not supported.",
            )
        self.interpolation = interpolation

    def _apply(self, image: Any) -> Any:
        if is_pil(image):
            return project_pil(image, self.start_points, self.end_points, self.interpolation)
        self._check_rank(image, 2, 3)
        linear = check_inter("Perspective", "interpolation", self.interpolation)
        matrix = projection(self.start_points, self.end_points)
        return warp_perspective(image, matrix, linear)


class RandomPerspective(ImageOperation):
    """Projects a PIL image at random.

    Args:
        distortion_scale: greatest share of half the image that a corner moves by, in [0, 1].
        prob: probability of it.
        interpolation: interpolation.
    """

    is_random = True

    def __init__(
        self,
        distortion_scale: float = 0.5,
        prob: float = 0.5,
        interpolation: Inter = Inter.BICUBIC,
    ) -> None:
        owner = "RandomPerspective"
        check_type(owner, "distortion_scale", distortion_scale, float)
        check_type(owner, "prob", prob, float)
        check_interval(owner, "distortion_scale", distortion_scale, 0.0, 1.0)
        check_interval(owner, "prob", prob, 0.0, 1.0)
        check_type(owner, "interpolation", interpolation, Inter)
        if interpolation not in _PIL_RESAMPLING:
            raise located(
                TypeError, f"For '{owner}': the interpolation {interpolation!r} is not supported."
            )
        self.distortion_scale, self.prob, self.interpolation = distortion_scale, prob, interpolation

    def _apply(self, image: Any) -> Any:
        if not is_pil(image):
            raise self._fail("Input image should be a Pillow image.", ValueError)
        rng = draw()
        if rng.random() >= self.prob:
            return image
        width, height = image.size
        wide = int(self.distortion_scale * (width // 2)) + 1
        tall = int(self.distortion_scale * (height // 2)) + 1
        corners = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        moved = []
        for x, y in corners:
            by_x, by_y = (int(value) for value in rng.integers((wide, tall)))
            moved.append((abs(x - by_x), abs(y - by_y)))
        return project_pil(image, corners, moved, self.interpolation)
