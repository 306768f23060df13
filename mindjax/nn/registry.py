"""What a Cell owns: Parameters, Cells and buffers, their names and their order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mindjax.core.errors import located
from mindjax.nn.hooks import HookMixin
from mindjax.tensor.parameter import Parameter, ParameterTuple, changed
from mindjax.tensor.tensor import Tensor

if TYPE_CHECKING:
    from mindjax.nn.cell import Cell


class RegistryMixin(HookMixin):
    """Registration and traversal; Parameters of a Cell come before those of its sub-Cells."""

    _params: OrderedDict[str, Parameter]
    _cells: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Any]
    _flags: dict[str, Any]
    _param_prefix: str
    _auto_prefix: bool

    # -- registration --

    def _needs_init(self, what: str) -> None:
        if "_params" not in self.__dict__:
            raise located(
                AttributeError,
                f"For '{what}', please call Cell.__init__() firstly: "
                f"'{type(self).__name__}.__init__' must begin with super().__init__().",
            )

    def _set_cell(self, name: str, value: Any) -> None:
        self._needs_init("insert_child_to_cell")
        if name in self._params:
            raise located(
                TypeError,
                f"Parameter '{name}' already exists in network, can not assign this type: "
                f"'{type(value)}' as a parameter.",
            )
        if self._auto_prefix:
            value.update_parameters_name(name + ".")
        self._cells[name] = value
        self.__dict__[name] = value
        changed()

    def _set_parameter(self, name: str, value: Parameter) -> None:
        self._needs_init("insert_param_to_cell")
        if self._cells.get(name) is not None:
            raise located(
                TypeError,
                f"Sub cell '{name}' already exists in network, can not assign this type: "
                f"'{type(value)}' as a cell.",
            )
        self.insert_param_to_cell(name, value)

    def _write_parameter(self, name: str, value: Any) -> None:
        """Assign to an attribute that is a Parameter: it keeps its identity."""
        if value is None:
            self._remove(name)
            self.__dict__[name] = None
            changed()
        elif isinstance(value, Tensor):
            self._params[name].set_data(value)
        else:
            raise located(
                TypeError,
                f"Parameter '{name}' already exists in network, can not assign this type: "
                f"'{type(value)}' as a parameter.",
            )

    def _register_sequence(self, name: str, value: Any) -> None:
        """Register the Parameters in a tuple or list under their own names."""
        if not all(isinstance(v, Parameter) for v in value):
            return
        self._needs_init("insert_param_to_cell")
        for index, parameter in enumerate(value):
            if not parameter.is_named and not isinstance(value, ParameterTuple):
                parameter.name = f"{name}.{index}"
            if not any(parameter is p for p in self._params.values()):
                # Only registered: an attribute of the Parameter's name may mean something else.
                self._params[parameter.name] = parameter
                changed()

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Register a Parameter under an attribute name.

        Args:
            param_name: attribute name.
            param: the Parameter; it takes the name if it has none.
            check_name_contain_dot: whether a dot in the name is an error.

        Raises:
            KeyError: the name is empty, has a dot, or is another attribute already.
            TypeError: ``param`` is not a Parameter.
        """
        self._needs_init("insert_param_to_cell")
        if not isinstance(param_name, str):
            raise located(TypeError, f"The type of parameter name must be str, got {param_name!r}.")
        if not param_name or (check_name_contain_dot and "." in param_name):
            raise located(
                KeyError,
                "For 'insert_param_to_cell', the argument 'param_name' must not be empty or "
                f"contain '.', but got '{param_name}'.",
            )
        if param is not None and not isinstance(param, Parameter):
            raise located(
                TypeError,
                "For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not "
                f"None, but got {type(param).__name__}.",
            )
        if param is not None and not param.is_named:
            param.name = param_name
        self._params[param_name] = param  # type: ignore[assignment]
        self.__dict__[param_name] = param
        changed()

    def insert_child_to_cell(self, child_name: str, child_cell: Any) -> None:
        """Register a Cell under an attribute name.

        Args:
            child_name: attribute name.
            child_cell: the Cell.

        Raises:
            KeyError: the name is taken or empty.
            TypeError: ``child_cell`` is not a Cell.
        """
        self._needs_init("insert_child_to_cell")
        if not isinstance(child_name, str):
            raise located(
                TypeError,
                "For 'insert_child_to_cell', the type of parameter 'child_name' must be str, but "
                f"got {type(child_name).__name__}.",
            )
        if not child_name or "." in child_name:
            raise located(
                KeyError,
                "For 'insert_child_to_cell', the parameter 'child_name' can not be empty and must "
                f"not contain '.', but got '{child_name}'.",
            )
        if hasattr(self, child_name) and child_name not in self._cells:
            raise located(
                KeyError,
                f"For 'insert_child_to_cell', the '{child_name}' already exists in the network.",
            )
        if not isinstance(child_cell, RegistryMixin) and child_cell is not None:
            raise located(
                TypeError,
                "For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell', but got "
                f"{type(child_cell).__name__}.",
            )
        self._cells[child_name] = child_cell
        self.__dict__[child_name] = child_cell
        changed()

    def _remove(self, name: str) -> None:
        self._params.pop(name, None)
        self._cells.pop(name, None)
        self.__dict__.pop(name, None)
        changed()

    # -- Cells --

    def cells(self) -> Any:
        """Give the Cells directly within, each once."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Any]:
        """Give the Cells directly within by attribute name."""
        return OrderedDict(self._children())

    def _children(self) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                yield name, cell

    def cells_and_names(
        self, cells: Any = None, name_prefix: str = ""
    ) -> Iterator[tuple[str, Any]]:
        """Walk over this Cell and all within, each once.

        Args:
            cells: set of those already seen.
            name_prefix: put before the names.

        Yields:
            Pairs of a dotted name and a Cell.
        """
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                prefix = f"{name_prefix}.{name}" if name_prefix else name
                yield from cell.cells_and_names(seen, prefix)

    def get_sub_cell(self, target: str) -> Any:
        """Find a Cell by its dotted name.

        Raises:
            AttributeError: there is none.
        """
        cell: Any = self
        for part in target.split(".") if target else []:
            found = cell._cells.get(part)
            if found is None:
                raise located(
                    AttributeError, f"'{cell.cls_name}' has no sub cell '{part}' (in '{target}')."
                )
            cell = found
        return cell

    def apply(self, fn: Any) -> Cell:
        """Call a function on every Cell within and then on this one; gives the Cell."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self  # type: ignore[return-value]

    def update_cell_prefix(self) -> None:
        """Note each Cell's dotted name as its ``param_prefix``."""
        for name, cell in self.cells_and_names():
            cell._param_prefix = name

    def update_cell_type(self, cell_type: str) -> None:
        """Set the type name of the Cell."""
        self.cell_type = cell_type

    @property
    def param_prefix(self) -> str:
        """The prefix of this Cell's Parameter names."""
        return self._param_prefix

    # -- Parameters --

    def parameters_and_names(
        self, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Walk over the Parameters, each once.

        Args:
            name_prefix: put before the names.
            expand: whether to include those of the Cells within.

        Yields:
            Pairs of a dotted attribute name and a Parameter.
        """
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        seen: set[int] = set()
        for prefix, cell in cells:
            for name, parameter in cell._params.items():
                if parameter is None or id(parameter) in seen:
                    continue
                seen.add(id(parameter))
                yield (f"{prefix}.{name}" if prefix else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Walk over the Parameters, each once, in order."""
        for _, parameter in self.parameters_and_names(expand=expand):
            yield parameter

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Give the Parameters by their own names."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> Any:
        """Give the Parameters that parallel training broadcasts, by name, or None."""
        found = OrderedDict(
            (p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel
        )
        return found or None

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """List the Parameters that require gradients."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """List the Parameters that require none."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Put a prefix before the names of the Parameters.

        Args:
            prefix: the prefix, with its dot.
            recurse: whether to include the Cells within.

        Raises:
            TypeError: the prefix is not a string.
        """
        if not isinstance(prefix, str):
            raise located(
                TypeError,
                f"For 'update_parameters_name', the 'prefix' must be str, but got {prefix!r}.",
            )
        for name, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = prefix + name
        for path, cell in self.cells_and_names() if recurse else [("", self)]:
            cell.__dict__["_name_prefix"] = prefix + (f"{path}." if path else "")

    def check_names(self) -> None:
        """Check that Parameter names are unique.

        Raises:
            ValueError: two Parameters share a name.
        """
        names: dict[str, Parameter] = {}
        for parameter in self.get_parameters():
            if names.setdefault(parameter.name, parameter) is not parameter:
                raise located(
                    ValueError,
                    f"The value of {parameter} is {parameter.name}, its name '{parameter.name}' "
                    "already exists. Please set a unique name for the parameter.",
                )

    def check_names_and_refresh_name(self) -> None:
        """Give unnamed Parameters their attributes' names and check all names."""
        for name, parameter in self.parameters_and_names():
            if not parameter.is_named:
                parameter.name = name
        self.check_names()

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Any, Any]:
        """Give each Parameter by itself: they have their values from the start.

        Args:
            auto_parallel_mode: whether parallel training cuts them first; the same here.
        """
        return {p: p for p in self.get_parameters()}

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Cell:
        """Set the Parameters' communication group; gives the Cell."""
        for parameter in self.trainable_params(recurse):
            parameter.__dict__["comm_fusion"] = fusion_type
        return self  # type: ignore[return-value]

    def set_broadcast_flag(self, mode: bool = True) -> Cell:
        """Keep whether parallel training broadcasts the Parameters; gives the Cell."""
        self.__dict__["broadcast_flag"] = bool(mode)
        return self  # type: ignore[return-value]

    # -- buffers and state dicts --

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a Tensor that belongs to the Cell's state but is not trained.

        Args:
            name: attribute name.
            tensor: the Tensor, or None.
            persistent: whether `state_dict` includes it.

        Raises:
            KeyError: the name is empty, has a dot or is taken.
            TypeError: ``tensor`` is not a Tensor.
        """
        self._needs_init("register_buffer")
        if not isinstance(name, str):
            raise located(
                TypeError, f"For 'register_buffer', 'name' must be str, but got {name!r}."
            )
        if not name or "." in name or (hasattr(self, name) and name not in self._buffers):
            raise located(
                KeyError,
                f"For 'register_buffer', 'name' must be new, without '.', but got '{name}'.",
            )
        if tensor is not None and not isinstance(tensor, Tensor):
            raise located(
                TypeError,
                f"For 'register_buffer', the 'tensor' must be Tensor or None, but got "
                f"{type(tensor).__name__}.",
            )
        self._buffers[name] = tensor
        self.__dict__[name] = tensor
        transient = self.__dict__.setdefault("_transient_buffers", set())
        transient.discard(name) if persistent else transient.add(name)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Walk over the buffers with their dotted names."""
        cells = self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]
        seen: set[int] = set()
        for path, cell in cells:
            for name in cell._buffers:
                tensor = cell.__dict__.get(name)
                if tensor is None or (remove_duplicate and id(tensor) in seen):
                    continue
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Walk over the buffers."""
        for _, tensor in self.named_buffers(recurse=recurse):
            yield tensor

    def get_buffer(self, target: str) -> Tensor:
        """Find a buffer by its dotted name.

        Raises:
            AttributeError: there is none.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise located(AttributeError, f"'{name}' is not a buffer (in '{target}').")
        return getattr(cell, name)
