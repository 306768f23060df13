"""The atom: a Primitive is a frozen record of attributes with one `compute` on arrays."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import math
import struct
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, TypeVar, dataclass_transform

import jax
import numpy as np

from mindjax.core import device
from mindjax.core.dtype import Type
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current, wrap
from mindjax.core.partition import partitioner

PRIMITIVES: dict[str, type[Primitive]] = {}
"""MindIR name -> class; names with a leading underscore are ours alone."""

Chooses = Callable[..., Callable[..., Any] | None]
"""From a record and its arrays to the function that takes the place of `compute`, or None."""

LOWERINGS: dict[type[Primitive], dict[str, Chooses]] = {}
"""Per class: platform name -> function that replaces `compute` there."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _Engine:
    """What executes a record; `core/dispatch.py` fills it in."""

    @staticmethod
    def dispatch(record: Primitive, inputs: tuple[Any, ...]) -> Any:
        """Load the engine, which takes this method's place, and run the record."""
        importlib.import_module("mindjax.core.dispatch")
        return _Engine.dispatch(record, inputs)

    @staticmethod
    def install(
        called: Callable[..., Any] | None, paired: Callable[..., Any] | None = None
    ) -> None:
        """Let functions run what is called.

        Args:
            called: ``called(record, *inputs)``, None for `dispatch`.
            paired: the same for two Tensors, None for ``called``.
        """
        Primitive.__call__ = Primitive._dispatch = called or _called
        Primitive._pair = paired or called or _called


def _called(self: Primitive, *inputs: Any) -> Any:
    """Run the operator on Tensors (or raw jax arrays) and return the same kind."""
    return _Engine.dispatch(self, inputs)


