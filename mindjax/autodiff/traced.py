"""Functions of Tensors as pure functions of arrays, for transformations; programs that run them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from mindjax.autodiff.custom import _emptied
from mindjax.autodiff.differentiate import _array, _replace, _tensors
from mindjax.core import jax_private
from mindjax.core.errors import located
from mindjax.core.handle import current, wrap
from mindjax.core.state import in_user_x64, purify
from mindjax.graph.forward_mode import directional
from mindjax.graph.jit import Programs
from mindjax.graph.program import Program, is_tracing_outside
from mindjax.graph.sharing import Families
from mindjax.graph.signature import Signature

_families: weakref.WeakKeyDictionary[Any, Families] = weakref.WeakKeyDictionary()


def families_of(function: Callable[..., Any]) -> Families:
    """Give the executables that transformations of a function share while it lives."""
    key = getattr(function, "__self__", function)
    try:
        found = _families.get(key)
        if found is None:
            name = getattr(function, "__qualname__", type(function).__name__)
            found = _families[key] = Families(f"transformations of {name} at {id(key):#x}")
    except TypeError:
        # Not hashable, or without weak references.
        return Families(type(function).__name__)
    return found


class _Transformations(Programs):
    """Programs of a transformation, which traces its function even where nothing is compiled."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the transformation as one program."""
        if jax_private.jit_disabled():
            return run(self.function, self.function, args, kwargs)
        return super().call(args, kwargs)


def programs_of(function: Callable[..., Any], compute: Callable[..., Any]) -> Programs:
    """Give programs of a transformation ``compute`` of ``function``, kept from call to call."""
    programs = _Transformations(compute)
    programs.families = families_of(function)
    return programs


def run(
    function: Callable[..., Any],
    compute: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run a transformation as one program.

    It is traced at each call, so that Python values around it are those of now, and compiled when
    it differs from what ran before.

    Args:
        function: the user's function that is transformed.
        compute: the transformation of Tensors, which traces ``function``.
        args: positional arguments of ``compute``.
        kwargs: its keyword arguments.

    Returns:
        What ``compute`` returns.

    Raises:
        NotImplementedError: it stands in a gradient by an integer Tensor in a graph.
    """
    if current.frame is not None or is_tracing_outside():
        if current.tape is not None:
            raise located(
                NotImplementedError,
                "A function transform inside a gradient with respect to an integer Tensor is not "
                "supported while a graph is compiled: differentiate by the float Tensors only.",
            )
        return compute(*args, **kwargs)
    signature = Signature(args, kwargs)
    return Program(compute, args, kwargs, signature, families_of(function))(signature.handles)


class Traced:
    """A function of Tensors, traced once, as a pure function of arrays.

    Args:
        function: function of Tensors.
        args: its arguments.
        kwargs: its keyword arguments.
        shapes: shapes of the Tensors in ``args`` if they are not their own.
        overlay: Tensors whose values are further inputs, after those in ``args``.

    Attributes:
        inputs: arrays of the Tensors in ``args``.
        out: what the function returned, with Tensors that hold nothing.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: dict[str, Any] | None = None,
        shapes: Sequence[Any] | None = None,
        overlay: Sequence[Any] = (),
    ) -> None:
        tensors = _tensors(args)
        self.inputs = [_array(t) for t in tensors]
        count = len(tensors)
        kept: dict[str, Any] = {}
        template = _emptied(args)

        def body(*arrays: Any) -> list[Any]:
            frame = current.frame
            assert frame is not None
            for handle, array in zip(overlay, arrays[count:], strict=True):
                frame.values[handle] = array
            given = _replace(template, iter([wrap(a) for a in arrays[:count]]))
            out = in_user_x64(function, *given, **(kwargs or {}))
            kept["out"] = _emptied(out)
            return [_array(t) for t in _tensors(out)]

        self.pure = purify(body, self.inputs if shapes is None else shapes)
        self.out = kept["out"]

    def call(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Map the inputs to flat outputs and to what the function wrote."""
        return self.pure.call(self.pure.reads, arrays)

    def build(self, arrays: Sequence[Any]) -> Any:
        """Put an output together of its arrays."""
        return _replace(self.out, iter([wrap(a) for a in arrays]))

    def differentiable(self, has_aux: bool) -> list[int]:
        """List which outputs are differentiated: the first one's real Tensors, or all.

        Raises:
            ValueError: ``has_aux`` is set and there are not two outputs.
        """
        out = self.out
        if has_aux:
            if not isinstance(out, tuple | list) or len(out) < 2:
                raise located(
                    ValueError,
                    "When 'has_aux' is True, the function must return more than one output.",
                )
            out = out[0]
        return list(range(len(_tensors(out))))


def is_real(array: Any) -> bool:
    """Tell whether an array has a float or complex dtype."""
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def push_forward(
    function: Callable[[list[Any]], tuple[list[Any], Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[list[Any], list[Any], Any]:
    """Evaluate a function and its derivative along a direction.

    Args:
        function: maps a list of arrays to a list of arrays and further results.
        primals: arrays; integers are constants.
        tangents: the direction, one array a primal.

    Returns:
        The outputs, their derivatives (zeros for integers), the further results.
    """
    real = [i for i, p in enumerate(primals) if is_real(p)]
    kinds: list[bool] = []

    def of_reals(values: list[Any]) -> Any:
        full = list(primals)
        for i, value in zip(real, values, strict=True):
            full[i] = value
        outs, more = function(full)
        kinds[:] = [is_real(o) for o in outs]
        return [o for o in outs if is_real(o)], (outs, more)

    values = [primals[i] for i in real]
    directions = [tangents[i] for i in real]
    _, derivatives, (every, more) = directional(of_reals, (values,), (directions,))
    following = iter(derivatives)
    full = [next(following) if k else jnp.zeros_like(o) for k, o in zip(kinds, every, strict=True)]
    return every, full, more
