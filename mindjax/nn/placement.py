"""What a Cell notes for the original's compiler and parallel training; moves of its dtype."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from mindjax.autodiff.saved import register_saved_tensors_hooks
from mindjax.core import checks
from mindjax.core.context import get_context
from mindjax.core.errors import located
from mindjax.core.partition import Again
from mindjax.core.primitive import Primitive
from mindjax.nn.hooks import HookMixin
from mindjax.ops.creation import zeros
from mindjax.tensor.parameter import Parameter, changed
from mindjax.tensor.tensor import Tensor

if TYPE_CHECKING:
    pass


def _noted(name: str, kind: type, first: Any, said: str, recursive: bool = False) -> property:
    """Make a property of one type that is kept with the Cell's attributes."""
    own = f"_{name}"

    def read(self: Any) -> Any:
        return self.__dict__.get(own, first() if callable(first) else first)

    def write(self: Any, value: Any) -> None:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise located(
                TypeError,
                f"For 'Cell', the property '{name}' must be {kind.__name__} type, but got "
                f"{value!r}.",
            )
        if kind is int and value < 0:
            raise located(
                ValueError,
                f"For 'Cell', the property '{name}' can not be less than 0, but got {value}.",
            )
        self.__dict__[own] = value
        if recursive:
            for cell in self._cells.values():
                if cell is not None:
                    setattr(cell, name, value)
        changed()

    return property(read, write, doc=said)


