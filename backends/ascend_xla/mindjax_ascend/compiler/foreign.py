"""The rule of custom calls: handlers of XLA's foreign function interface are steps."""

from __future__ import annotations

import re
import struct
from typing import Any

from mindjax_ascend import library
from mindjax_ascend.compiler.graph import UnsupportedError
from mindjax_ascend.compiler.program import TYPES

FORMATS = {11: "<f", 12: "<d"}
_registered: set[str] = set()


def register(name: str, address: int) -> None:
    """Make a handler known to the library."""
    library.library().ascend_set_handler(name.encode(), address)
    _registered.add(name)


def _attributes(op: Any, target: str) -> tuple[list[str], list[int]]:
    """Give names of attributes, sorted, and their types and bits."""
    names: list[str] = []
    numbers: list[int] = []
    if "mhlo.backend_config" not in op.attributes:
        if "backend_config" in op.attributes and str(op.attributes["backend_config"]) not in (
            '""',
            "{}",
        ):
            raise UnsupportedError(f"custom call {target} with attributes in another form")
        return names, numbers
    config = {a.name: a.attr for a in op.attributes["mhlo.backend_config"]}
    for name in sorted(config):
        value = config[name]
        type = 1 if str(value) in ("true", "false") else TYPES.get(str(getattr(value, "type", "")))
        if type is None or not hasattr(value, "value"):
            raise UnsupportedError(f"custom call {target} with {name}={value}")
        names.append(name)
        if type in FORMATS:
            bits = int.from_bytes(struct.pack(FORMATS[type], value.value), "little")
        elif type in (10, 13):
            raise UnsupportedError(f"custom call {target} with {name} of 16 bits")
        else:
            bits = int(value.value)
        numbers += [type, bits if bits < 1 << 63 else bits - (1 << 64)]
    return names, numbers


def _row_major(op: Any) -> bool:
    for key in ("operand_layouts", "result_layouts"):
        if key not in op.attributes:
            continue
        for layout in op.attributes[key]:
            order = [int(x) for x in re.findall(r"\d+", str(layout).split(">")[0].split(":")[0])]
            if order != sorted(order, reverse=True):
                return False
    return True


def custom_call(low: Any, op: Any) -> None:
    """Add a call of a registered handler.

    Raises:
        UnsupportedError: there is none, or it wants what the runtime does not give.
    """
    target = op.attributes["call_target_name"].value
    if target not in _registered or not _row_major(op):
        raise UnsupportedError(f"custom call {target}")
    names, numbers = _attributes(op, target)
    pairs: list[int] = []
    if "output_operand_aliases" in op.attributes:
        for alias in op.attributes["output_operand_aliases"]:
            text = str(alias)
            output = re.search(r"output_tuple_indices = \[(\d*)\]", text)
            operand = re.search(r"operand_index = (\d+)", text)
            assert output and operand
            pairs += [int(output[1] or 0), int(operand[1])]
    ints = [*numbers, len(pairs) // 2, *pairs]
    text = "\n".join([target, *names]).encode()
    low.source = target
    low.step("foreign", low.read(op), low.make_all(op), ints, text)
