"""Affine maps of MLIR: integer arithmetic on loop variables and sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPEN, _CLOSE = "([{<", ")]}>"


@dataclass(frozen=True)
class AffineMap:
    """The results of an affine map, as expressions over the names of its inputs."""

    inputs: tuple[str, ...]
    results: tuple[str, ...]

    def evaluate(self, values: list[int]) -> list[int]:
        """The results for the values of dimensions and symbols, in that order."""
        names = dict(zip(self.inputs, values, strict=True))
        return [_affine(expression, names) for expression in self.results]


_AFFINE_TOKEN = re.compile(r"\s*(floordiv|ceildiv|mod|[a-z]\w*|\d+|[-+*()])")


def _affine(expression: str, names: dict[str, int]) -> int:
    tokens = _AFFINE_TOKEN.findall(expression)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def advance() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1]

    def atom() -> int:
        token = advance()
        if token == "(":
            result = total()
            advance()
            return result
        if token == "-":
            return -atom()
        return int(token) if token.isdigit() else names[token]

    def product() -> int:
        result = atom()
        while peek() in ("*", "floordiv", "ceildiv", "mod"):
            operator, right = advance(), atom()
            if operator == "*":
                result *= right
            elif operator == "floordiv":
                result //= right
            elif operator == "ceildiv":
                result = -(-result // right)
            else:
                result %= right
        return result

    def total() -> int:
        result = product()
        while peek() in ("+", "-"):
            result = result + product() if advance() == "+" else result - product()
        return result

    return total()


def split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in _OPEN and not text.startswith("->", at - 1):
            depth += 1
        elif char in _CLOSE and text[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def affine_map(text: str) -> AffineMap:
    """The map that stands in `affine_map<...>`."""
    found = re.fullmatch(r"\(([^)]*)\)(?:\[([^\]]*)\])? -> \((.*)\)", text.strip())
    if found is None:
        raise ValueError(f"affine_map<{text}>")
    return AffineMap(tuple(split(found[1]) + split(found[2] or "")), tuple(split(found[3])))
