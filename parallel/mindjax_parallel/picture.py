"""A picture of the devices, and of the parts of each Parameter that they hold, as SVG."""

from __future__ import annotations

import colorsys
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from mindjax.checkpoint.layouts import Layout, LayoutError, layout_of
from mindjax.checkpoint.strategy import build_searched_strategy
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax_parallel.mesh import Placement, placement_of, whole_mesh
from mindjax_parallel.strategy_file import record_of

_WIDTH, _MARGIN, _TEXT = 640, 16, 13
_BOX_WIDTH, _BOX_HEIGHT = 256, 64
# More parts or devices than these are no longer told apart.
_MOST_PARTS, _MOST_NUMBERED = 16, 64
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_NUMBERS = re.compile(r"(?<![^.])[0-9]+(?![^.])")


class Row(NamedTuple):
    """A Parameter in the picture.

    Attributes:
        name: of it; of several alike, with ``#`` for the numbers.
        layout: how it is divided.
        shape: of the whole; None if it is not known.
        bytes: of the whole; 0 if they are not known.
        count: how many Parameters the row stands for.
    """

    name: str
    layout: Layout
    shape: tuple[int, ...] | None = None
    bytes: int = 0
    count: int = 1


def placement_row(handle: Any, placement: Placement, mesh: Any) -> Row:
    """Give the row of a Parameter that lies somewhere.

    Args:
        handle: the Parameter.
        placement: where it lies.
        mesh: the devices.
    """
    layout = layout_of(record_of(placement, mesh))
    return Row(handle.name, layout, tuple(handle.shape), handle.nbytes)


def draw_placements(source: Any, path: str) -> None:
    """Draw where the Parameters of a network, or those of a strategy file, lie.

    Args:
        source: Cell whose program has run over several devices, or path of a strategy file.
        path: the SVG file, which is replaced.

    Raises:
        ValueError: no Parameter lies on several devices, or the strategy file is missing or wrong.
        OSError: the file cannot be written.
    """
    rows = _of_file(source) if isinstance(source, str) else _of_network(source)
    if not rows:
        raise located(
            ValueError,
            "For 'draw_placements', no Parameter lies on several devices: run the network in a "
            "parallel mode first.",
        )
    write_picture(rows, path)


def write_picture(rows: Sequence[Row], path: str) -> None:
    """Draw rows to a file.

    Args:
        rows: at least one.
        path: the SVG file, which is replaced.

    Raises:
        OSError: the file cannot be written.
    """
    with replacing(path, 0o644) as file:
        file.write(picture(rows).encode())


def _of_network(network: Any) -> list[Row]:
    mesh = whole_mesh()
    found = []
    for parameter in network.get_parameters():
        placement = placement_of(parameter.local_value(), mesh)
        if placement is not None:
            found.append(placement_row(parameter, placement, mesh))
    return found


def _of_file(path: str) -> list[Row]:
    records = build_searched_strategy(path) or {}
    try:
        return [Row(name, layout_of(record)) for name, record in records.items()]
    except LayoutError as error:
        raise located(ValueError, f"For 'draw_placements', {path}: {error}.") from None


def alike(rows: Iterable[Row]) -> list[Row]:
    """Put Parameters of one role and one layout, such as those of all layers, into one row."""
    found: dict[Any, Row] = {}
    for row in rows:
        role = _NUMBERS.sub("#", row.name)
        key = role, row.layout, row.shape, row.bytes
        before = found.get(key)
        found[key] = row if before is None else row._replace(name=role, count=before.count + 1)
    return list(found.values())


def picture(rows: Sequence[Row]) -> str:
    """Draw the devices, and below them a box a Parameter, cut into the parts that they hold.

    Args:
        rows: at least one; those that are alike are drawn once.

    Returns:
        An SVG document.
    """
    rows = alike(rows)
    ranks = max(row.layout.ranks for row in rows)
    body: list[str] = []
    top = _devices(ranks, body)
    for row in rows:
        top = _parameter(row, ranks, top, body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top:g}" '
        f'viewBox="0 0 {_WIDTH} {top:g}" font-family="sans-serif" font-size="{_TEXT}">'
    )
    white = f'<rect width="{_WIDTH}" height="{top:g}" fill="white"/>'
    return "\n".join([head, white, *body, "</svg>", ""])


