"""The Tensor: the handle of core with MindSpore's methods, each an op bound by name."""

from __future__ import annotations

import copy
import importlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from mindjax.core import checks
from mindjax.core.device import target
from mindjax.core.dtype import Number, as_dtype, from_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, current, state_lock, whole
from mindjax.core.jax_private import ArrayImpl
from mindjax.core.layouts import in_order
from mindjax.core.pending import Pending
from mindjax.core.translate import out_of_memory
from mindjax.core.values import can_leave, need_values
from mindjax.core.view import Same, View
from mindjax.tensor.methods.arithmetic import ArithmeticMethods
from mindjax.tensor.methods.arrays import ArrayMethods
from mindjax.tensor.methods.conversion import ConversionMethods
from mindjax.tensor.methods.indexed import IndexedMethods
from mindjax.tensor.methods.indexing import IndexingMethods
from mindjax.tensor.methods.inplace import InplaceMethods
from mindjax.tensor.methods.linear import LinearMethods
from mindjax.tensor.methods.memory import MemoryMethods
from mindjax.tensor.methods.numeric import NumericMethods
from mindjax.tensor.methods.reduction import ReductionMethods
from mindjax.tensor.methods.shape import ShapeMethods
from mindjax.tensor.methods.vision import VisionMethods

_ACCEPTED = "['Tensor', 'ndarray', 'list', 'tuple', 'float', 'int', 'bool', 'complex']"


if TYPE_CHECKING:
    # Under another metaclass, pyright takes `x.__dict__` for the class's own.
    _Named = type
else:

    class _Named(type):
        """Gives Tensor the name that scripts of the original print and compare: its own path."""

        def __repr__(cls) -> str:
            home, _, end = cls.__module__.partition(".tensor.")
            ours = home == "mindjax" and end in ("tensor", "parameter")
            return (
                f"<class 'mindspore.common.{end}.{cls.__qualname__}'>"
                if ours
                else type.__repr__(cls)
            )


