"""Loops over functions: `WhileLoop`, `ForiLoop`, `Scan`.

PYNATIVE runs them in Python. While a graph is traced, a loop whose values are Python's stays in
Python, up to 64 turns of a loop over Tensors are unrolled, and more become one loop of XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.autodiff.custom import _emptied
from mindjax.autodiff.differentiate import _array, _replace, _tensors
from mindjax.core import jax_private
from mindjax.core.checks import boolean
from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced, wrap
from mindjax.core.primitive import Primitive
from mindjax.core.state import Wide, in_user_x64, purify
from mindjax.graph.checkpointed import checkpointed_while
from mindjax.tensor.tensor import Tensor

UNROLLED = 64
"""Turns up to which a loop over Tensors is unrolled."""

Function = Callable[..., Any]


def _check_function(owner: str, name: str, value: Any) -> None:
    if not callable(value):
        raise located(
            TypeError,
            f"For '{owner}', the type of '{name}' should be one of '['function', 'method']', but "
            f"got type '{type(value).__name__}'.",
        )


def _unstable(owner: str, before: Any, after: Any) -> ValueError:
    return located(
        ValueError,
        f"{owner} op has invalid argument, the return value of the [loop_func] and the "
        f"[init_value] should maintain the same type and shape, but got: {_describe(after)} and "
        f"{_describe(before)}.",
    )


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"Tensor{list(value.shape)} of {value.dtype}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_describe, value))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_describe(v)}" for k, v in value.items()) + "}"
    return type(value).__name__


def _traced() -> bool:
    """Tell whether loops become XLA's; a tape in a graph has to see every turn."""
    return (current.frame is not None or jax_private.tracing()) and current.tape is None


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.generic)


def _numbers(value: Any) -> bool:
    """Tell whether a tree holds Python numbers."""
    if isinstance(value, tuple | list):
        return any(map(_numbers, value))
    if isinstance(value, dict):
        return any(map(_numbers, value.values()))
    return _is_number(value)


