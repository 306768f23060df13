"""Products, diagonals and triangles of matrices, and moved axes."""

from __future__ import annotations

import math
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.linalg import inverse
from mindjax.ops.linear.contractions import bidense
from mindjax.ops.linear.determinants import det
from mindjax.ops.linear.diagonals import matrix_diag, matrix_set_diag
from mindjax.ops.products import matmul
from mindjax.ops.rearrange import diagonal, roll, tril, triu
from mindjax.ops.shape import reshape, swapaxes
from mindjax.tensor.initializer import Uniform, initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class MatMul(Cell):
    """Products of matrices and vectors, with batches (MindSpore: ``nn.MatMul``).

    Args:
        transpose_x1: whether the last two axes of ``x1`` are exchanged; a vector stays.
        transpose_x2: the same of ``x2``.

    Raises:
        TypeError: an argument is not a bool.
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = checks.of_type("transpose_x1", transpose_x1, bool, self.cls_name)
        self.transpose_x2 = checks.of_type("transpose_x2", transpose_x2, bool, self.cls_name)

    def construct(self, x1: Any, x2: Any) -> Any:
        """Multiply (..., n, k) by (..., k, m); vectors are rows at the left, columns at the right.

        Raises:
            ValueError: the inner sizes differ.
        """
        if self.transpose_x1 and len(x1.shape) > 1:
            x1 = swapaxes(x1, -1, -2)
        if self.transpose_x2 and len(x2.shape) > 1:
            x2 = swapaxes(x2, -1, -2)
        rows = x2.shape[0] if len(x2.shape) == 1 else x2.shape[-2]
        if x1.shape[-1] != rows:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the column of matrix dimensions of 'x1' must be equal to "
                f"the row of matrix dimensions of 'x2', but got 'x1_col' {x1.shape[-1]} and "
                f"'x2_row' {rows}.",
            )
        return matmul(x1, x2)


def _half_or_single(owner: str, x: Any) -> None:
    if x.dtype not in (float16, float32):
        raise located(
            TypeError,
            f"For '{owner}', the 'input_a' should be one of [Float16, Float32], but got "
            f"'{x.dtype}'.",
        )


class MatInverse(Cell):
    """The inverse of symmetric positive definite matrices (MindSpore: ``nn.MatInverse``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, a: Any) -> Any:
        """Invert (..., n, n), Float16 or Float32."""
        _half_or_single(self.cls_name, a)
        return inverse(a.astype(float32)).astype(a.dtype)


class MatDet(Cell):
    """The determinant of symmetric positive definite matrices (MindSpore: ``nn.MatDet``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, a: Any) -> Any:
        """Give (...) for (..., n, n), Float16 or Float32."""
        _half_or_single(self.cls_name, a)
        return det(a.astype(float32)).astype(a.dtype)


class MatrixDiag(Cell):
    """Matrices with given diagonals (MindSpore: ``nn.MatrixDiag``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Any) -> Any:
        """Give (..., n, n) for (..., n)."""
        return matrix_diag(input_x)


class MatrixDiagPart(Cell):
    """The diagonals of matrices (MindSpore: ``nn.MatrixDiagPart``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Any) -> Any:
        """Give (..., min(m, n)) for (..., m, n)."""
        return diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """Matrices with other diagonals (MindSpore: ``nn.MatrixSetDiag``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input_x: Any, diagonal: Any) -> Any:
        """Set the diagonals (..., min(m, n)) of (..., m, n)."""
        return matrix_set_diag(input_x, diagonal)


class Tril(Cell):
    """The lower triangle of matrices, zeros above (MindSpore: ``nn.Tril``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any, k: int = 0) -> Any:
        """Keep what is on and below a diagonal.

        Args:
            x: (..., m, n).
            k: the diagonal; 0 for the main one, above it if positive.
        """
        return tril(x, checks.of_type("k value", k, int, self.cls_name))


class Triu(Cell):
    """The upper triangle of matrices, zeros below (MindSpore: ``nn.Triu``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any, k: int = 0) -> Any:
        """Keep what is on and above a diagonal.

        Args:
            x: (..., m, n).
            k: the diagonal; 0 for the main one, above it if positive.
        """
        return triu(x, checks.of_type("k value", k, int, self.cls_name))


