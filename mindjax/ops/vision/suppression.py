"""Non-maximum suppression, and random boxes."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key, seeded
from mindjax.ops.bound import set_fields
from mindjax.ops.masking import need_values
from mindjax.ops.shape import shape_of

Array = jax.Array


def overlaps(boxes: Array) -> Array:
    """Give the intersection over union of every two boxes (n, 4), two opposite corners each."""
    low = jnp.minimum(boxes[:, :2], boxes[:, 2:])
    high = jnp.maximum(boxes[:, :2], boxes[:, 2:])
    area = jnp.prod(high - low, 1)
    inner = jnp.minimum(high[:, None], high) - jnp.maximum(low[:, None], low)
    shared = jnp.prod(jnp.maximum(inner, 0), -1)
    union = area[:, None] + area - shared
    return jnp.where(union > 0, shared / jnp.where(union > 0, union, 1), 0)


def greedy(overlap: Array, valid: Array, threshold: Any, most: Any) -> Array:
    """Keep boxes, in their order, that overlap none before that is kept by more than a threshold.

    Args:
        overlap: (n, n).
        valid: (n,), boxes that may be kept at all.
        threshold: of the overlap.
        most: number of boxes to keep.

    Returns:
        Bool array (n,).
    """
    n = overlap.shape[0]

    def step(i: Any, kept: Array) -> Array:
        hit = (kept & (overlap[i] > threshold)).any()
        keep = valid[i] & ~hit & (kept.sum() < most)
        return kept.at[i].set(keep)

    return jax.lax.fori_loop(0, n, step, jnp.zeros(n, np.bool_))


class NMSWithMask(Primitive):
    """Non-maximum suppression with a mask of fixed size (MindSpore: ``ops.NMSWithMask``).

    Args:
        iou_threshold: overlap above which the box of the lower score goes.
    """

    iou_threshold: float = 0.5

    def __post_init__(self) -> None:
        checks.of_type("iou_threshold", self.iou_threshold, float, "NMSWithMask")

    def compute(self, bboxes: Array) -> tuple[Array, Array, Array]:
        """Sort boxes (n, 5), as x1, y1, x2, y2, score, or (n, 8) by falling score.

        Returns:
            The sorted boxes, their indices 0 to n - 1, Int32, and the mask of those that stay.
        """
        checks.floating("bboxes", bboxes.dtype, "NMSWithMask")
        if bboxes.ndim != 2 or bboxes.shape[1] not in (5, 8) or not bboxes.shape[0]:
            raise located(
                ValueError,
                "For NMSWithMask, the shape of bboxes must be (n, 5) or (n, 8) with n above 0, but "
                f"got {bboxes.shape}.",
            )
        n = bboxes.shape[0]
        ranked = bboxes[jnp.argsort(-bboxes[:, 4], stable=True)]
        wide = ranked[:, :4].astype(jnp.promote_types(bboxes.dtype, np.float32))
        low, high = wide[:, :2], wide[:, 2:]
        area = jnp.prod(high - low, 1)
        inner = jnp.minimum(high[:, None], high) - jnp.maximum(low[:, None], low)
        shared = jnp.prod(jnp.maximum(inner, 0), -1)
        union = area[:, None] + area - shared
        overlap = jnp.where(union > 0, shared / jnp.where(union > 0, union, 1), 0)
        mask = greedy(overlap, jnp.ones(n, np.bool_), self.iou_threshold, n)
        return ranked, jnp.arange(n, dtype=np.int32), mask


_KINDS = {"int": "Int32", "float": "Float32"}


def _scalar(name: str, value: Array, kind: str, owner: str) -> Any:
    if value.ndim:
        raise located(
            ValueError, f"For '{owner}', the rank of '{name}' must be 0, but got {value.ndim}."
        )
    if from_np(value.dtype).kind != kind:
        raise located(
            TypeError,
            f"For '{owner}', the dtype of '{name}' must be {_KINDS[kind]}, but got "
            f"{from_np(value.dtype)}.",
        )
    return value.item()


def _selected(overlap: Array, scores: Array, most: int, threshold: float, least: float) -> Array:
    """Give the indices of the boxes that stay, by falling score, Int32."""
    order = jnp.argsort(-scores, stable=True)
    valid = scores[order] > least
    kept = greedy(overlap[order][:, order], valid, threshold, most)
    return order[np.asarray(kept)].astype(np.int32)


class NonMaxSuppressionV3(Primitive):
    """Indices of the boxes that non-maximum suppression keeps.

    MindSpore: ``ops.NonMaxSuppressionV3``.
    """

    concrete: ClassVar[bool] = True

    def compute(
        self,
        boxes: Array,
        scores: Array,
        max_output_size: Array,
        iou_threshold: Array,
        score_threshold: Array,
    ) -> Array:
        """Select from boxes (n, 4), two opposite corners each, with scores (n,).

        Returns:
            (m,), Int32, by falling score.
        """
        owner = "NonMaxSuppressionV3"
        need_values(owner, "use ops.NMSWithMask", boxes, scores, max_output_size)
        for name, x in (("boxes", boxes), ("scores", scores)):
            checks.floating(name, x.dtype, owner)
        checks.same_dtype(owner, boxes=boxes.dtype, scores=scores.dtype)
        if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
            raise located(
                ValueError,
                f"For '{owner}', 'boxes' must be (n, 4) and 'scores' (n,), but got shapes "
                f"{boxes.shape} and {scores.shape}.",
            )
        most = max(_scalar("max_output_size", max_output_size, "int", owner), 0)
        threshold = _scalar("iou_threshold", iou_threshold, "float", owner)
        least = _scalar("score_threshold", score_threshold, "float", owner)
        checks.in_range("iou_threshold", threshold, 0, 1, owner, "[]")
        wide = boxes.astype(jnp.promote_types(boxes.dtype, np.float32))
        return _selected(overlaps(wide), scores, most, threshold, least)


class NonMaxSuppressionWithOverlaps(Primitive):
    """Indices of the boxes that suppression with given overlaps keeps.

    MindSpore: ``ops.NonMaxSuppressionWithOverlaps``.
    """

    concrete: ClassVar[bool] = True

    def compute(
        self,
        overlaps: Array,
        scores: Array,
        max_output_size: Array,
        overlap_threshold: Array,
        score_threshold: Array,
    ) -> Array:
        """Select from boxes with overlaps (n, n) and scores (n,).

        Returns:
            (m,), Int32, by falling score.
        """
        owner = "NonMaxSuppressionWithOverlaps"
        need_values(owner, "use ops.NMSWithMask", overlaps, scores, max_output_size)
        for name, x in (("overlaps", overlaps), ("scores", scores)):
            checks.floating(name, x.dtype, owner)
        n = scores.shape[0] if scores.ndim == 1 else -1
        if overlaps.shape != (n, n):
            raise located(
                ValueError,
                f"For '{owner}', 'overlaps' must be (n, n) and 'scores' (n,), but got shapes "
                f"{overlaps.shape} and {scores.shape}.",
            )
        most = _scalar("max_output_size", max_output_size, "int", owner)
        if most < 0:
            raise located(
                ValueError,
                f"For '{owner}', the input max_output_size must be non-negative, but got {most}.",
            )
        threshold = _scalar("overlap_threshold", overlap_threshold, "float", owner)
        least = _scalar("score_threshold", score_threshold, "float", owner)
        return _selected(overlaps, scores, most, threshold, least)


class CombinedNonMaxSuppression(Primitive):
    """Non-maximum suppression of every class, joined.

    MindSpore: ``ops.CombinedNonMaxSuppression``.

    Args:
        pad_per_class: give no more boxes than all classes together may have.
        clip_boxes: cut the boxes to [0, 1].
    """

    pad_per_class: bool = False
    clip_boxes: bool = True
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.boolean("pad_per_class", self.pad_per_class, "CombinedNonMaxSuppression")
        checks.boolean("clip_boxes", self.clip_boxes, "CombinedNonMaxSuppression")

    def compute(
        self,
        boxes: Array,
        scores: Array,
        max_output_size_per_class: Array,
        max_total_size: Array,
        iou_threshold: Array,
        score_threshold: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Select from boxes (N, n, q, 4) with scores (N, n, classes); q is 1 or the classes.

        Returns:
            Boxes (N, m, 4), scores (N, m) and classes (N, m), Float32, by falling score and filled
            up with zeros, and their number (N,), Int32.
        """
        owner = "CombinedNonMaxSuppression"
        limits = (max_output_size_per_class, max_total_size)
        need_values(owner, "use ops.NMSWithMask", boxes, scores, *limits)
        if boxes.ndim != 4 or scores.ndim != 3 or boxes.shape[3] != 4:
            raise located(
                ValueError,
                f"For '{owner}', 'boxes' must be (N, n, q, 4) and 'scores' (N, n, classes), but "
                f"got shapes {boxes.shape} and {scores.shape}.",
            )
        batch, n, classes = scores.shape
        if boxes.shape[:2] != (batch, n) or boxes.shape[2] not in (1, classes):
            raise located(
                ValueError,
                f"For '{owner}', the sizes of 'boxes' {boxes.shape} do not fit those of 'scores' "
                f"{scores.shape}.",
            )
        for name, x in (("boxes", boxes), ("scores", scores)):
            if x.dtype != np.float32:
                raise located(
                    TypeError,
                    f"For '{owner}', the dtype of '{name}' must be Float32, not "
                    f"{from_np(x.dtype)}.",
                )
        each = _scalar("max_output_size_per_class", max_output_size_per_class, "int", owner)
        total = _scalar("max_total_size", max_total_size, "int", owner)
        threshold = _scalar("iou_threshold", iou_threshold, "float", owner)
        least = _scalar("score_threshold", score_threshold, "float", owner)
        for name, value in (("max_output_size_per_class", each), ("max_total_size", total)):
            if value < 0:
                raise located(
                    ValueError, f"For '{owner}', the '{name}' must be at least 0, but got {value}."
                )
        checks.in_range("iou_threshold", threshold, 0, 1, owner, "[]")
        size = min(total, each * classes) if self.pad_per_class else total

        def one(boxes: Array, scores: Array) -> tuple[Array, ...]:
            """Select within one class: scores (n,), which of them stay in place."""
            order = jnp.argsort(-scores, stable=True)
            kept = greedy(overlaps(boxes[order]), scores[order] > least, threshold, each)
            return boxes[order], jnp.where(kept, scores[order], -np.inf)

        spread = jnp.broadcast_to(boxes, (batch, n, classes, 4))
        per_class = jax.vmap(jax.vmap(one, (1, 1)), (0, 0))
        chosen, ranks = per_class(spread, scores)
        ids = jnp.broadcast_to(jnp.arange(classes, dtype=np.float32)[:, None], (classes, n))
        flat = ranks.reshape(batch, -1)
        order = jnp.argsort(-flat, axis=1, stable=True)[:, :size]
        short = max(size - order.shape[1], 0)
        values = jnp.take_along_axis(flat, order, 1)
        found = values > -np.inf
        places = jnp.take_along_axis(chosen.reshape(batch, -1, 4), order[..., None], 1)
        if self.clip_boxes:
            places = jnp.clip(places, 0, 1)
        kinds = ids.reshape(-1)[order]
        results = (
            jnp.where(found[..., None], places, 0),
            jnp.where(found, values, 0),
            jnp.where(found, kinds, 0),
        )
        padded = [jnp.pad(x, [(0, 0), (0, short)] + [(0, 0)] * (x.ndim - 2)) for x in results]
        count = found.sum(1).astype(np.int32)
        return padded[0], padded[1], padded[2], count


