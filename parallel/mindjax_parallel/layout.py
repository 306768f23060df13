"""`Layout`: devices arranged along named axes, and how a tensor is cut along them."""

from __future__ import annotations

import copy
import math
from typing import Any

from jax.sharding import Mesh

from mindjax.core.errors import located
from mindjax_parallel.mesh import Placement, arrange

INTERLEAVED = "interleaved_parallel"
"""The alias of an axis that is no device: the original computes its parts one after the other."""


def _check_arguments(device_matrix: Any, alias_name: Any) -> None:
    for name, value in (("device_matrix", device_matrix), ("alias_name", alias_name)):
        if not isinstance(value, tuple):
            raise located(TypeError, f"{name} must be tuple type, but got:{type(value)}")
    if len(device_matrix) != len(alias_name):
        raise located(ValueError, "device_matrix length should be equal to alias_name length")
    for size in device_matrix:
        if not isinstance(size, int) or isinstance(size, bool):
            raise located(
                TypeError, f"The element of device_matrix must be int type, but got:{type(size)}"
            )
        if size < 1:
            raise located(
                ValueError, f"The element of device_matrix must be above 0, but got {size}"
            )
    for alias in alias_name:
        if not isinstance(alias, str):
            raise located(
                TypeError, f"The element of alias_name must be str type, but got:{type(alias)}"
            )
        if not alias:
            raise located(ValueError, "The element of alias_name can not be empty.")
        if alias == "None":
            raise located(
                ValueError,
                "The element of alias_name can not set 'None', because 'None' means no sharding.",
            )
    if len(set(alias_name)) != len(alias_name):
        raise located(ValueError, f"Each element of alias_name {alias_name} should be different")
    if INTERLEAVED in alias_name[:-1]:
        raise located(
            ValueError,
            f"When alias_name {alias_name} contains keyword '{INTERLEAVED}', it should be at the "
            "last dim of alias_name, which means the virtual sharding.",
        )


def _checked_ranks(rank_list: Any, count: int) -> list[int]:
    if rank_list is None:
        return list(range(count))
    if not isinstance(rank_list, list):
        raise located(
            TypeError, f"The rank_list should be a list, but got {type(rank_list).__name__}."
        )
    for rank in rank_list:
        if not isinstance(rank, int):
            raise located(
                TypeError,
                f"The element of rank_list should be int, but got {type(rank).__name__}.",
            )
    if len(rank_list) != count:
        raise located(
            ValueError,
            "The length of rank_list should be equal to the product of device_matrix, but got "
            f"{len(rank_list)} and {count}.",
        )
    return rank_list


class Layout:
    """Name the axes of an arrangement of devices (MindSpore: ``Layout``).

    Calling it with one name, tuple of names or ``"None"`` a dimension gives the layout of a tensor.

    Args:
        device_matrix: sizes of the arrangement.
        alias_name: a name an axis; ``"interleaved_parallel"``, as the last one, is an axis of parts
            that one device holds: it changes no placement.
        rank_list: ranks in the order of the arrangement.

    Raises:
        TypeError: an argument or an element has another type.
        ValueError: lengths differ, a name is empty, ``"None"`` or stands twice.
    """

    def __init__(
        self,
        device_matrix: tuple[int, ...],
        alias_name: tuple[str, ...],
        rank_list: list[int] | None = None,
    ) -> None:
        _check_arguments(device_matrix, alias_name)
        self._device_matrix, self._alias_name = device_matrix, alias_name
        self._rank_list = _checked_ranks(rank_list, math.prod(device_matrix))
        self._tensor_map: tuple[Any, ...] | None = None

    def __call__(self, *tensor_map: Any) -> Layout:
        """Give the layout of a tensor.

        Args:
            tensor_map: for each dimension the name of the axis that cuts it, a tuple of names, or
                ``"None"``.

        Raises:
            ValueError: a name is unknown or used twice.
        """
        used: set[str] = set()

        def place(name: Any) -> int:
            if name == "None":
                return -1
            if name not in self._alias_name:
                raise located(ValueError, f"The axis {name} is not found in {self._alias_name}")
            if name in used:
                raise located(
                    ValueError, f"The axis {name} has been set more than one in {self._alias_name}"
                )
            used.add(name)
            return len(self._alias_name) - 1 - self._alias_name.index(name)

        fresh = copy.copy(self)
        fresh._tensor_map = tuple(
            tuple(place(n) for n in entry) if isinstance(entry, tuple) else place(entry)
            for entry in tensor_map
        )
        return fresh

    def to_dict(self) -> dict[str, Any]:
        """Give the layout as a dictionary.

        Raises:
            ValueError: no tensor has been laid out yet.
        """
        if self._tensor_map is None:
            raise located(ValueError, "The tensor_map of layout is None")
        return {
            "device_matrix": self._device_matrix,
            "tensor_map": self._tensor_map,
            "interleaved_parallel": INTERLEAVED in self._alias_name,
            "alias_name": self._alias_name,
            "rank_list": self._rank_list,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._device_matrix, self._alias_name, self._tensor_map))

    def __repr__(self) -> str:
        cut = "" if self._tensor_map is None else f", tensor_map={self._tensor_map}"
        return f"Layout(device_matrix={self._device_matrix}, alias_name={self._alias_name}{cut})"


def placed(layout: dict[str, Any], mesh: Mesh, rank: int, owner: str) -> Placement:
    """Give the placement that a layout stands for.

    Args:
        layout: what `Layout.to_dict` gives.
        mesh: the devices.
        rank: dimensions of the tensor.
        owner: operator or argument, named in errors.

    Raises:
        RuntimeError: the layout does not fit the devices.
        ValueError: it is of another number of dimensions.
    """
    matrix, entries = layout["device_matrix"], layout["tensor_map"]
    if len(entries) != rank:
        raise located(
            ValueError,
            f"For '{owner}', the layout has {len(entries)} dimensions, but the tensor has {rank}.",
        )
    real = matrix[:-1] if layout["interleaved_parallel"] else matrix
    axes: list[Any] = list(arrange(mesh, real, owner))
    if layout["interleaved_parallel"]:
        axes.append(())
    ranks = layout.get("rank_list")
    if math.prod(real) != mesh.size:
        raise located(
            RuntimeError,
            f"For '{owner}', the device matrix {matrix} of the layout has {math.prod(real)} "
            f"devices, but the device number of this stage is {mesh.size}.",
        )
    if ranks is not None and ranks != list(range(len(ranks))):
        raise located(
            NotImplementedError,
            f"For '{owner}', a 'rank_list' in another order than the ranks' own, {ranks}, is not "
            "supported: order the device_matrix instead.",
        )

    def of(entry: Any) -> tuple[str, ...]:
        places = entry if isinstance(entry, tuple) else (entry,)
        return tuple(a for p in places if p >= 0 for a in axes[len(matrix) - 1 - p])

    return Placement(tuple(of(e) for e in entries))
