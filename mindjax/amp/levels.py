"""Networks in mixed precision: the levels O0 to O3 and auto, and lists of one's own."""

from __future__ import annotations

import functools
import inspect
import logging
from typing import Any

from mindjax import nn
from mindjax.amp.casting import LowPrecision, _OutputTo16, _OutputTo32
from mindjax.amp.lists import OPERATOR_CELLS, get_black_list, get_white_list, op_lists
from mindjax.core.dtype import bfloat16, float16, float32
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.primitive import Primitive
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import changed

logger = logging.getLogger("mindjax")
_LEVELS = ("O1", "O2", "O3", "auto")


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: Any = float16) -> Any:
    """Let a network compute in mixed precision.

    Args:
        network: Cell; a function at level ``"auto"`` only.
        amp_level: ``"O0"``: nothing changes. ``"O1"``: what is in the white list
            (`get_white_list`) computes in low precision, and gives Float32. ``"O2"``: all but what
            is in the black list (`get_black_list`) computes in low precision. ``"O3"``: all does.
            ``"auto"``: each operator computes in low precision, in Float32, or in the widest dtype
            of its inputs, by the original's lists.
        dtype: Float16 or BFloat16.

    Returns:
        The network, changed; with ``"O2"`` and ``"O3"`` a Cell around it whose output is Float32.

    Raises:
        TypeError: ``network`` is neither a Cell nor, with ``"auto"``, a function.
        ValueError: ``dtype`` or ``amp_level`` is something else.

    MindSpore: ``mindspore.amp.auto_mixed_precision``; there ``"O1"`` gives a rewritten copy, which
    shares the Parameters.
    """
    _check_network(network, amp_level)
    _check_dtype(dtype)
    if amp_level == "O0":
        return network
    before = getattr(network, "_amp_level", None)
    if before in _LEVELS:
        logger.warning(
            "The network's auto mixed-precision level is adjusted from %s to %s, and repeated "
            "calls to mixed-precision interfaces can cause performance degradation.",
            before,
            amp_level,
        )
    if amp_level == "O1":
        _apply_white_list(network, tuple(get_white_list()), dtype, False)
    elif amp_level == "O2":
        network = _OutputTo32(_apply_black_list(network, tuple(get_black_list()), dtype))
    elif amp_level == "O3":
        network = _OutputTo32(network.to_float(dtype))
    elif amp_level == "auto":
        network = _by_operator(network, dtype)
    else:
        raise located(ValueError, f"The amp level {amp_level} is not supported")
    setattr(network, "_amp_level", amp_level)  # noqa: B010
    return network


def custom_mixed_precision(
    network: Cell,
    *,
    white_list: list[type] | None = None,
    black_list: list[type] | None = None,
    dtype: Any = float16,
) -> Cell:
    """Let a network compute in mixed precision by a list of one's own.

    Args:
        network: Cell.
        white_list: Cells and Primitives that compute in low precision and give Float32.
        black_list: Cells that compute in Float32, while all others compute in low precision.
        dtype: Float16 or BFloat16.

    Returns:
        The network, changed; with ``black_list`` a Cell around it whose output is Float32.

    Raises:
        TypeError: ``network`` is no Cell, or a list holds something else.
        ValueError: neither or both lists are given, or another ``dtype``.

    MindSpore: ``mindspore.amp.custom_mixed_precision``.
    """
    if not isinstance(network, Cell):
        raise located(TypeError, "The network type should be Cell.")
    if white_list is None and black_list is None:
        raise located(
            ValueError,
            "For custom_mixed_precision, one of white_list and black_list must be provided.",
        )
    if white_list is not None and black_list is not None:
        raise located(
            ValueError,
            "For custom_mixed_precision, the white_list or black_list cannot be provided at the "
            "same time, please provide one or the other.",
        )
    _check_dtype(dtype)
    if white_list is not None:
        _check_list(white_list, "white_list", (Cell, Primitive))
        _apply_white_list(network, tuple(white_list), dtype, False)
        return network
    assert black_list is not None
    _check_list(black_list, "black_list", (Cell,))
    for kind in get_black_list():
        if kind not in black_list:
            logger.warning("%s is removed from internal black list.", kind)
    return _OutputTo32(_apply_black_list(network, tuple(black_list), dtype))