def _lifted(value: Any) -> Any:
    """Make Tensors of the Python numbers in a tree."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)._make(map(_lifted, value))  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value)(map(_lifted, value))
    if isinstance(value, dict):
        return {k: _lifted(v) for k, v in value.items()}
    if _is_number(value):
        dtype = as_dtype(type(value.item() if isinstance(value, np.generic) else value))
        return wrap(np.asarray(value, dtype.np))
    return value


def _same_structure(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_same_structure, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_same_structure(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def _same_kind(a: Any, b: Any) -> bool:
    """Tell whether two trees have one structure, and their Tensors one shape and dtype."""
    return _same_structure(a, b) and all(
        x.shape == y.shape and x.dtype == y.dtype
        for x, y in zip(_tensors(a), _tensors(b), strict=True)
    )


class LoopWritesAttributes(RuntimeError):
    """A loop of XLA writes attributes of Cells, which it cannot carry."""


class _Turn:
    """One turn of a loop as a pure function of a carry and of the state that it writes.

    Args:
        owner: class named in errors.
        function: ``function(carry, *more) -> (carry, output)``, of trees of Tensors.
        carry: tree of Tensors: the first carry.
        more: trees of Tensors, further arguments, of the shapes of one turn.
        state: state that an earlier turn has found to be written.
    """

    def __init__(
        self,
        owner: str,
        function: Function,
        carry: Any,
        more: Sequence[Any] = (),
        state: Sequence[Any] = (),
    ) -> None:
        self.carry, more = carry, tuple(more)
        self.first = [_array(t) for t in _tensors(carry)]
        rest = [_array(t) for t in _tensors(more)]
        count, total = len(self.first), len(self.first) + len(rest)
        templates = _emptied(carry), _emptied(more)
        kept: dict[str, Any] = {}
        self.state = list(state)

        def body(*arrays: Any) -> list[Any]:
            frame = current.frame
            assert frame is not None
            for handle, array in zip(self.state, arrays[total:], strict=True):
                frame.values[handle] = array
            before = _replace(templates[0], iter([wrap(a) for a in arrays[:count]]))
            given = _replace(templates[1], iter([wrap(a) for a in arrays[count:total]]))
            after, out = in_user_x64(function, before, *given)
            after = _lifted(after)
            if not _same_kind(before, after):
                raise _unstable(owner, before, after)
            out = _lifted(out)
            kept["out"] = _emptied(out)
            return [[_array(t) for t in _tensors(after)], [_array(t) for t in _tensors(out)]]

        while True:
            # What the loop writes is carried: the first trace finds it out.
            inputs = [*self.first, *rest, *(_array(h) for h in self.state)]
            self.pure = purify(body, inputs)
            fresh = [h for h in self.pure.written if h not in set(self.state)]
            if not fresh:
                break
            self.state.extend(fresh)
        if self.pure.attributes:
            names = [name for _, name, _ in self.pure.attributes]
            raise located(
                LoopWritesAttributes,
                f"For '{owner}', the loop writes the attributes {names}, which XLA's loop cannot "
                "carry: make them Parameters, or part of the loop's value.",
            )
        self.out = kept["out"]
        self._places = {h: i for i, h in enumerate(self.pure.written)}

    @property
    def start(self) -> tuple[list[Any], list[Any]]:
        """The first carry and state."""
        return self.first, [_array(h) for h in self.state]

    def call(self, reads: Sequence[Any], carry: Any, more: Sequence[Any] = ()) -> Any:
        """Map (carry, state) and further arrays to the next (carry, state) and the output."""
        values, state = carry
        outs, writes = self.pure.call(reads, [*values, *more, *state])
        count = len(outs) - len(_tensors(self.out))
        state = [
            writes[self._places[h]] if h in self._places else s
            for h, s in zip(self.state, state, strict=True)
        ]
        for handle, before, after in zip(self.state, carry[1], state, strict=True):
            if before.shape != after.shape or before.dtype != after.dtype:
                name = getattr(handle, "name", "a Tensor")
                raise located(
                    ValueError,
                    f"The loop changes the shape or dtype of '{name}' from {before.shape}, "
                    f"{before.dtype} to {after.shape}, {after.dtype}.",
                )
        return (outs[:count], state), outs[count:]

    def finish(self, carry: Any) -> Any:
        """Write the state back and give the last carry as Tensors."""
        values, state = carry
        for handle, value in zip(self.state, state, strict=True):
            handle.assign_value(value)
        return _replace(_emptied(self.carry), iter([wrap(v) for v in values]))


class WhileLoop(Primitive):
    """Repeat a function while a condition holds (MindSpore: ``ops.WhileLoop``)."""

    def __call__(self, cond_func: Function, loop_func: Function, init_val: Any) -> Any:
        """Run the loop.

        Args:
            cond_func: maps the value to a bool or a Tensor of one.
            loop_func: maps the value to the next one, of the same structure, shapes and dtypes.
            init_val: first value: Tensor, number, string, or tuple, list or dict of these.

        Returns:
            The last value.

        Raises:
            TypeError: an argument is no function.
            ValueError: a function cannot take the value, or the value changes its kind in a graph.
        """
        _check_function("WhileLoop", "cond_func", cond_func)
        _check_function("WhileLoop", "loop_func", loop_func)
        value, turns, traced = init_val, 0, _traced()
        while True:
            tensors = bool(_tensors(value))
            if traced and tensors and (not _numbers(value) or turns >= UNROLLED):
                return _while(cond_func, loop_func, value)
            going = _called("cond_func", cond_func, value)
            if traced and isinstance(going, Tensor) and is_traced(going.array):
                return _while(cond_func, loop_func, value)
            if not going:
                return value
            value = _called("loop_func", loop_func, value)
            turns += 1


def _called(name: str, function: Function, *args: Any) -> Any:
    """Call a user's function; that it cannot take its arguments is a ValueError here."""
    try:
        return function(*args)
    except TypeError as error:
        raise located(
            ValueError,
            f"Invalid {name}, please check input arguments and return value, error info: {error}",
        ) from error