@dataclass_transform(frozen_default=True)
class Primitive:
    """Base of every operator: subclasses declare attributes as fields and define `compute`.

    The class name is the MindIR name. Array inputs are never attributes. Class variables say what
    dispatch must know:

    - ``promotes``: positions of inputs that are brought to one dtype (Python numbers included).
    - ``keeps_unsigned``: a Python integer takes the dtype of a UInt16, UInt32 or UInt64 operand.
    - ``view``: the output aliases input 0 in PYNATIVE; ``"write"`` if only writes to it reach back.
    - ``concrete``: values are needed to know the output's shape; never traced.
    - ``effect``: runs in program order even if its result is unread.
    - ``writes_result``: the effect is that the result is written into a handle, nothing else.
    - ``constant``: nothing is differentiated through it, so the tape leaves it out.
    - ``keep_residuals``: the tape keeps what backward needs instead of computing it again.
    - ``collective``: ranks run it together, as one program.
    - ``own_executable``: its executable dies with the record, no cache holds it.

    A method ``bprop(*inputs, out, dout)`` on jax arrays, where one is defined, takes the place of
    jax's gradient of `compute`: it gives one gradient an input, None for none.
    """

    promotes: ClassVar[tuple[int, ...]] = ()
    keeps_unsigned: ClassVar[bool] = False
    view: ClassVar[bool | str] = False
    concrete: ClassVar[bool] = False
    effect: ClassVar[bool] = False
    writes_result: ClassVar[bool] = False
    constant: ClassVar[bool] = False
    keep_residuals: ClassVar[bool] = False
    collective: ClassVar[bool] = False
    own_executable: ClassVar[bool] = False
    bprop: ClassVar[Callable[..., Any] | None] = None
    compute: ClassVar[Callable[..., Any]]
    __call__: ClassVar[Callable[..., Any]]
    _fields: ClassVar[tuple[str, ...]] = ()
    # `executable` notes it on the record.
    _executable: ClassVar[Any] = None

    def __init_subclass__(cls, register: bool = True) -> None:
        # A class without fields of its own has its base's constructor: making one takes 0.4 ms.
        own = inspect.get_annotations(cls).values()
        if any("ClassVar[" not in str(annotation) for annotation in own):
            dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
            cls._fields = tuple(f.name for f in dataclasses.fields(cls))  # type: ignore[arg-type]
        # A user's class may bear the name of one of ours, and must not take its place.
        if register and (cls.__module__.startswith("mindjax") or cls.__name__ not in PRIMITIVES):
            PRIMITIVES[cls.__name__] = cls

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    _dispatch: ClassVar[Callable[..., Any]] = _called
    # For two Tensors that are known to be such, and an output that is no view.
    _pair: ClassVar[Callable[..., Any]] = _called
    # Declared as a variable so that subclasses may narrow the signature.
    __call__ = _called

    @property
    def name(self) -> str:
        """The MindIR name."""
        return type(self).__name__

    @property
    def key(self) -> Hashable:
        """Identity of the record for caches: its class and the typed value of every attribute."""
        known = self.__dict__.get("_key")
        if known is None:
            cls = type(self)
            known = (cls, *(typed_key(cls, f, self.__dict__[f]) for f in cls._fields))
            self.__dict__["_key"] = known
        return known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Primitive) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        fields = ", ".join(f"{f}={self.__dict__[f]!r}" for f in type(self)._fields)
        return f"{self.name}({fields})"

    # -- what users note on an operator --

    @property
    def attrs(self) -> dict[str, Any]:
        """What `add_prim_attr` and its like noted."""
        return self.__dict__.setdefault("_attrs", {})

    def __getattr__(self, name: str) -> Any:
        noted = self.__dict__.get("_attrs", {})
        if name in noted:
            return noted[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_attr_dict(self) -> dict[str, Any]:
        """Give what was noted."""
        return dict(self.attrs)

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Note something on the operator, and give it (MindSpore: ``Primitive.add_prim_attr``).

        Args:
            name: of the note.
            value: the note.
        """
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Drop a note, and give the operator.

        Args:
            name: of the note.
        """
        self.attrs.pop(name, None)
        return self

    def init_prim_io_names(self, inputs: Any, outputs: Any) -> None:
        """Note the names of inputs and outputs.

        Args:
            inputs: list of names.
            outputs: list of names.
        """
        self.attrs.update(input_names=inputs, output_names=outputs)

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Note a name of this operator, and give it.

        Args:
            name: the name.
        """
        self.__dict__["_attrs"] = {**self.attrs, "instance_name": name}
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Note a device; ops run where their inputs are (MindSpore: ``Primitive.set_device``).

        Args:
            device_target: name of the device.
        """
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """Note a stage of pipeline training, and give the operator.

        Args:
            stage: its number.
        """
        return self.add_prim_attr("stage", stage)

    def recompute(self, mode: bool = True) -> Primitive:
        """Note whether the backward pass computes the op again; the tape always does.

        Args:
            mode: whether it does.

        Raises:
            TypeError: ``mode`` is no bool.
        """
        if not isinstance(mode, bool):
            raise located(
                TypeError, f"For 'Primitive.recompute', 'mode' must be a bool, but got {mode!r}."
            )
        return self.add_prim_attr("recompute", mode)

    def shard(
        self,
        in_strategy: Any = None,
        out_strategy: Any = None,
        **kwargs: Any,
    ) -> Primitive:
        """Say how parallel training splits inputs and outputs, and give the operator.

        Args:
            in_strategy: for each input a tuple of the numbers of parts of its dimensions, or a
                `Layout`; None leaves it to the program around.
            out_strategy: the same of the outputs.
            kwargs: notes on the operator.

        Raises:
            TypeError: a strategy is no tuple of tuples of ints or of Layouts.
            ValueError: there is an ``out_strategy`` alone, or one of the other kind.
            NotImplementedError: an operator made of others is given an ``out_strategy``.
        """
        kinds = [
            _kind_of_strategy(name, value, self.name)
            for name, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy))
        ]
        if in_strategy is None and out_strategy is not None:
            raise located(
                ValueError,
                f"The out_strategy of {self.name} is {out_strategy}, need to set in_strategy, but "
                "got none",
            )
        if None not in kinds and kinds[0] != kinds[1]:
            raise located(
                ValueError,
                "The in_strategy type must equal to the out_strategy type, one using tuple(tuple) "
                "and the other using tuple(Layout) is not allowed.",
            )
        suffix = "layout" if "layout" in kinds else "strategy"
        for name, value in (("in", in_strategy), ("out", out_strategy)):
            if value is not None:
                self.add_prim_attr(f"{name}_{suffix}", _plain_layouts(value))
        if in_strategy:
            self.__dict__["_strategy"] = in_strategy, out_strategy
            self.__dict__.pop("_bound", None)
            if _composed(type(self)):
                if out_strategy:
                    raise located(
                        NotImplementedError,
                        f"For '{self.name}', an 'out_strategy' is not supported: lay the output "
                        "out with ops.reshard.",
                    )
                object.__setattr__(self, "__class__", _laying(type(self)))
        self.attrs.update(kwargs)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}


# Names of what runs a record itself.
_RUNS_ITSELF = frozenset({"super", "_dispatch", "dispatch", "with_statics"})


