"""ONNX's operators on images: resizing, sampling at grids, regions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.errors import OnnxError, UnknownOperator
from mindjax.onnx.reading.operators.shapes import axes_of
from mindjax.onnx.reading.table import Attributes, operator


@operator("Upsample", static=(1,))
def _upsample(n: Attributes, x: Any, scales: Any = None) -> Any:
    given = Attributes(
        {"mode": n.get("mode", "nearest"), "coordinate_transformation_mode": "asymmetric",
         "nearest_mode": "floor"}, "Resize", 19, 1,
    )  # fmt: skip
    factors = np.asarray(n["scales"] if scales is None else scales, np.float32)
    return _resize(given, x, None, factors)


@operator("Resize", static=(1, 2, 3))
def _resize(
    n: Attributes, x: Any, region: Any = None, scales: Any = None, sizes: Any = None
) -> Any:
    if n.opset < 11:
        scales, region = region, None
    axes = axes_of(n, None, x.ndim) or list(range(x.ndim))
    wanted, factors = list(x.shape), [1.0] * x.ndim
    if sizes is not None and np.size(sizes):
        targets = [int(s) for s in np.reshape(sizes, -1)]
        ratios = [t / x.shape[a] for t, a in zip(targets, axes, strict=True)]
        policy = n.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            ratios = [ratio] * len(axes)
            targets = [int(np.floor(ratio * x.shape[a] + 0.5)) for a in axes]
        for axis, target, ratio in zip(axes, targets, ratios, strict=True):
            wanted[axis], factors[axis] = target, ratio
    elif scales is not None and np.size(scales):
        for axis, factor in zip(axes, np.reshape(scales, -1).tolist(), strict=True):
            wanted[axis], factors[axis] = int(np.floor(x.shape[axis] * factor)), factor
    else:
        raise OnnxError("it has neither scales nor sizes")
    starts, ends = [0.0] * x.ndim, [1.0] * x.ndim
    if region is not None and np.size(region):
        flat = np.reshape(region, -1).tolist()
        for i, axis in enumerate(axes):
            starts[axis], ends[axis] = flat[i], flat[i + len(axes)]
    dtype = x.dtype
    floating = np.issubdtype(dtype, np.floating)
    out = x if floating or n.get("mode", "nearest") == "nearest" else x.astype(jnp.float32)
    outside = np.zeros((1,) * x.ndim, bool)
    whole = n.get("coordinate_transformation_mode", "half_pixel")
    for axis in range(x.ndim):
        if wanted[axis] == x.shape[axis] and factors[axis] == 1 and whole != "tf_crop_and_resize":
            continue
        places = _coordinates(
            n, x.shape[axis], wanted[axis], factors[axis], starts[axis], ends[axis]
        )
        if whole == "tf_crop_and_resize":
            line = [1] * x.ndim
            line[axis] = wanted[axis]
            beyond = (places < 0) | (places > x.shape[axis] - 1)
            outside = outside | beyond.reshape(line)
        out = _along(n, out, axis, places, factors[axis])
    if outside.any():
        out = jnp.where(outside, n.get("extrapolation_value", 0.0), out)
    return out if out.dtype == dtype else jnp.rint(out).astype(dtype)


def _coordinates(
    n: Attributes, size: int, wanted: int, factor: float, start: float, end: float
) -> np.ndarray:
    """Give the places in the input that the elements of one axis come from."""
    mode = n.get("coordinate_transformation_mode", "half_pixel")
    if n.opset < 11:
        mode = "asymmetric"
    x = np.arange(wanted, dtype=np.float64)
    if mode == "align_corners":
        # The length that scales give need not be whole.
        return x * (size - 1) / (factor * size - 1) if wanted > 1 else np.zeros(wanted)
    if mode == "asymmetric":
        return x / factor
    if mode == "tf_crop_and_resize":
        if wanted > 1:
            return start * (size - 1) + x * (end - start) * (size - 1) / (wanted - 1)
        return np.full(wanted, 0.5 * (start + end) * (size - 1))
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) / factor
    if mode == "pytorch_half_pixel" and wanted == 1:
        return np.full(1, -0.5)
    if mode == "half_pixel_symmetric":
        adjusted = wanted / (factor * size)
        return size / 2 * (1 - adjusted) + (x + 0.5) / factor - 0.5
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (x + 0.5) / factor - 0.5
    raise UnknownOperator(f"MindJAX has no coordinates of the kind '{mode[:40]}'")


def _along(n: Attributes, x: Any, axis: int, places: np.ndarray, factor: float) -> Any:
    """Interpolate along one axis."""
    size, mode = x.shape[axis], n.get("mode", "nearest")
    if mode == "nearest":
        how = n.get("nearest_mode", "round_prefer_floor") if n.opset >= 11 else "floor"
        rounded = {"floor": np.floor(places), "ceil": np.ceil(places),
                   "round_prefer_floor": np.ceil(places - 0.5),
                   "round_prefer_ceil": np.floor(places + 0.5)}[how]  # fmt: skip
        return jnp.take(x, np.clip(rounded, 0, size - 1).astype(np.int64), axis)
    matrix = np.zeros((len(places), size))
    smaller = factor < 1 and bool(n.get("antialias"))
    reach = 2 if mode == "cubic" else 1
    stretch = factor if smaller else 1.0
    span = int(np.ceil(reach / stretch)) + 1
    a = n.get("cubic_coeff_a", -0.75)
    first = np.floor(places).astype(np.int64)
    for i, place in enumerate(places):
        near = np.arange(first[i] - span + 1, first[i] + span + 1)
        weight = _weight(mode, np.abs(near - place) * stretch, a)
        if n.get("exclude_outside"):
            weight = np.where((near < 0) | (near >= size), 0, weight)
        total = weight.sum()
        weight = weight / total if total else weight
        np.add.at(matrix[i], np.clip(near, 0, size - 1), weight)
    moved = jnp.moveaxis(x, axis, -1)
    out = jnp.matmul(moved, jnp.asarray(matrix.T.astype(x.dtype)), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(out, -1, axis)


def _weight(mode: str, d: np.ndarray, a: float) -> np.ndarray:
    if mode == "linear":
        return np.maximum(1 - d, 0)
    if mode != "cubic":
        raise UnknownOperator(f"MindJAX has no interpolation '{mode[:40]}'")
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


# -- grids --


@operator("AffineGrid", static=(1,))
def _affine_grid(n: Attributes, theta: Any, size: Any) -> Any:
    sizes = [int(s) for s in size][2:]
    lines = []
    for count in sizes:
        if n.get("align_corners"):
            lines.append(np.linspace(-1, 1, count))
        else:
            lines.append((2 * np.arange(count) + 1) / count - 1)
    grids = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*grids[::-1], np.ones(sizes)], -1).astype(theta.dtype)
    spatial = len(sizes)
    out = jnp.matmul(base.reshape((-1, spatial + 1)), theta.swapaxes(-1, -2))
    return out.reshape((theta.shape[0], *sizes, spatial))


@operator("GridSample")
def _grid_sample(n: Attributes, x: Any, grid: Any) -> Any:
    sizes = x.shape[2:]
    count = len(sizes)
    mode, padding = n.get("mode", "linear"), n.get("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    corners = bool(n.get("align_corners"))
    places = []
    for axis, size in enumerate(sizes):
        p = grid[..., count - 1 - axis]
        p = (p + 1) / 2 * (size - 1) if corners else ((p + 1) * size - 1) / 2
        places.append(p)
    if mode != "cubic":
        places = [_bounded(p, s, padding, corners) for p, s in zip(places, sizes, strict=True)]
    terms = []
    for p in places:
        if mode == "nearest":
            terms.append([(jnp.rint(p), jnp.ones_like(p))])
        elif mode == "linear":
            low = jnp.floor(p)
            terms.append([(low, 1 - (p - low)), (low + 1, p - low)])
        else:
            low = jnp.floor(p)
            terms.append([(low + o, _cubic(jnp.abs(p - low - o))) for o in (-1, 0, 1, 2)])
    out: Any = 0.0
    flat = x.reshape((*x.shape[:2], -1))
    for choice in np.ndindex(*(len(t) for t in terms)):
        weight: Any = 1.0
        place: Any = jnp.zeros(grid.shape[:-1], jnp.int64)
        inside: Any = True
        for axis, i in enumerate(choice):
            own, factor = terms[axis][i]
            own = _bounded(own, sizes[axis], padding, corners) if mode == "cubic" else own
            weight = weight * factor
            inside = inside & (own >= 0) & (own <= sizes[axis] - 1)
            index = jnp.clip(jnp.rint(own), 0, sizes[axis] - 1).astype(jnp.int64)
            place = place * sizes[axis] + index
        taken = jnp.take_along_axis(flat, place.reshape((x.shape[0], 1, -1)), 2)
        taken = taken.reshape((*x.shape[:2], *grid.shape[1:-1]))
        out = out + taken * jnp.where(inside, weight, 0)[:, None].astype(x.dtype)
    return out


def _cubic(d: Any) -> Any:
    a = -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return jnp.where(d <= 1, near, far)


def _bounded(p: Any, size: int, padding: str, corners: bool) -> Any:
    if padding == "border":
        return jnp.clip(p, 0, size - 1)
    if padding != "reflection":
        return p
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    span = high - low
    if not span:
        return jnp.zeros_like(p)
    turned = jnp.mod(jnp.abs(p - low), 2 * span)
    turned = jnp.where(turned > span, 2 * span - turned, turned) + low
    return jnp.clip(turned, 0, size - 1)


@operator("RoiAlign")
def _roi_align(n: Attributes, x: Any, regions: Any, batch: Any) -> Any:
    height, width = n.get("output_height", 1), n.get("output_width", 1)
    scale, ratio = n.get("spatial_scale", 1.0), n.get("sampling_ratio", 0)
    if not ratio:
        raise UnknownOperator("'RoiAlign' without a 'sampling_ratio' has no form in MindJAX")
    half = n.get("coordinate_transformation_mode", "half_pixel") == "half_pixel" and n.opset >= 16
    box = regions * scale - (0.5 if half else 0.0)
    sizes = [box[:, 3] - box[:, 1], box[:, 2] - box[:, 0]]
    if not half:
        sizes = [jnp.maximum(s, 1.0) for s in sizes]
    places = []
    for start, size, count in zip((box[:, 1], box[:, 0]), sizes, (height, width), strict=True):
        steps = (np.arange(count * ratio) + 0.5) / ratio
        places.append(start[:, None] + steps.astype(x.dtype)[None] * (size / count)[:, None])
    rows, columns = x.shape[2:]
    image = jnp.take(x, batch, 0)

    def parts(p: Any, size: int) -> Any:
        inside = (p >= -1) & (p <= size)
        p = jnp.clip(p, 0, size - 1)
        low = jnp.floor(p).astype(jnp.int64)
        return inside, p - low.astype(p.dtype), low, jnp.minimum(low + 1, size - 1)

    in_y, fy, y0, y1 = parts(places[0], rows)
    in_x, fx, x0, x1 = parts(places[1], columns)

    def at(y: Any, c: Any) -> Any:
        picked = jnp.take_along_axis(image, y[:, None, :, None], 2)
        return jnp.take_along_axis(picked, c[:, None, None, :], 3)

    fy, fx = fy[:, None, :, None], fx[:, None, None, :]
    parts_of = [((1 - fy) * (1 - fx), y0, x0), ((1 - fy) * fx, y0, x1), (fy * (1 - fx), y1, x0),
                (fy * fx, y1, x1)]  # fmt: skip
    inside = (in_y[:, None, :, None] & in_x[:, None, None, :]).astype(x.dtype)
    terms = [w * at(y, c) * inside for w, y, c in parts_of]
    shape = (len(regions), x.shape[1], height, ratio, width, ratio)
    if n.get("mode", "avg") == "max":
        each = jnp.stack([t.reshape(shape) for t in terms])
        return each.max((0, 4, 6))
    total: Any = sum(terms)
    return total.reshape(shape).mean((3, 5))


@operator("DeformConv")
def _deformed(
    n: Attributes, x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None
) -> Any:
    """Convolve where offsets move each element of a window (Dai 2017), in two dimensions."""
    if x.ndim != 4:
        raise UnknownOperator("'DeformConv' has a form in MindJAX for two axes only")
    (batch, channels, *sizes), kernel, outs = x.shape, w.shape[2:], offset.shape[2:]
    groups, sets = n.get("group", 1), n.get("offset_group", 1)
    stride, gaps = n.get("strides") or [1, 1], n.get("dilations") or [1, 1]
    pads, count = n.get("pads") or [0] * 4, kernel[0] * kernel[1]
    moved = offset.reshape((batch, sets, count, 2, *outs))
    terms = []
    for axis in range(2):
        line = [1, 1, 1, 1, 1]
        line[3 + axis] = outs[axis]
        start = (np.arange(outs[axis]) * stride[axis] - pads[axis]).reshape(line)
        taps = np.indices(kernel)[axis].reshape((1, 1, count, 1, 1)) * gaps[axis]
        place = moved[:, :, :, axis] + (start + taps).astype(x.dtype)
        low = jnp.floor(place)
        terms.append([(low, 1 - (place - low)), (low + 1, place - low)])
    image = x.reshape((batch, sets, channels // sets, -1))
    columns: Any = 0.0
    for y, fy in terms[0]:
        for c, fx in terms[1]:
            inside = (y >= 0) & (y < sizes[0]) & (c >= 0) & (c < sizes[1])
            index = jnp.clip(y, 0, sizes[0] - 1) * sizes[1] + jnp.clip(c, 0, sizes[1] - 1)
            index = index.astype(jnp.int64).reshape((batch, sets, 1, -1))
            taken = jnp.take_along_axis(image, index, 3)
            taken = taken.reshape((*image.shape[:3], count, *outs))
            columns = columns + taken * jnp.where(inside, fy * fx, 0)[:, :, None].astype(x.dtype)
    if mask is not None:
        columns = columns * mask.reshape((batch, sets, 1, count, *outs))
    columns = columns.reshape((batch, groups, channels // groups, count, *outs))
    weights = w.reshape((groups, w.shape[0] // groups, w.shape[1], count))
    out = jnp.einsum("bgckyx,gock->bgoyx", columns, weights, precision=lax.Precision.HIGHEST)
    out = out.reshape((batch, w.shape[0], *outs))
    return out if bias is None else out + bias.reshape((1, -1, 1, 1))
