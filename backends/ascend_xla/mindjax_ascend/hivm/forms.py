"""The text of a lowered program in the two forms that the vendor's compiler takes.

`fused` is linalg on tensors, which HFusion schedules: it tiles and loops as UB needs. `tile` is one
tile on a cube core and its two vector cores, with memories as arguments; what its operands hold
must fit into L1 and UB, and several blocks may each take rows of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Signature:
    """The name of a device function, and the tensor types of its inputs and outputs."""

    name: str
    inputs: list[str]
    outputs: list[str]


# Operations of the vendor's dialects, from the generic form to theirs.
_FORMS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (
        re.compile(r'"hfusion\.arange"\(([^,]+), ([^,]+), (%\w+)\) : \(.*?\) -> (\S+)'),
        lambda m: f"hfusion.arange offset[{m[1]}] strides[{m[2]}] outs({m[3]} : {m[4]}) -> {m[4]}",
    ),
]


def _plain(text: str) -> str:
    """Without what jax says about the module and its results."""
    text = re.sub(r" ?\{jax\.result_info = \"[^\"]*\"\}", "", text)
    text = re.sub(r"module @\S+ attributes \{[^}]*\}", "module", text)
    for generic, form in _FORMS:
        text = generic.sub(form, text)
    return text


def fused(text: str, signature: Signature) -> str:
    """Linalg on tensors, for HFusion.

    Args:
        text: The module, whose only function is `main`.
        signature: Of the device function.

    Returns:
        The module for the compiler.
    """
    entry = "attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {"
    return re.sub(
        r"func\.func public @main(\(.*)\{\n",
        lambda m: f"func.func @{signature.name}{m[1]}{entry}\n",
        _plain(text),
        count=1,
    )


_PLACE = "memref<?xi8> {hacc.arg_type = #hacc.arg_type<%s>}"

_ATTRIBUTES = (
    "SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, hacc.entry, "
    'hacc.function_kind = #hacc.function_kind<DEVICE>, mix_mode = "mix", global_kernel = "local"'
)


def _dims(tensor: str) -> tuple[list[int], str]:
    """The shape and element type of a tensor type."""
    *sizes, element = tensor.removeprefix("tensor<").removesuffix(">").split("x")
    return [int(n) for n in sizes], element


class _Rows:
    """The rows of one block in a whole argument."""

    def __init__(self, tensor: str, blocks: int, split: bool) -> None:
        shape, element = _dims(tensor)
        self.local = tensor.replace("tensor", "memref", 1)
        self.whole, self.kind = self.local, self.local
        self.rows = shape[0] if shape else 0
        self.split = split and blocks > 1
        if self.split:
            whole = [shape[0] * blocks, *shape[1:]]
            self.whole = f"memref<{'x'.join(map(str, whole))}x{element}>"
            steps = [1]
            for size in reversed(shape[1:]):
                steps.insert(0, steps[0] * size)
            layout = f"strided<[{', '.join(map(str, steps))}], offset: ?>"
            self.kind = self.local.removesuffix(">") + f", {layout}>"
            self.rest = shape[1:]

    def cut(self, source: str, target: str) -> list[str]:
        """Lines that make `target` the rows of the block in `source`."""
        zeros = "".join(", 0" for _ in self.rest)
        sizes = ", ".join(map(str, [self.rows, *self.rest]))
        ones = ", ".join("1" for _ in range(len(self.rest) + 1))
        return [
            f"{target}_rows = arith.constant {self.rows} : index",
            f"{target}_first = arith.muli %block, {target}_rows : index",
            f"{target} = memref.subview {source}[{target}_first{zeros}] [{sizes}] [{ones}] : "
            f"{self.whole} to {self.kind}",
        ]


def tile(text: str, signature: Signature, blocks: int, split: Sequence[bool]) -> str:
    """One tile on cube and vector cores.

    Args:
        text: The module, whose only function is `main`.
        signature: Of what one block computes.
        blocks: The number of blocks.
        split: For each input, whether a block gets rows of it; of several blocks, outputs are
            always split.

    Returns:
        The module for the compiler. Its arguments are the inputs, the outputs, and the numbers and
        indices of blocks that this form asks for.
    """
    lines = _plain(text).splitlines()
    begin = next(k for k, line in enumerate(lines) if "func.func" in line) + 1
    end = next(k for k in range(begin, len(lines)) if lines[k].lstrip().startswith("return"))
    values = re.findall(r"%[\w#]+", lines[end])
    arguments = [f"%lock: {_PLACE % 'sync_block_lock'}", f"%work: {_PLACE % 'workspace'}"]
    head: list[str] = ["%block = arith.index_cast %grid3 : i32 to index"] if blocks > 1 else []
    tail: list[str] = []
    for k, (tensor, by_rows) in enumerate(zip(signature.inputs, split, strict=True)):
        rows = _Rows(tensor, blocks, by_rows)
        arguments.append(f"%in{k}: {rows.whole} {_role('input', k)}")
        source = f"%in{k}"
        if rows.split:
            source = f"%part{k}"
            head += rows.cut(f"%in{k}", source)
        head += [
            f"%local{k} = memref.alloc() : {rows.local}",
            f"memref.copy {source}, %local{k} : {rows.kind} to {rows.local}",
            f"%arg{k} = bufferization.to_tensor %local{k} restrict writable : {rows.local}",
        ]
    for k, (tensor, value) in enumerate(zip(signature.outputs, values, strict=True)):
        rows = _Rows(tensor, blocks, True)
        arguments.append(f"%out{k}: {rows.whole} {_role('output', k)}")
        target = f"%out{k}"
        if rows.split:
            target = f"%place{k}"
            tail += rows.cut(f"%out{k}", target)
        tail.append(
            f"bufferization.materialize_in_destination {value} in writable {target} : "
            f"({tensor}, {rows.kind}) -> ()"
        )
    arguments += [f"%grid{k}: i32" for k in range(6)]
    body = head + [line.strip() for line in lines[begin:end]] + tail + ["return"]
    return "\n".join(
        [
            "module {",
            f"  func.func @{signature.name}({', '.join(arguments)})",
            f"      attributes {{{_ATTRIBUTES}}} {{",
            *(f"    {line}" for line in body),
            "  }",
            "}",
            "",
        ]
    )


def _role(kind: str, number: int) -> str:
    return (
        f"{{hacc.arg_type = #hacc.arg_type<{kind}>, hacc.{kind}_idx = #hacc.{kind}_idx<{number}>}}"
    )
