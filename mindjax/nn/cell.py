"""The Cell: a callable that owns Parameters and other Cells."""

from __future__ import annotations

import copy
import dis
import functools
import inspect
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, ClassVar

import jax

from mindjax import log
from mindjax.autodiff.custom import with_bprop
from mindjax.autodiff.saved import compute_again, register_saved_tensors_hooks
from mindjax.core.context import graph_mode
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current, unwrap
from mindjax.core.layouts import in_order
from mindjax.core.precision import OpLists
from mindjax.core.scopes import scope_of
from mindjax.graph.annotations import JitConfig
from mindjax.graph.buckets import call_padded, check_inputs, is_row_wise
from mindjax.graph.jit import JitFunction, Programs
from mindjax.graph.program import is_tracing_outside
from mindjax.graph.signature import snapshot
from mindjax.graph.syntax import converted
from mindjax.nn import pytree
from mindjax.nn.placement import PlacementMixin
from mindjax.nn.precision import PrecisionMixin, cast_floats
from mindjax.nn.registry import RegistryMixin
from mindjax.nn.state_dict import StateDictMixin
from mindjax.ops.collective.resharding import (
    LayInputsOut,
    LayOutputsOut,
    check_strategies,
    plan_parameters,
)
from mindjax.tensor.parameter import Parameter, ParameterTuple, changed
from mindjax.tensor.tensor import Tensor

_PLAIN = (bool, int, float, str, type(None))
# Attributes that a Cell keeps for itself; users' programs do not depend on them.
_OWN = frozenset(
    {
        "_params", "_cells", "_buffers", "_programs", "_hooks", "_flags", "_set_aside", "_pending",
        "_param_prefix", "_auto_prefix", "_guarded", "_inputs", "_strategies",
        "_create_time", "_counted", "_state_dict_hooks", "_scope", "_name_prefix", "_made_in",
        "_noted", "_has_bprop", "_grad_outputs", "_structure_of",
    }
)  # fmt: skip


