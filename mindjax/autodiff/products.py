"""Products with Jacobians and Jacobians: `jvp`, `vjp`, `linearize`, `jacfwd`, `jacrev`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.autodiff.differentiate import _replace, _tensors
from mindjax.autodiff.grad import GradOperation, _check_weights
from mindjax.autodiff.traced import Traced, is_real, programs_of, push_forward, run
from mindjax.core.context import graph_mode
from mindjax.core.errors import located
from mindjax.core.handle import current, wrap
from mindjax.core.state import Wide
from mindjax.graph.program import is_tracing_outside
from mindjax.tensor.tensor import Tensor


def _check_tensors(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor):
        return (value,)
    if not isinstance(value, tuple | list) or not all(isinstance(v, Tensor) for v in value):
        raise located(
            TypeError,
            f"The inputs type must be a Tensor, tuple or list of Tensors, but got "
            f"{type(value).__name__}.",
        )
    return tuple(value)


def _check_callable(name: str, fn: Any) -> None:
    if not callable(fn):
        raise located(
            TypeError, f"For '{name}', the 'fn' must be callable, but got {type(fn).__name__}."
        )


def _rest(out: Any) -> Any:
    """Give the outputs after the first: the only one bare, several as a tuple."""
    return out[1] if len(out) == 2 else tuple(out[1:])


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Compute outputs and their derivative along a direction (MindSpore: ``jvp``).

    Args:
        fn: function of Tensors, or Cell.
        inputs: Tensor, or tuple or list of Tensors.
        v: the direction, in the structure of ``inputs``; it is broadcast to their shapes.
        has_aux: whether only the first output is differentiated and the others come back too.

    Returns:
        ``(outputs, derivatives)``, with ``has_aux`` ``(output, derivative, other outputs)``.

    Raises:
        TypeError: ``fn`` is not callable, or ``inputs`` or ``v`` are no Tensors.
        ValueError: ``v`` has another length than ``inputs``.
    """
    _check_callable("jvp", fn)
    primals, tangents = _check_tensors(inputs), _check_tensors(v)
    if len(primals) != len(tangents):
        raise located(
            ValueError, f"v has invalid length: should be {len(primals)}, but got {len(tangents)}"
        )

    def compute(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        with Wide():
            traced = Traced(fn, primals)
            given = traced.inputs
            direction = [
                jnp.broadcast_to(t.array, p.shape).astype(p.dtype)
                for t, p in zip(tangents, given, strict=True)
            ]
            outs, derivatives, writes = push_forward(traced.call, given, direction)
            chosen = traced.differentiable(has_aux)
        traced.pure.write_back(writes)
        out = traced.build(outs)
        if not has_aux:
            return out, traced.build(derivatives)
        first = _structured(traced.out[0], [derivatives[i] for i in chosen])
        return out[0], first, _rest(out)

    return run(fn, compute, (primals, tangents), {})


def _structured(template: Any, arrays: Sequence[Any]) -> Any:
    return _replace(template, iter([wrap(a) for a in arrays]))


def vjp(
    fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False
) -> tuple[Any, ...]:
    """Give outputs and the function that pulls cotangents back (MindSpore: ``vjp``).

    Args:
        fn: function of Tensors, or Cell. The pull-back runs it again.
        *inputs: Tensors, or tuples or lists of Tensors.
        weights: Parameter, or list or tuple of such, to differentiate by too.
        has_aux: whether only the first output is differentiated and the others come back too.

    Returns:
        ``(outputs, pull_back)``, with ``has_aux`` ``(output, pull_back, other outputs)``. The
        pull-back takes one cotangent an output, or a tuple of them, and gives a tuple of gradients
        by inputs; with ``weights`` a pair of that and the gradients by weights.

    Raises:
        TypeError: ``fn`` is not callable, or an argument has the wrong type.
        ValueError: ``has_aux`` is set and there are not two outputs.
    """
    _check_callable("vjp", fn)
    for value in inputs:
        items = value if isinstance(value, tuple | list) else (value,)
        if not items or not all(isinstance(i, Tensor) for i in items):
            raise located(
                TypeError, f"The inputs type must be Tensor, but got {type(value).__name__}."
            )
    _check_weights(weights)
    out = fn(*inputs)
    if has_aux and (not isinstance(out, tuple | list) or len(out) < 2):
        raise located(
            ValueError, "When 'has_aux' is True, the function must return more than one output."
        )
    operation = GradOperation(get_all=True, get_by_list=weights is not None, sens_param=True)
    target = functools.partial(_first, fn) if has_aux else fn

    def pull_back(*cotangents: Any) -> Any:
        seeds = cotangents[0] if len(cotangents) == 1 else cotangents
        wanted = out[0] if has_aux else out
        if len(_tensors(seeds)) != len(_tensors(wanted)):
            raise located(
                RuntimeError,
                f"For 'vjp', the function has {len(_tensors(wanted))} outputs, but the pull-back "
                f"got {len(_tensors(seeds))} vectors.",
            )
        gradient: Any = operation(target, weights)
        gradient._programs = programs_of(fn, gradient._compute)
        return gradient(*inputs, seeds)

    return (out[0], pull_back, _rest(out)) if has_aux else (out, pull_back)


def _first(fn: Callable[..., Any], *inputs: Any) -> Any:
    return fn(*inputs)[0]


def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, Callable[..., Any]]:
    """Give outputs and the function of derivatives at a point (MindSpore: ``linearize``).

    Args:
        fn: function of Tensors, or Cell. The derivative runs it again.
        inputs: Tensor, or tuple or list of Tensors: the point.

    Returns:
        ``(outputs, push)``: ``push(v)`` gives the derivative along ``v``, as `jvp` does.

    Raises:
        TypeError: ``fn`` is not callable, or ``inputs`` are no Tensors.
    """
    _check_callable("linearize", fn)
    primals = _check_tensors(inputs)

    def push(v: Any) -> Any:
        return jvp(fn, primals, v)[1]

    return fn(*primals), push