def _color(rank: int, ranks: int) -> str:
    red, green, blue = colorsys.hls_to_rgb(rank / ranks, 0.8, 0.6)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>'


def _devices(ranks: int, body: list[str]) -> float:
    """Draw a square a device; gives where the rest begins."""
    columns = min(ranks, 8 if ranks <= _MOST_NUMBERED else 64)
    size = 34.0 if ranks <= _MOST_NUMBERED else (_WIDTH - 2 * _MARGIN) / columns
    top = 2.0 * _MARGIN
    body.append(_text(_MARGIN, top - 8, f"{ranks} devices", ' font-weight="bold"'))
    for rank in range(ranks):
        x, y = _MARGIN + rank % columns * size, top + rank // columns * size
        body.append(_rectangle(x, y, size, size, _color(rank, ranks)))
        if ranks <= _MOST_NUMBERED:
            body.append(_text(x + size / 2, y + size / 2 + 5, str(rank), _MIDDLE))
    return top + math.ceil(ranks / columns) * size + _MARGIN


_MIDDLE = ' text-anchor="middle"'


def _rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        'stroke="#475569"/>'
    )


def _parameter(row: Row, ranks: int, top: float, body: list[str]) -> float:
    """Draw a Parameter's parts and say what they are; gives where the next begins."""
    counts = row.layout.counts()
    holders = _holders(row.layout)
    lines, columns = (math.prod(counts[:-1]), counts[-1]) if counts else (1, 1)
    shown_lines, shown_columns = min(lines, _MOST_PARTS), min(columns, _MOST_PARTS)
    width, height = _BOX_WIDTH / shown_columns, _BOX_HEIGHT / shown_lines
    for line in range(shown_lines):
        for column in range(shown_columns):
            held = holders[line * columns + column]
            x, y = _MARGIN + column * width, top + line * height
            body.append(_rectangle(x, y, width, height, _color(held[0], ranks)))
            label = _ranks(held)
            if height >= _TEXT and width >= 7 * len(label):
                body.append(_text(x + width / 2, y + height / 2 + 5, label, _MIDDLE))
    x = _BOX_WIDTH + 2 * _MARGIN
    times = f" (of {row.count} alike)" if row.count > 1 else ""
    body.append(_text(x, top + 16, row.name + times, ' font-weight="bold"'))
    for i, text in enumerate(_description(row, counts, holders)):
        body.append(_text(x, top + 34 + 16 * i, text))
    return top + _BOX_HEIGHT + _MARGIN


def _description(
    row: Row, counts: tuple[int, ...], holders: dict[int, list[int]]
) -> tuple[str, str]:
    parts, copies = math.prod(counts), len(holders[0])
    shape = "" if row.shape is None else f"{row.shape}, "
    cut = "whole" if parts == 1 else f"cut into {' x '.join(map(str, counts))}"
    first = f"{shape}{cut}, {copies} {'copy' if copies == 1 else 'copies'} of each part"
    if not row.bytes:
        return first, ""
    return first, f"{_size(row.bytes / parts)} of {_size(row.bytes)} on each device"


def _size(count: float) -> str:
    unit, name = next(((u, n) for u, n in _UNITS if count >= u), (1, "B"))
    return f"{count / unit:.3g} {name}"


def _holders(layout: Layout) -> dict[int, list[int]]:
    """Give for each part, numbered row by row, the ranks that hold it."""
    counts = layout.counts()
    found: dict[int, list[int]] = {}
    for rank in range(layout.ranks):
        number = 0
        for side, count in zip(layout.part(rank, counts), counts, strict=True):
            number = number * count + side.start
        found.setdefault(number, []).append(rank)
    return found


def _ranks(held: list[int]) -> str:
    """Write ranks shortly: ``0-3``, and ``0-6/2`` for each second one."""
    if len(held) == 1:
        return str(held[0])
    steps = {b - a for a, b in itertools.pairwise(held)}
    if len(steps) > 1:
        return ",".join(map(str, held)) if len(held) <= 4 else f"{held[0]}.. ({len(held)})"
    (step,) = steps
    return f"{held[0]}-{held[-1]}" + (f"/{step}" if step > 1 else "")
