"""Boxes of objects: encoding, validity and overlap, also of rotated ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
FOUR_ZEROS = (0.0, 0.0, 0.0, 0.0)
FOUR_ONES = (1.0, 1.0, 1.0, 1.0)


def _four_columns(name: str, x: Array, owner: str) -> None:
    if x.ndim != 2 or x.shape[1] != 4:
        raise located(
            ValueError, f"For primitive[{owner}], '{name}' must be (n, 4), but got shape {x.shape}."
        )


def _pair(first: str, a: Array, second: str, b: Array, owner: str) -> None:
    for name, x in ((first, a), (second, b)):
        _four_columns(name, x, owner)
        checks.floating(name, x.dtype, owner)
    checks.same_dtype(owner, **{first: a.dtype, second: b.dtype})


def _numbers(name: str, value: Any, count: int, owner: str) -> tuple[float, ...]:
    checks.of_type(name, value, tuple, owner)
    if len(value) != count:
        raise located(
            ValueError, f"For '{owner}', the '{name}' must have {count} elements, but got {value}."
        )
    return tuple(float(checks.of_type(name, v, (float, int), owner)) for v in value)


def _middles(boxes: Array) -> tuple[Array, Array]:
    """Give centres and sizes, (n, 2) each; the far corner belongs to a box."""
    low, high = boxes[:, :2], boxes[:, 2:]
    return (low + high) * np.asarray(0.5, boxes.dtype), high - low + np.asarray(1, boxes.dtype)


class BoundingBoxEncode(Primitive):
    """Differences of true boxes from anchors (MindSpore: ``ops.BoundingBoxEncode``).

    Args:
        means: four numbers that are subtracted.
        stds: four numbers that are divided by.
    """

    means: Any = FOUR_ZEROS
    stds: Any = FOUR_ONES

    def __post_init__(self) -> None:
        for name in ("means", "stds"):
            set_fields(self, **{name: _numbers(name, getattr(self, name), 4, self.name)})

    def compute(self, anchor_box: Array, groundtruth_box: Array) -> Array:
        """Encode (n, 4), as x1, y1, x2, y2, to (n, 4): moves and logarithms of factors."""
        _pair("anchor_box", anchor_box, "groundtruth_box", groundtruth_box, self.name)
        checks.same_shape(
            self.name, anchor_box=anchor_box.shape, groundtruth_box=groundtruth_box.shape
        )
        (place, size), (target, wanted) = _middles(anchor_box), _middles(groundtruth_box)
        deltas = jnp.concatenate([(target - place) / size, jnp.log(wanted / size)], 1)
        dtype = anchor_box.dtype
        return (deltas - jnp.asarray(self.means, dtype)) / jnp.asarray(self.stds, dtype)


def bounding_box_encode(
    anchor_box: Any, groundtruth_box: Any, means: Any = FOUR_ZEROS, stds: Any = FOUR_ONES
) -> Tensor:
    """Encode true boxes as differences from anchors (MindSpore: ``ops.bounding_box_encode``).

    Args:
        anchor_box: (n, 4), float: x1, y1, x2, y2.
        groundtruth_box: (n, 4), of the same dtype.
        means: four numbers that are subtracted.
        stds: four numbers that are divided by.

    Returns:
        Tensor (n, 4).

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a shape does not fit.
    """
    return BoundingBoxEncode(means, stds)(anchor_box, groundtruth_box)


class BoundingBoxDecode(Primitive):
    """Boxes of differences from anchors (MindSpore: ``ops.BoundingBoxDecode``).

    Args:
        max_shape: (height, width) that boxes are cut to.
        means: four numbers that are added.
        stds: four numbers that are multiplied by.
        wh_ratio_clip: the least factor of a size, and the inverse of the largest.
    """

    max_shape: Any
    means: Any = FOUR_ZEROS
    stds: Any = FOUR_ONES
    wh_ratio_clip: float = 0.016

    def __post_init__(self) -> None:
        for name, count in (("max_shape", 2), ("means", 4), ("stds", 4)):
            set_fields(self, **{name: _numbers(name, getattr(self, name), count, self.name)})
        checks.of_type("wh_ratio_clip", self.wh_ratio_clip, float, self.name)

    def compute(self, anchor_box: Array, deltas: Array) -> Array:
        """Decode (n, 4) to boxes (n, 4), as x1, y1, x2, y2."""
        _pair("anchor_box", anchor_box, "deltas", deltas, self.name)
        checks.same_shape(self.name, anchor_box=anchor_box.shape, deltas=deltas.shape)
        dtype = anchor_box.dtype
        deltas = deltas * jnp.asarray(self.stds, dtype) + jnp.asarray(self.means, dtype)
        limit = np.asarray(abs(math.log(self.wh_ratio_clip)), dtype)
        place, size = _middles(anchor_box)
        place = place + size * deltas[:, :2]
        size = size * jnp.exp(jnp.clip(deltas[:, 2:], -limit, limit))
        half = np.asarray(0.5, dtype)
        reach = size * half - half
        height, width = self.max_shape
        most = jnp.asarray([width, height, width, height], dtype)
        return jnp.clip(jnp.concatenate([place - reach, place + reach], 1), 0, most)


def bounding_box_decode(
    anchor_box: Any,
    deltas: Any,
    max_shape: Any,
    means: Any = FOUR_ZEROS,
    stds: Any = FOUR_ONES,
    wh_ratio_clip: float = 0.016,
) -> Tensor:
    """Decode differences from anchors to boxes (MindSpore: ``ops.bounding_box_decode``).

    Args:
        anchor_box: (n, 4), float: x1, y1, x2, y2.
        deltas: (n, 4), of the same dtype.
        max_shape: (height, width) that boxes are cut to.
        means: four numbers that are added.
        stds: four numbers that are multiplied by.
        wh_ratio_clip: the least factor of a size, and the inverse of the largest.

    Returns:
        Tensor (n, 4).

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a shape does not fit.
    """
    return BoundingBoxDecode(max_shape, means, stds, wh_ratio_clip)(anchor_box, deltas)


class CheckValid(Primitive):
    """Whether boxes lie inside of an image (MindSpore: ``ops.CheckValid``)."""

    def compute(self, bboxes: Array, img_metas: Array) -> Array:
        """Tell it for (n, 4), with height, width and ratio of the image, (3,)."""
        _four_columns("bboxes", bboxes, "CheckValid")
        if img_metas.shape != (3,):
            raise located(
                ValueError,
                f"For 'CheckValid', the shape of 'img_metas' must be (3,), but got "
                f"{img_metas.shape}.",
            )
        checks.same_dtype("CheckValid", bboxes=bboxes.dtype, img_metas=img_metas.dtype)
        if bboxes.dtype in (np.int32, np.int64) or from_np(bboxes.dtype).kind == "bool":
            raise located(
                TypeError,
                "For primitive[CheckValid], the input argument[bboxes] must be a type of "
                f"{{Tensor[Float16], Tensor[Float32]}}, but got Tensor[{from_np(bboxes.dtype)}].",
            )
        one = np.asarray(1, bboxes.dtype)
        height, width = img_metas[0] * img_metas[2] - one, img_metas[1] * img_metas[2] - one
        low = (bboxes[:, 0] >= 0) & (bboxes[:, 1] >= 0)
        return low & (bboxes[:, 2] <= width) & (bboxes[:, 3] <= height)


def check_valid(bboxes: Any, img_metas: Any) -> Tensor:
    """Tell which boxes lie inside of an image (MindSpore: ``ops.check_valid``).

    Args:
        bboxes: (n, 4), float: x1, y1, x2, y2.
        img_metas: (3,), of the same dtype: height, width and ratio of the image.

    Returns:
        Bool Tensor (n,).

    Raises:
        TypeError: a dtype is not supported.
        ValueError: a shape does not fit.
    """
    return CheckValid()(bboxes, img_metas)


class IOU(Primitive):
    """Intersection over union of boxes (MindSpore: ``ops.IOU``).

    Args:
        mode: ``"iou"``, or ``"iof"`` to divide by the area of the true box.
    """

    mode: str = "iou"

    def __post_init__(self) -> None:
        if self.mode not in ("iou", "iof"):
            raise located(
                KeyError,
                f"For 'IOU', only 'iou' or 'iof' are supported, but got 'mode': {self.mode}.",
            )

    def compute(self, anchor_boxes: Array, gt_boxes: Array) -> Array:
        """Compare (n, 4) and (m, 4), as x1, y1, x2, y2, to (m, n)."""
        _pair("anchor_boxes", anchor_boxes, "gt_boxes", gt_boxes, "IOU")
        wide = jnp.promote_types(anchor_boxes.dtype, np.float32)
        a, b = anchor_boxes.astype(wide)[None], gt_boxes.astype(wide)[:, None]
        low, high = jnp.maximum(a[..., :2], b[..., :2]), jnp.minimum(a[..., 2:], b[..., 2:])
        shared = jnp.prod(jnp.maximum(high - low + 1, 0), -1)
        area, true = (jnp.prod(x[..., 2:] - x[..., :2] + 1, -1) for x in (a, b))
        divisor = area + true - shared if self.mode == "iou" else true
        return (shared / divisor).astype(anchor_boxes.dtype)


def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Tensor:
    """Give the intersection over union of boxes (MindSpore: ``ops.iou``).

    Args:
        anchor_boxes: (n, 4), float: x1, y1, x2, y2; the far corner belongs to a box.
        gt_boxes: (m, 4), of the same dtype.
        mode: ``"iou"``, or ``"iof"`` to divide by the area of the true box.

    Returns:
        Tensor (m, n).

    Raises:
        KeyError: ``mode`` is unknown.
        ValueError: a shape does not fit.
    """
    return IOU(mode)(anchor_boxes, gt_boxes)


class RotatedIou(Primitive):
    """Overlap of rotated rectangles, angles in degrees (MindSpore: ``ops.rotated_iou``).

    Args:
        trans: rectangles are x1, y1, x2, y2, angle before they are turned, not x, y, w, h, angle.
        mode: 1 divides by the area of the first rectangle, another number by that of the union.
        is_cross: compare all with all, not one with one.
        v_threshold: how far outside a corner still counts as inside.
        e_threshold: how far past their ends edges still meet, as a fraction of their length.
    """

    trans: bool = False
    mode: int = 0
    is_cross: bool = True
    v_threshold: float = 0.0
    e_threshold: float = 0.0

    def compute(self, boxes: Array, query_boxes: Array) -> Array:
        """Compare (B, N, 5) and (B, K, 5) to (B, N, K), or to (B, N) one with one."""
        owner = "rotated_iou"
        for name, x in (("boxes", boxes), ("query_boxes", query_boxes)):
            checks.floating(name, x.dtype, owner)
            if x.ndim != 3 or x.shape[2] != 5:
                raise located(
                    ValueError, f"For '{owner}', '{name}' must be (B, N, 5), not {x.shape}."
                )
        if boxes.shape[0] != query_boxes.shape[0] or (
            not self.is_cross and boxes.shape != query_boxes.shape
        ):
            raise located(
                ValueError,
                f"For '{owner}', the shapes of 'boxes' and 'query_boxes' do not fit: {boxes.shape} "
                f"and {query_boxes.shape}.",
            )
        wide = jnp.promote_types(boxes.dtype, np.float32)
        a, b = boxes.astype(wide), query_boxes.astype(wide)
        one = jax.vmap(self._pair)
        if self.is_cross:
            one = jax.vmap(jax.vmap(self._pair, (None, 0)), (0, None))
        return jax.vmap(one)(a, b).astype(boxes.dtype)

    def _corners(self, box: Array) -> tuple[Array, Array]:
        """Give the corners (4, 2), turning one way, and the area."""
        if self.trans:
            centre, size = (box[:2] + box[2:4]) / 2, jnp.abs(box[2:4] - box[:2])
        else:
            centre, size = box[:2], jnp.abs(box[2:4])
        angle = box[4] * np.asarray(math.pi / 180, box.dtype)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        signs = jnp.asarray([[-1, -1], [1, -1], [1, 1], [-1, 1]], box.dtype)
        x, y = (signs * size / 2).T
        return jnp.stack([x * cos - y * sin, x * sin + y * cos], 1) + centre, size[0] * size[1]

    def _inside(self, points: Array, corners: Array) -> Array:
        edges = jnp.roll(corners, -1, 0) - corners
        away = points[:, None] - corners
        cross = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
        length = jnp.maximum(jnp.sqrt((edges**2).sum(1)), np.finfo(points.dtype).tiny)
        slack = np.asarray(self.v_threshold, points.dtype) + 1e-6 * length
        return (cross / length >= -slack).all(1)

    def _pair(self, first: Array, second: Array) -> Array:
        (a, area_a), (b, area_b) = self._corners(first), self._corners(second)
        # The corners of each inside the other, and the crossings of edges, span the overlap.
        start, step = a[:, None], (jnp.roll(a, -1, 0) - a)[:, None]
        other, along = b[None], (jnp.roll(b, -1, 0) - b)[None]
        cross = step[..., 0] * along[..., 1] - step[..., 1] * along[..., 0]
        between = other - start
        parallel = jnp.abs(cross) < 1e-12
        safe = jnp.where(parallel, 1, cross)
        t = (between[..., 0] * along[..., 1] - between[..., 1] * along[..., 0]) / safe
        u = (between[..., 0] * step[..., 1] - between[..., 1] * step[..., 0]) / safe
        slack = self.e_threshold
        meets = ~parallel & (t >= -slack) & (t <= 1 + slack) & (u >= -slack) & (u <= 1 + slack)
        crossings = (start + t[..., None] * step).reshape(16, 2)
        points = jnp.concatenate([a, b, crossings])
        valid = jnp.concatenate([self._inside(a, b), self._inside(b, a), meets.reshape(16)])
        count = jnp.maximum(valid.sum(), 1).astype(points.dtype)
        middle = jnp.where(valid[:, None], points, 0).sum(0) / count
        away = jnp.where(valid[:, None], points - middle, 0)
        flat = (away == 0).all(1)
        angle = jnp.arctan2(away[:, 1], jnp.where(flat, 1, away[:, 0]))
        order = jnp.argsort(jnp.where(valid, angle, np.inf))
        ring, kept = away[order], valid[order]
        # Points that do not count are put onto the first, where they span nothing.
        ring = jnp.where(kept[:, None], ring, ring[0])
        after = jnp.roll(ring, -1, 0)
        shared = jnp.abs((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum()) / 2
        divisor = area_a if self.mode == 1 else area_a + area_b - shared
        return jnp.where(divisor > 0, shared / jnp.where(divisor > 0, divisor, 1), 0)


def rotated_iou(
    boxes: Any,
    query_boxes: Any,
    trans: bool = False,
    mode: int = 0,
    is_cross: bool = True,
    v_threshold: float = 0.0,
    e_threshold: float = 0.0,
) -> Tensor:
    """Give the overlap of rotated rectangles (MindSpore: ``ops.rotated_iou``).

    Args:
        boxes: (B, N, 5), float: x, y, width, height of the unturned rectangle around its centre,
            and its angle in degrees.
        query_boxes: (B, K, 5).
        trans: rectangles are x1, y1, x2, y2 before they are turned, and the angle.
        mode: 1 divides by the area of the first rectangle, another number by that of the union.
        is_cross: compare all with all, not one with one.
        v_threshold: how far outside a corner still counts as inside.
        e_threshold: how far past their ends edges still meet, as a fraction of their length.

    Returns:
        Tensor (B, N, K), or (B, N) one with one.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a shape does not fit.
    """
    owner = "rotated_iou"
    checks.boolean("trans", trans, owner)
    checks.boolean("is_cross", is_cross, owner)
    checks.of_type("mode", mode, int, owner)
    thresholds = [
        float(checks.of_type(name, value, (float, int), owner))
        for name, value in (("v_threshold", v_threshold), ("e_threshold", e_threshold))
    ]
    return RotatedIou(trans, mode, is_cross, *thresholds)(boxes, query_boxes)