class _Jacobian:
    """What `jacfwd` and `jacrev` return."""

    def __init__(self, fn: Callable[..., Any], position: Any, has_aux: bool, forward: bool) -> None:
        name = "jacfwd" if forward else "jacrev"
        _check_callable(name, fn)
        if not isinstance(has_aux, bool):
            raise located(
                TypeError, f"The 'has_aux' must be bool type, but got {type(has_aux).__name__}."
            )
        self.fn, self.position, self.has_aux, self.forward = fn, position, has_aux, forward
        functools.update_wrapper(self, fn, assigned=("__name__", "__qualname__"), updated=())
        self._programs = programs_of(fn, self._compute)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the Jacobian for these arguments."""
        if graph_mode() and current.frame is None and not is_tracing_outside():
            return self._programs.call(args, kwargs)
        return run(self.fn, self._compute, args, kwargs)

    def _positions(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        given = (self.position,) if isinstance(self.position, int) else self.position
        if isinstance(self.position, bool) or not isinstance(given, tuple):
            raise located(TypeError, "For 'F.grad', the 'grad_position' must be int or tuple.")
        for p in given:
            if isinstance(p, bool) or not isinstance(p, int):
                raise located(
                    TypeError, "For 'F.grad', the element in 'grad_position' must be int."
                )
            if p < 0:
                raise located(ValueError, f"grad_position must be >= 0, but got {p}.")
            if p >= len(args):
                raise located(
                    ValueError,
                    f"The element in grad_position must belong to [0, args_num), but got {p} for "
                    f"{len(args)} arguments.",
                )
        if len(set(given)) != len(given):
            raise located(
                ValueError, "There are duplicate positions in `grad_position`, please check it"
            )
        for p in given:
            if not isinstance(args[p], Tensor) or args[p].dtype.kind not in ("float", "complex"):
                raise located(
                    TypeError,
                    f"For Jacobians, the argument at position {p} must be a float Tensor, but got "
                    f"{getattr(args[p], 'dtype', type(args[p]).__name__)}.",
                )
        return given

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        positions = self._positions(args)
        with Wide():
            traced = Traced(self.fn, args, kwargs)
            before = [len(_tensors(args[:p])) for p in positions]
            primals = [traced.inputs[i] for i in before]
            chosen = traced.differentiable(self.has_aux)

            def function(values: list[Any]) -> Any:
                full = list(traced.inputs)
                for i, value in zip(before, values, strict=True):
                    full[i] = value
                outs, writes = traced.call(full)
                return [outs[i] for i in chosen], (outs, writes)

            engine = _forward if self.forward else _reverse
            rows, (outs, writes) = engine(function, primals)
        traced.pure.write_back(writes)
        tensors = [tuple(wrap(j) for j in row) for row in rows]
        bare = [row[0] if len(positions) == 1 else row for row in tensors]
        jacobian = bare[0] if len(bare) == 1 else tuple(bare)
        return (jacobian, _rest(traced.build(outs))) if self.has_aux else jacobian


def _basis(array: Any) -> Any:
    size = array.size
    return jnp.eye(size, dtype=array.dtype).reshape(size, *array.shape)


def _forward(function: Callable[..., Any], primals: list[Any]) -> Any:
    """Give one row an output, with one Jacobian an input, and the function's further results."""
    columns, more = [], None
    zeros = [jnp.zeros_like(p) for p in primals]
    for i, primal in enumerate(primals):

        def along(direction: Any, i: int = i) -> Any:
            directions = [*zeros[:i], direction, *zeros[i + 1 :]]
            _, derivatives, more = push_forward(function, primals, directions)
            return derivatives, more

        derivatives, more = jax.vmap(along, out_axes=(-1, None))(_basis(primal))
        columns.append([d.reshape(*d.shape[:-1], *primal.shape) for d in derivatives])
    return list(zip(*columns, strict=True)), more