def _while(cond_func: Function, loop_func: Function, value: Any) -> Any:
    """Run a loop of XLA whose number of turns is not known."""
    with Wide():
        value = _lifted(value)
        turn = _Turn("WhileLoop", lambda v: (_called("loop_func", loop_func, v), ()), value)
        test = _Turn(
            "WhileLoop", lambda v: (v, _called("cond_func", cond_func, v)), value, state=turn.state
        )
        if test.pure.written:
            raise located(
                RuntimeError, "For 'WhileLoop', the 'cond_func' must not write Parameters."
            )

        first, state = turn.start
        count = len(first)

        def going(carry: list[Any]) -> Any:
            (out,) = test.call(test.pure.reads, (carry[:count], carry[count:]))[1]
            return out.reshape(()).astype(bool)

        def following(carry: list[Any]) -> list[Any]:
            values, state = turn.call(turn.pure.reads, (carry[:count], carry[count:]))[0]
            return [*values, *state]

        arrays = checkpointed_while(going, following, [*first, *state])
        last = arrays[:count], arrays[count:]
    return turn.finish(last)


class ForiLoop(Primitive):
    """Repeat a function for each integer of a range (MindSpore: ``ops.ForiLoop``)."""

    def __call__(
        self, lower: Any, upper: Any, loop_func: Function, init_val: Any, unroll: bool = True
    ) -> Any:
        """Run the loop.

        Args:
            lower: first index, int or Tensor.
            upper: end of the indices, int or Tensor.
            loop_func: maps an index and the value to the next value, of the same kind.
            init_val: first value: Tensor, number, string, or tuple, list or dict of these.
            unroll: whether a graph holds each turn by itself, up to 64 of them.

        Returns:
            The last value.

        Raises:
            TypeError: a bound is no integer, or ``loop_func`` is no function.
            ValueError: the function cannot take the value, or changes its kind in a loop of XLA.
        """
        for name, bound in (("lower", lower), ("upper", upper)):
            if isinstance(bound, bool) or not isinstance(bound, int | np.integer | Tensor):
                raise located(
                    TypeError,
                    f"For 'ForiLoop', the type of '{name}' should be one of '['int', 'Tensor']', "
                    f"but got type '{type(bound).__name__}'.",
                )
        _check_function("ForiLoop", "loop_func", loop_func)
        boolean("unroll", unroll, "ForiLoop")
        if _traced() and any(
            isinstance(b, Tensor) and is_traced(_array(b)) for b in (lower, upper)
        ):
            return self._dynamic(lower, upper, loop_func, init_val)
        first, end = int(lower), int(upper)
        value = init_val
        for i in range(first, end):
            turns = end - i
            if _worth(value, turns, unroll):
                return _scan(
                    "ForiLoop",
                    lambda v, index: (_called("loop_func", loop_func, index, v), ()),
                    value,
                    wrap(np.arange(i, end, dtype=np.int64)),
                    turns,
                )[0]
            value = _called("loop_func", loop_func, i, value)
        return value

    def _dynamic(self, lower: Any, upper: Any, loop_func: Function, value: Any) -> Any:
        start, end = (b if isinstance(b, Tensor) else _lifted(b) for b in (lower, upper))
        start, end = (b.reshape(()).astype("int64") for b in (start, end))
        _, last = _while(
            lambda pair: pair[0] < end,
            lambda pair: (pair[0] + 1, loop_func(pair[0], pair[1])),
            (start, value),
        )
        return last


def _worth(value: Any, turns: int, unroll: bool) -> bool:
    """Tell whether the turns that are left become a loop of XLA."""
    if not _traced() or turns < 2 or (unroll and turns <= UNROLLED):
        return False
    # A number may become a Tensor in the first turn.
    return bool(_tensors(value)) and not _numbers(value)