class Tensor(
    ArithmeticMethods,
    ReductionMethods,
    ShapeMethods,
    IndexingMethods,
    IndexedMethods,
    NumericMethods,
    InplaceMethods,
    ArrayMethods,
    ConversionMethods,
    LinearMethods,
    VisionMethods,
    MemoryMethods,
    Handle,
    metaclass=_Named,
):
    """A multi-dimensional array (MindSpore: ``Tensor``).

    Args:
        input_data: Tensor, numpy or jax array, number, or nested sequence of numbers or Tensors.
        dtype: element type; by default that of the data, Float32 for Python floats.
        shape: shape of a Tensor that ``init`` fills.
        init: initializer that fills the Tensor.
        const_arg: whether a compiled function takes it as a constant.

    Raises:
        TypeError: the data cannot be a Tensor, or neither data nor shape and dtype are given.
    """

    __slots__ = ()
    __array_priority__ = 1000

    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        self._init_handle(None)
        if init is not None:
            self._value = _initialized(input_data, dtype, shape, init)
        elif input_data is None:
            if dtype is None:
                raise located(
                    TypeError,
                    f"For 'Tensor', the type of 'input_data' should be one of '{_ACCEPTED}', but "
                    "got None without both 'shape' and 'dtype'.",
                )
            sizes = -2 if shape is None else shape
            sizes = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,)
            known = [s if isinstance(s, int) and s >= 0 else 0 for s in sizes]
            self._value = np.zeros(known, as_dtype(dtype).np)
            self._declared_shape = sizes
            if any(not isinstance(s, int) or s < 0 for s in sizes):
                self.__class__ = Declared  # pyright: ignore[reportAttributeAccessIssue]
        else:
            self._set_data_of(input_data, dtype)
            if isinstance(input_data, Handle) and current.frame is None:
                self._alias(input_data)
        if const_arg:
            self.const_arg = True
        if device is not None:
            self.init_device = device

    def _alias(self, base: Handle) -> None:
        """Follow another Tensor of the same dtype, and pass writes on to it."""
        if self._value.dtype == base.value_dtype:
            self._view = View(base, Same(), ())

    def _set_data_of(self, data: Any, dtype: Any) -> None:
        if isinstance(data, Handle):
            self._value = data.array if data._frame is not None else data._raw()
            self._node = data._node
            if dtype is not None and as_dtype(dtype).np != self._value.dtype:
                cast = Tensor._from_array(self._value)
                cast._node = data._node
                converted = cast.astype(dtype)
                self._value, self._node = converted._value, converted._node
            return
        if isinstance(data, jax.Array):
            self._value = data = in_order(data)
            if dtype is not None and as_dtype(dtype).np != data.dtype:
                self._value = Tensor._from_array(data).astype(dtype)._value
            return
        self._value = to_numpy(data, dtype)

    @classmethod
    def _from_array(cls, array: Any) -> Tensor:
        """Make a Tensor of a numpy or jax array, without a copy and without a check."""
        tensor = object.__new__(Tensor)
        tensor._init_handle(array)
        return tensor

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
        """Make a Tensor of a numpy array, which is copied when first used.

        Args:
            array: C-contiguous numpy array.

        Returns:
            Tensor of the same shape and dtype.

        Raises:
            TypeError: ``array`` is not a numpy array.
        """
        if not isinstance(array, np.ndarray):
            raise located(
                TypeError,
                f"The input of 'from_numpy' must be numpy.ndarray, but got {type(array).__name__}.",
            )
        return Tensor._from_array(array)

    # -- what it is --

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.value_shape

    @property
    def dtype(self) -> Number:
        """Element type."""
        return from_np(self.value_dtype)

    @property
    def symbolic_shape(self) -> list[Any] | None:
        """What was said of the axes that may change, where a `Symbol` was given; else None."""
        sizes = self.__dict__.get("_declared_shape", ())
        if not any(hasattr(s, "to_dict") for s in sizes):
            return None
        return [s.to_dict() if hasattr(s, "to_dict") else s for s in sizes]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.value_shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.value_shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.value_dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def data(self) -> Tensor:
        """A Tensor that aliases this one and takes no part in gradients."""
        alias = Tensor(self)
        alias._node = None
        return alias

    @property
    def device(self) -> str:
        """Name of the device that holds the values, ``"CPU"`` if they are still on the host."""
        value = self._raw()
        if type(value) is Pending:
            value = self.array
        if isinstance(value, np.ndarray | Tracer):
            return "CPU" if isinstance(value, np.ndarray) else target()
        device = next(iter(value.devices()))
        return "CPU" if device.platform == "cpu" else f"{target()}:{device.id}"

    def data_ptr(self) -> int:
        """Give the address of the first element."""
        return int(self.array.unsafe_buffer_pointer())

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes to step along each axis of a contiguous array of this shape."""
        out, step = [], self.itemsize
        for size in reversed(self.value_shape):
            out.append(step)
            step *= size
        return tuple(reversed(out))

    @property
    def has_init(self) -> bool:
        """Whether the Tensor waits for its initializer; never, since values are made at once."""
        return False

    def init_data(self, *args: Any, **kwargs: Any) -> Tensor:
        """Give the Tensor itself: its initializer ran when it was made."""
        return self

    # -- reading it --

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Copy the values to a numpy array.

        Returns:
            Writable array of the same shape and dtype; later writes to either are not seen by the
            other.

        Raises:
            RuntimeError: the Tensor is being traced.
        """
        here = current
        frame = here.frame
        if frame is not None and self._frame is None:
            frame.note_concrete(self)
        # `with` takes twice as long.
        state_lock.acquire()
        try:
            # What is still on the host is not put on a device for this.
            view = self._view
            if frame is self._frame and (
                view is None or (view.base._view is None and view.base._version == view.seen)
            ):
                value = self._value
            else:
                value = self._raw()
            if type(value) is Pending:
                array = value.concrete()
                if self._value is value:
                    self._value = array
                value = array
        finally:
            state_lock.release()
        recording = here.recording
        if recording is not None and recording.unread:
            recording.note_read()
        if type(value) is not ArrayImpl and isinstance(value, Tracer):
            raise need_values("a Tensor's value")
        try:
            return np.array(value)
        except jax.errors.JaxRuntimeError as error:
            raise out_of_memory(error, self.value_shape) from error
        except RuntimeError:
            if not isinstance(value, jax.Array) or value.is_fully_addressable:
                raise
            return np.array(whole(value))

    def numpy(self) -> np.ndarray[Any, Any]:
        """Copy the values to a numpy array (MindSpore: ``asnumpy``)."""
        return self.asnumpy()

    def tolist(self) -> Any:
        """Give nested Python lists of the values, a number for a 0-d Tensor."""
        return self.asnumpy().tolist()

    def item(self, index: Any = None) -> Any:
        """Give one element as a Python number.

        Args:
            index: flat index or tuple; None takes the only element.

        Returns:
            Python number.

        Raises:
            ValueError: no index is given and there is not one element.
        """
        array = self.asnumpy()
        if index is None:
            if array.size != 1:
                raise located(
                    ValueError,
                    "For Tensor.item, the tensor must have one element when no index is given, but "
                    f"got shape {array.shape}.",
                )
            return array.item()
        places = index if isinstance(index, tuple) else (index,)
        return array.item(*(checks.integer("index", i, "Tensor.item") for i in places))

    def value(self) -> Tensor:
        """Give the Tensor itself, of a Parameter a Tensor that follows it."""
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Run a function on the gradient of this Tensor.

        Args:
            hook: gets the gradient; what it returns replaces it unless it is None. Hooks run in
                the order of registration.

        Returns:
            A handle to remove it with.

        Raises:
            TypeError: ``hook`` is not callable.
        """
        if not callable(hook):
            raise located(
                TypeError,
                f"For 'register_hook', the 'hook' must be callable, but got {type(hook).__name__}.",
            )
        table = self.__dict__.get("_gradient_hooks")
        if table is None:
            table = self.__dict__["_gradient_hooks"] = OrderedDict()
            self._watch(table)
        handle = HookHandle(table)
        table[handle.id] = hook
        return handle

    def _watch(self, table: OrderedDict[int, Any]) -> None:
        """Let the hooks in ``table`` see this Tensor's gradient from here on."""
        differentiated = current.tape is not None and current.tape.position(self) is not None
        if not differentiated and current.frame is None:
            # Not differentiated yet: whoever differentiates by it runs the hooks.
            return
        watch = importlib.import_module("mindjax.autodiff.custom").watch_gradient
        watched = watch(self, lambda grads: [run_hooks(table, grads[0])])
        self.assign_value(watched.peek(), watched._node)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype)

    def __jax_array__(self) -> Any:
        return self.array

    def __bool__(self) -> bool:
        if self.size != 1:
            raise located(
                ValueError,
                f"The tensor should have only one element, but got {self.size}, more than one "
                "element is ambiguous.",
            )
        return bool(self.asnumpy().reshape(()))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self.dtype.kind not in ("int", "uint", "bool"):
            raise located(TypeError, "Only integer tensors of a single element can be an index.")
        return int(self._scalar("index"))

    def _scalar(self, what: str) -> Any:
        if self.size != 1:
            raise located(
                ValueError,
                f"Can not convert Tensor with more than one element to {what}, shape {self.shape}.",
            )
        return self.asnumpy().reshape(()).item()

    def __len__(self) -> int:
        if not self.value_shape:
            raise located(TypeError, "Not support len of a 0-D tensor")
        return self.value_shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.value_shape:
            raise located(TypeError, "iteration over a 0-D tensor is not possible")
        return (self[i] for i in range(self.value_shape[0]))

    def __contains__(self, element: Any) -> bool:
        return bool((self.asnumpy() == np.asarray(element)).any())

    __hash__ = Handle.__hash__

    # -- showing it --

    def __str__(self) -> str:
        if self._traced():
            if can_leave():
                raise need_values("the text of a Tensor")
            return self._traced_text()
        return str(self.asnumpy())

    def __repr__(self) -> str:
        if self._traced():
            return self._traced_text()
        array = self.asnumpy()
        text = _array_text(array)
        shape = ", ".join(map(str, array.shape))
        lead = "\n" if array.ndim > 1 else " "
        return f"Tensor(shape=[{shape}], dtype={self.dtype}, value={lead}{text})"

    def __format__(self, spec: str) -> str:
        if spec and not self._traced():
            return format(self.asnumpy().item() if self.size == 1 else self.asnumpy(), spec)
        return str(self)

    def _traced(self) -> bool:
        return isinstance(self._raw(), Tracer)

    def _traced_text(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"Tensor(shape=[{shape}], dtype={self.dtype}, value=<being compiled>)"

    # -- copying it --

    def __copy__(self) -> Tensor:
        return Tensor._from_array(self.peek())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        with state_lock:
            fresh = Tensor._from_array(self.array if self._frame is not None else self._raw())
        memo[id(self)] = fresh
        for name, value in self.__dict__.items():
            fresh.__dict__[name] = copy.deepcopy(value, memo)
        return fresh

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.asnumpy(), dict(self.__dict__))

    def set_dtype(self, dtype: Any) -> Any:
        """Cast in place and give the dtype.

        Args:
            dtype: the new element type.
        """
        self.assign_value(self.astype(dtype).peek())
        return self.dtype

    def set_const_arg(self, const_arg: bool = True) -> Tensor:
        """Say whether compiled functions take the Tensor as a constant; gives the Tensor."""
        self.const_arg = const_arg
        return self


