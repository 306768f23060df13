"""Draws what a detector found into an image."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from mindjax.core.errors import located

_MASK_SHARE = 0.5
_ESCAPE = 27


def imshow_det_bbox(
    image: np.ndarray,
    bboxes: np.ndarray,
    labels: np.ndarray,
    segm: np.ndarray | None = None,
    class_names: Any = None,
    score_threshold: float = 0,
    bbox_color: tuple[int, ...] = (0, 255, 0),
    text_color: tuple[int, ...] = (203, 192, 255),
    mask_color: tuple[int, ...] = (128, 0, 128),
    thickness: int = 2,
    font_size: float = 0.8,
    show: bool = True,
    win_name: str = "win",
    wait_time: int = 2000,
    out_file: str | None = None,
) -> np.ndarray:
    """Draw boxes with their labels into an image, with OpenCV.

    Args:
        image: RGB image, (height, width, 3) or (3, height, width).
        bboxes: one row a box: left, top, width, height and perhaps its score.
        labels: one class a box, shape (n, 1).
        segm: one mask a box, shape (n, height, width).
        class_names: names of the classes, by their numbers.
        score_threshold: boxes of lower scores are left out.
        bbox_color: colour of the boxes, BGR.
        text_color: colour of the texts, BGR.
        mask_color: colour of the masks, BGR.
        thickness: width of the lines.
        font_size: size of the texts.
        show: whether a window shows the image.
        win_name: title of the window.
        wait_time: milliseconds that the window stays without a key.
        out_file: where the image is written to.

    Returns:
        The image that was drawn, BGR.

    Raises:
        ImportError: OpenCV is not installed.
        AssertionError: an argument has another shape or type.
    """
    assert isinstance(image, np.ndarray) and image.ndim == 3 and 3 in image.shape[::2], (
        "image must be a ndarray of shape (H, W, C) or (C, H, W) with three channels"
    )
    assert isinstance(bboxes, np.ndarray) and bboxes.ndim == 2 and bboxes.shape[1] in (4, 5), (
        "bboxes must be a ndarray of shape (N, 4) or (N, 5)"
    )
    assert isinstance(labels, np.ndarray) and labels.shape == (len(bboxes), 1), (
        "labels must be a ndarray of shape (N, 1)"
    )
    assert segm is None or (isinstance(segm, np.ndarray) and segm.ndim == 3), (
        "segm must be a ndarray of shape (M, H, W)"
    )
    assert class_names is None or isinstance(class_names, list | tuple | dict), (
        "class_names must be a list, a tuple or a dict"
    )
    for name, color in (("bbox", bbox_color), ("text", text_color), ("mask", mask_color)):
        assert isinstance(color, tuple) and len(color) == 3, f"{name}_color must be (B, G, R)"
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError:
        raise located(
            ImportError,
            'imshow_det_bbox draws with OpenCV: pip install "mindjax[vision]".',
        ) from None
    pixels = image if image.shape[2] == 3 else image.transpose(1, 2, 0)
    drawn = np.ascontiguousarray(pixels[..., ::-1]).astype(np.uint8)
    for place, box in enumerate(bboxes):
        score = float(box[4]) if len(box) == 5 else None
        if score is not None and score < score_threshold:
            continue
        if segm is not None and place < len(segm):
            mask = segm[place].astype(bool)
            mixed = drawn[mask] * (1 - _MASK_SHARE) + np.array(mask_color) * _MASK_SHARE
            drawn[mask] = mixed.astype(np.uint8)
        left, top, width, height = (int(value) for value in box[:4])
        corner = (left + width, top + height)
        cv2.rectangle(drawn, (left, top), corner, bbox_color, thickness=thickness)
        label = int(labels[place, 0])
        text = f"class {label}" if class_names is None else str(class_names[label])
        text += "" if score is None else f": {score:.2f}"
        font = cv2.FONT_HERSHEY_SIMPLEX
        cv2.putText(drawn, text, (left, max(top - 2, 0)), font, font_size, text_color)
    if out_file is not None:
        cv2.imwrite(out_file, drawn)
    if show:
        cv2.imshow(win_name, drawn)
        if cv2.waitKey(wait_time) == _ESCAPE:
            cv2.destroyAllWindows()
    return drawn