def _check_network(network: Any, amp_level: Any) -> None:
    if isinstance(network, Cell) or (amp_level == "auto" and inspect.isroutine(network)):
        return
    kinds = "Cell or function" if amp_level == "auto" else "Cell"
    raise located(TypeError, f"For amp_level '{amp_level}', the network type should be {kinds}.")


def _check_dtype(dtype: Any) -> None:
    if dtype not in (float16, bfloat16):
        raise located(
            ValueError,
            f"The dtype should be one of (mstype.float16, mstype.bfloat16), but got {dtype}.",
        )


def _check_list(kinds: Any, name: str, bases: tuple[type, ...]) -> None:
    if not isinstance(kinds, list):
        raise located(TypeError, f"The type of {name} should be list, but got {type(kinds)}")
    for kind in kinds:
        if not isinstance(kind, type):
            raise located(TypeError, f"The element in {name} should be a class, but got {kind}")
        if not issubclass(kind, bases):
            wanted = " and ".join(f"'{b.__name__}'" for b in bases)
            raise located(
                TypeError,
                f"The subclass of element in {name} should be one of {wanted}, but got {kind}",
            )


def _set_by_user(cell: Cell) -> bool:
    return any(cell.__dict__.get(flag) for flag in ("fp16", "bf16", "fp32"))


def _apply_white_list(cell: Cell, kinds: tuple[type, ...], dtype: Any, forced: bool) -> None:
    """Cast what is listed, in a Cell and in those within, with Float32 around each."""
    for name, value in list(cell.__dict__.items()):
        if isinstance(value, Primitive) and (forced or type(value) in kinds):
            cell.__dict__[name] = LowPrecision(value, dtype)
    _apply_to_parts(cell, kinds, dtype, forced)


def _apply_to_parts(cell: Cell, kinds: tuple[type, ...], dtype: Any, forced: bool) -> None:
    names = {kind.__name__ for kind in kinds if issubclass(kind, Primitive)}
    for part in cell.cells():
        if _set_by_user(part):
            continue
        kind = type(part)
        chosen = forced or kind in kinds
        own = kind.__module__.startswith("mindjax.") and not _container(part)
        if own and (chosen or OPERATOR_CELLS.get(kind.__name__) in names):
            part.__dict__["_cast"], part.__dict__["_cast_out"] = dtype, float32
            _apply_to_parts(part, kinds, dtype, True)
        else:
            _apply_white_list(part, kinds, dtype, chosen)
    changed()


def _container(cell: Cell) -> bool:
    return isinstance(cell, nn.SequentialCell | nn.CellList | nn.CellDict)


def _apply_black_list(cell: Cell, kinds: tuple[type, ...], dtype: Any) -> Cell:
    """Compute in low precision, but for what is listed."""
    cell.to_float(dtype)
    _keep_full(cell, kinds, dtype)
    return cell


def _keep_full(cell: Cell, kinds: tuple[type, ...], dtype: Any) -> None:
    """Put Cells of the kinds back to Float32, with a cast after each."""
    for name, part in cell.name_cells().items():
        if part is cell:
            continue
        if isinstance(part, kinds):
            fresh = _OutputTo16(part.to_float(float32), dtype)
            cell._cells[name] = fresh
            if cell.__dict__.get(name) is part:
                cell.__dict__[name] = fresh
        else:
            _keep_full(part, kinds, dtype)
    changed()


def keep_batchnorm(cell: Cell) -> None:
    """Compute normalizations in Float32 within a network of Float16.

    Args:
        cell: the network.
    """
    _keep_full(cell, tuple(get_black_list()), float16)


def _by_operator(network: Any, dtype: Any) -> Any:
    """Let each operator choose its precision."""
    lists = op_lists(dtype)
    if isinstance(network, Cell):
        network.__dict__["_cast"] = lists
        changed()
        return network

    @functools.wraps(network)
    def in_mixed_precision(*args: Any, **kwargs: Any) -> Any:
        outer, current.mixed = current.mixed, lists
        try:
            return network(*args, **kwargs)
        finally:
            current.mixed = outer

    return in_mixed_precision
