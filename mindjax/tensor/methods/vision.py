"""Methods of images: sliding blocks."""

from __future__ import annotations

from mindjax.tensor.methods.late import Late


class VisionMethods:
    """Sliding blocks of images, taken out and added up."""

    __slots__ = ()

    col2im = Late()
    fold = Late()
    unfold = Late()