class SampleDistortedBoundingBoxV2(Primitive):
    """A random box that covers enough of an object.

    MindSpore: ``ops.SampleDistortedBoundingBoxV2``.

    Args:
        seed: with ``seed2``, seed of a stream of its own; both 0 for the global stream.
        seed2: see ``seed``.
        aspect_ratio_range: least and largest ratio of width and height.
        area_range: least and largest fraction of the image, in (0, 1].
        max_attempts: boxes that are drawn before the whole image is taken.
        use_image_if_no_bounding_boxes: take the image for the object if there are no boxes.
    """

    seed: int = 0
    seed2: int = 0
    aspect_ratio_range: Any = (0.75, 1.33)
    area_range: Any = (0.05, 1.0)
    max_attempts: int = 100
    use_image_if_no_bounding_boxes: bool = False

    def __post_init__(self) -> None:
        owner = self.name
        for name in ("seed", "seed2"):
            checks.of_type(name, getattr(self, name), int, owner)
        checks.positive_int("max_attempts", self.max_attempts, owner)
        name = "use_image_if_no_bounding_boxes"
        checks.boolean(name, self.use_image_if_no_bounding_boxes, owner)
        for name, most in (("aspect_ratio_range", np.inf), ("area_range", 1.0)):
            values = checks.of_type(name, getattr(self, name), (list, tuple), owner)
            for value in values:
                checks.of_type(name, value, float, owner)
            if len(values) != 2 or not 0 < values[0] < values[1] <= most:
                raise located(
                    ValueError,
                    f"For '{owner}', the '{name}' must be two rising numbers above 0"
                    f"{' and up to 1' if most == 1 else ''}, but got {values}.",
                )
            set_fields(self, **{name: tuple(values)})
        if self.seed or self.seed2:
            self.__dict__["_generator"] = seeded(self.seed ^ (self.seed2 << 16))

    def __call__(self, image_size: Any, bounding_boxes: Any, min_object_covered: Any) -> Any:
        """Draw a box.

        Args:
            image_size: (3,), integers: height, width, channels.
            bounding_boxes: (batch, n, 4), Float32: y1, x1, y2, x2 in [0, 1].
            min_object_covered: Float32 of one element in [0, 1]: fraction of one of the boxes.

        Returns:
            Begin (y, x, 0) and size (height, width, -1) for ``ops.Slice``, and the box as fractions
            of the image, (1, 1, 4), Float32.
        """
        shape = shape_of(bounding_boxes)
        empty = len(shape) == 3 and 0 in shape[:2]
        if len(shape) != 3 or shape_of(image_size) != (3,) or (not empty and shape[2] != 4):
            raise located(
                ValueError,
                f"For '{self.name}', 'image_size' must be (3,) and 'bounding_boxes' (batch, n, 4), "
                f"but got shapes {shape_of(image_size)} and {shape}.",
            )
        if empty and not self.use_image_if_no_bounding_boxes:
            raise located(
                ValueError,
                f"For '{self.name}', there are no bounding boxes in a Tensor of shape {shape}: set "
                "use_image_if_no_bounding_boxes=True to take the whole image.",
            )
        generator = self.__dict__.get("_generator") or default_generator()
        inputs = (image_size, bounding_boxes, min_object_covered)
        return super().__call__(*inputs, *generator.next_key())

    def compute(
        self, image_size: Array, boxes: Array, covered: Array, seed: Array, offset: Array
    ) -> tuple[Array, Array, Array]:
        """Draw boxes with the key of one draw, and take the first that fits."""
        if covered.size != 1:
            raise located(
                ValueError,
                f"For '{self.name}', 'min_object_covered' must have 1 element, not {covered.size}.",
            )
        size = image_size[:2].astype(np.float32)
        if boxes.size:
            objects = boxes.reshape(-1, 4).astype(np.float32)
        else:
            objects = jnp.asarray([[0, 0, 1, 1]], np.float32)
        low, high = objects[:, :2] * size, objects[:, 2:] * size
        keys = jax.random.split(key(seed, offset), 4)
        count = (self.max_attempts,)
        ratios, areas = self.aspect_ratio_range, self.area_range
        ratio = jax.random.uniform(keys[0], count, np.float32, ratios[0], ratios[1])
        area = jax.random.uniform(keys[1], count, np.float32, areas[0], areas[1]) * size.prod()
        extent = jnp.round(jnp.stack([jnp.sqrt(area / ratio), jnp.sqrt(area * ratio)], 1))
        room = size - extent
        place = jnp.stack([jax.random.uniform(k, count, np.float32) for k in keys[2:]], 1)
        begin = jnp.floor(place * (room + 1))
        end = begin + extent
        inner = jnp.minimum(end[:, None], high) - jnp.maximum(begin[:, None], low)
        shared = jnp.prod(jnp.maximum(inner, 0), -1)
        whole = jnp.prod(high - low, -1)
        share = shared / jnp.maximum(whole, np.finfo(np.float32).tiny)
        enough = (share >= covered.reshape(())).any(1)
        wide = extent.prod(1)
        fits = enough & (room >= 0).all(1) & (extent > 0).all(1)
        fits = fits & (wide >= areas[0] * size.prod()) & (wide <= areas[1] * size.prod())
        first = jnp.argmax(fits)
        begin = jnp.where(fits.any(), begin[first], 0)
        extent = jnp.where(fits.any(), extent[first], size)
        dtype = image_size.dtype
        minus = np.asarray(-1, np.int64).astype(dtype)
        starts = jnp.concatenate([begin.astype(dtype), jnp.zeros(1, dtype)])
        sizes = jnp.concatenate([extent.astype(dtype), jnp.full(1, minus, dtype)])
        box = jnp.concatenate([begin / size, (begin + extent) / size])
        return starts, sizes, box.reshape(1, 1, 4)
