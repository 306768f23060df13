"""Graphs as SVG: boxes in layers, each below what it uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_HEIGHT, _GAP, _ROW = 24, 14, 56
_FILLS = {"input": "#dbeafe", "node": "#f8fafc"}


class Box(NamedTuple):
    """One node of a drawing.

    Attributes:
        key: names it among the others.
        label: what stands in it.
        kind: ``"input"`` or ``"node"``.
        uses: keys of the boxes that arrows come from; they stand before this one.
    """

    key: str
    label: str
    kind: str
    uses: Sequence[str]


def draw(boxes: Iterable[Box]) -> str:
    """Draw boxes and the arrows between them.

    Args:
        boxes: each behind those that it uses.

    Returns:
        An SVG document.
    """
    layers: list[list[Box]] = []
    depth: dict[str, int] = {}
    for box in boxes:
        layer = 1 + max((depth[u] for u in box.uses if u in depth), default=-1)
        depth[box.key] = layer
        while len(layers) <= layer:
            layers.append([])
        layers[layer].append(box)
    places: dict[str, tuple[float, float, float]] = {}
    width = 0.0
    for number, layer in enumerate(layers):
        # Boxes stand in the order of what they use, so that fewer arrows cross.
        def middle(box: Box) -> float:
            known = [places[u][0] + places[u][2] / 2 for u in box.uses if u in places]
            return sum(known) / len(known) if known else 0.0

        x = float(_GAP)
        for box in sorted(layer, key=middle):
            size = 16.0 + 7 * len(box.label)
            x = max(x, middle(box) - size / 2)
            places[box.key] = (x, _GAP + number * _ROW, size)
            x += size + _GAP
        width = max(width, x)
    height = _GAP + len(layers) * _ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#64748b"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height}" fill="white"/>',
    ]
    for layer in layers:
        for box in layer:
            x, y, size = places[box.key]
            for used in box.uses:
                if used in places:
                    from_x, from_y, from_size = places[used]
                    parts.append(
                        f'<line x1="{from_x + from_size / 2:.0f}" y1="{from_y + _HEIGHT:.0f}" '
                        f'x2="{x + size / 2:.0f}" y2="{y:.0f}" stroke="#94a3b8" '
                        'marker-end="url(#tip)"/>'
                    )
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{size:.0f}" height="{_HEIGHT}" rx="4" '
                f'fill="{_FILLS[box.kind]}" stroke="#475569"/>'
                f'<text x="{x + size / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle">'
                f"{escape(box.label)}</text>"
            )
    return "\n".join([*parts, "</svg>\n"])
