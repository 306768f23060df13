"""Pooling layers."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.pooling import (
    AdaptiveAvgPool2D,
    AvgPool,
    MaxPool,
    adaptive_avg_pool1d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool_nd,
    max_pool2d,
    max_pool_nd,
)
from mindjax.ops.shape import expand_dims, squeeze


class _Pool(Cell):
    """What the pooling layers share: checks, ranks and text.

    Args:
        kernel_size: sizes of a window.
        stride: steps between windows.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        count: number of spatial axes.
    """

    def __init__(self, kernel_size: Any, stride: Any, pad_mode: Any, count: int) -> None:
        super().__init__()
        owner = self.cls_name
        if count == 1:
            checks.of_type("kernel_size", kernel_size, int, owner)
            checks.of_type("stride", stride, int, owner)
        self.kernel_size, self.stride = kernel_size, stride
        self._kernel = checks.pool_sizes("kernel_size", kernel_size, count, owner)
        self._stride = checks.pool_sizes("stride", stride, count, owner)
        checks.of_type("pad_mode", pad_mode, str, owner)
        modes = ("VALID", "SAME", "PAD")
        self.pad_mode = checks.one_of("pad_mode", pad_mode.upper(), modes, owner)

    def _check_rank(self, x: Any, ranks: tuple[int, int]) -> None:
        if len(x.shape) not in ranks:
            raise located(
                ValueError,
                f"For primitive[{self.cls_name}], the length of input must be equal to "
                f"{ranks[1]} or {ranks[0]}, but got {len(x.shape)}.",
            )

    def extend_repr(self) -> str:
        """Name the window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    """What the max pooling layers share."""

    def _refuse(self, *changed: bool) -> None:
        if self.pad_mode != "PAD" and any(changed):
            raise located(
                ValueError,
                f"For {self.cls_name}, the parameter 'padding', 'dilation', 'return_indices', "
                "'ceil_mode' can not be set to non-default value when pad_mode is not 'pad', but "
                f"got pad_mode:{self.pad_mode.lower()}.",
            )


class MaxPool2d(_MaxPool):
    """Maxima over windows of images (MindSpore: ``nn.MaxPool2d``).

    Args:
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int or (height, width), with ``"pad"`` only, like the next three.
        dilation: int or (height, width).
        return_indices: give the places of the maxima too.
        ceil_mode: count windows that only begin inside.
        data_format: ``"NCHW"`` or ``"NHWC"``.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, 2)
        self._refuse(
            padding not in (0, (0, 0)), dilation not in (1, (1, 1)), return_indices, ceil_mode
        )
        self.data_format = checks.one_of("format", data_format, ("NCHW", "NHWC"), self.cls_name)
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        self.return_indices = checks.boolean("return_indices", return_indices, self.cls_name)
        if self.pad_mode != "PAD":
            self.max_pool = MaxPool(self._kernel, self._stride, self.pad_mode, data_format)
        elif data_format == "NHWC":
            raise located(
                NotImplementedError,
                "For 'MaxPool2d', 'pad_mode' \"pad\" with 'data_format' NHWC is not supported: "
                "transpose the input to NCHW.",
            )

    def construct(self, x: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        self._check_rank(x, (3, 4))
        single = len(x.shape) == 3
        if single:
            x = expand_dims(x, 0)
        if self.pad_mode != "PAD":
            out = self.max_pool(x)
            return squeeze(out, 0) if single else out
        window = (self._kernel, self._stride, self.padding, self.dilation)
        out = max_pool2d(x, *window, self.return_indices, self.ceil_mode)
        if single and self.return_indices:
            return squeeze(out[0], 0), squeeze(out[1], 0)
        return squeeze(out, 0) if single else out


class MaxPool1d(_MaxPool):
    """Maxima over windows of sequences (MindSpore: ``nn.MaxPool1d``).

    Args:
        kernel_size: int.
        stride: int.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int, with ``"pad"`` only, like the next three.
        dilation: int.
        return_indices: give the places of the maxima too.
        ceil_mode: count windows that only begin inside.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, 1)
        self._refuse(padding not in (0, (0,)), dilation not in (1, (1,)), return_indices, ceil_mode)
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        self.return_indices = checks.boolean("return_indices", return_indices, self.cls_name)

    def construct(self, x: Any) -> Any:
        """Pool (N, C, W) or (C, W)."""
        self._check_rank(x, (2, 3))
        if not self.return_indices:
            pads = {"VALID": 0, "SAME": "SAME", "PAD": self.padding}[self.pad_mode]
            window = (self._kernel, self._stride, pads, self.dilation, self.ceil_mode)
            return max_pool_nd(x, 1, *window, self.cls_name)
        single = len(x.shape) == 2
        flat = expand_dims(expand_dims(x, 0) if single else x, 2)
        pad = self.padding if isinstance(self.padding, int) else self.padding[0]
        spread = self.dilation if isinstance(self.dilation, int) else self.dilation[0]
        window = ((1, self._kernel[0]), (1, self._stride[0]), (0, pad), (1, spread))
        out, place = max_pool2d(flat, *window, True, self.ceil_mode)
        out, place = squeeze(out, 2), squeeze(place, 2)
        return (squeeze(out, 0), squeeze(place, 0)) if single else (out, place)