class Roll(Cell):
    """Elements moved along axes, round the end (MindSpore: ``nn.Roll``).

    Args:
        shift: number of places, an int, or a tuple or list of ints.
        axis: axis for each.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the numbers of both differ.
    """

    def __init__(self, shift: Any, axis: Any) -> None:
        super().__init__()
        owner = self.cls_name
        checks.of_type("shift", shift, (int, tuple, list), owner)
        checks.of_type("axis", axis, (int, tuple, list), owner)
        self.shift = list(shift) if isinstance(shift, tuple | list) else [shift]
        self.axis = list(axis) if isinstance(axis, tuple | list) else [axis]
        if len(self.shift) != len(self.axis):
            raise located(
                ValueError,
                f"For '{owner}', the shape of 'shift' and the shape of 'axis' must be the same, "
                f"but got the length of 'shift' {len(self.shift)} and the length of 'axis' "
                f"{len(self.axis)}.",
            )

    def construct(self, input_x: Any) -> Any:
        """Move the elements of a Tensor."""
        rank = len(input_x.shape)
        for axis in self.axis:
            checks.int_in_range("axis", axis, -rank, rank, self.cls_name)
        return roll(input_x, tuple(self.shift), tuple(self.axis))


class Unflatten(Cell):
    """One axis made several (MindSpore: ``nn.Unflatten``).

    Args:
        axis: int.
        unflattened_size: tuple or list of ints; one may be -1.

    Raises:
        TypeError: an argument is of a wrong type.
    """

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        self.axis = checks.of_type("axis", axis, int, self.cls_name)
        checks.of_type("unflattended_size", unflattened_size, (list, tuple), self.cls_name)
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, input_x: Any) -> Any:
        """Reshape."""
        shape, axis = tuple(input_x.shape), self.axis
        rest = () if axis == -1 else shape[axis + 1 :]
        return reshape(input_x, shape[:axis] + self.unflattened_size + rest)


class BiDense(Cell):
    """A bilinear form of two inputs, plus bias (MindSpore: ``nn.BiDense``).

    Args:
        in1_channels: size of the last axis of the first input.
        in2_channels: size of the last axis of the second input.
        out_channels: size of the last axis of the output.
        weight_init: Tensor, initializer, its name or a number; None for uniform in
            1 / sqrt(in1_channels).
        bias_init: the same.
        has_bias: whether there is a bias.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a size is not above 0, or a Tensor does not fit.
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in1_channels = checks.positive_int("in1_channels", in1_channels, owner)
        self.in2_channels = checks.positive_int("in2_channels", in2_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        self.has_bias = checks.boolean("has_bias", has_bias, owner)
        self.in_channels = in2_channels
        bound = Uniform(scale=1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)

        def parameter(name: str, init: Any, shape: tuple[int, ...]) -> Parameter:
            if isinstance(init, Tensor) and tuple(init.shape) != shape:
                raise located(
                    ValueError,
                    f"For '{owner}', {name} init shape error. The shape of '{name}_init' must be "
                    f"{shape}, but got {init.shape}.",
                )
            return Parameter(initializer(bound if init is None else init, shape, dtype), name)

        self.weight = parameter("weight", weight_init, shape)
        self.bias = parameter("bias", bias_init, (out_channels,)) if has_bias else None

    def construct(self, input1: Any, input2: Any) -> Any:
        """Give (..., out) for (..., in1) and (..., in2).

        Raises:
            TypeError: an input is not a Tensor.
            ValueError: the sizes do not fit.
        """
        owner = self.cls_name
        sizes = (self.in1_channels, self.in2_channels)
        for i, (x, size) in enumerate(zip((input1, input2), sizes, strict=True), 1):
            if not isinstance(x, Tensor):
                raise located(
                    TypeError,
                    f"For '{owner}', the 'input{i}' must be a Tensor, but got {type(x).__name__}.",
                )
            if x.shape[-1] != size:
                raise located(
                    ValueError,
                    f"For '{owner}', the last dimension of 'input{i}' must be same as "
                    f"'in{i}_channels', but got {x.shape[-1]} of 'input{i}' and {size} of "
                    f"'in{i}_channels'",
                )
        if input1.shape[:-1] != input2.shape[:-1]:
            raise located(
                ValueError,
                f"For '{owner}', dimensions except the last of 'input1' must be same as 'input2', "
                f"but got {input1.shape} of 'input1' and {input2.shape} of 'input2'",
            )
        return bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self) -> str:
        """Name the sizes."""
        text = (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, "
            f"output_channels={self.out_channels}"
        )
        return text + (f", has_bias={self.has_bias}" if self.has_bias else "")