def _unpickle(array: np.ndarray[Any, Any], attributes: dict[str, Any]) -> Tensor:
    tensor = Tensor._from_array(array)
    tensor.__dict__.update(attributes)
    return tensor


# Digits after the point in a repr; the original writes a sign column and an exponent.
_DIGITS = {"float16": 4, "float32": 8, "float64": 16}


def _array_text(array: np.ndarray[Any, Any]) -> str:
    digits = _DIGITS.get(array.dtype.name)
    if array.dtype.kind == "c":
        pair: Any = {"complex_kind": lambda z: f"{z.real:g}{z.imag:+g}j"}
        return np.array2string(array, separator=", ", formatter=pair, prefix="")
    if array.ndim == 0:
        return str(array) if digits is None else f"{float(array):g}"
    if digits is None:
        return np.array2string(array, separator=", ", prefix="")
    write: Any = {"float_kind": lambda x: f"{x: .{digits}e}".rjust(digits + 7)}
    return np.array2string(array, separator=", ", formatter=write, prefix="")


def to_numpy(data: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """Bring what `Tensor` takes to a numpy array.

    Args:
        data: number, nested sequence of numbers and Tensors, or numpy array.
        dtype: MindSpore dtype, None for that of the data (Float32 for Python floats).

    Returns:
        A new numpy array.

    Raises:
        TypeError: the data cannot be a Tensor.
    """
    if isinstance(data, np.ndarray | np.generic):
        array = np.array(data)
    elif isinstance(data, bool | int | float | complex):
        array = np.asarray(data)
        if isinstance(data, float) and dtype is None:
            array = array.astype(np.float32)
    elif isinstance(data, tuple | list):
        array = _sequence_to_numpy(data, exact=dtype is not None)
    else:
        raise located(
            TypeError,
            f"For 'Tensor', the type of 'input_data' should be one of '{_ACCEPTED}', but got type "
            f"'{type(data).__name__}'.",
        )
    if array.dtype.kind not in "biufcV":
        raise located(
            TypeError,
            f"For 'Tensor', the 'input_data' of type {type(data).__name__} holds elements of type "
            f"'{array.dtype}', which cannot be a Tensor.",
        )
    if dtype is not None:
        array = array.astype(as_dtype(dtype).np)
    return array


def _sequence_to_numpy(data: Any, exact: bool) -> np.ndarray[Any, Any]:
    plain = _asnumpy_nested(data)
    try:
        array = np.asarray(plain)
    except ValueError as error:
        raise located(
            TypeError,
            "For Tensor, the input_data is a sequence that contain unsupported element or is "
            f"ragged: {error}.",
        ) from None
    if array.dtype == np.float64 and not exact and not _holds_float64(plain):
        array = array.astype(np.float32)
    return array


def _asnumpy_nested(data: Any) -> Any:
    if isinstance(data, Handle):
        return data.asnumpy()  # type: ignore[attr-defined]
    if isinstance(data, tuple | list):
        return [_asnumpy_nested(x) for x in data]
    return data


def _holds_float64(data: Any) -> bool:
    if isinstance(data, list):
        return any(_holds_float64(x) for x in data)
    return isinstance(data, np.ndarray | np.generic) and data.dtype == np.float64


def _initialized(data: Any, dtype: Any, shape: Any, init: Any) -> Any:
    if data is not None:
        raise located(
            ValueError, "For 'Tensor', 'input_data' and 'init' exclude each other; both are given."
        )
    if shape is None or dtype is None:
        raise located(ValueError, "For 'Tensor', 'init' needs 'shape' and 'dtype'.")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    array = np.zeros(sizes, np.float32)
    init(array)
    return array.astype(as_dtype(dtype).np)


def tensor(
    input_data: Any = None,
    dtype: Any = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
) -> Tensor:
    """Make a Tensor (MindSpore: ``tensor``).

    Args:
        input_data: as in `Tensor`.
        dtype: as in `Tensor`.
        shape: as in `Tensor`.
        init: as in `Tensor`.
        const_arg: as in `Tensor`.
    """
    return Tensor(input_data, dtype, shape, init, const_arg)


class HookHandle:
    """A registered hook, to be removed again.

    Args:
        hooks: table that holds it.
    """

    numbers = itertools.count(1)

    def __init__(self, hooks: OrderedDict[int, Any]) -> None:
        self.hooks, self.id = hooks, next(HookHandle.numbers)

    def remove(self) -> None:
        """Remove the hook."""
        self.hooks.pop(self.id, None)


def run_hooks(hooks: OrderedDict[int, Any], gradient: Any) -> Any:
    """Run gradient hooks in order.

    Args:
        hooks: functions by number.
        gradient: the gradient Tensor.

    Returns:
        The gradient, or what the hooks replaced it by.
    """
    for hook in list(hooks.values()):
        replaced = hook(gradient)
        gradient = gradient if replaced is None else replaced
    return gradient


Handle.tensor_class = Tensor


def _flatten(tensor: Tensor) -> tuple[tuple[Any], None]:
    return (tensor.array,), None


def _unflatten(_: None, children: tuple[Any]) -> Tensor:
    return Tensor._from_array(children[0])


jax.tree_util.register_pytree_node(Tensor, _flatten, _unflatten)


class Declared(Tensor):
    """A Tensor whose sizes are not all known: it declares an input and has no values."""

    __slots__ = ()

    @property
    def array(self) -> Any:
        """Raise ValueError, since there is nothing to compute with."""
        raise located(
            ValueError,
            f"a Tensor of shape {self.shape} only declares an input (set_inputs, enable_dynamic) "
            "and has no values: give a Tensor whose sizes are all known.",
        )

    def peek(self) -> Any:
        """Raise ValueError, as `array` does."""
        return self.array

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes, -1 where one is not known; (-2,) where their number is not."""
        sizes = self.__dict__["_declared_shape"]
        return tuple(s if isinstance(s, int) else -1 for s in sizes)

    @property
    def size(self) -> int:
        """0: there are no elements."""
        return 0

    def asnumpy(self) -> Any:
        """Raise ValueError, since there are no values."""
        return self.array

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        memo[id(self)] = self
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return tensor, (None, self.dtype, self.__dict__["_declared_shape"])

    def _traced(self) -> bool:
        return False

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        lead = "\n" if len(self.shape) > 1 else " "
        shape = ", ".join(map(str, self.shape))
        return f"Tensor(shape=[{shape}], dtype={self.dtype}, value={lead})"


# Scripts print the class, and errors name it.
Declared.__name__ = Declared.__qualname__ = "Tensor"