def _reverse(function: Callable[..., Any], primals: list[Any]) -> Any:
    """Give what `_forward` gives, an output at a time."""
    kinds: list[Any] = []

    def of_reals(values: list[Any]) -> Any:
        outs, more = function(values)
        kinds[:] = outs
        kinds[:] = [(o.shape, o.dtype, is_real(o)) for o in outs]
        return [o for o in outs if is_real(o)], more

    outs, pull_back, more = jax.vjp(of_reals, primals, has_aux=True)
    zeros = [jnp.zeros_like(o) for o in outs]
    rows, number = [], 0
    for shape, dtype, real in kinds:
        if not real:
            rows.append([jnp.zeros((*shape, *p.shape), dtype) for p in primals])
            continue

        def along(cotangent: Any, i: int = number) -> Any:
            return pull_back([*zeros[:i], cotangent, *zeros[i + 1 :]])[0]

        gradients = jax.vmap(along)(_basis(outs[number]))
        rows.append([g.reshape(*shape, *g.shape[1:]) for g in gradients])
        number += 1
    return rows, more


def jacfwd(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that gives Jacobians, by forward mode (MindSpore: ``jacfwd``).

    Args:
        fn: function of Tensors, or Cell.
        grad_position: arguments to differentiate by.
        has_aux: whether only the first output is differentiated and the others come back too.

    Returns:
        A function that gives, an output and an input, a Tensor of shape output.shape + input.shape:
        a tuple by outputs of tuples by inputs, each without its tuple where there is one. With
        ``has_aux`` the pair of that and the other outputs.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a position is negative, given twice or too large.
    """
    return _Jacobian(fn, grad_position, has_aux, forward=True)


def jacrev(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that gives Jacobians, by reverse mode (MindSpore: ``jacrev``).

    Args:
        fn: function of Tensors, or Cell.
        grad_position: arguments to differentiate by.
        has_aux: whether only the first output is differentiated and the others come back too.

    Returns:
        A function that gives what that of `jacfwd` gives.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a position is negative, given twice or too large.
    """
    return _Jacobian(fn, grad_position, has_aux, forward=False)
