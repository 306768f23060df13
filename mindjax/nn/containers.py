"""Containers of Cells: `SequentialCell`, `CellList`, `CellDict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import changed


class _Indexed(Cell):
    """What `SequentialCell` and `CellList` share: Cells by position."""

    def _position(self, index: Any) -> int:
        count = len(self._cells)
        if isinstance(index, bool) or not isinstance(index, int):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the type of 'index' must be int or slice, but got "
                f"{type(index).__name__}.",
            )
        if not -count <= index < count:
            raise located(
                IndexError,
                f"For '{self.cls_name}', the value of 'index' must be a number in range "
                f"[{-count}, {count}), but got {index}.",
            )
        return index % count

    def _check(self, cell: Any) -> Any:
        if not isinstance(cell, Cell):
            raise located(
                TypeError,
                f"For '{self.cls_name}', each cell must be subclass of Cell, but got "
                f"{type(cell).__name__}.",
            )
        return cell

    def _replace_all(self, cells: Iterable[tuple[str, Cell]]) -> None:
        for name in list(self._cells):
            self._remove(name)
        for name, cell in cells:
            self._cells[name] = cell
            self.__dict__[name] = cell
        changed()

    def _name_new(self, cell: Cell, name: str) -> None:
        """Name a new Cell's Parameters after its place in the container."""
        if self._auto_prefix:
            cell.update_parameters_name(f"{self.__dict__.get('_name_prefix', '')}{name}.")

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def __reversed__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values())[::-1])

    def _renumber(self, cells: list[Cell]) -> None:
        self._replace_all((str(i), c) for i, c in enumerate(cells))

    def _rename(self) -> None:
        """Name the Parameters after the positions that the Cells have now."""
        if not self._auto_prefix:
            return
        prefix = self.__dict__.get("_name_prefix", "")
        for position, cell in enumerate(self._cells.values()):
            for name, parameter in cell.parameters_and_names(name_prefix=f"{prefix}{position}"):
                parameter.name = name