@functools.cache
def _composed(cls: type[Primitive]) -> bool:
    """Tell whether an operator's call runs others, which know nothing of its strategy."""
    if cls.__call__ is Primitive.__call__:
        return False
    code = getattr(cls.__call__, "__code__", None)
    return code is not None and _RUNS_ITSELF.isdisjoint(code.co_names)


@functools.cache
def _laying(cls: type[Primitive]) -> type[Primitive]:
    """Make the class of a composed operator that lays its inputs out before it is called."""

    def laid(self: Any, *inputs: Any, **named: Any) -> Any:
        spread = partitioner() if current.frame is not None else None
        if spread is not None:
            flat, tree = jax.tree.flatten(inputs, is_leaf=lambda v: isinstance(v, Handle))
            places = [i for i, v in enumerate(flat) if isinstance(v, Handle)]
            arrays = spread.constrain(self, [flat[i].peek() for i in places])
            for i, array in zip(places, arrays, strict=True):
                flat[i] = wrap(array)
            inputs = jax.tree.unflatten(tree, flat)
        return cls.__call__(self, *inputs, **named)

    class Laying(cls, register=False):
        __call__ = laid

    Laying.__name__, Laying.__qualname__ = cls.__name__, cls.__qualname__
    return Laying


def _kind_of_strategy(name: str, value: Any, owner: str) -> str | None:
    """Check the form of a strategy: ``"strategy"`` for numbers, ``"layout"`` for Layouts."""
    if value is None or value == ():
        return None
    if not isinstance(value, tuple):
        raise located(TypeError, f"{name} must be tuple type, but got:{type(value)}")
    kinds: set[str] = set()
    for entry in value:
        if not isinstance(entry, tuple) and not hasattr(entry, "to_dict"):
            raise located(
                TypeError,
                f"The element of strategy must be tuple/Layout type, but got:{type(entry)}",
            )
        kinds.add(_kind_of_entry(name, value, entry, owner))
    if len(kinds) > 1:
        raise located(TypeError, f"{name} item must be all tuple type or all Layout type.")
    return kinds.pop()


def _kind_of_entry(name: str, strategy: Any, entry: Any, owner: str) -> str:
    if hasattr(entry, "to_dict"):
        return "layout"
    inner = [v for e in entry for v in (e if isinstance(e, tuple) else (e,))]
    if inner and all(hasattr(v, "to_dict") for v in inner):
        return "layout"
    for part in inner:
        if not isinstance(part, int) or isinstance(part, bool):
            raise located(
                TypeError,
                f"The {name}: {strategy} of {owner} is not valid, the value of strategy must be "
                f"int type, but got:{type(part)}",
            )
    return "strategy"


def _plain_layouts(value: Any) -> Any:
    """Give a strategy with dictionaries for its Layouts."""
    if isinstance(value, tuple):
        return tuple(_plain_layouts(v) for v in value)
    return value.to_dict() if hasattr(value, "to_dict") else value


def typed_key(cls: type, field: str, value: Any) -> Hashable:
    """Make a hashable that is equal only for the same type and the same bits."""
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind is complex:
        return kind, struct.pack("<dd", value.real, value.imag)
    if value is None or kind in (int, bool, str, bytes) or isinstance(value, Type):
        return kind, value
    if isinstance(value, tuple | list):
        return tuple, tuple(typed_key(cls, field, v) for v in value)
    if isinstance(value, dict):
        return dict, tuple((k, typed_key(cls, field, v)) for k, v in value.items())
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, Primitive):
        return value.key
    if isinstance(value, Handle | np.ndarray | jax.Array):
        raise located(
            TypeError,
            f"For '{cls.__name__}', the attribute '{field}' must be a Python value, but got a "
            "tensor: tensors are inputs.",
        )
    if callable(value) and not isinstance(value, type):
        try:
            return weakref.ref(value)
        except TypeError:
            return kind, id(value)
    return kind, value


def lowering(cls: type[Primitive], platform: str) -> Callable[[Decorated], Decorated]:
    """Register a function that replaces ``cls.compute`` on one platform.

    Args:
        cls: primitive class.
        platform: jax platform name, such as ``"ascend"`` or ``"cuda"``.

    Returns:
        A decorator for ``f(record, *arrays)``, with the signature and results of ``compute``.
    """

    def register(function: Decorated) -> Decorated:
        chooses = lambda record, *_: functools.partial(function, record)  # noqa: E731
        LOWERINGS.setdefault(cls, {})[platform] = chooses
        return function

    return register


