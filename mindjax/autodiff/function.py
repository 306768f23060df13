"""Functions with a backward pass of the user's, and regions without gradients."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mindjax.autodiff.custom import _emptied, custom_call
from mindjax.autodiff.differentiate import Zeros, _replace
from mindjax.core.errors import located
from mindjax.core.handle import current, wrap
from mindjax.core.tape import Node
from mindjax.tensor.tensor import Tensor


class _no_grad(contextlib.ContextDecorator):
    """A region that gradients do not flow through (MindSpore: ``_no_grad``).

    It is a context manager and a decorator. In a graph the ops in it take inputs as constants.
    """

    def __init__(self) -> None:
        self._before: list[tuple[Any, bool]] = []

    def __enter__(self) -> None:
        self._before.append((current.tape, current.no_grad))
        current.tape, current.no_grad = None, True

    def __exit__(self, *exc: object) -> None:
        current.tape, current.no_grad = self._before.pop()


class _Function:
    """Base of functions with a backward pass of their own (MindSpore: ``_Function``).

    A subclass defines the static methods ``forward(ctx, *args)`` and ``backward(ctx, *gradients)``,
    or ``forward(*args)``, ``setup_context(ctx, inputs, output)`` and ``backward``; ``apply`` calls
    it. An attribute of ``ctx``, an instance of the class, goes from forward to backward.
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    non_differentiable: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwars: Any) -> Any:
        """Compute the outputs.

        Args:
            ctx: what is kept for the backward pass.
            args: arguments of ``apply``.
            kwars: keyword arguments of ``apply``.
        """
        raise NotImplementedError("forward function should be customized.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute one gradient an argument, None for those without.

        Args:
            ctx: what was kept.
            grad_outputs: one gradient an output.
        """
        raise NotImplementedError("backward function should be customized.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep what the backward pass needs, where ``forward`` takes no ``ctx``.

        Args:
            ctx: where to keep it.
            inputs: arguments, with their defaults.
            output: what ``forward`` gave.
        """
        raise NotImplementedError("setup_context is not implemented.")

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors; the backward pass finds them in ``saved_tensors``."""
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which arguments ``forward`` changed in place and returns."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs gradients do not flow through."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether gradients of unused outputs come as zeros, else as None (in PYNATIVE)."""
        self.materialize_grads = value

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Args:
            args: arguments of ``forward``; gradients flow to those that are Tensors.
            kwargs: keyword arguments of ``forward``.

        Returns:
            What ``forward`` returns: a Tensor or a tuple of Tensors.

        Raises:
            RuntimeError: in the backward pass: ``backward`` does not return a gradient an argument.
        """
        context = cls.__new__(cls)
        separate = cls.setup_context is not _Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs

        def run(given: tuple[Any, ...]) -> Any:
            if not separate:
                return cls.forward(context, *given, **kwargs)
            out = cls.forward(*given, **kwargs)
            cls.setup_context(context, given, out)
            return out

        if current.frame is None and current.tape is None:
            context.needs_input_grad = (False,) * len(args)
            return run(args)
        call = _on_tape if current.tape is not None else _in_graph
        return call(context, run, args)


def _gradients(context: _Function, args: tuple[Any, ...], cotangents: Sequence[Any]) -> list[Any]:
    """Give the gradients of the Tensors among the arguments."""
    grads = type(context).backward(context, *cotangents)
    grads = grads if isinstance(grads, tuple | list) else (grads,)
    if len(grads) != len(args):
        raise located(
            RuntimeError,
            f"For '{type(context).__name__}', 'backward' must return a gradient for each of the "
            f"{len(args)} arguments, but got {len(grads)}.",
        )
    return [g for g, a in zip(grads, args, strict=True) if isinstance(a, Tensor)]


def _outputs(out: Any) -> list[Any]:
    return [o for o in (out if isinstance(out, tuple | list) else (out,)) if isinstance(o, Tensor)]


def _on_tape(context: _Function, run: Callable[[Any], Any], args: tuple[Any, ...]) -> Any:
    tape = current.tape
    assert tape is not None
    tensors = [a for a in args if isinstance(a, Tensor)]
    parents = [tape.position(t) for t in tensors]
    wanted = iter(p is not None for p in parents)
    context.needs_input_grad = tuple(isinstance(a, Tensor) and next(wanted) for a in args)
    current.tape = None
    try:
        out = run(args)
    finally:
        current.tape = tape
    if all(p is None for p in parents):
        return out
    dirty = {id(t) for t in context.dirty_tensors}
    constant = {id(t) for t in context.non_differentiable}
    inputs = {id(t) for t in tensors}
    fresh = [o if id(o) in dirty or id(o) not in inputs else wrap(o.peek()) for o in _outputs(out)]
    kept = [id(o) in constant for o in _outputs(out)]

    def custom(cotangents: list[Any]) -> list[Any]:
        if context.materialize_grads:
            cotangents = [
                Zeros()(o) if c is None else c for c, o in zip(cotangents, fresh, strict=True)
            ]
        return _gradients(context, args, cotangents)

    node = tape.add(
        Node(tape, None, [t.peek() for t in tensors], None, parents, len(fresh), custom)
    )
    for i, (tensor, is_constant) in enumerate(zip(fresh, kept, strict=True)):
        tensor._node = None if is_constant else (node, i)
    return _replace(out, iter(fresh))


def _in_graph(context: _Function, run: Callable[[Any], Any], args: tuple[Any, ...]) -> Any:
    """Run where jax differentiates: what the context keeps is an output of the forward pass."""
    context.needs_input_grad = tuple(isinstance(a, Tensor) for a in args)
    template = _emptied(args)

    def forward(given: list[Any]) -> Any:
        out = run(_replace(template, iter(given)))
        constant = {id(t) for t in context.non_differentiable}
        fixed = [_constant(o) if id(o) in constant else o for o in _outputs(out)]
        kept = dict(vars(context))
        kept.pop("non_differentiable", None)
        kept.pop("dirty_tensors", None)
        vars(context).clear()
        return _replace(out, iter(fixed)), kept

    def backward(given: list[Any], pair: Any, cotangents: list[Any]) -> Any:
        out, kept = pair
        fresh = type(context).__new__(type(context))
        vars(fresh).update(kept)
        grads = _gradients(fresh, _replace(template, iter(given)), cotangents[: len(_outputs(out))])
        return [Zeros()(t) if g is None else g for g, t in zip(grads, given, strict=True)], {}

    return custom_call(forward, backward, [a for a in args if isinstance(a, Tensor)])[0]


def _constant(tensor: Any) -> Any:
    from mindjax.ops.state import stop_gradient

    return stop_gradient(tensor)
