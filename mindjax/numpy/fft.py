"""NumPy's Fourier transforms: those of `ops` with the names ``a`` and ``axis``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops.spectral import fourier, transforms

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


def fft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Take the Fourier transform along an axis (MindSpore: ``numpy.fft.fft``).

    Args:
        a: Tensor of numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.fft(a, n, axis, norm)


def ifft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along an axis (MindSpore: ``numpy.fft.ifft``).

    Args:
        a: Tensor of numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ifft(a, n, axis, norm)


def rfft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Take half of the transform of real numbers along an axis (MindSpore: ``numpy.fft.rfft``).

    Args:
        a: Tensor of real numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.rfft(a, n, axis, norm)


def irfft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Undo `rfft` along an axis (MindSpore: ``numpy.fft.irfft``).

    Args:
        a: Tensor of numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.irfft(a, n, axis, norm)


def hfft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along an axis (MindSpore: ``numpy.fft.hfft``).

    Args:
        a: Tensor of numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.hfft(a, n, axis, norm)


def ihfft(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Undo `hfft` along an axis (MindSpore: ``numpy.fft.ihfft``).

    Args:
        a: Tensor of real numbers.
        n: size that the axis is padded with zeros or cut to.
        axis: the axis.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ihfft(a, n, axis, norm)


def fft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the Fourier transform along two axes (MindSpore: ``numpy.fft.fft2``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.fft2(a, s, axes, norm)


def ifft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along two axes (MindSpore: ``numpy.fft.ifft2``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ifft2(a, s, axes, norm)


def rfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take half of the transform of real numbers along two axes (MindSpore: ``numpy.fft.rfft2``).

    Args:
        a: Tensor of real numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the last axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.rfft2(a, s, axes, norm)


def irfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Undo `rfft` along two axes (MindSpore: ``numpy.fft.irfft2``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the last axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.irfft2(a, s, axes, norm)


def hfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along two axes (MindSpore: ``numpy.fft.hfft2``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the last axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.hfft2(a, s, axes, norm)


def ihfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Undo `hfft` along two axes (MindSpore: ``numpy.fft.ihfft2``).

    Args:
        a: Tensor of real numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the last axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ihfft2(a, s, axes, norm)


def fftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Take the Fourier transform along axes (MindSpore: ``numpy.fft.fftn``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.fftn(a, s, axes, norm)


def ifftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along axes (MindSpore: ``numpy.fft.ifftn``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ifftn(a, s, axes, norm)


def rfftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Take half of the transform of real numbers along axes (MindSpore: ``numpy.fft.rfftn``).

    Args:
        a: Tensor of real numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the last axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.rfftn(a, s, axes, norm)


def irfftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Undo `rfft` along axes (MindSpore: ``numpy.fft.irfftn``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the last axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.irfftn(a, s, axes, norm)


def hfftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along axes (MindSpore: ``numpy.fft.hfftn``).

    Args:
        a: Tensor of numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Real Tensor; the last axis has size n, by default 2 (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.hfftn(a, s, axes, norm)


def ihfftn(a: Tensor, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Undo `hfft` along axes (MindSpore: ``numpy.fft.ihfftn``).

    Args:
        a: Tensor of real numbers.
        s: sizes that the axes are padded with zeros or cut to.
        axes: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default), ``"forward"`` or ``"ortho"``.

    Returns:
        Complex Tensor; the last axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or a size or an axis no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return fourier.ihfftn(a, s, axes, norm)


def fftshift(x: Tensor, axes: Any = None) -> Tensor:
    """Move frequency 0 to the middle (MindSpore: ``numpy.fft.fftshift``).

    Args:
        x: Tensor of any shape and dtype.
        axes: axis or axes; all by default.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: an axis is no integer.
        ValueError: there is no such axis.
    """
    return transforms.fftshift(x, axes)


def ifftshift(x: Tensor, axes: Any = None) -> Tensor:
    """Undo `fftshift` (MindSpore: ``numpy.fft.ifftshift``).

    Args:
        x: Tensor of any shape and dtype.
        axes: axis or axes; all by default.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: an axis is no integer.
        ValueError: there is no such axis.
    """
    return transforms.ifftshift(x, axes)


fftfreq = transforms.fftfreq
rfftfreq = transforms.rfftfreq
