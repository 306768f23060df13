"""Layers that widen the last axes."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.numeric.arranging import MirrorPad
from mindjax.ops.rearrange import Pad as _Pad
from mindjax.ops.rearrange import pad


class _Padding(Cell):
    """Padding of the last axes, by one width or by two an axis, the last axis first."""

    _count: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        checks.of_type("padding", padding, (int, tuple, list), self.cls_name)
        count = 2 * self._count
        pads = (padding,) * count if isinstance(padding, int) else tuple(padding)
        if len(pads) != count:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'padding' must be an int or {count} ints, but got "
                f"{padding}.",
            )
        self.padding = tuple(checks.integer("padding", p, self.cls_name) for p in pads)

    def construct(self, input: Any) -> Any:
        """Pad."""
        return pad(input, self.padding, self._mode)

    def extend_repr(self) -> str:
        """Name the widths."""
        return f"padding={self.padding}"


class _Constant(_Padding):
    """Padding with one number."""

    _mode = "constant"

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding)
        self.value = checks.of_type("value", value, (int, float, bool), self.cls_name)

    def construct(self, input: Any) -> Any:
        """Pad."""
        return pad(input, self.padding, "constant", self.value)


class _Zero(_Padding):
    """Padding with zeros."""

    _mode = "constant"


class _Reflection(_Padding):
    """Padding with what lies mirrored at the border."""

    _mode = "reflect"


class _Replication(_Padding):
    """Padding with the border's elements."""

    _mode = "replicate"


class ConstantPad1d(_Constant):
    """Padding of the last axis with one number.

    MindSpore: ``nn.ConstantPad1d``, ``mint.nn.ConstantPad1d``.

    Args:
        padding: int or (left, right); negative cuts.
        value: the number.
    """

    _count = 1


class ConstantPad2d(_Constant):
    """Padding of the last two axes with one number.

    MindSpore: ``nn.ConstantPad2d``, ``mint.nn.ConstantPad2d``.

    Args:
        padding: int or (left, right, top, bottom); negative cuts.
        value: the number.
    """

    _count = 2


class ConstantPad3d(_Constant):
    """Padding of the last three axes with one number.

    MindSpore: ``nn.ConstantPad3d``, ``mint.nn.ConstantPad3d``.

    Args:
        padding: int or (left, right, top, bottom, front, back); negative cuts.
        value: the number.
    """

    _count = 3


class ZeroPad1d(_Zero):
    """Padding of the last axis with zeros.

    MindSpore: ``mint.nn.ZeroPad1d``.

    Args:
        padding: int or (left, right); negative cuts.
    """

    _count = 1


class ZeroPad2d(_Zero):
    """Padding of the last two axes with zeros.

    MindSpore: ``nn.ZeroPad2d``, ``mint.nn.ZeroPad2d``.

    Args:
        padding: int or (left, right, top, bottom); negative cuts.
    """

    _count = 2


class ZeroPad3d(_Zero):
    """Padding of the last three axes with zeros.

    MindSpore: ``mint.nn.ZeroPad3d``.

    Args:
        padding: int or (left, right, top, bottom, front, back); negative cuts.
    """

    _count = 3


class ReflectionPad1d(_Reflection):
    """Padding of the last axis with what lies mirrored at the border.

    MindSpore: ``nn.ReflectionPad1d``, ``mint.nn.ReflectionPad1d``.

    Args:
        padding: int or (left, right); negative cuts.
    """

    _count = 1


class ReflectionPad2d(_Reflection):
    """Padding of the last two axes with what lies mirrored at the border.

    MindSpore: ``nn.ReflectionPad2d``, ``mint.nn.ReflectionPad2d``.

    Args:
        padding: int or (left, right, top, bottom); negative cuts.
    """

    _count = 2


class ReflectionPad3d(_Reflection):
    """Padding of the last three axes with what lies mirrored at the border.

    MindSpore: ``nn.ReflectionPad3d``, ``mint.nn.ReflectionPad3d``.

    Args:
        padding: int or (left, right, top, bottom, front, back); negative cuts.
    """

    _count = 3


class ReplicationPad1d(_Replication):
    """Padding of the last axis with the border's elements.

    MindSpore: ``nn.ReplicationPad1d``, ``mint.nn.ReplicationPad1d``.

    Args:
        padding: int or (left, right); negative cuts.
    """

    _count = 1


class ReplicationPad2d(_Replication):
    """Padding of the last two axes with the border's elements.

    MindSpore: ``nn.ReplicationPad2d``, ``mint.nn.ReplicationPad2d``.

    Args:
        padding: int or (left, right, top, bottom); negative cuts.
    """

    _count = 2


class ReplicationPad3d(_Replication):
    """Padding of the last three axes with the border's elements.

    MindSpore: ``nn.ReplicationPad3d``, ``mint.nn.ReplicationPad3d``.

    Args:
        padding: int or (left, right, top, bottom, front, back); negative cuts.
    """

    _count = 3


class Pad(Cell):
    """Padding of every axis (MindSpore: ``nn.Pad``).

    Args:
        paddings: ((before, after), ...), one pair an axis.
        mode: ``"CONSTANT"`` for zeros, ``"REFLECT"`` for what lies mirrored at the border, or
            ``"SYMMETRIC"`` for the same with the border's element.

    Raises:
        TypeError: ``paddings`` is no tuple.
        ValueError: it has another form, or ``mode`` is unknown.
    """

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        self.mode = checks.one_of("mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), self.cls_name)
        self.paddings = checks.of_type("paddings", paddings, tuple, self.cls_name)
        self.pad = _Pad(paddings) if mode == "CONSTANT" else MirrorPad(mode)

    def construct(self, x: Any) -> Any:
        """Pad."""
        return self.pad(x) if self.mode == "CONSTANT" else self.pad(x, self.paddings)
