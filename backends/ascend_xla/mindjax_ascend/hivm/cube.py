"""The vendor's library calls on cube cores: GM to L1, L1 to L0, the product, L0C to GM.

`mma_tile` follows the library's own order: halves of L0A and L0B in turn, with flags between MTE1
and M. Inside L0A and L0B the operands are held in row-major order, the fractal order of the
hardware is not modelled; L1 and L0C have theirs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from . import costs
from .memory import DTYPES, MemoryFault, View
from .pipes import Instruction, SimulationError

if TYPE_CHECKING:
    from .interpreter import Interpreter


def call(core: Interpreter, name: str, arguments: list[Any]) -> bool:
    """Issue what a call of the cube library does; says whether the call is known."""
    if re.fullmatch(r"nd2nz_\w+", name) and "forbias" not in name:
        _nd2nz(core, name, *arguments[:2])
    elif found := re.fullmatch(
        r"mma_tile_([a-z\d]+(?:_t)?)_to_([a-z\d]+(?:_t)?)(_ta)?(_tb)?", name
    ):
        _mma_tile(core, name, bool(found[3]), bool(found[4]), arguments)
    elif re.fullmatch(r"fixpipe_nz2nd_\w+_4d_to_2d(?:_gm)?", name):
        _fixpipe(core, name, arguments)
    else:
        return False
    return True


def _inside(core: Interpreter, name: str, view: View, space: str) -> None:
    if view.memory is not core.memories.get(space):
        raise MemoryFault(f"{name} of {view.memory.name} on a core of kind {core.core.kind}")


def _nd2nz(core: Interpreter, name: str, source: View, target: View) -> None:
    """Rows and columns in global memory to blocks [columns / c][rows / 16][16][c] in L1."""
    _inside(core, name, target, "cbuf")
    blocks, strips, high, wide = target.shape
    rows, columns = source.shape
    if rows > strips * high or columns > blocks * wide:
        raise MemoryFault(f"{name}: {source.shape} does not fit into {target.shape}")

    def run() -> None:
        padded = np.zeros((strips * high, blocks * wide), DTYPES[target.element])
        padded[:rows, :columns] = source.read()
        target.write(padded.reshape(strips, high, blocks, wide).transpose(2, 0, 1, 3))

    cycles = costs.transfer("MTE2", source.nbytes)
    core.issue(Instruction("work", "MTE2", name, 0, run, [source], [target], cycles))


def _matrix(blocks: np.ndarray, transposed: bool) -> np.ndarray:
    """The matrix that blocks in L1 hold; a transposed operand is stored as its transpose."""
    outer, inner, high, wide = blocks.shape
    matrix = blocks.transpose(1, 2, 0, 3).reshape(inner * high, outer * wide)
    return matrix.T if transposed else matrix


def _mma_tile(
    core: Interpreter, name: str, transpose_a: bool, transpose_b: bool, arguments: list[Any]
) -> None:
    left, right, init, rows, inner, columns, out = arguments[:7]
    wait_a, wait_b, set_a, set_b, _, back0, back1 = (int(a) for a in arguments[7:14])
    for view, space in ((left, "cbuf"), (right, "cbuf"), (out, "cc")):
        _inside(core, name, view, space)
    itemsize = DTYPES[left.element].itemsize
    tall = out.shape[1] * out.shape[2]
    widest = max(tall, -(-columns // 16) * 16)
    block = max(32 // itemsize, 16)
    half = min(core.memories[name].bytes.size for name in ("ca", "cb")) // 2
    part = half // itemsize // widest // block * block
    if part == 0:
        raise MemoryFault(f"overflow: {name} of {rows}x{inner}x{columns} does not fit into L0")
    back = [back0 if back0 >= 0 else 0, back1 if back1 >= 0 else 1]
    for event, given in zip(back, (back0, back1), strict=True):
        if given < 0:
            core.flag("set", "M", "MTE1", event)
    starts = range(0, inner, part)
    for number, start in enumerate(starts):
        last = number == len(starts) - 1
        depth = min(part, inner - start)
        event = back[number % 2]
        base = number % 2 * half
        a = core.local("ca", base, left.element, [rows, depth])
        b = core.local("cb", base, right.element, [depth, columns])
        core.flag("wait", "M", "MTE1", event)
        if number == 0 and wait_a >= 0:
            core.flag("wait", "MTE2", "MTE1", wait_a)
        _to_l0(core, name, left, a, transpose_a, slice(0, rows), slice(start, start + depth),
               costs.L0A_RATE)  # fmt: skip
        if last and set_a >= 0:
            core.flag("set", "MTE1", "MTE2", set_a)
        if number == 0 and wait_b >= 0:
            core.flag("wait", "MTE2", "MTE1", wait_b)
        _to_l0(core, name, right, b, transpose_b, slice(start, start + depth), slice(0, columns),
               costs.L0B_RATE)  # fmt: skip
        if last and set_b >= 0:
            core.flag("set", "MTE1", "MTE2", set_b)
        core.flag("set", "MTE1", "M", event)
        core.flag("wait", "MTE1", "M", event)
        _multiply(core, name, a, b, out, fresh=bool(init) and number == 0)
        core.flag("set", "M", "MTE1", event)
    for event, given in zip(back, (back0, back1), strict=True):
        if given < 0:
            core.flag("wait", "M", "MTE1", event)


def _to_l0(
    core: Interpreter,
    name: str,
    source: View,
    target: View,
    transposed: bool,
    rows: slice,
    columns: slice,
    rate: int,
) -> None:
    def run() -> None:
        target.write(_matrix(source.read(), transposed)[rows, columns])

    cycles = costs.transfer("MTE1", target.nbytes, rate)
    core.issue(Instruction("work", "MTE1", name, 0, run, [source], [target], cycles))


def _multiply(core: Interpreter, name: str, a: View, b: View, out: View, fresh: bool) -> None:
    (rows, depth), columns = a.shape, b.shape[1]
    strips, high = out.shape[1:3]
    blocks, wide = out.shape[0], out.shape[3]
    dtype = DTYPES[out.element]

    def run() -> None:
        product = np.zeros((strips * high, blocks * wide), dtype)
        with np.errstate(all="ignore"):
            product[:rows, :columns] = a.read().astype(dtype) @ b.read().astype(dtype)
        tiles = product.reshape(strips, high, blocks, wide).transpose(2, 0, 1, 3)
        out.write(tiles if fresh else out.read() + tiles)

    cycles = costs.cube(rows, depth, columns, DTYPES[a.element].itemsize)
    reads = [a, b] if fresh else [a, b, out]
    core.issue(Instruction("work", "M", name, 0, run, reads, [out], cycles))


def _fixpipe(core: Interpreter, name: str, arguments: list[Any]) -> None:
    source, target = arguments[:2]
    _inside(core, name, source, "cc")
    relu = int(arguments[3]) if len(arguments) > 3 else 0
    if relu not in (0, 1):
        raise SimulationError(f"{name}: the activation {relu} is not simulated")
    rows, columns = target.shape

    def run() -> None:
        values = _matrix(source.read(), False)[:rows, :columns]
        target.write(np.maximum(values, 0) if relu else values)

    cycles = costs.transfer("FIX", target.nbytes)
    core.issue(Instruction("work", "FIX", name, 0, run, [source], [target], cycles))
