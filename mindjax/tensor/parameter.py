"""Parameters: named Tensors with identity, the state of networks."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from typing import Any, ClassVar

import jax
import numpy as np

from mindjax.core import simulation
from mindjax.core.checks import non_negative_int
from mindjax.core.errors import located
from mindjax.core.handle import Handle, state_lock
from mindjax.core.state import changed as changed
from mindjax.core.state import epoch as epoch
from mindjax.tensor.tensor import Tensor

# The original makes one Parameter itself when it is imported.
_unnamed = itertools.count(2)


def _noted(name: str, default: Any, kinds: Any, expected: str, what: str) -> Any:
    """Make a property that checks the type of what is noted, for parallel training."""

    def read(self: Any) -> Any:
        return self.__dict__.get(f"_{name}", default)

    def write(self: Any, value: Any) -> None:
        if kinds is not None and not isinstance(value, kinds):
            raise located(
                TypeError, f"For 'Parameter', the argument `{name}` must be {expected} type."
            )
        self.__dict__[f"_{name}"] = value

    return property(read, write, doc=what)


class ParamInfo:
    """What a Parameter says of itself; reading and writing reach the Parameter.

    Args:
        parameter: the Parameter.
    """

    def __init__(self, parameter: Any) -> None:
        object.__setattr__(self, "obj", parameter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["obj"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["obj"], name, value)


class Parameter(Tensor):
    """A named Tensor that training may change (MindSpore: ``Parameter``).

    Args:
        default_input: Tensor, numpy or jax array, number or sequence: the first value.
        name: its name; a Cell gives the attribute's name to an unnamed one.
        requires_grad: whether it is trained.
        layerwise_parallel: kept for parallel training: the Parameter is not broadcast.
        parallel_optimizer: kept for parallel training: whether its optimizer state may be sharded.
        storage_format: kept; arrays have the device's own.
        device: ``"CPU"`` lets the values, and those of the optimizer's copies, wait in the host's
            memory: a compiled program fetches them, and puts what it writes back there.

    Raises:
        TypeError: the first value cannot be a Tensor.
        ValueError: ``name`` is not a string, or another ``device``.
        NotImplementedError: ``device`` is ``"Remote"``.
    """

    __slots__ = ()
    is_parameter = True
    # `nn.no_init_parameters` clears it for the Parameters made within.
    _first_init_param: ClassVar[bool] = True

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        self._init_handle(None)
        # A Parameter belongs to no frame, even when it is made while a graph is compiled.
        self._frame = None
        self._set_data_of(default_input, None)
        self._node = None
        self.init_param = type(self)._first_init_param
        self._requires_grad = bool(requires_grad)
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.storage_format = storage_format
        if device is not None:
            self.init_device = _checked_device(device)
        if name is None:
            self._name, self.is_named = f"Parameter#{next(_unnamed)}", False
        else:
            self.name = name
        simulation.note(self)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if name is None:
            name = "Parameter"
        if not isinstance(name, str):
            raise located(
                ValueError,
                f"The type of the Parameter's name should be 'string' or 'None', but got "
                f"{type(name).__name__}.",
            )
        self._name, self.is_named = name, True

    @property
    def requires_grad(self) -> bool:
        """Whether it is trained."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise located(
                TypeError,
                f"The argument `requires_grad` must be bool type, but got {value!r}.",
            )
        if value != self._requires_grad:
            self._requires_grad = value
            changed()

    def requires_grad_(self, requires_grad: bool = True) -> Parameter:
        """Set whether it is trained, and give the Parameter."""
        self.requires_grad = requires_grad
        return self

    layerwise_parallel = _noted(
        "layerwise_parallel", False, bool, "bool", "Whether it is neither broadcast nor reduced."
    )
    parallel_optimizer = _noted(
        "parallel_optimizer", True, bool, "bool", "Whether its optimizer state may be sharded."
    )
    parallel_optimizer_comm_recompute = _noted(
        "parallel_optimizer_comm_recompute",
        False,
        bool,
        "bool",
        "Whether the backward pass gathers the shards again.",
    )
    cache_enable = _noted("cache_enable", False, bool, "bool", "Whether it is a cached embedding.")
    cache_shape = _noted("cache_shape", [], tuple | list, "tuple or list", "Shape of the cache.")
    key = _noted("key", -1, int, "int", "Its unique number, -1 if none was given.")
    sliced = _noted("sliced", False, None, "", "Whether it is a shard already.")
    unique = _noted("unique", False, None, "", "Whether its indices are distinct already.")

    @property
    def comm_fusion(self) -> int:
        """Number of the group in which its gradient is communicated, 0 for by itself."""
        return self.__dict__.get("_comm_fusion", 1)

    @comm_fusion.setter
    def comm_fusion(self, value: int) -> None:
        self.__dict__["_comm_fusion"] = non_negative_int("comm_fusion", value, "Parameter")

    def add_pipeline_stage(self, stage: int) -> None:
        """Note that a stage of pipeline training uses it.

        Args:
            stage: number of the stage, from 0.

        Raises:
            TypeError: it is no such number.
        """
        if not isinstance(stage, int) or stage < 0:
            raise located(
                TypeError,
                "For 'add_pipeline_stage', `stage` must be a positive number of int type, but got "
                f"{stage!r}.",
            )
        self.__dict__.setdefault("_pipeline_stages", []).append(stage)

    @property
    def param_info(self) -> ParamInfo:
        """What it says of itself, as one object."""
        return ParamInfo(self)

    @property
    def data(self) -> Parameter:
        """The Parameter itself."""
        return self

    @property
    def inited_param(self) -> None:
        """None: values are made at once."""
        return None

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value; identity and dtype stay (MindSpore: ``set_data``).

        Args:
            data: Tensor, numpy or jax array, number: cast to the Parameter's dtype.
            slice_shape: whether the shape may differ, as for slices of parallel training.

        Returns:
            The Parameter itself.

        Raises:
            TypeError: ``data`` cannot be a Tensor.
        """
        if not isinstance(data, Tensor | np.ndarray | jax.Array | bool | int | float | complex):
            raise located(
                TypeError,
                f"Parameter data must be [`Initializer`, `int`, `float`] or derived from Tensor, "
                f"but with type {type(data)}.",
            )
        fresh = data if isinstance(data, Tensor) else Tensor(data)
        if fresh.dtype is not self.dtype:
            fresh = fresh.astype(self.dtype)
        tape_position = fresh._node
        self.assign_value(fresh.array if fresh._frame is not None else fresh._raw(), tape_position)
        return self

    def value(self) -> Tensor:
        """Give a Tensor that follows the Parameter in PYNATIVE; in a graph, its value now."""
        return self.view(self.shape)

    def init_data(self, *args: Any, **kwargs: Any) -> Parameter:
        """Give the Parameter itself: its initializer ran when it was made."""
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """Copy the Parameter, with its own value (MindSpore: ``Parameter.clone``).

        Args:
            init: ``"same"`` for the same value; else an initializer's name, a number or a Tensor.

        Returns:
            A new Parameter of the same shape and dtype.
        """
        fresh = copy.copy(self)
        if init != "same" if isinstance(init, str) else True:
            fresh._value = self._filled(init)
        return fresh

    def _filled(self, init: Any) -> Any:
        from mindjax.tensor.initializer import initializer

        return initializer(init, self.shape, self.dtype)._raw()

    def __copy__(self) -> Parameter:
        fresh = object.__new__(type(self))
        with state_lock:
            fresh._init_handle(self.array if self._frame is not current_frame() else self._raw())
        fresh._frame = None
        fresh.__dict__.update(self.__dict__)
        simulation.note(fresh)
        return fresh

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        fresh = self.__copy__()
        memo[id(self)] = fresh
        return fresh

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (type(self), self.asnumpy(), dict(self.__dict__))

    def __str__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __repr__ = __str__
    __hash__ = Handle.__hash__


def current_frame() -> Any:
    """Give the active frame of this thread."""
    from mindjax.core.handle import current

    return current.frame


def _unpickle(cls: type[Parameter], array: np.ndarray[Any, Any], attributes: dict[str, Any]) -> Any:
    fresh = object.__new__(cls)
    fresh._init_handle(array)
    fresh._frame = None
    fresh.__dict__.update(attributes)
    return fresh


def _checked_device(device: Any) -> str:
    if device not in ("CPU", "Remote"):
        raise located(
            ValueError, f"Only 'CPU' and 'Remote' is supported for device, but got ${device}."
        )
    if device == "Remote":
        raise located(
            NotImplementedError,
            "For 'Parameter', the argument 'device' 'Remote' is not supported: 'CPU' keeps the "
            "values in the host's memory.",
        )
    return device


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of Parameters with names of their own (MindSpore: ``ParameterTuple``).

    Args:
        iterable: the Parameters.

    Raises:
        TypeError: an element is not a Parameter.
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        """Check the elements and make the tuple."""
        data = tuple(iterable)
        for p in data:
            if not isinstance(p, Parameter):
                raise located(
                    TypeError,
                    "For ParameterTuple initialization, ParameterTuple input should be "
                    f"'Parameter' collection, but got a {type(p).__name__}.",
                )
        return super().__new__(cls, data)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Copy every Parameter under a prefixed name.

        Args:
            prefix: put before each name, with a dot.
            init: as in `Parameter.clone`.

        Returns:
            The copies.
        """
        copies = []
        for p in self:
            fresh = p.clone(init)
            fresh.name = f"{prefix}.{p.name}"
            copies.append(fresh)
        return ParameterTuple(copies)


jax.tree_util.register_pytree_node(
    Parameter,
    lambda p: ((p.array,), None),
    lambda _, c: Tensor._from_array(c[0]),  # type: ignore[arg-type]
)
