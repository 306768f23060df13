"""Layers whose factors of the Fisher matrix are kept: inputs on the way forward, gradients back.

``thor`` tells whether they are; a layer is otherwise as its first-order one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.conv import Conv2d
from mindjax.nn.dense import Dense
from mindjax.nn.embedding import Embedding
from mindjax.ops.updates.curvature import GradientMoment, PatchMoment
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def _statistic(value: Any, name: str) -> Parameter:
    return Parameter(Tensor(value.astype(np.float32)), name=name, requires_grad=False)


def _moment(x: Any) -> Any:
    """Give the sum of outer products of the rows of a matrix."""
    return ops.matmul(ops.transpose(x, (1, 0)), x)


class DenseThor(Dense):
    """A fully connected layer with THOR's statistics (MindSpore: ``nn.DenseThor``).

    Args:
        in_channels: size of the last axis of the input, a matrix.
        out_channels: size of the last axis of the output.
        weight_init: Tensor, initializer, its name or a number.
        bias_init: the same.
        has_bias: whether there is a bias.
        activation: name of an activation, or None.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        activation: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, weight_init, bias_init, has_bias, activation=activation
        )
        self.thor = True
        self.matrix_a = _statistic(np.eye(in_channels), "matrix_a")
        self.matrix_g = _statistic(np.eye(out_channels), "matrix_g")
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout: Any) -> Any:
        """Keep the second moment of the outputs' gradients.

        Args:
            dout: gradients of the outputs, (N, out_channels).

        Returns:
            The same.
        """
        ops.assign(self.matrix_g, ops.cast(_moment(dout), float32) / dout.shape[0])
        return dout

    def construct(self, x: Any) -> Any:
        """Compute (N, in) -> (N, out), and keep the second moment of the inputs."""
        out = ops.matmul(x, ops.transpose(self.weight, (1, 0)))
        if self.thor:
            # MindSpore: its GPU divides by the inputs' width, not by their number.
            ops.assign(self.matrix_a, ops.cast(_moment(x), float32) / self.in_channels)
            out = self.getG(out)
        if self.bias is not None:
            out = ops.bias_add(out, self.bias)
        return out if self.activation is None else self.activation(out)


class Conv2dThor(Conv2d):
    """A convolution with THOR's statistics (MindSpore: ``nn.Conv2dThor``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int or (top, bottom, left, right), with ``"pad"`` only.
        dilation: int or (height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: Tensor, initializer, its name or a number.
        bias_init: the same.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
        )
        self.thor = True
        height, width = self.kernel_size
        self.matrix_a_dim = self.in_channels * height * width
        self.matrix_g_dim = self.out_channels
        self.a_normalizer = _statistic(np.ones(1), "a_normalizer")
        self.g_normalizer = _statistic(np.ones(1), "g_normalizer")
        self.matrix_a_cov = _statistic(np.zeros((self.matrix_a_dim,) * 2), "matrix_a")
        self.matrix_g_cov = _statistic(np.zeros((self.matrix_g_dim,) * 2), "matrix_g")
        edges = (self.padding,) * 4 if isinstance(self.padding, int) else self.padding
        self._patches = PatchMoment(
            self.kernel_size, self.stride, self.dilation, pad_mode, tuple(edges)
        )
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout: Any) -> Any:
        """Keep the second moment of the outputs' gradients.

        Args:
            dout: gradients of the outputs, (N, out_channels, H, W).

        Returns:
            The same.
        """
        moment, places = GradientMoment()(dout)
        ops.assign(self.matrix_g_cov, moment)
        ops.assign(self.g_normalizer, places)
        return dout

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, H, W), and keep the second moment of the patches."""
        out = self.conv2d(x, self.weight)
        if self.thor:
            moment, places = self._patches(x)
            ops.assign(self.matrix_a_cov, moment)
            ops.assign(self.a_normalizer, places)
            out = self.getG(out)
        return out if self.bias is None else self.bias_add(out, self.bias)


