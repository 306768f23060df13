"""Search live objects for tracers that a finished trace left behind."""

import gc
import sys


def leaked_handles():
    """Describe every live Tensor and Parameter whose own value is a tracer."""
    handle = sys.modules.get("mindjax.core.handle")
    if handle is None or not any(_holds(item, handle) for item in handle.live_handles()):
        return []
    gc.collect()  # frames of a caught error hold the locals of the trace until they are collected
    return [_describe(item) for item in handle.live_handles() if _holds(item, handle)]


def leaked_attributes():
    """Describe every attribute of a live Cell that is or contains a tracer."""
    handle = sys.modules.get("mindjax.core.handle")
    cell = sys.modules.get("mindjax.nn.cell")
    if handle is None or cell is None or not _attributes(handle, cell):
        return []
    gc.collect()  # as above; a second look is only paid for where the first found something
    return _attributes(handle, cell)


def _attributes(handle, cell):
    return [
        f"{type(item).__name__}.{name}"
        for item in gc.get_objects()
        if isinstance(item, cell.Cell)
        for name, value in vars(item).items()
        if any(_holds(part, handle) for part in _parts(value))
    ]


def _parts(value):
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple | set) else [value]


def _holds(item, handle):
    return handle.is_traced(item._value if isinstance(item, handle.Handle) else item)


def _describe(item):
    return f"{type(item).__name__} {getattr(item, 'name', '')} {item._value}"