class _AvgPool(_Pool):
    """What the average pooling layers share; the arguments are those of `AvgPool2d`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        pad_mode: Any,
        count: int,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor: int | None,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, count)
        owner = self.cls_name
        if self.pad_mode != "PAD" and padding not in (0, (0,), (0, 0)):
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' must be zero when 'pad_mode' is not 'pad', but got "
                f"'padding': {padding} and 'pad_mode': {self.pad_mode.lower()}.",
            )
        self.padding = padding
        self.ceil_mode = checks.boolean("ceil_mode", ceil_mode, owner)
        self.count_include_pad = checks.boolean("count_include_pad", count_include_pad, owner)
        if divisor is not None:
            checks.positive_int("divisor_override", divisor, owner)
        self._divisor = divisor

    def _average(self, x: Any, count: int) -> Any:
        pads = {"VALID": 0, "SAME": "SAME", "PAD": self.padding}[self.pad_mode]
        rest = (pads, self.ceil_mode, self.count_include_pad, self._divisor)
        return avg_pool_nd(x, count, self._kernel, self._stride, *rest, self.cls_name)


class AvgPool2d(_AvgPool):
    """Averages over windows of images (MindSpore: ``nn.AvgPool2d``).

    Args:
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int or (height, width), with ``"pad"`` only.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.
        data_format: ``"NCHW"`` or ``"NHWC"``.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        options = (padding, ceil_mode, count_include_pad, divisor_override)
        super().__init__(kernel_size, stride, pad_mode, 2, *options)
        self.divisor_override = divisor_override
        self.data_format = checks.one_of("format", data_format, ("NCHW", "NHWC"), self.cls_name)
        plain = self.pad_mode != "PAD" and not ceil_mode and divisor_override is None
        self.avg_pool = (
            AvgPool(self._kernel, self._stride, self.pad_mode, data_format) if plain else None
        )
        if data_format == "NHWC" and not plain:
            raise located(
                NotImplementedError,
                "For 'AvgPool2d', 'data_format' NHWC goes with 'valid' and 'same' only: transpose "
                "the input to NCHW.",
            )

    def construct(self, x: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        self._check_rank(x, (3, 4))
        if self.avg_pool is not None and len(x.shape) == 4:
            return self.avg_pool(x)
        return self._average(x, 2)


class AvgPool1d(_AvgPool):
    """Averages over windows of sequences (MindSpore: ``nn.AvgPool1d``).

    Args:
        kernel_size: int.
        stride: int.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int, with ``"pad"`` only.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: int = 1,
        stride: int = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        options = (padding, ceil_mode, count_include_pad, None)
        super().__init__(kernel_size, stride, pad_mode, 1, *options)

    def construct(self, x: Any) -> Any:
        """Pool (N, C, W) or (C, W)."""
        self._check_rank(x, (2, 3))
        return self._average(x, 1)


class AdaptiveAvgPool1d(Cell):
    """Averages over a fixed number of regions of sequences (MindSpore: ``nn.AdaptiveAvgPool1d``).

    Args:
        output_size: number of regions.
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = checks.of_type("output_size", output_size, int, self.cls_name)

    def construct(self, input: Any) -> Any:
        """Pool (N, C, W) or (C, W)."""
        return adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(Cell):
    """Averages over a fixed number of regions of images (MindSpore: ``nn.AdaptiveAvgPool2d``).

    Args:
        output_size: int or (height, width); None keeps the input's size.
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.adaptive_avgpool2d = AdaptiveAvgPool2D(output_size)

    def construct(self, input: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return self.adaptive_avgpool2d(input)


class AdaptiveMaxPool1d(Cell):
    """Maxima over a fixed number of regions of sequences (MindSpore: ``nn.AdaptiveMaxPool1d``).

    Args:
        output_size: number of regions.
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = checks.of_type("output_size", output_size, int, self.cls_name)

    def construct(self, x: Any) -> Any:
        """Pool (N, C, W) or (C, W)."""
        return adaptive_max_pool1d(x, self.output_size)


class AdaptiveMaxPool2d(Cell):
    """Maxima over a fixed number of regions of images (MindSpore: ``nn.AdaptiveMaxPool2d``).

    Args:
        output_size: int or (height, width); None keeps the input's size.
        return_indices: give the places of the maxima too.
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = checks.boolean("return_indices", return_indices, self.cls_name)

    def construct(self, input: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return adaptive_max_pool2d(input, self.output_size, self.return_indices)
