"""Tools beside the pipelines (MindSpore: ``dataset.utils``)."""

from mindjax.dataset.engine.line_reader import LineReader as LineReader
from mindjax.dataset.vision.drawing import imshow_det_bbox as imshow_det_bbox

__all__ = ["LineReader", "imshow_det_bbox"]
