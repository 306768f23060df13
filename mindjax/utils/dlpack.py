"""Tensors for and from other libraries, by DLPack (MindSpore: ``mindspore.utils.dlpack``)."""

from __future__ import annotations

from typing import Any

from mindjax.tensor import Tensor


def from_dlpack(dlpack: Any) -> Tensor:
    """Make a Tensor of another library's; its values are copied.

    Args:
        dlpack: capsule, or object with ``__dlpack__``.
    """
    return Tensor.from_dlpack(dlpack)


def to_dlpack(tensor: Tensor) -> Any:
    """Give a Tensor's values as a capsule, without a copy.

    Args:
        tensor: the Tensor.
    """
    return tensor.to_dlpack()
