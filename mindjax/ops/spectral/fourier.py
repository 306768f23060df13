"""The functions of the Fourier transforms: one axis, two axes, any axes, of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops.spectral import transforms
from mindjax.ops.spectral.transforms import transform_axes, transform_axis

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Take the Fourier transform along an axis (MindSpore: ``ops.fft``).

    Args:
        input: Tensor, floating-point, complex or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.FFT, "fft", input, n, dim, norm)


def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the Fourier transform along two axes (MindSpore: ``ops.fft2``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.FFT2, "fft2", input, s, dim, norm)


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Take the Fourier transform along axes (MindSpore: ``ops.fftn``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.FFTN, "fftn", input, s, dim, norm)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along an axis (MindSpore: ``ops.ifft``).

    Args:
        input: Tensor, floating-point, complex or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.IFFT, "ifft", input, n, dim, norm)


def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along two axes (MindSpore: ``ops.ifft2``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IFFT2, "ifft2", input, s, dim, norm)


def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Take the inverse Fourier transform along axes (MindSpore: ``ops.ifftn``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IFFTN, "ifftn", input, s, dim, norm)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Take half of the Fourier transform of real numbers along an axis (MindSpore: ``ops.rfft``).

    Args:
        input: Tensor, floating-point or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.RFFT, "rfft", input, n, dim, norm)


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take half of the Fourier transform of real numbers along two axes (MindSpore: ``ops.rfft2``).

    Args:
        input: Tensor, floating-point or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the last axis has size s[-1] // 2 +
        1.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.RFFT2, "rfft2", input, s, dim, norm)


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Take half of the Fourier transform of real numbers along axes (MindSpore: ``ops.rfftn``).

    Args:
        input: Tensor, floating-point or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the last axis has size s[-1] // 2 +
        1.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.RFFTN, "rfftn", input, s, dim, norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Undo `rfft` along an axis (MindSpore: ``ops.irfft``).

    Args:
        input: Tensor, floating-point, complex or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the axis has size n, by default 2 (m - 1)
        for m inputs.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.IRFFT, "irfft", input, n, dim, norm)


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Undo `rfft` along two axes (MindSpore: ``ops.irfft2``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the last axis has size s[-1], by default 2
        (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IRFFT2, "irfft2", input, s, dim, norm)


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Undo `rfft` along axes (MindSpore: ``ops.irfftn``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the last axis has size s[-1], by default 2
        (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IRFFTN, "irfftn", input, s, dim, norm)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along an axis (MindSpore: ``ops.hfft``).

    Args:
        input: Tensor, floating-point, complex or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the axis has size n, by default 2 (m - 1)
        for m inputs.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.HFFT, "hfft", input, n, dim, norm)


def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along two axes (MindSpore: ``ops.hfft2``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the last axis has size s[-1], by default 2
        (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.HFFT2, "hfft2", input, s, dim, norm)


def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Take the transform of a Hermitian signal along axes (MindSpore: ``ops.hfftn``).

    Args:
        input: Tensor, floating-point, complex or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Float32, or Float64 for double precision; the last axis has size s[-1], by default 2
        (m - 1) for m inputs.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.HFFTN, "hfftn", input, s, dim, norm)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Undo `hfft` along an axis (MindSpore: ``ops.ihfft``).

    Args:
        input: Tensor, floating-point or integer.
        n: size that the axis is padded with zeros or cut to.
        dim: the axis.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the axis has size n // 2 + 1.

    Raises:
        TypeError: the dtype is another, or ``n`` or ``dim`` is no integer.
        ValueError: there is no such axis, size or ``norm``.
    """
    return transform_axis(transforms.IHFFT, "ihfft", input, n, dim, norm)


def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """Undo `hfft` along two axes (MindSpore: ``ops.ihfft2``).

    Args:
        input: Tensor, floating-point or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the last axis has size s[-1] // 2 +
        1.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IHFFT2, "ihfft2", input, s, dim, norm)


def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Undo `hfft` along axes (MindSpore: ``ops.ihfftn``).

    Args:
        input: Tensor, floating-point or integer.
        s: sizes that the axes are padded with zeros or cut to.
        dim: the axes; by default the last ones as ``s`` counts, else all.
        norm: ``"backward"`` (the default) scales the inverse by 1 / n, ``"forward"`` the transform,
            ``"ortho"`` both by the root.

    Returns:
        Complex64, or Complex128 for double precision; the last axis has size s[-1] // 2 +
        1.

    Raises:
        TypeError: the dtype is another, or a size or an axis is no integer.
        ValueError: there is no such axis, size or ``norm``, or an axis repeats.
    """
    return transform_axes(transforms.IHFFTN, "ihfftn", input, s, dim, norm)
