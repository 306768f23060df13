"""A Parameter of rows by key, a table that grows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float32, int32, int64, to_np
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

# What an export says of a row.
_UNCHANGED, _CHANGED, _ERASED = 0, 1, 2


class MapParameter(Parameter):
    """Rows by integer key, made when first asked for (MindSpore: ``experimental.MapParameter``).

    The table lives on the host, is used in PYNATIVE and has no gradient; a checkpoint does not
    hold its rows: keep what `export_data` gives. For a trained table use ``nn.Embedding``.

    Args:
        key_dtype: Int32 or Int64.
        value_dtype: of the rows.
        value_shape: of a row, an int or a sequence.
        key_tensor: first keys.
        value_tensor: first rows, (keys, ...).
        default_value: of a row that is made: number, or an initializer's name.
        permit_filter_value: must be 1: rows are made at the first asking.
        evict_filter_value: must be its default: rows stay until they are erased.
        **kwargs: ``name``, and ``requires_grad``, whether it would be trained.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: dtypes or shapes of tensors and arguments differ.
        NotImplementedError: a filter is set.
    """

    __slots__ = ()

    def __init__(
        self,
        key_dtype: Any = None,
        value_dtype: Any = None,
        value_shape: Any = None,
        key_tensor: Any = None,
        value_tensor: Any = None,
        default_value: Any = "normal",
        permit_filter_value: int = 1,
        evict_filter_value: int = sys.maxsize,
        **kwargs: Any,
    ) -> None:
        if kwargs.keys() - {"name", "requires_grad"}:
            raise located(
                TypeError, f"For 'MapParameter', there is no argument among {list(kwargs)}."
            )
        if isinstance(value_shape, int):
            value_shape = (value_shape,)
        _check_filters(permit_filter_value, evict_filter_value)
        row_shape = None if value_tensor is None else tuple(value_tensor.shape[1:])
        for what, tensor_has, argument in (
            ("key_dtype", getattr(key_tensor, "dtype", None), key_dtype),
            ("value_dtype", getattr(value_tensor, "dtype", None), value_dtype),
            ("value_shape", row_shape, None if value_shape is None else tuple(value_shape)),
        ):
            if tensor_has is not None and argument is not None and tensor_has != argument:
                raise located(
                    ValueError,
                    f"When initializing a MapParameter, '{what}' {argument} and the tensor's "
                    f"{tensor_has} should be set the same.",
                )
        if (key_tensor is None) != (value_tensor is None):
            raise located(
                ValueError, "For 'MapParameter', 'key_tensor' and 'value_tensor' come together."
            )
        key_dtype = key_dtype or getattr(key_tensor, "dtype", int32)
        value_dtype = value_dtype or getattr(value_tensor, "dtype", float32)
        row = row_shape if row_shape is not None else tuple(value_shape or (1,))
        if key_dtype not in (int32, int64):
            raise located(
                TypeError, f"For 'MapParameter', keys are Int32 or Int64, but got {key_dtype}."
            )
        first = Tensor(np.zeros(row), value_dtype) if value_tensor is None else value_tensor
        super().__init__(first, kwargs.get("name"), kwargs.get("requires_grad", True))
        self.key_dtype = key_dtype
        self._row_dtype, self._row_shape = value_dtype, row
        self.default_value = default_value
        self.permit_filter_value = permit_filter_value
        self.evict_filter_value = evict_filter_value
        self.key_tensor, self.value_tensor = key_tensor, value_tensor
        self._rows: dict[int, Any] = {}
        self._status: dict[int, int] = {}
        if key_tensor is not None:
            self.put(key_tensor, value_tensor)
            self._status = dict.fromkeys(self._rows, _UNCHANGED)

    def get(self, key_tensor: Any, insert_default_value: bool = True) -> Tensor:
        """Give rows.

        Args:
            key_tensor: integer vector.
            insert_default_value: whether a row that is missing is kept after it was made.

        Returns:
            Tensor (keys, ...).
        """
        rows = []
        for key in self._keys(key_tensor):
            row = self._rows.get(key)
            if row is None:
                made = initializer(self.default_value, self._row_shape, self._row_dtype)
                row = made.init_data().asnumpy()
                if insert_default_value:
                    self._set(key, row)
            rows.append(row)
        return self._stacked(rows)

    def put(self, key_tensor: Any, value_tensor: Any) -> MapParameter:
        """Set rows.

        Args:
            key_tensor: integer vector.
            value_tensor: Tensor (keys, ...).

        Returns:
            Itself.

        Raises:
            ValueError: the shape of the rows is another.
        """
        keys = self._keys(key_tensor)
        rows = value_tensor.astype(self._row_dtype).asnumpy()
        if rows.shape != (len(keys), *self._row_shape):
            raise located(
                ValueError,
                f"For 'MapParameter.put', rows must be {(len(keys), *self._row_shape)}, but got "
                f"{rows.shape}.",
            )
        for key, row in zip(keys, rows, strict=True):
            self._set(key, row.copy())
        return self

    def erase(self, key_tensor: Any) -> MapParameter:
        """Forget rows; keys without one are passed over.

        Args:
            key_tensor: integer vector.

        Returns:
            Itself.
        """
        for key in self._keys(key_tensor):
            if self._rows.pop(key, None) is not None:
                self._status[key] = _ERASED
        return self

    def get_keys(self) -> Tensor:
        """Give all keys, in the order in which they came."""
        return Tensor(np.array(list(self._rows), to_np(self.key_dtype)))

    def get_values(self) -> Tensor:
        """Give all rows, in the keys' order."""
        return self._stacked(list(self._rows.values()))

    def get_data(self) -> tuple[Tensor, Tensor]:
        """Give all keys and rows."""
        return self.get_keys(), self.get_values()

    def export_data(self, incremental: bool = False) -> tuple[Any, Any, Any]:
        """Give keys, rows and their status as numpy arrays: 0 unchanged, 1 changed, 2 erased.

        Args:
            incremental: only what has changed since the last export; erased keys have no row.
        """
        keys = list(self._rows)
        if incremental:
            keys = [key for key, status in self._status.items() if status != _UNCHANGED]
        rows = [self._rows[key] for key in keys if key in self._rows]
        status = np.array([self._status[key] for key in keys], np.int32)
        self._status = dict.fromkeys(self._rows, _UNCHANGED)
        return np.array(keys, to_np(self.key_dtype)), self._stacked(rows).asnumpy(), status

    def export_bytes(self, incremental: bool = False) -> tuple[bytes, bytes, bytes]:
        """Give what `export_data` gives, as bytes.

        Args:
            incremental: as there.
        """
        keys, rows, status = self.export_data(incremental)
        return keys.tobytes(), rows.tobytes(), status.tobytes()

    def export_slice_data(self, incremental: bool = False) -> tuple[Any, Any, Any, bool]:
        """Give what `export_data` gives, and that it is the last slice.

        Args:
            incremental: as there.
        """
        return *self.export_data(incremental), True

    def import_data(self, data: tuple[Any, Any, Any]) -> None:
        """Take rows that were exported.

        Args:
            data: keys, rows and status, numpy arrays.
        """
        keys, rows, status = data
        left = iter(rows)
        for key, what in zip(keys.tolist(), status.tolist(), strict=True):
            if what == _ERASED:
                self._rows.pop(key, None)
            else:
                self._rows[key] = np.array(next(left))
        self._status = dict.fromkeys(self._rows, _UNCHANGED)

    def clone(self, init: Any = "same") -> MapParameter:
        """Make an empty table of the same kind.

        Args:
            init: default value of its rows; ``"same"`` for this one's.
        """
        fresh = MapParameter(
            key_dtype=self.key_dtype,
            value_dtype=self._row_dtype,
            value_shape=self._row_shape,
            default_value=self.default_value if init == "same" else init,
            name=self.name if self.is_named else None,
            requires_grad=self.requires_grad,
        )
        return fresh

    def __getitem__(self, key_tensor: Any) -> Tensor:
        return self.get(key_tensor, True)

    def __setitem__(self, key_tensor: Any, value_tensor: Any) -> None:
        self.put(key_tensor, value_tensor)

    def __str__(self) -> str:
        return (
            f"MapParameter(key_dtype={self.key_dtype}, value_dtype={self._row_dtype}, "
            f"value_shape={list(self._row_shape)}, default_value={self.default_value})"
        )

    __repr__ = __str__

    def _set(self, key: int, row: Any) -> None:
        self._rows[key] = row
        self._status[key] = _CHANGED

    def _keys(self, key_tensor: Any) -> list[int]:
        if current.frame is not None:
            raise located(
                NotImplementedError,
                "For 'MapParameter', a table that grows is not supported in a graph: use it "
                "outside, or use 'nn.Embedding'.",
            )
        checks.of_type("key_tensor", key_tensor, Tensor, "MapParameter")
        if key_tensor.dtype not in (int32, int64):
            raise located(
                TypeError,
                f"For 'MapParameter', keys are Int32 or Int64, but got {key_tensor.dtype}.",
            )
        return key_tensor.asnumpy().reshape(-1).tolist()

    def _stacked(self, rows: list[Any]) -> Tensor:
        together = np.stack(rows) if rows else np.zeros((0, *self._row_shape))
        return Tensor(together, self._row_dtype)


def _check_filters(permit: Any, evict: Any) -> None:
    for name, value, default in (
        ("permit_filter_value", permit, 1),
        ("evict_filter_value", evict, sys.maxsize),
    ):
        if value != default:
            raise located(
                NotImplementedError,
                f"For 'MapParameter', '{name}' {value} is not supported: leave it out.",
            )