class _Lookup(Cell):
    """Base of tables with THOR's statistics: how often rows are taken, and their gradients."""

    embedding_size: int
    vocab_size: int
    matrix_a: Any
    matrix_g: Any

    def _make_statistics(self, dtype: Any) -> None:
        self.thor = True
        width = self.embedding_size
        rows = Tensor(np.zeros(self.vocab_size), dtype)
        self.matrix_a = Parameter(rows, name="matrix_a", requires_grad=False)
        square = Tensor(np.zeros((width, width)), dtype)
        self.matrix_g = Parameter(square, name="matrix_g", requires_grad=False)
        self.getG = ops.InsertGradientOf(self.save_gradient)

    def save_gradient(self, dout: Any) -> Any:
        """Keep the second moment of the rows' gradients.

        Args:
            dout: gradients of what was looked up, (..., embedding_size).

        Returns:
            The same.
        """
        rows = ops.reshape(dout, (-1, self.embedding_size))
        ops.assign(self.matrix_g, ops.cast(_moment(rows) / dout.shape[0], self.matrix_g.dtype))
        return dout

    def _count(self, flat_ids: Any) -> None:
        ones = ops.ones_like(ops.cast(flat_ids, float32))
        counts = ops.unsorted_segment_sum(ones, flat_ids, self.vocab_size)
        ops.assign(self.matrix_a, ops.cast(counts, self.matrix_a.dtype))


class EmbeddingThor(Embedding, _Lookup):
    """A table of vectors with THOR's statistics (MindSpore: ``nn.EmbeddingThor``).

    Args:
        vocab_size: number of rows.
        embedding_size: width of a row.
        use_one_hot: how the original looks up; the statistics are not kept then, as there.
        embedding_table: first value: initializer, its name, number or Tensor.
        dtype: of the table.
        padding_idx: row that starts as zeros, or None.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: ``padding_idx`` is not a row, or a size is not above 0.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__(
            vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx
        )
        self._make_statistics(float32)

    def construct(self, ids: Any) -> Any:
        """Look up indices (...) and give (..., embedding_size)."""
        flat = ops.reshape(ids, (-1,))
        out = ops.gather(self.embedding_table, flat, 0)
        if self.thor and not self.use_one_hot:
            self._count(flat)
            out = self.getG(out)
        return ops.reshape(out, (*ids.shape, self.embedding_size))


class EmbeddingLookupThor(_Lookup):
    """A table of Float16 vectors with THOR's statistics (MindSpore: ``nn.EmbeddingLookupThor``).

    Args:
        vocab_size: number of rows.
        embedding_size: width of a row.
        param_init: first value: initializer, its name, number or Tensor.
        target: ``"DEVICE"``, or ``"CPU"``, for which, as in the original, no statistics are kept.
        slice_mode: how several devices would share the table: one of the class's names; one
            device has it all.
        manual_shapes: sizes of the shares of ``"field_slice"``.
        max_norm: largest norm of a vector, or None.
        sparse: device tuning only: whether gradients name rows; here they are dense.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value is unknown, or ``sparse`` is False for ``"CPU"``.
    """

    BATCH_SLICE = "batch_slice"
    FIELD_SLICE = "field_slice"
    TABLE_ROW_SLICE = "table_row_slice"
    TABLE_COLUMN_SLICE = "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: Any = None,
        sparse: bool = True,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.sparse = checks.of_type("sparse", sparse, bool, owner)
        self.vocab_size = checks.positive_int("vocab_size", vocab_size, owner)
        if target not in ("CPU", "DEVICE"):
            raise located(
                ValueError,
                f"For '{owner}', the 'target' must be one of values in ('CPU', 'DEVICE'), but got "
                f"{target}.",
            )
        if not sparse and target == "CPU":
            raise located(
                ValueError,
                f"For '{owner}', embedding_lookup must be sparse when 'target' is CPU, but got "
                f"'sparse': {sparse}, 'target': {target}.",
            )
        self.target, self.slice_mode, self.manual_shapes = target, slice_mode, manual_shapes
        self.embedding_size = checks.positive_int("embedding_size", embedding_size, owner)
        shape = (vocab_size, embedding_size)
        self.embedding_table = Parameter(
            initializer(param_init, shape, float16), name="embedding_table"
        )
        self.max_norm = max_norm
        if max_norm is not None:
            checks.float_above("max_norm", float(max_norm), owner)
            self.max_norm = Tensor(float(max_norm), float16)
        self._make_statistics(float16)

    def construct(self, indices: Any) -> Any:
        """Look up indices (...) and give (..., embedding_size)."""
        out = ops.gather(self.embedding_table, indices, 0)
        if self.thor and self.target == "DEVICE":
            self._count(ops.reshape(indices, (-1,)))
            out = self.getG(out)
        if self.max_norm is not None:
            axes = tuple(range(indices.ndim, out.ndim))
            norm = ops.sqrt(ops.sum(ops.square(out), axes, keepdim=True))
            out = out * (self.max_norm / ops.maximum(norm, self.max_norm))
        return out
