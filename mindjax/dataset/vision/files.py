"""Files of images, and their bytes; these need pillow."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.codec import pillow
from mindjax.dataset.vision.enums import ImageReadMode


def _array(owner: str, name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    raise located(
        TypeError,
        f"For '{owner}': Input {name} is not of type numpy.ndarray or Tensor, but got: "
        f"{type(value)}.",
    )


def _typed(owner: str, name: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise located(
            TypeError,
            f"For '{owner}': Input {name} is not of type {kind}, but got: {type(value)}.",
        )
    return value


def _encoded(owner: str, image: Any, form: str, **settings: Any) -> bytes:
    pixels = _array(owner, "image", image)
    if pixels.dtype != np.uint8:
        raise located(
            RuntimeError,
            f"For '{owner}': The type of the image should be uint8, but got {pixels.dtype}.",
        )
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)):
        raise located(
            RuntimeError,
            f"For '{owner}': The image should be <H,W>, <H,W,1> or <H,W,3>, but got shape "
            f"{pixels.shape}.",
        )
    written = io.BytesIO()
    pillow(owner).fromarray(pixels).save(written, form, **settings)
    return written.getvalue()


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """Encode an image as JPEG.

    Args:
        image: array or Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3) in RGB.
        quality: quality, in [1, 100].

    Returns:
        Array of uint8, the bytes of the file.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: the image or the quality is none.
    """
    _typed("encode_jpeg", "quality", quality, int)
    if not 1 <= quality <= 100:
        raise located(
            RuntimeError, f"For 'encode_jpeg': Invalid quality {quality}, should be in [1, 100]."
        )
    data = _encoded("encode_jpeg", image, "JPEG", quality=quality)
    return np.frombuffer(data, np.uint8)


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """Encode an image as PNG.

    Args:
        image: array or Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3) in RGB.
        compression_level: effort, in [0, 9].

    Returns:
        Array of uint8, the bytes of the file.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: the image or the level is none.
    """
    _typed("encode_png", "compression_level", compression_level, int)
    if not 0 <= compression_level <= 9:
        raise located(
            RuntimeError,
            f"For 'encode_png': Invalid compression_level {compression_level}, should be in 0..9.",
        )
    data = _encoded("encode_png", image, "PNG", compress_level=compression_level)
    return np.frombuffer(data, np.uint8)


def write_file(filename: str, data: Any) -> None:
    """Write bytes to a file.

    Args:
        filename: path of the file.
        data: array or Tensor of uint8, of one axis.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: the data is no row of bytes, or the file cannot be written.
    """
    _typed("write_file", "filename", filename, str)
    content = _array("write_file", "data", data)
    if content.dtype != np.uint8 or content.ndim != 1:
        raise located(
            RuntimeError,
            "For 'write_file': The data should be one-dimensional uint8, but got "
            f"{content.dtype} of shape {content.shape}.",
        )
    _write("write_file", filename, content.tobytes())


def _write(owner: str, filename: str, content: bytes) -> None:
    try:
        with open(filename, "wb") as out:
            out.write(content)
    except OSError as error:
        raise located(
            RuntimeError, f"For '{owner}': Failed to write to the file: {filename}: {error}."
        ) from None


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an image to a JPEG file.

    Args:
        filename: path of the file.
        image: image of ``encode_jpeg``.
        quality: quality, in [1, 100].
    """
    _typed("write_jpeg", "filename", filename, str)
    _write("write_jpeg", filename, encode_jpeg(image, quality).tobytes())


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an image to a PNG file.

    Args:
        filename: path of the file.
        image: image of ``encode_png``.
        compression_level: effort, in [0, 9].
    """
    _typed("write_png", "filename", filename, str)
    _write("write_png", filename, encode_png(image, compression_level).tobytes())


def read_file(filename: str) -> np.ndarray:
    """Read the bytes of a file.

    Args:
        filename: path of the file.

    Returns:
        Array of uint8, of one axis.

    Raises:
        TypeError: the path is no ``str``.
        RuntimeError: there is no such file, or it is empty.
    """
    _typed("read_file", "filename", filename, str)
    if not os.path.isfile(filename):
        raise located(
            RuntimeError, f"For 'read_file': Invalid file path, {filename} does not exist."
        )
    return np.fromfile(filename, np.uint8)


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """Read an image file.

    Args:
        filename: path of the file: JPEG, PNG, BMP or TIFF.
        mode: whether the image is read as it is, gray or in RGB.

    Returns:
        Array of uint8, (H, W, C).

    Raises:
        TypeError: an argument has another type.
        RuntimeError: there is no such file, or it is no image.
    """
    _typed("read_image", "filename", filename, str)
    _typed("read_image", "mode", mode, ImageReadMode)
    data = read_file(filename)
    try:
        image = pillow("read_image").open(io.BytesIO(data.tobytes()))
        if mode == ImageReadMode.GRAYSCALE:
            image = image.convert("L")
        elif mode == ImageReadMode.COLOR or image.mode not in ("L", "RGB", "RGBA"):
            image = image.convert("RGB")
        pixels = np.array(image)
    except (OSError, ValueError, SyntaxError) as error:
        raise located(
            RuntimeError,
            f"For 'read_image': Failed to read file {filename}: {type(error).__name__}.",
        ) from None
    return pixels[..., None] if pixels.ndim == 2 else pixels


def get_image_size(image: Any) -> list[int]:
    """Give the size of an image.

    Args:
        image: (H, W) or (..., H, W, C) array, or a PIL image.

    Returns:
        [height, width].

    Raises:
        TypeError: it is neither.
        RuntimeError: the array has fewer than 2 axes.
    """
    if is_pil(image):
        return [image.size[1], image.size[0]]
    _typed("get_image_size", "image", image, np.ndarray)
    if image.ndim < 2:
        raise located(
            RuntimeError,
            "For 'get_image_size': the shape of the image should be <H,W> or <...,H,W,C>, but got "
            f"rank: {image.ndim}.",
        )
    return list(image.shape) if image.ndim == 2 else list(image.shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """Give the number of channels of an image.

    Args:
        image: (H, W) or (..., H, W, C) array, or a PIL image.

    Returns:
        The number.

    Raises:
        TypeError: it is neither.
        RuntimeError: the array has fewer than 2 axes.
    """
    if is_pil(image):
        return len(image.getbands())
    _typed("get_image_num_channels", "image", image, np.ndarray)
    if image.ndim < 2:
        raise located(
            RuntimeError,
            "For 'get_image_num_channels': the shape of the image should be <H,W> or <...,H,W,C>, "
            f"but got rank: {image.ndim}.",
        )
    return 1 if image.ndim == 2 else image.shape[-1]
