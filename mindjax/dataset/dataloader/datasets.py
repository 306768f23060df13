"""Data sets of a ``DataLoader``: objects with ``__getitem__`` or ``__iter__``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from mindjax.core.errors import located

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of data sets whose samples have numbers."""

    def __init__(self) -> None:
        pass

    def __getitem__(self, index: int) -> T_co:
        """Give a sample; a subclass says how."""
        raise located(
            NotImplementedError, f"{type(self).__name__} must implement __getitem__ method."
        )


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base of data sets whose samples come one after the other."""

    def __iter__(self) -> Iterator[T_co]:
        """Begin with the first sample; a subclass says how."""
        raise located(NotImplementedError, f"{type(self).__name__} must implement __iter__ method.")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Tensors whose first axes are the samples.

    Args:
        *tensors: Tensors of the same length.
    """

    def __init__(self, *tensors: Any) -> None:
        super().__init__()
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise located(
                ValueError,
                "All tensors must have the same size in the first dimension, but got "
                f"{[tuple(tensor.shape) for tensor in tensors]}.",
            )
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """Give the entry of every Tensor at a place."""
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        """Count the samples."""
        return self.tensors[0].shape[0]