class Scan(Primitive):
    """Run a function along a sequence, with a value that it hands on (MindSpore: ``ops.Scan``)."""

    def __call__(
        self,
        loop_func: Function,
        init: Any,
        xs: Any,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        """Run the loop.

        Args:
            loop_func: maps the value and an element to the pair of next value and output.
            init: first value: Tensor, number, string, or tuple, list or dict of these.
            xs: tuple or list of elements; None for None in each turn.
            length: number of turns, needed without ``xs``.
            unroll: whether a graph holds each turn by itself, up to 64 of them.

        Returns:
            The last value, and the list of outputs.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: ``length`` does not fit ``xs``; ``loop_func`` cannot take its arguments,
                gives no pair, or changes the value's kind in a loop of XLA.
        """
        _check_function("Scan", "loop_func", loop_func)
        boolean("unroll", unroll, "Scan")
        if xs is not None and not isinstance(xs, tuple | list):
            raise located(
                TypeError,
                f"For 'Scan', the type of 'xs' should be tuple, list or None, but got "
                f"{type(xs).__name__}.",
            )
        if length is not None and (isinstance(length, bool) or not isinstance(length, int)):
            raise located(
                TypeError,
                f"For 'Scan', the type of 'length' should be int or None, but got "
                f"{type(length).__name__}.",
            )
        if xs is None and length is None:
            raise located(
                ValueError, "For 'Scan', [xs] and [length] cannot be None at the same time."
            )
        if xs is not None and length is not None and length != len(xs):
            raise located(
                ValueError,
                f"For 'Scan', the 'length' must be the length of 'xs', but got: {length} and: "
                f"{len(xs)}.",
            )
        elements = [None] * (length or 0) if xs is None else list(xs)
        value, outputs = init, []
        for i, element in enumerate(elements):
            turns = len(elements) - i
            rest = elements[i:]
            if _worth(value, turns, unroll) and _alike(rest):
                value, rest_outputs = _scan("Scan", _pair(loop_func), value, _stack(rest), turns)
                return value, outputs + rest_outputs
            value, out = _pair(loop_func)(value, element)
            outputs.append(out)
        return value, outputs


def _pair(loop_func: Function) -> Function:
    def call(value: Any, element: Any) -> Any:
        out = _called("loop_func", loop_func, value, element)
        if not isinstance(out, tuple) or len(out) != 2:
            raise located(
                ValueError,
                "For 'Scan', the return value of [loop_func] must be a tuple with two elements, "
                f"but got: {_describe(out)}.",
            )
        return out

    return call


def _alike(elements: list[Any]) -> bool:
    """Tell whether elements can be stacked."""
    first = _lifted(elements[0])
    return all(_same_kind(first, _lifted(e)) for e in elements[1:])


def _stack(elements: list[Any]) -> Any:
    """Stack elements of one kind, Tensor by Tensor."""
    rows = zip(*(_tensors(_lifted(e)) for e in elements), strict=True)
    with Wide():
        arrays = [jnp.stack([_array(t) for t in row]) for row in rows]
    return _replace(_lifted(elements[0]), iter([wrap(a) for a in arrays]))


def _scan(owner: str, function: Function, value: Any, xs: Any, turns: int) -> tuple[Any, list[Any]]:
    """Run a loop of XLA of a known number of turns over the first axis of ``xs``."""
    with Wide():
        sequences = [_array(t) for t in _tensors(xs)]
        one = _replace(xs, iter([wrap(a[0]) for a in sequences]))
        turn = _Turn(owner, function, value, (one,))
        reads = list(turn.pure.reads)
        last, outs = lax.scan(
            lambda carry, slices: turn.call(reads, carry, slices or ()),
            turn.start,
            sequences,
            length=turns,
        )
        rows = [[o[k] for o in outs] for k in range(turns)] if turn.out != () else []
    outputs = [_replace(turn.out, iter([wrap(a) for a in row])) for row in rows]
    return turn.finish(last), outputs
