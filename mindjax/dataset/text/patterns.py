"""Regular expressions of ICU, brought to those of Python."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata

from mindjax.core.errors import located

_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([^}]*)\}|([A-Z]))")
_CODE = re.compile(r"\\x\{([0-9A-Fa-f]+)\}")
_GROUP = re.compile(r"\\\\|\\\$|\$(\d|\{\w+\})|\\(.)")


@functools.lru_cache(maxsize=64)
def category_class(name: str) -> str:
    """Give the inside of a character class for a general category, like ``L`` or ``Mn``."""
    parts, start, last = [], None, -2
    for code in range(sys.maxunicode + 1):
        if not unicodedata.category(chr(code)).startswith(name):
            continue
        if code != last + 1:
            if start is not None:
                parts.append((start, last))
            start = code
        last = code
    if start is None:
        raise ValueError(name)
    parts.append((start, last))
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in parts)


def compile_pattern(owner: str, pattern: str) -> re.Pattern[str]:
    """Compile an expression of ICU's syntax.

    Args:
        owner: the transform, for messages.
        pattern: the expression; ``\\p{...}`` takes general categories.

    Returns:
        Python's expression.

    Raises:
        NotImplementedError: it asks for another property of characters.
        RuntimeError: it is no expression.
    """
    pieces, at = [], 0
    for found in _PROPERTY.finditer(pattern):
        before = pattern[at : found.start()]
        inverted = (found[1] == "P") != bool(found[2])
        try:
            inside = category_class(found[3] or found[4])
        except ValueError:
            raise located(
                NotImplementedError,
                f"For '{owner}': the pattern {pattern!r} asks for the property {found[0]}; only "
                "general categories are there; write its characters as ranges.",
            ) from None
        pieces.append(before)
        whole = "".join(pieces)
        in_class = len(re.findall(r"(?<!\\)\[", whole)) > len(re.findall(r"(?<!\\)\]", whole))
        if in_class and inverted:
            raise located(
                NotImplementedError,
                f"For '{owner}': the pattern {pattern!r} negates a property inside a class; write "
                "it outside of one.",
            )
        pieces.append(inside if in_class else f"[{'^' if inverted else ''}{inside}]")
        at = found.end()
    text = _CODE.sub(lambda code: f"\\U{int(code[1], 16):08x}", "".join([*pieces, pattern[at:]]))
    try:
        return re.compile(text)
    except re.error as error:
        raise located(
            RuntimeError, f"For '{owner}': the regular expression {pattern!r} is invalid: {error}."
        ) from None


def replacement(text: str) -> str:
    """Bring ICU's replacement, with ``$1`` for a group, to Python's."""

    def change(found: re.Match[str]) -> str:
        if found[1]:
            return f"\\g<{found[1].strip('{}')}>"
        return "\\\\" if found[0] == "\\\\" else found[0][1:]

    return _GROUP.sub(change, text)