class SequentialCell(_Indexed):
    """Cells run one after another (MindSpore: ``nn.SequentialCell``).

    Args:
        *args: Cells, one list of Cells, or one OrderedDict of Cells by name.

    Raises:
        TypeError: an argument is none of these.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict | dict):
            named = [(str(n), c) for n, c in args[0].items()]
        elif len(args) == 1 and isinstance(args[0], list | tuple):
            named = [(str(i), c) for i, c in enumerate(args[0])]
        elif len(args) == 1 and not isinstance(args[0], Cell):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the 'args[0]' must be Cell, list or orderedDict, but got "
                f"{type(args[0]).__name__}",
            )
        else:
            named = [(str(i), c) for i, c in enumerate(args)]
        for name, cell in named:
            self._name_new(self._check(cell), name)
            self._cells[name] = cell
            self.__dict__[name] = cell

    def __getitem__(self, index: Any) -> Any:
        cells = list(self._cells.items())
        if isinstance(index, slice):
            return type(self)(OrderedDict(cells[index]))
        if isinstance(index, str):
            return self._cells[index]
        return cells[self._position(index)][1]

    def __setitem__(self, index: int, cell: Cell) -> None:
        name = list(self._cells)[self._position(index)]
        self._name_new(self._check(cell), name)
        self._cells[name] = cell
        self.__dict__[name] = cell
        changed()

    def __delitem__(self, index: Any) -> None:
        names = list(self._cells)
        for name in names[index] if isinstance(index, slice) else [names[self._position(index)]]:
            self._remove(name)
        self._renumber(list(self._cells.values()))
        self._rename()

    def append(self, cell: Cell) -> None:
        """Add a Cell at the end.

        Raises:
            TypeError: it is not a Cell.
        """
        name = str(len(self._cells))
        self._name_new(self._check(cell), name)
        self._cells[name] = cell
        self.__dict__[name] = cell
        changed()

    def construct(self, input_data: Any) -> Any:
        """Run the Cells in order.

        Args:
            input_data: what the first Cell takes.

        Returns:
            What the last Cell gives.
        """
        for cell in self._cells.values():
            input_data = cell(input_data)
        return input_data


class CellList(_Indexed):
    """A list of Cells (MindSpore: ``nn.CellList``).

    Args:
        *args: Cells, or one list of Cells.
        auto_prefix: whether Parameters are named after positions.

    Raises:
        TypeError: an argument is not a Cell.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.pop("auto_prefix", True))
        if kwargs:
            raise located(TypeError, f"For 'CellList', unknown arguments {sorted(kwargs)}.")
        self.extend(args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args)

    def __getitem__(self, index: Any) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            fresh = type(self)(auto_prefix=False)
            fresh._renumber(cells[index])
            return fresh
        return cells[self._position(index)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        name = str(self._position(index))
        self._name_new(self._check(cell), name)
        self._cells[name] = cell
        self.__dict__[name] = cell
        changed()

    def __delitem__(self, index: Any) -> None:
        cells = list(self._cells.values())
        del cells[index if isinstance(index, slice) else self._position(index)]
        self._renumber(cells)
        self._rename()

    def __iadd__(self, cells: Iterable[Cell]) -> CellList:
        self.extend(cells)
        return self

    def append(self, cell: Cell) -> None:
        """Add a Cell at the end.

        Raises:
            TypeError: it is not a Cell.
        """
        name = str(len(self._cells))
        self._name_new(self._check(cell), name)
        self._cells[name] = cell
        self.__dict__[name] = cell
        changed()

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add Cells at the end; gives the list.

        Raises:
            TypeError: one is not a Cell, or ``cells`` cannot be walked over.
        """
        if not isinstance(cells, Iterable):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the new cells wanted to append should be instance of "
                f"list, but got {type(cells).__name__}.",
            )
        for cell in cells:
            self.append(cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Insert a Cell before a position; those behind are renumbered.

        Raises:
            IndexError: the position is out of range.
            TypeError: it is not a Cell.
        """
        cells = list(self._cells.values())
        position = len(cells) if index == len(cells) else self._position(index)
        self._name_new(self._check(cell), str(position))
        cells.insert(position, cell)
        self._renumber(cells)
        self._rename()

    def construct(self, *inputs: Any) -> Any:
        """Refuse: a list of Cells is not run as a whole.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            "For 'CellList', call its Cells one by one: it has no construct.",
        )


class CellDict(Cell):
    """Cells by key (MindSpore: ``nn.CellDict``).

    Args:
        *args: a mapping, or an iterable of pairs, of keys and Cells.
        auto_prefix: whether Parameters are named after keys.

    Raises:
        TypeError: a key is no string or a value no Cell.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.pop("auto_prefix", True))
        if kwargs or len(args) > 1:
            raise located(TypeError, "For 'CellDict', give one mapping or iterable of pairs.")
        if args and args[0] is not None:
            self.update(args[0])

    def __getitem__(self, key: str) -> Any:
        if key not in self._cells:
            raise located(KeyError, f"The key '{key}' does not exist in CellDict.")
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise located(TypeError, f"The type of key in CellDict must be str, but got {key!r}.")
        if not key or "." in key:
            raise located(KeyError, f"The key of CellDict is empty or contains '.': '{key}'.")
        if not isinstance(cell, Cell):
            raise located(
                TypeError,
                f"The type of cell in CellDict must be Cell, but got {type(cell).__name__}.",
            )
        if self._auto_prefix:
            cell.update_parameters_name(f"{key}.")
        self._cells[key] = cell
        if not hasattr(type(self), key):
            self.__dict__[key] = cell
        changed()

    def __delitem__(self, key: str) -> None:
        self[key]
        self._remove(key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def clear(self) -> None:
        """Remove every Cell."""
        for key in list(self._cells):
            self._remove(key)

    def pop(self, key: str) -> Any:
        """Remove a Cell and give it.

        Raises:
            KeyError: there is none under the key.
        """
        cell = self[key]
        self._remove(key)
        return cell

    def keys(self) -> Any:
        """Give the keys."""
        return self._cells.keys()

    def values(self) -> Any:
        """Give the Cells."""
        return self._cells.values()

    def items(self) -> Any:
        """Give pairs of keys and Cells."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Add Cells, in place of those under the same keys.

        Args:
            cells: mapping or iterable of pairs of keys and Cells.

        Raises:
            TypeError: ``cells`` is neither, or holds something else.
            ValueError: an element is not a pair.
        """
        if isinstance(cells, CellDict | Mapping):
            for key, cell in cells.items():
                self[key] = cell
            return
        if not isinstance(cells, Iterable):
            raise located(
                TypeError,
                f"CellDict.update() should be called with iterable, but got {type(cells).__name__}",
            )
        for number, pair in enumerate(cells):
            if not isinstance(pair, Iterable):
                raise located(
                    TypeError,
                    f"CellDict update sequence element #{number} should be Iterable; but got "
                    f"{type(pair).__name__}",
                )
            key_and_cell = tuple(pair)
            if len(key_and_cell) != 2:
                raise located(
                    ValueError,
                    f"CellDict update sequence element #{number} has length {len(key_and_cell)}; 2 "
                    "is required",
                )
            self[key_and_cell[0]] = key_and_cell[1]

    def construct(self, *inputs: Any) -> Any:
        """Refuse: a dict of Cells is not run as a whole.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            "For 'CellDict', call its Cells one by one: it has no construct.",
        )
