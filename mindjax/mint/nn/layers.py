"""Pooling, embedding, dropout and activation layers with torch's arguments."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.mint.nn import functional
from mindjax.nn.cell import Cell
from mindjax.tensor.initializer import Normal, initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class MaxPool2d(Cell):
    """Maxima over windows of images (MindSpore: ``mint.nn.MaxPool2d``).

    Args:
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width).
        dilation: int or (height, width).
        return_indices: give the places of the maxima too.
        ceil_mode: count windows that only begin inside.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def construct(self, input: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        window = (self.kernel_size, self.stride, self.padding, self.dilation)
        return functional.max_pool2d(input, *window, self.ceil_mode, self.return_indices)


class AvgPool1d(Cell):
    """Averages over windows of sequences (MindSpore: ``mint.nn.AvgPool1d``).

    Args:
        kernel_size: int or (width,).
        stride: int or (width,); None for ``kernel_size``.
        padding: int or (width,), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def construct(self, input: Any) -> Any:
        """Pool (N, C, W) or (C, W)."""
        options = (self.padding, self.ceil_mode, self.count_include_pad)
        return functional.avg_pool1d(input, self.kernel_size, self.stride, *options)


class AvgPool2d(Cell):
    """Averages over windows of images (MindSpore: ``mint.nn.AvgPool2d``).

    Args:
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width).
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def construct(self, input: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        options = (self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)
        return functional.avg_pool2d(input, self.kernel_size, self.stride, *options)


class Embedding(Cell):
    """Look-up of rows in a learned table (MindSpore: ``mint.nn.Embedding``).

    Args:
        num_embeddings: number of rows.
        embedding_dim: width of a row.
        padding_idx: row that starts as zeros and gets no gradient, or None.
        max_norm: rows that are looked up are scaled down to this norm first.
        norm_type: exponent of that norm.
        scale_grad_by_freq: not supported.
        sparse: not supported.
        dtype: of the table; None for Float32.

    Raises:
        NotImplementedError: ``scale_grad_by_freq`` or ``sparse`` is True.
        TypeError: an argument is of a wrong type.
        ValueError: a size is not above 0, or ``padding_idx`` is not a row.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        owner, dtype = self.cls_name, float32 if dtype is None else dtype
        self.num_embeddings = checks.positive_int("num_embeddings", num_embeddings, owner)
        self.embedding_dim = checks.positive_int("embedding_dim", embedding_dim, owner)
        for name, value in (("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)):
            if value:
                raise located(
                    NotImplementedError,
                    f"For '{owner}', '{name}=True' is not supported: leave it False.",
                )
        shape = (num_embeddings, embedding_dim)
        table = initializer(Normal(sigma=1.0) if _weight is None else _weight, shape, dtype)
        if padding_idx is not None:
            checks.int_in_range("padding_idx", padding_idx, -num_embeddings, num_embeddings, owner)
            padding_idx %= num_embeddings
            if _weight is None:
                rows = table.asnumpy()
                rows[padding_idx] = 0
                table = Tensor(rows, dtype)
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.dtype = scale_grad_by_freq, dtype
        self.weight = Parameter(table, "weight", requires_grad=not _freeze)

    def construct(self, input: Any) -> Any:
        """Look up indices (...) and give (..., embedding_dim)."""
        options = (self.padding_idx, self.max_norm, self.norm_type)
        return functional.embedding(input, self.weight, *options)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"padding_idx={self.padding_idx}, max_norm={self.max_norm}, "
            f"norm_type={self.norm_type}, scale_grad_by_freq={self.scale_grad_by_freq}, "
            f"dtype={self.dtype}"
        )


class Dropout(Cell):
    """Dropout of elements while training (Srivastava 2014; MindSpore: ``mint.nn.Dropout``).

    Args:
        p: probability of an element to be dropped.
        inplace: write the result into the input.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input: Any) -> Any:
        """Drop elements of a float Tensor."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout2d(Cell):
    """Dropout of channels while training (Tompson 2015; MindSpore: ``mint.nn.Dropout2d``).

    Args:
        p: probability of a channel to be dropped.
        inplace: write the result into the input.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input: Any) -> Any:
        """Drop channels of (N, C, H, W)."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class _Inplace(Cell):
    """An activation that may write its result into its input.

    Args:
        inplace: whether it does.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = checks.boolean("inplace", inplace, self.cls_name)


class ReLU6(_Inplace):
    """min(max(x, 0), 6) (MindSpore: ``mint.nn.ReLU6``).

    Args:
        inplace: write the result into the input.
    """

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return functional.relu6(input, self.inplace)


class SiLU(_Inplace):
    """x * sigmoid(x) (MindSpore: ``mint.nn.SiLU``).

    Args:
        inplace: write the result into the input.
    """

    def construct(self, x: Any) -> Any:
        """Apply it element by element."""
        return functional.silu(x, self.inplace)


class ELU(_Inplace):
    """x above 0, alpha (exp(x) - 1) below (Clevert 2015; MindSpore: ``mint.nn.ELU``).

    Args:
        alpha: height of the negative side.
        inplace: write the result into the input.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return functional.elu(input, self.alpha, self.inplace)


class Hardtanh(_Inplace):
    """x cut at two bounds (MindSpore: ``mint.nn.Hardtanh``).

    Args:
        min_val: lower bound.
        max_val: upper bound.
        inplace: write the result into the input.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val, self.max_val = min_val, max_val

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(_Inplace):
    """x above a threshold, a constant elsewhere (MindSpore: ``mint.nn.Threshold``).

    Args:
        threshold: the bound.
        value: the constant.
        inplace: write the result into the input.
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class GELU(Cell):
    """Gaussian error linear unit (Hendrycks 2016; MindSpore: ``mint.nn.GELU``).

    Args:
        approximate: ``"none"`` by the error function, ``"tanh"`` by its approximation.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, input: Any) -> Any:
        """Apply it element by element."""
        return functional.gelu(input, approximate=self.approximate)


class GLU(Cell):
    """First half along an axis times the sigmoid of the second (MindSpore: ``mint.nn.GLU``).

    Args:
        dim: the axis.
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Any) -> Any:
        """Halve and gate."""
        return functional.glu(input, self.dim)


class Softmax(Cell):
    """Exponentials that sum to 1 along an axis (MindSpore: ``mint.nn.Softmax``).

    Args:
        dim: the axis; None for 0 at rank 0, 1 and 3, else 1.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Any) -> Any:
        """Apply it along the axis."""
        return functional.softmax(input, self.dim)


class LogSoftmax(Cell):
    """Logarithm of the softmax along an axis (MindSpore: ``mint.nn.LogSoftmax``).

    Args:
        dim: the axis; None for 0 at rank 0, 1 and 3, else 1.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Any) -> Any:
        """Apply it along the axis."""
        return functional.log_softmax(x, self.dim)


class PReLU(Cell):
    """x above 0, w * x below, w learned (He 2015; MindSpore: ``mint.nn.PReLU``).

    Args:
        num_parameters: number of slopes, 1 or the size of axis 1.
        init: first value of the slopes.
        dtype: of the slopes; None for Float32.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        checks.positive_int("num_parameters", num_parameters, self.cls_name)
        first = initializer(init, (num_parameters,), float32 if dtype is None else dtype)
        self.weight = Parameter(first, name="weight")

    def construct(self, input: Any) -> Any:
        """Apply it to (N, C, ...)."""
        return functional.prelu(input, self.weight)