@functools.cache
def _providers() -> tuple[Callable[[type[Primitive]], dict[str, Chooses]], ...]:
    found = importlib.metadata.entry_points(group="mindjax.lowerings")
    return tuple(entry.load() for entry in found)


@functools.cache
def _provided(cls: type[Primitive]) -> dict[str, Chooses]:
    """Ask installed backends, once, for what replaces a class's `compute`.

    A backend names a function in the entry point group ``mindjax.lowerings``: from a class to
    functions by platform, which take the record and the arrays and give what computes these, None
    to leave them to `compute`.
    """
    return {p: f for provider in _providers() for p, f in provider(cls).items()}


def lowerings_of(cls: type[Primitive]) -> dict[str, Chooses]:
    """Give what chooses a replacement of a class's `compute`, by platform.

    What is registered here comes before what backends provide.
    """
    return _provided(cls) | LOWERINGS.get(cls, {})


class _Trace(threading.local):
    portable = False


_trace = _Trace()


def is_portable() -> bool:
    """Tell whether what `compute` gives now is for any platform: it may call no kernel of one."""
    return _trace.portable


def computation(record: Primitive, portable: bool = False) -> Callable[..., Any]:
    """Give the function on arrays that a record stands for, per platform where it has lowerings.

    Args:
        record: the operator with its attributes.
        portable: whether `compute` takes the place of every platform's lowering.

    Returns:
        The function; its gradient is the record's `bprop`, if it has one.
    """
    found = None if portable else lowerings_of(type(record))

    def computed(*arrays: Any) -> Any:
        if portable:
            before, _trace.portable = _trace.portable, True
            try:
                return _of_possible_size(record, record.compute(*arrays))
            finally:
                _trace.portable = before
        if not found:
            return _of_possible_size(record, record.compute(*arrays))
        # XLA:CPU convolves slowly inside a branch, even inside the only one.
        # So a lowering that leaves these arrays to `compute` says so before there is a branch.
        choices = {
            platform: computes
            for platform, chooses in found.items()
            if platform != "ascend" or device.is_ascend()
            if (computes := chooses(record, *arrays)) is not None
        }
        if not choices:
            return _of_possible_size(record, record.compute(*arrays))
        out = jax.lax.platform_dependent(*arrays, default=record.compute, **choices)
        return _of_possible_size(record, out)

    return computed if record.bprop is None else _with_bprop(record, computed)


def _with_bprop(record: Primitive, computed: Callable[..., Any]) -> Callable[..., Any]:
    """Give the function whose gradient is the record's `bprop`."""
    bprop = record.bprop
    assert bprop is not None

    def forward(*arrays: Any) -> Any:
        out = computed(*arrays)
        return out, (arrays, out)

    def backward(kept: Any, dout: Any) -> Any:
        arrays, out = kept
        given = bprop(*arrays, out, dout)
        given = given if isinstance(given, tuple | list) else (given,)
        if len(given) != len(arrays):
            raise located(
                TypeError,
                f"For '{record.name}', 'bprop' must return a gradient for each of the "
                f"{len(arrays)} inputs, but got {len(given)}.",
            )
        return tuple(_fitting(record, g, a) for g, a in zip(given, arrays, strict=True))

    made = jax.custom_vjp(computed)
    made.defvjp(forward, backward)
    return made


def _fitting(record: Primitive, gradient: Any, array: Any) -> Any:
    """Bring a gradient that a `bprop` gave to the form that jax needs of an input's."""
    if array is None:
        return None
    if isinstance(array, tuple | list):
        parts = (None,) * len(array) if gradient is None else gradient
        return tuple(_fitting(record, g, a) for g, a in zip(parts, array, strict=True))
    if not jax.numpy.issubdtype(array.dtype, np.inexact):
        return np.zeros(array.shape, jax.dtypes.float0)
    if gradient is None:
        return jax.numpy.zeros_like(array)
    gradient = jax.numpy.asarray(gradient, array.dtype)
    if gradient.shape != array.shape:
        raise located(
            ValueError,
            f"For '{record.name}', 'bprop' must return a gradient of the input's shape "
            f"{array.shape}, but got {gradient.shape}.",
        )
    return gradient


def _of_possible_size(record: Primitive, out: Any) -> Any:
    """Refuse results of 2^60 elements and more, over which the compiler ends the process."""
    for array in jax.tree.leaves(out):
        shape = getattr(array, "shape", ())
        count = math.prod(shape)
        if isinstance(count, int) and count >= 2**60:
            raise located(
                ValueError,
                f"For '{record.name}', the shape {tuple(shape)} of the result is too big for any "
                "memory.",
            )
    return out
