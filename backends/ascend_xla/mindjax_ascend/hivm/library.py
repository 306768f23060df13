"""The vendor's library calls on vector cores: copies, elementwise operations, reductions.

The names are those of the functions in the `meta_op` bitcode of ascendnpu-ir; what they do follows
their operands. Each becomes one instruction on its pipe. Half precision is computed in half; sums
of it are accumulated in single precision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import costs, cube
from .memory import MemoryFault, View
from .pipes import Instruction, SimulationError

if TYPE_CHECKING:
    from .interpreter import Interpreter

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift, "pow": np.power,
}  # fmt: skip

_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs, "ln": np.log, "exp": np.exp, "sqrt": np.sqrt, "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: np.reciprocal(np.sqrt(x)), "rec": np.reciprocal, "not": np.invert,
}  # fmt: skip

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip

_REDUCE: dict[str, Any] = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
}  # fmt: skip

_AXES = {"r": 0, "ar": 1, "ra": 0, "ra0a1": 0}

# The rounding modes of a cast, in the order of their numbers.
_ROUND: list[Callable[[Any], Any]] = [
    np.rint,
    lambda x: np.trunc(x + np.copysign(0.5, x)),
    np.floor,
    np.ceil,
    np.trunc,
]

_ATOMIC = {1: np.add, 2: np.maximum, 3: np.minimum}


def call(core: Interpreter, name: str, arguments: list[Any]) -> bool:
    """Issue what a library call does.

    Args:
        core: The core that calls.
        name: The name of the call.
        arguments: Numbers, registers and views.

    Returns:
        Whether the call is known.
    """
    if cube.call(core, name, arguments):
        return True
    for pattern, handler in _CALLS:
        found = pattern.fullmatch(name)
        if found is not None:
            return handler(core, name, found, arguments) is not False
    return False


# --- instructions ------------------------------------------------------------------------------


def _value(item: Any) -> Any:
    from .interpreter import known

    return item.read() if isinstance(item, View) else known(item)


def _scalar(item: Any, like: View) -> Any:
    """A scalar operand in the element type of the vector operand beside it."""
    from .memory import DTYPES

    return np.asarray(_value(item)).astype(DTYPES.get(like.element, np.dtype(bool)))


def _vector(
    core: Interpreter,
    name: str,
    operation: str,
    inputs: Sequence[Any],
    target: View,
    compute: Callable[..., Any],
    scratch: Sequence[Any] = (),
) -> None:
    """One vector instruction that reads the views among its inputs and writes its target."""
    views = [v for v in inputs if isinstance(v, View)]
    spare = [v for v in scratch if isinstance(v, View) and v.size]
    for view in [*views, target, *spare]:
        if view.memory is not core.memories.get("ub"):
            raise MemoryFault(f"{name}: the vector unit reaches UB, not {view.memory.name}")

    def run() -> None:
        with np.errstate(all="ignore"):
            target.write(np.asarray(compute(*(_value(item) for item in inputs))))

    widest = max((v.nbytes for v in [*views, target]), default=0)
    cycles = costs.vector(operation, widest)
    core.issue(Instruction("work", "V", name, 0, run, views, [target, *spare], cycles))


def _copy(
    core: Interpreter, name: str, pipe: str, source: View, target: View, atomic: int = 0
) -> None:
    local = core.memories.get("ub")
    ends = {"MTE2": (False, True), "MTE3": (True, False), "V": (True, True)}[pipe]
    for view, inside in zip((source, target), ends, strict=True):
        if (view.memory is local) != inside:
            raise MemoryFault(f"{name} of {view.memory.name} on pipe {pipe}")
    if math.prod(source.shape) != math.prod(target.shape):
        raise MemoryFault(f"{name}: {source.shape} does not fit into {target.shape}")
    merge = _ATOMIC.get(atomic)

    def run() -> None:
        values = source.read().reshape(target.shape)
        target.write(values if merge is None else merge(target.read(), values))

    nbytes = source.nbytes
    cycles = costs.vector("copy", nbytes) if pipe == "V" else costs.transfer(pipe, nbytes)
    reads = [source] if merge is None else [source, target]
    core.issue(Instruction("work", pipe, name, 0, run, reads, [target], cycles, atomic=atomic))


# --- handlers ----------------------------------------------------------------------------------


def _load(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target = arguments[:2]
    if len(arguments) > 2 and arguments[2] not in (0, False) and source.shape != target.shape:
        raise SimulationError(f"{name} with padding is not simulated")
    _copy(core, name, "MTE2", source, target)


def _store(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    atomic = int(arguments[2]) if len(arguments) > 2 else 0
    _copy(core, name, "MTE3", arguments[0], arguments[1], atomic)


def _move(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    _copy(core, name, "V", arguments[0], arguments[1])


def _broadcast(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target = arguments[:2]
    _vector(core, name, "copy", [source], target, lambda x: x, arguments[2:])


def _transpose(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target = arguments[:2]
    rank = len(source.shape)
    order = tuple(reversed(range(rank))) if found["last"] == "with" else (1, 0, 2)
    if len(source.shape) != len(order):
        raise SimulationError(f"{name} of {len(source.shape)} dimensions is not simulated")
    _vector(core, name, "transpose", [source], target, lambda x: x.transpose(order), arguments[2:])


def _deinterleave(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target = arguments[:2]
    first, step = int(found["channel"]), int(found["count"])
    _vector(
        core, name, "copy", [source], target, lambda x: x[..., first::step], arguments[2:]
    )  # fmt: skip


def _select(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    condition, left, right, target = arguments[:4]

    def compute(c: Any, x: Any, y: Any) -> Any:
        return np.where(c, x, y)

    _vector(core, name, "sel", [condition, left, right], target, compute, arguments[4:])


def _compare(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    left, right, target = arguments[:3]
    compute = _COMPARE[found["op"]]
    if not isinstance(right, View):
        _vector(
            core, name, "cmp", [left, right], target,
            lambda x, y: compute(x, _scalar(y, left)), arguments[3:],
        )  # fmt: skip
    else:
        _vector(core, name, "cmp", [left, right], target, compute, arguments[3:])


def _cast(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target, *rest = arguments
    spare = [r for r in rest if isinstance(r, View)]
    numbers = [r for r in rest if not isinstance(r, View)]
    mode = int(numbers[0]) if numbers else 0
    if mode >= len(_ROUND):
        raise SimulationError(f"{name}: the rounding mode {mode} is not simulated")
    floats = ("f16", "bf16", "f32")
    integral = target.element not in floats or source.element == target.element

    def compute(x: Any) -> Any:
        return _ROUND[mode](x) if integral and source.element in floats else x

    _vector(core, name, "cast", [source], target, compute, spare)


def _reduce(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    source, target = arguments[:2]
    function, axis = _REDUCE[found["op"]], _AXES[found["axes"]]

    def compute(x: Any) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
            x = x.astype(np.float32)
        return function.reduce(x, axis=axis, keepdims=True).reshape(target.shape)

    _vector(core, name, "reduce", [source], target, compute, arguments[2:])


def _arange(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> None:
    views = [a for a in arguments if isinstance(a, View)]
    offset, *strides = [int(a) for a in arguments if not isinstance(a, View)]
    target = views[0]

    def compute() -> Any:
        index = np.indices(target.shape)
        return offset + sum(i * s for i, s in zip(index, strides, strict=True))

    _vector(core, name, "copy", [], target, compute, views[1:])


def _elementwise(core: Interpreter, name: str, found: re.Match[str], arguments: list[Any]) -> bool:
    operation, form = found["op"], found["form"]
    if form and operation[:-1] in _BINARY and operation not in _BINARY:
        operation = operation[:-1]  # vadds and the like
    if operation in _UNARY and not form:
        source, target = arguments[:2]
        _vector(core, name, operation, [source], target, _UNARY[operation], arguments[2:])
        return True
    if operation not in _BINARY:
        return False
    left, right, target = arguments[:3]
    function = _BINARY[operation]

    def compute(x: Any, y: Any) -> Any:
        if form == "vs":
            y = _scalar(y, left)
        elif form == "sv":
            x = _scalar(x, right)
        return function(x, y)

    _vector(core, name, operation, [left, right], target, compute, arguments[3:])
    return True


_TYPE = r"(?:float|half|bfloat16_t|u?int\d+_t|bool)"

_CALLS: list[tuple[re.Pattern[str], Callable[..., bool | None]]] = [
    (re.compile(rf"load_gm_to_ubuf_\dd_{_TYPE}"), _load),
    (re.compile(rf"store_ubuf_to_gm_\dd_{_TYPE}"), _store),
    (re.compile(rf"copy_ubuf_to_ubuf_\dd_{_TYPE}"), _move),
    (re.compile(rf"broadcast_scalar_{_TYPE}_to_\dd"), _broadcast),
    (re.compile(r"broadcast_(?:first|middle|last)_axis_\w+"), _broadcast),
    (re.compile(rf"broadcast_\dd_{_TYPE}"), _broadcast),
    (re.compile(rf"transpose_\dd_(?P<last>with|without)_last_axis_{_TYPE}"), _transpose),
    (
        re.compile(
            rf"deinterleave_channel_(?P<channel>\d)_from_(?P<count>\d)_channels_\dd_{_TYPE}"
        ),
        _deinterleave,
    ),
    (re.compile(rf"vsel_(?:vv|vs|sv|ss)_\dd_(?:bool_)?{_TYPE}"), _select),
    (re.compile(rf"vcmps?_(?P<op>eq|ne|lt|le|gt|ge)(?:_vs)?_\dd_{_TYPE}"), _compare),
    (re.compile(rf"vcast_{_TYPE}_to_{_TYPE}_\dd_with_\w+"), _cast),
    (
        re.compile(
            rf"(?:enablevc_)?reduce_(?P<op>sum|prod|max|min|andi|ori|xori)_"
            rf"(?P<axes>r|ar|ra|ra0a1)_{_TYPE}"
        ),
        _reduce,
    ),
    (re.compile(rf"arange_\dd_{_TYPE}"), _arange),
    (re.compile(rf"v(?P<op>[a-z]+)(?:_(?P<form>vs|sv|vv))?_\dd_{_TYPE}"), _elementwise),
]  # fmt: skip
