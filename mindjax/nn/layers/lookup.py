"""Look-up of rows in large tables, also of several fields merged."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.dtype import float32, int32, int64
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.layers.norms import clipped
from mindjax.ops.arithmetic import abs
from mindjax.ops.creation import full_like, zeros_like
from mindjax.ops.gather import EmbeddingLookup as _EmbeddingLookup
from mindjax.ops.gather import gather
from mindjax.ops.indexed.segments import unsorted_segment_max
from mindjax.ops.logic import where
from mindjax.ops.ranges import arange
from mindjax.ops.scatter import unsorted_segment_sum
from mindjax.ops.shape import reshape
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter


class _Lookup(Cell):
    """What both look-ups share; `EmbeddingLookup` describes the arguments."""

    BATCH_SLICE: ClassVar[str] = "batch_slice"
    FIELD_SLICE: ClassVar[str] = "field_slice"
    TABLE_ROW_SLICE: ClassVar[str] = "table_row_slice"
    TABLE_COLUMN_SLICE: ClassVar[str] = "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.sparse = checks.of_type("sparse", sparse, bool, owner)
        self.vocab_size = checks.positive_int("vocab_size", vocab_size, owner)
        self.target = checks.one_of("target", target, ("CPU", "DEVICE"), owner)
        if not sparse and target == "CPU":
            raise located(
                ValueError,
                f"For '{owner}', 'sparse' must be True when 'target' is \"CPU\", but got 'sparse': "
                f"{sparse} and 'target': {target}",
            )
        self.embedding_size = checks.positive_int("embedding_size", embedding_size, owner)
        shape = (vocab_size, embedding_size)
        self.embedding_table = Parameter(initializer(param_init, shape, dtype), "embedding_table")
        self.slice_mode, self.manual_shapes = slice_mode, manual_shapes
        # Made here: from now on graphs look for tables whose gradients are those of rows.
        self._rows = _EmbeddingLookup()
        self.max_norm = max_norm
        if max_norm is not None:
            self.max_norm = checks.float_above("max_norm", max_norm, owner)

    def _look_up(self, indices: Any) -> Any:
        if self.target == "CPU":
            out = self._rows(self.embedding_table, indices, 0)
        else:
            out = gather(self.embedding_table, indices, 0)
        return out if self.max_norm is None else clipped(out, self.max_norm, (-1,))


class EmbeddingLookup(_Lookup):
    """Look-up of rows in a learned table (MindSpore: ``nn.EmbeddingLookup``).

    Args:
        vocab_size: number of rows.
        embedding_size: width of a row.
        param_init: first value: initializer, its name, number or Tensor.
        target: ``"CPU"``: an index out of range gives zeros; ``"DEVICE"``: it raises. The table
            lies on the device either way.
        slice_mode: how parallel training cuts the table; on one device it changes nothing.
        manual_shapes: sizes of the fields for ``"field_slice"``; the same.
        max_norm: rows are scaled down to this norm, or None.
        sparse: must be True for ``"CPU"``. In a graph the gradient of such a table is that of the
            rows that were looked up, a `RowTensor`, where nothing else uses the table.
        dtype: of the table.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def construct(self, indices: Any) -> Any:
        """Look up indices (...) and give (..., embedding_size)."""
        return self._look_up(indices)


class MultiFieldEmbeddingLookup(_Lookup):
    """Look-up of weighted rows, merged by field (MindSpore: ``nn.MultiFieldEmbeddingLookup``).

    Args:
        vocab_size: number of rows.
        embedding_size: width of a row.
        field_size: number of fields.
        param_init: as in `EmbeddingLookup`, as are the following.
        target: ``"CPU"`` or ``"DEVICE"``.
        slice_mode: kept for parallel training.
        feature_num_list: sizes of the fields; kept for parallel training.
        max_norm: greatest norm of a row, or None.
        sparse: must be True for ``"CPU"``.
        operator: ``"SUM"``, ``"MEAN"`` (by the sum of the weights' magnitudes) or ``"MAX"``.
        dtype: of the table.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    OPERATOR_SUM: ClassVar[str] = "SUM"
    OPERATOR_MEAN: ClassVar[str] = "MEAN"
    OPERATOR_MAX: ClassVar[str] = "MAX"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        field_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Any = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: str = "SUM",
        dtype: Any = float32,
    ) -> None:
        options = (param_init, target, slice_mode, feature_num_list, max_norm, sparse, dtype)
        super().__init__(vocab_size, embedding_size, *options)
        self.field_size = checks.positive_int("field_size", field_size, self.cls_name)
        kinds = ("SUM", "MAX", "MEAN")
        self.operator = checks.one_of("operator", operator, kinds, self.cls_name)

    def construct(self, input_indices: Any, input_values: Any, field_ids: Any) -> Any:
        """Look up and merge.

        Args:
            input_indices: rows (batch, n), Int32 or Int64.
            input_values: weights (batch, n), Float32; 0 for padding.
            field_ids: field of each index (batch, n), Int32.

        Returns:
            Tensor (batch, field_size, embedding_size).

        Raises:
            TypeError: an input is of a wrong dtype.
            ValueError: an input has not two dimensions.
        """
        owner = self.cls_name
        for name, value, dtypes in (
            ("input_indices", input_indices, (int32, int64)),
            ("input_values", input_values, (float32,)),
            ("field_ids", field_ids, (int32,)),
        ):
            if len(value.shape) != 2:
                raise located(
                    ValueError,
                    f"For '{owner}', the dimension of '{name}' must be 2d, but got "
                    f"{len(value.shape)}",
                )
            if value.dtype not in dtypes:
                raise located(
                    TypeError,
                    f"For '{owner}', the '{name}' should be one of {[str(d) for d in dtypes]}, but "
                    f"got '{value.dtype}'.",
                )
        batch, count = input_indices.shape
        segments = batch * self.field_size
        first = reshape(arange(0, segments, self.field_size, dtype=int32), (batch, 1))
        places = reshape(field_ids + first, (-1,))
        weights = reshape(input_values, (batch * count, 1))
        rows = reshape(self._look_up(input_indices), (batch * count, self.embedding_size))
        rows = rows * weights
        if self.operator == "MAX":
            # Padding loses against every row.
            rows = where(weights == 0, full_like(rows, -3.402823466e38), rows)
            merged = unsorted_segment_max(rows, places, segments)
        else:
            merged = unsorted_segment_sum(rows, places, segments)
        if self.operator != "SUM":
            total = reshape(
                unsorted_segment_sum(abs(reshape(weights, (-1,))), places, segments), (-1, 1)
            )
            filled = total != 0
            if self.operator == "MEAN":
                merged = merged / where(filled, total, full_like(total, 1.0))
            merged = where(filled, merged, zeros_like(merged))
        return reshape(merged, (batch, self.field_size, self.embedding_size))
