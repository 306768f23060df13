"""Colours: RGB to HSV and back, and shifts of hue and saturation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

Array = jax.Array


def _check(x: Array, name: str, least: int, owner: str) -> None:
    checks.floating(name, x.dtype, owner)
    if x.ndim < least:
        raise located(
            ValueError,
            f"For '{owner}', the dimension of '{name}' must be at least {least}, but got {x.ndim}.",
        )
    if x.shape[-1] != 3:
        raise located(
            ValueError,
            f"For '{owner}', the last dimension of '{name}' must be 3, but got shape {x.shape}.",
        )


def _to_hsv(x: Array) -> Array:
    """Convert (..., 3); hue, saturation and value are in [0, 1]."""
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    high, low = jnp.max(x, -1), jnp.min(x, -1)
    span = high - low
    safe = jnp.where(span > 0, span, 1)
    hue = jnp.where(
        high == r,
        (g - b) / safe,
        jnp.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4),
    )
    hue = jnp.where(span > 0, hue / 6, 0)
    hue = jnp.where(hue < 0, hue + 1, hue)
    saturation = jnp.where(high > 0, span / jnp.where(high > 0, high, 1), 0)
    return jnp.stack([hue, saturation, high], -1).astype(x.dtype)


def _to_rgb(x: Array) -> Array:
    """Convert (..., 3) back."""
    hue, saturation, value = x[..., 0] * 6, x[..., 1], x[..., 2]
    parts = [
        jnp.clip(jnp.abs(hue - 3) - 1, 0, 1),
        jnp.clip(2 - jnp.abs(hue - 2), 0, 1),
        jnp.clip(2 - jnp.abs(hue - 4), 0, 1),
    ]
    channels = [((part - 1) * saturation + 1) * value for part in parts]
    return jnp.stack(channels, -1).astype(x.dtype)


class RGBToHSV(Primitive):
    """Hue, saturation and value of RGB colours (MindSpore: ``ops.RGBToHSV``)."""

    def compute(self, images: Array) -> Array:
        """Convert (..., 3) with values in [0, 1]."""
        _check(images, "images", 1, "RGBToHSV")
        return _to_hsv(images)


class HSVToRGB(Primitive):
    """RGB colours of hue, saturation and value (MindSpore: ``ops.HSVToRGB``)."""

    def compute(self, x: Array) -> Array:
        """Convert (N, H, W, 3) with values in [0, 1]."""
        if x.ndim != 4:
            raise located(
                ValueError, f"For 'HSVToRGB', the dimension of 'x' must be 4, but got {x.ndim}."
            )
        _check(x, "x", 4, "HSVToRGB")
        return _to_rgb(x)


def _number(x: Array, name: str, owner: str) -> Array:
    if x.ndim or from_np(x.dtype).kind != "float":
        raise located(
            TypeError if x.ndim == 0 else ValueError,
            f"For '{owner}', the '{name}' must be a 0-d Float32 Tensor, but got "
            f"{from_np(x.dtype)} of shape {x.shape}.",
        )
    return x.astype(np.float32)


class AdjustHue(Primitive):
    """Images with a shifted hue (MindSpore: ``ops.AdjustHue``)."""

    def compute(self, image: Array, delta: Array) -> Array:
        """Add ``delta``, 0-d, to the hue of (..., H, W, 3)."""
        _check(image, "image", 3, "AdjustHue")
        hsv = _to_hsv(image.astype(np.float32))
        hue = jnp.remainder(hsv[..., :1] + _number(delta, "delta", "AdjustHue"), 1)
        return _to_rgb(jnp.concatenate([hue, hsv[..., 1:]], -1)).astype(image.dtype)


class AdjustSaturation(Primitive):
    """Images with a scaled saturation (MindSpore: ``ops.AdjustSaturation``)."""

    def compute(self, image: Array, scale: Array) -> Array:
        """Multiply the saturation of (..., H, W, 3) by ``scale``, 0-d, and keep it below 1."""
        _check(image, "image", 3, "AdjustSaturation")
        hsv = _to_hsv(image.astype(np.float32))
        factor = _number(scale, "scale", "AdjustSaturation")
        saturation = jnp.clip(hsv[..., 1:2] * factor, 0, 1)
        parts = [hsv[..., :1], saturation, hsv[..., 2:]]
        return _to_rgb(jnp.concatenate(parts, -1)).astype(image.dtype)