class PlacementMixin(HookMixin):
    """Notes of the original's compiler and of parallel training; `to` and `to_empty`."""

    IGNORE_LIST: ClassVar[list[str]] = [
        "_scope", "_cell_init_args", "_auto_prefix", "_cells", "_params", "_param_prefix",
        "requires_grad", "cell_type", "_hooks", "_programs", "_flags",
    ]  # fmt: skip
    """Attributes that are not part of a program."""
    global_cells: ClassVar[Any] = weakref.WeakKeyDictionary()
    """The Cells that have programs."""

    _params: OrderedDict[str, Parameter]
    _cells: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Any]

    bprop_debug = _noted("bprop_debug", bool, False, "A flag for debugging `bprop`, kept.")
    phase = _noted("phase", str, "", "Name of the phase of compilation, kept.")
    compile_phase = _noted("compile_phase", str, "", "The same for all Cells within.", True)
    cell_init_args = _noted("cell_init_args", str, "", "Text on the constructor's arguments.")
    pipeline_stage = _noted("pipeline_stage", int, None, "Its stage of pipeline training.")
    pipeline_segment = _noted("pipeline_segment", int, None, "Its segment of pipeline training.")
    parameter_layout_dict = _noted("parameter_layout_dict", dict, dict, "Layouts by Parameter.")
    parallel_parameter_name_list = _noted(
        "parallel_parameter_name_list", list, tuple, "Names of Parameters that are cut."
    )
    parallel_parameter_merge_net_dict = _noted(
        "parallel_parameter_merge_net_dict", dict, dict, "Merged Parameters by name."
    )

    @property
    def create_time(self) -> int:
        """When the Cell was made, nanoseconds since 1970."""
        return self.__dict__["_create_time"]

    @property
    def exist_names(self) -> set[str]:
        """Names of the Parameters here and within."""
        return {p.name for p in self.get_parameters()}  # type: ignore[attr-defined]

    @property
    def exist_objs(self) -> set[Parameter]:
        """The Parameters here and within."""
        return set(self.get_parameters())  # type: ignore[attr-defined]

    @property
    def compiled(self) -> bool:
        """Whether the Cell has a program of its own."""
        return bool(self.compile_cache)

    @property
    def compile_cache(self) -> set[str]:
        """Names of the Cell's programs."""
        return set(self.phase_cache)

    @property
    def phase_cache(self) -> dict[str, str]:
        """The phase of each of the Cell's programs, by the program's name."""
        programs = self.__dict__.get("_programs")
        if programs is None:
            return {}
        count = sum(len(found) for found in programs.programs.entries.values())
        return {f"{self.cls_name}.{i}": self.phase for i in range(count)}

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """What `set_jit_config` was given, as a dict."""
        return dict(getattr(self.__dict__.get("jit_config"), "jit_config_dict", {}))

    @property
    def enable_backward_hook(self) -> bool:
        """Whether the Cell or one within has a hook on gradients."""
        kinds = ("backward_hook", "backward_pre_hook")
        return any(
            cell._hooks.get(kind)
            for _, cell in self.cells_and_names()  # type: ignore[attr-defined]
            for kind in kinds
        )

    def get_func_graph_proto(self) -> Any:
        """Refuse: programs are XLA's.

        Raises:
            NotImplementedError: always; `mindjax.export` writes a MindIR.
        """
        raise located(
            NotImplementedError,
            f"For '{self.cls_name}', 'get_func_graph_proto' is not supported: programs are XLA's; "
            "use 'mindjax.export' with file_format='MINDIR'.",
        )

    def remove_redundant_parameters(self) -> None:
        """Do nothing: an interface that the original keeps for old scripts only."""

    def run_construct(self, cast_inputs: Any, kwargs: Any) -> Any:
        """Run `construct` with hooks.

        Args:
            cast_inputs: positional arguments.
            kwargs: keyword arguments.

        Returns:
            What it gives.
        """
        return self._run(tuple(cast_inputs), dict(kwargs))  # type: ignore[attr-defined]

    # -- scopes --

    def get_scope(self) -> str | None:
        """Give the Cell's dotted place that `generate_scope` noted, None before."""
        return self.__dict__.get("_scope")

    def generate_scope(self) -> None:
        """Note the place of every Cell within, as ``Default/name-Class``."""
        for name, cell in self._scoped("Default"):
            cell.__dict__.setdefault("_scope", name)

    def _scoped(self, prefix: str) -> Iterator[tuple[str, Any]]:
        named = bool(get_context("reserve_class_name_in_scope"))
        for name, cell in self.name_cells().items():  # type: ignore[attr-defined]
            place = f"{prefix}/{name}" + (f"-{type(cell).__name__}" if named else "")
            yield place, cell
            yield from cell._scoped(place)

    # -- notes for devices of the original --

    def _primitives(self) -> Iterator[Primitive]:
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            for value in cell.__dict__.values():
                if isinstance(value, Primitive):
                    yield value

    def set_data_parallel(self) -> None:
        """Note on every operator within that it is data parallel."""
        for record in self._primitives():
            record.add_prim_attr("strategy_gen_mode", "data_parallel")

    def offload(self, backward_prefetch: Any = "Auto") -> None:
        """Let what the backward pass needs of the Cell's products wait in the host's memory.

        It has an effect in GRAPH_MODE: what the backward pass needs besides is computed again.

        Args:
            backward_prefetch: ``"Auto"``, or how many operators ahead values are fetched; XLA
                decides that.

        Raises:
            ValueError: any other value.
        """
        if isinstance(backward_prefetch, str):
            checks.one_of("backward_prefetch", backward_prefetch, ("Auto",), self.cls_name)
        else:
            checks.non_negative_int("backward_prefetch", backward_prefetch, self.cls_name)
        for record in self._primitives():
            record.add_prim_attr("backward_prefetch", backward_prefetch)
        self.__dict__["_again"] = Again(offload=True)
        changed()

    def set_boost(self, boost_type: str) -> Any:
        """Mark the Cells within for an algorithm of `boost`; gives the Cell.

        Args:
            boost_type: only ``"less_bn"``.

        Raises:
            ValueError: any other value.
        """
        if boost_type not in ("less_bn",):
            raise located(
                ValueError,
                "For 'set_boost', the argument 'boost_type' must be 'less_bn', but got "
                f"{boost_type}.",
            )
        return self.add_flags_recursive(less_bn=True)  # type: ignore[attr-defined]

    def register_parameter_forward_hook(self, hook: Any) -> None:
        """Refuse: a Parameter is read as it is.

        Args:
            hook: function of a Parameter, or dicts of Parameters and functions.

        Raises:
            NotImplementedError: always; `construct` can apply the function.
        """
        raise located(
            NotImplementedError,
            f"For '{self.cls_name}', 'register_parameter_forward_hook' is not supported: apply the "
            "function to the Parameter in 'construct'.",
        )

    def register_saved_tensors_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Pack what the Cell keeps for the backward pass.

        Args:
            pack_hook: gets each Tensor that is kept, and gives what is kept in its place.
            unpack_hook: gets that and gives a Tensor of the first one's shape and dtype.

        Raises:
            TypeError: a hook is not callable.
        """
        register_saved_tensors_hooks(pack_hook, unpack_hook)
        self._hooks["saved_tensors"] = OrderedDict({0: (pack_hook, unpack_hook)})
        changed()

    # -- moves --

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert floating-point and complex Parameters and buffers to another dtype.

        Args:
            *args: ``dtype``, ``(device, dtype)``, or a Tensor whose dtype is taken. A device's
                name changes nothing: arrays lie on the device of the process.
            **kwargs: the same by name, and ``non_blocking``.

        Returns:
            The Cell itself.

        Raises:
            TypeError: the dtype is neither floating-point nor complex.
            ValueError: there is no such device.
        """
        if args and isinstance(args[0], Tensor):
            args = (args[0].dtype, *args[1:])
        dtype = zeros((), None).to(*args, **kwargs).dtype
        given = [a for a in (*args, *kwargs.values()) if hasattr(a, "kind")]
        if not given:
            return self
        if dtype.kind not in ("float", "complex"):
            raise located(
                TypeError,
                "Cell.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}",
            )

        def convert(x: Any) -> Any:
            return x.astype(dtype) if x.dtype.kind in ("float", "complex") else x

        return self._replace(convert, True)

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Any:
        """Give Parameters and buffers new memory; the values are zeros.

        Args:
            device: name of a device; it changes nothing.
            recurse: whether to include the Cells within.

        Returns:
            The Cell itself.

        Raises:
            ValueError: there is no such device.
        """
        if device is not None:
            zeros((), None).to(device=device)
        return self._replace(lambda x: zeros(x.shape, x.dtype), recurse)

    def _replace(self, function: Any, recurse: bool) -> Any:
        cells = self.cells_and_names() if recurse else [("", self)]  # type: ignore[attr-defined]
        seen: set[int] = set()
        for _, cell in cells:
            for parameter in cell._params.values():
                if parameter is not None and id(parameter) not in seen:
                    seen.add(id(parameter))
                    parameter.assign_value(function(parameter).copy())
            for name in cell._buffers:
                tensor = cell.__dict__.get(name)
                if tensor is not None:
                    setattr(cell, name, function(tensor))
        changed()
        return self