class Cell(RegistryMixin, StateDictMixin, PlacementMixin, PrecisionMixin):
    """The base of networks (MindSpore: ``nn.Cell``).

    Subclasses call ``super().__init__()``, assign Parameters and Cells to attributes and define
    ``construct``. A call runs it: op by op in PYNATIVE_MODE, as one compiled program in GRAPH_MODE.

    Args:
        auto_prefix: whether Parameters are named after the attributes of the Cells that own them.
        flags: attributes to set.
    """

    total_instance_count: ClassVar[int] = 0
    # Whether its programs may run as a part of what the deferred engine has recorded.
    _joins: ClassVar[bool] = False

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        own = self.__dict__
        own["_params"] = OrderedDict()
        own["_cells"] = OrderedDict()
        own["_buffers"] = OrderedDict()
        own["_flags"] = {}
        own["_param_prefix"] = ""
        own["_auto_prefix"] = auto_prefix
        own["_programs"] = None
        own["_guarded"] = False
        own["training"] = False
        own["requires_grad"] = False
        own["_create_time"] = time.time_ns()
        own["_counted"] = True
        Cell.total_instance_count += 1
        own["_cast"] = own["_cast_out"] = None
        own["_again"] = None
        if current.frame is not None:
            own["_made_in"] = True
        self._init_hooks()
        if flags:
            self.add_flags(**flags)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        pytree.register(cls)

    # -- running --

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; subclasses define it.

        Raises:
            AttributeError: the subclass does not.
        """
        raise located(
            AttributeError,
            f"For 'Cell', the method 'construct' is not defined in '{self.cls_name}'.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run ``construct``: op by op, or as one program in GRAPH_MODE."""
        if current.frame is None:
            own = self.__dict__
            if "_cells" not in own:
                raise located(
                    AttributeError,
                    f"For 'Cell', please call 'super().__init__()' in the '__init__' of "
                    f"'{type(self).__name__}' before using it.",
                )
            if not (args and isinstance(args[0], Handle)) and _only_raw(args, kwargs):
                return self._call_raw(args, kwargs)
            if graph_mode() and current.tape is None and not is_tracing_outside():
                return self._call_graph(args, kwargs)
            if not (own["_hooks"] or own["_again"] or self._has_bprop) and own["_cast"] is None:
                # What `_run` comes to here, without the steps between.
                try:
                    return self.construct(*args, **kwargs)
                except TypeError as error:
                    if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                        raise self._wrong_arguments(args, error) from None
                    raise
        return self._run(args, kwargs)

    def _call_raw(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Take and return raw jax arrays, so that jax's transformations apply to the Cell."""
        args = tuple(_tensor_of(a) for a in args)
        kwargs = {k: _tensor_of(v) for k, v in kwargs.items()}
        return unwrap(self(*args, **kwargs))

    def _call_graph(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        programs = self.__dict__.get("_programs")
        if programs is None:
            programs = self.__dict__["_programs"] = Programs(_Runner(self), joins=self._joins)
            Cell.global_cells[self] = (type(self), (), {})
        declared = self.__dict__.get("_inputs")
        if declared is not None:
            return self._call_declared(programs, declared[0], args, kwargs)
        return programs.call(args, kwargs)

    def _call_declared(
        self, programs: Programs, declared: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run with the inputs that `set_inputs` declared: checked, padded where that is safe."""
        if kwargs or not declared:
            return programs.call(args, kwargs)
        check_inputs(declared, args)
        if not is_row_wise(self):
            return programs.call(args, kwargs)
        return call_padded(lambda *padded: programs.call(padded, {}), declared, args)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        frame = current.frame
        if frame is None:
            return self._run_inside(args, kwargs)
        self._enter_graph(frame)
        with scope_of(self):
            return self._run_inside(args, kwargs)

    def _run_inside(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.__dict__["_again"]:
            return compute_again(self._run_once, (args, kwargs), {}, self.__dict__["_again"])
        if not self._hooks and self.__dict__["_cast"] is None and not self._has_bprop:
            return self._construct(args, kwargs)
        return self._run_with_extras(args, kwargs)

    def _run_once(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as a block that the backward pass computes again."""
        return self._run_with_extras(args, kwargs)

    def _construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        construct = self.construct
        if current.frame is not None:
            construct = converted(construct)
        try:
            return construct(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                raise self._wrong_arguments(args, error) from None
            raise

    def _wrong_arguments(self, args: tuple[Any, ...], error: TypeError) -> TypeError:
        return located(TypeError, f"For '{self.cls_name}', {error}.")

    def _run_with_extras(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._before(args, kwargs)
        outer, cast = current.mixed, self.__dict__["_cast"]
        if cast is not None:
            if not isinstance(cast, OpLists):
                args = tuple(cast_floats(a, cast) for a in args)
                kwargs = {k: cast_floats(v, cast) for k, v in kwargs.items()}
            current.mixed = cast
        try:
            if self._has_bprop:
                out = self._run_bprop(args, kwargs)
            elif "saved_tensors" in self._hooks:
                packed = register_saved_tensors_hooks(*self._hooks["saved_tensors"][0])
                out = packed(self._construct)(args, kwargs)
            else:
                out = self._construct(args, kwargs)
        finally:
            current.mixed = outer
        if self.__dict__["_cast_out"] is not None:
            out = cast_floats(out, self.__dict__["_cast_out"])
        return self._after(args, kwargs, out)

    def _run_bprop(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = inspect.signature(self.construct).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise located(
                NotImplementedError,
                f"For '{self.cls_name}', a 'construct' with keyword-only arguments cannot have a "
                "'bprop': make them positional.",
            )
        return with_bprop(
            self.construct,
            self.bprop,  # type: ignore[attr-defined]
            bound.args,
            list(self.get_parameters()),
            self.cls_name,
        )

    @functools.cached_property
    def _has_bprop(self) -> bool:
        return callable(getattr(type(self), "bprop", None))

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the program for these arguments; the Cell's state stays as it is.

        Args:
            *args: arguments of a call.
            **kwargs: keyword arguments of a call.
        """
        programs = self.__dict__.get("_programs")
        if programs is None:
            programs = self.__dict__["_programs"] = Programs(_Runner(self), joins=self._joins)
        programs.prepare(args, kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as one compiled program, whatever the mode."""
        return self._call_graph(args, kwargs)

    # -- what compiled programs depend on --

    def _enter_graph(self, frame: Any) -> None:
        """Note in a graph's frame that the program depends on this Cell."""
        root = frame.root_frame()
        if self in root.guards:
            return
        root.guards[self] = None
        self.__dict__["_guarded"] = True
        if not root.root:
            return
        # What is read of a Cell before its call must be the input already.
        for _, cell in self.cells_and_names(root.walked):
            if cell is not self and cell._written():
                cell._enter_graph(frame)
        for name in self._written():
            pending = self.__dict__.get("_pending", {})
            # What another thread's trace has set aside counts as well.
            aside = self.__dict__.get("_set_aside", {})
            value = self.__dict__.get(name, aside.get(name, pending.get(name)))
            if value is None or isinstance(value, bool | str | Parameter | Cell):
                continue
            if isinstance(value, int | float | Tensor) or name in pending:
                root.expect_attribute(self, name)

    def guard(self) -> Any:
        """Give a snapshot of what a program takes as constant from this Cell."""
        own = self.__dict__
        written = self._written()
        # Parameters and Cells that are attributes are among the parts.
        others = {
            k: snapshot(v)
            for k, v in own.items()
            if k not in _OWN
            and k not in written
            and not isinstance(v, (*_PLAIN, Parameter, Cell, JitFunction))
        }
        plain, kinds = self.plain_attributes()
        parts = [id(v) for v in own["_params"].values()], [id(v) for v in own["_cells"].values()]
        return (
            plain,
            kinds,
            parts,
            own["_cast"],
            own["_cast_out"],
            self._hook_version,
            others,
            written,
        )

    def plain_attributes(self) -> tuple[dict[str, Any], dict[str, type]]:
        """Give the values and types of the numbers and strings that programs take as constants."""
        written = self._written()
        plain = {
            k: v
            for k, v in self.__dict__.items()
            if k not in _OWN
            and isinstance(v, _PLAIN)
            and not (k in written and not isinstance(v, bool | str | type(None)))
        }
        return plain, {k: type(v) for k, v in plain.items()}

    def note_written(self, name: str) -> None:
        """Take an attribute that a program was seen to write as an input of later programs."""
        value = self.__dict__.get(name)
        if isinstance(value, int | float | Tensor) and not isinstance(value, bool | Parameter):
            self.__dict__["_noted"] = self.__dict__.get("_noted", frozenset()) | {name}
            changed()

    def _written(self) -> frozenset[str]:
        written, noted = written_attributes(type(self)), self.__dict__.get("_noted")
        return written | noted if noted else written

    # -- attributes --

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        frame = current.frame
        if isinstance(value, Cell):
            self._set_cell(name, value)
        elif isinstance(value, Parameter):
            self._set_parameter(name, value)
        elif "_params" in own and name in own["_params"]:
            self._write_parameter(name, value)
        elif "_cells" in own and own["_cells"].get(name) is not None:
            if value is not None:
                raise located(
                    TypeError,
                    f"Sub cell '{name}' already exists in network, can not assign this type: "
                    f"'{type(value)}' as a cell.",
                )
            self._remove(name)
            own[name] = None
        elif isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif frame is not None and self._is_state(frame):
            self._enter_graph(frame)
            frame.write_attribute(self, name, value)
        else:
            self._set_plain(name, value)

    def _is_state(self, frame: Any) -> bool:
        """Tell whether attribute writes are writes of state: not while the trace makes the Cell."""
        own = self.__dict__
        return "_params" in own and ("_made_in" not in own or self in frame.root_frame().guards)

    def _set_plain(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, ParameterTuple | list | tuple) and value:
            self._register_sequence(name, value)
        elif "_buffers" in own and name in own["_buffers"]:
            own["_buffers"][name] = value
        pending = own.get("_pending")
        if pending:
            pending.pop(name, None)
        if own.get("_guarded") and (
            name not in own or type(own[name]) is not type(value) or own[name] is not value
        ):
            changed()
        own[name] = value

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        frame = current.frame
        if frame is None:
            # A Parameter, which nearly every name is that comes here.
            params = own.get("_params")
            if params is not None and not own.get("_set_aside"):
                value = params.get(name)
                if value is not None:
                    return value
        else:
            found, value = frame.read_attribute(self, name)
            if found:
                return value
        aside = own.get("_set_aside")
        if aside and name in aside:
            return aside[name]
        pending = own.get("_pending")
        if pending and name in pending:
            value = own[name] = pending.pop(name).read()
            return value
        if name.startswith("__") or "_params" in own:
            if own.get("_params", {}).get(name) is not None:
                return own["_params"][name]
            raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.")
        raise located(
            AttributeError,
            f"The '{type(self).__name__}' object has no attribute '{name}': please call "
            "'super().__init__()' first in its '__init__'.",
        )

    def __delattr__(self, name: str) -> None:
        if name in self._params or name in self._cells:
            self._remove(name)
        elif name in self.__dict__:
            del self.__dict__[name]
            self._buffers.pop(name, None)
        else:
            raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.")
        changed()

    def __bool__(self) -> bool:
        return True

    # -- modes --

    def set_train(self, mode: bool = True) -> Cell:
        """Set training mode for this Cell and those in it.

        Args:
            mode: True while training, False for evaluation.

        Returns:
            The Cell itself.
        """
        self.__dict__["training"] = bool(mode)
        for cell in self.cells():
            cell.set_train(mode)
        changed()
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Say whether the Cell will be differentiated; kept for scripts, gradients need no flag.

        Args:
            requires_grad: the flag.

        Returns:
            The Cell itself.
        """
        self.__dict__["requires_grad"] = bool(requires_grad)
        for cell in self.cells():
            cell.set_grad(requires_grad)
        changed()
        return self

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare the inputs that GRAPH_MODE checks calls against.

        Every shape gets a program of its own, unless the Cell is promised to be
        `mindjax.graph.row_wise`: then the first axis, if unknown, is padded to a few sizes.

        Args:
            *inputs: Tensors whose unknown sizes are None, or other values.
            **kwargs: the same by name.
        """
        self.__dict__["_inputs"] = (inputs, kwargs)

    def get_inputs(self) -> Any:
        """Give the inputs that `set_inputs` declared, None without."""
        declared = self.__dict__.get("_inputs")
        return None if declared is None else declared[0]

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep a `JitConfig`: the first one, and of it what XLA can follow, the syntax level.

        Args:
            jit_config: the options.

        Raises:
            TypeError: it is no JitConfig.
        """
        if not isinstance(jit_config, JitConfig):
            raise located(
                TypeError,
                f"For 'set_jit_config', 'jit_config' must be a JitConfig, but got {jit_config!r}.",
            )
        if "jit_config" in self.__dict__:
            log.warning("For Cell, jit config can only be set once, ignore this setting.")
        else:
            self.__dict__["jit_config"] = jit_config

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes that also show in `get_flags`; gives the Cell."""
        self._flags.update(flags)
        self._follow_flags(flags)
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Set flags here and in every Cell within; gives the Cell."""
        self.add_flags(**flags)
        for cell in self.cells():
            cell.add_flags_recursive(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """Give the flags that were set."""
        return dict(self._flags)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None) -> Cell:
        """Say how parallel training lays inputs, outputs and Parameters out (``Cell.shard``).

        Operators within follow by propagation. A Cell that was sharded before is sharded anew.

        Args:
            in_strategy: for each input a tuple of the numbers of parts of its dimensions, or a
                Layout.
            out_strategy: the same of the outputs, or None.
            parameter_plan: the same by Parameter name, or None.

        Returns:
            The Cell itself.

        Raises:
            TypeError: an argument is of another form.
            ValueError: a plan does not fit its Parameter.
        """
        check_strategies(in_strategy, out_strategy)
        plan_parameters(self, parameter_plan)
        for handle in self.__dict__.get("_strategies", ()):
            handle.remove()
        handles = [self.register_forward_pre_hook(LayInputsOut(in_strategy))]
        if out_strategy:
            handles.append(self.register_forward_hook(LayOutputsOut(out_strategy)))
        self.__dict__["_strategies"] = handles
        return self

    # -- copies --

    def __deepcopy__(self, memo: dict[int, Any]) -> Cell:
        fresh = object.__new__(type(self))
        memo[id(self)] = fresh
        Cell.total_instance_count += 1
        for name, value in self.__dict__.items():
            if name == "_programs" or name.startswith("_jit_"):
                fresh.__dict__[name] = None
            elif name in ("_set_aside", "_pending"):
                continue
            else:
                fresh.__dict__[name] = copy.deepcopy(value, memo)
        for name, number in self.__dict__.get("_pending", {}).items():
            fresh.__dict__[name] = number.read()
        return fresh

    def __getstate__(self) -> dict[str, Any]:
        state = {
            k: v
            for k, v in self.__dict__.items()
            if k not in ("_set_aside", "_pending") and not k.startswith("_jit_")
        }
        state["_programs"] = None
        for name, number in self.__dict__.get("_pending", {}).items():
            state[name] = number.read()
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        Cell.total_instance_count += 1

    def __del__(self) -> None:
        if "_counted" in self.__dict__:
            Cell.total_instance_count -= 1

    # -- showing it --

    def extend_repr(self) -> str:
        """Give the text between the brackets of the Cell's repr; subclasses define it."""
        return ""

    def __str__(self) -> str:
        return self.__repr__()

    def __repr__(self) -> str:
        extra = self.extend_repr()
        lines = [f"({n}): {_indent(repr(c))}" for n, c in self._cells.items() if c is not None]
        head = type(self).__name__
        if not lines:
            return f"{head}({extra})"
        inner = "\n".join(f"  {line}" for line in ([extra] if extra else []) + lines)
        return f"{head}(\n{inner}\n)"


class _Runner:
    """What GRAPH traces: the Cell's run, without the check of the mode."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.__qualname__ = type(cell).__name__

    @property
    def jit_config(self) -> Any:
        """What `Cell.set_jit_config` was given."""
        return self._cell.__dict__.get("jit_config")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._cell._run(args, kwargs)


def _tensor_of(value: Any) -> Any:
    return Tensor._from_array(in_order(value)) if isinstance(value, jax.Array) else value


def _only_raw(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    raw = False
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Handle):
            return False
        if isinstance(value, jax.Array):
            raw = True
    return raw


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


_STORE = dis.opmap["STORE_ATTR"]


@functools.cache
def written_attributes(cls: type) -> frozenset[str]:
    """Find the attributes that running a Cell writes on ``self``.

    Args:
        cls: subclass of Cell.

    Returns:
        Their names, read from the bytecode of ``construct``, of compiled methods, and of what
        these call on ``self``; constructors and what only they call are left out.
    """
    methods: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base not in Cell.__mro__:
            methods.update(vars(base))
    waiting = ["construct", *(n for n, f in methods.items() if isinstance(f, JitFunction))]
    seen: set[str] = set()
    names: set[str] = set()
    while waiting:
        method = waiting.pop()
        if method in seen:
            continue
        seen.add(method)
        function = methods.get(method)
        code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
        if code is not None:
            waiting.extend(n for n in code.co_names if n in methods)
        # Most write nothing, which takes no look at each instruction.
        if code is not None and _STORE in code.co_code[::2]:
            # What is written on another object only makes a like-named attribute an input.
            stores = (i for i in dis.get_instructions(code) if i.opname == "STORE_ATTR")
            names.update(i.argval for i in stores)
    return frozenset(names)
