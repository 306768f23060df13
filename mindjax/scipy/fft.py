"""Cosine transforms of the second kind, orthonormal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.ops.spectral import cosine
from mindjax.ops.spectral.transforms import checked_sizes

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


def _one(op: str, cls: Any, x: Any, type: Any, n: Any, axis: Any, norm: Any) -> Any:
    cosine.checked_kind(op, type, norm)
    sizes = None if n is None else checked_sizes(op, "n", (n,))
    return cls(sizes, (checks.integer("axis", axis, op),))(x)


def _many(op: str, cls: Any, x: Any, type: Any, s: Any, axes: Any, norm: Any) -> Any:
    cosine.checked_kind(op, type, norm)
    places = None if axes is None else checks.integers("axes", axes, op)
    return cls(checked_sizes(op, "s", s), places)(x)


def dct(
    x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Tensor:
    """Take the cosine transform along an axis (MindSpore: ``scipy.fft.dct``).

    Args:
        x: Tensor of integers, floating-point or complex numbers.
        type: must be 2.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: must be None or ``"ortho"``: both mean that.

    Returns:
        Tensor of floating-point or complex numbers.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``axis`` no integer.
        ValueError: ``type``, ``norm`` or ``n`` is another, or there is no such axis.
    """
    return _one("dct", cosine.DCT, x, type, n, axis, norm)


def idct(
    x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Tensor:
    """Undo `dct` (MindSpore: ``scipy.fft.idct``).

    Args:
        x: Tensor of integers, floating-point or complex numbers.
        type: must be 2.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: must be None or ``"ortho"``: both mean that.

    Returns:
        Tensor of floating-point or complex numbers.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``axis`` no integer.
        ValueError: ``type``, ``norm`` or ``n`` is another, or there is no such axis.
    """
    return _one("idct", cosine.IDCT, x, type, n, axis, norm)


def dctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Take the cosine transform along axes (MindSpore: ``scipy.fft.dctn``).

    Args:
        x: Tensor of integers, floating-point or complex numbers.
        type: must be 2.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: must be None or ``"ortho"``: both mean that.

    Returns:
        Tensor of floating-point or complex numbers.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: ``type``, ``norm`` or a size is another, or an axis is not there or repeats.
    """
    return _many("dctn", cosine.DCTN, x, type, s, axes, norm)


def idctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Undo `dctn` (MindSpore: ``scipy.fft.idctn``).

    Args:
        x: Tensor of integers, floating-point or complex numbers.
        type: must be 2.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: must be None or ``"ortho"``: both mean that.

    Returns:
        Tensor of floating-point or complex numbers.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: ``type``, ``norm`` or a size is another, or an axis is not there or repeats.
    """
    return _many("idctn", cosine.IDCTN, x, type, s, axes, norm)
