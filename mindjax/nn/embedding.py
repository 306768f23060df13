"""Embedding layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.nn.cell import Cell
from mindjax.nn.operators import Operator, laid
from mindjax.ops.embedding import embedding
from mindjax.ops.gather import Gather
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class Embedding(Cell):
    """Look-up of rows in a learned table (MindSpore: ``nn.Embedding``).

    Args:
        vocab_size: number of rows.
        embedding_size: width of a row.
        use_one_hot: how the original looks up; the result is the same.
        embedding_table: first value: initializer, its name, number or Tensor.
        dtype: of the table.
        padding_idx: row that starts as zeros, or None.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: ``padding_idx`` is not a row, or a size is not above 0.
    """

    gather = Operator(lambda cell: Gather())

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.vocab_size = checks.of_type("vocab_size", vocab_size, int, owner)
        self.embedding_size = checks.of_type("embedding_size", embedding_size, int, owner)
        self.use_one_hot = checks.of_type("use_one_hot", use_one_hot, bool, owner)
        self.dtype = dtype
        first = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            checks.int_in_range("padding_idx", padding_idx, 0, vocab_size, owner)
            rows = np.array(first.asnumpy())
            rows[padding_idx] = 0
            first = Tensor(rows, dtype)
        self.embedding_table = Parameter(first, name="embedding_table")

    def construct(self, ids: Any) -> Any:
        """Look up indices (...) and give (..., embedding_size)."""
        table, ids = laid(self, "gather", self.embedding_table, ids)
        return embedding(ids, table)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, embedding_table={self.embedding_table}, "
            f"dtype={self.dtype}, padding_idx={self.padding_idx}"
        )
