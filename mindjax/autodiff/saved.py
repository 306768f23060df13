"""What the backward pass keeps: hooks that pack it, and blocks that are computed again instead."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import jax

from mindjax.autodiff.traced import Traced
from mindjax.core import jax_private
from mindjax.core.errors import located
from mindjax.core.handle import current, wrap
from mindjax.core.host_memory import offloaded
from mindjax.core.partition import Again, partitioner
from mindjax.core.state import Wide, in_user_x64
from mindjax.graph.jit import Programs
from mindjax.graph.program import GraphCall, Program
from mindjax.graph.signature import Signature


def _check_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook):
            raise located(
                TypeError,
                f"For 'saved_tensors_hooks', the '{name}' must be callable, but got "
                f"{type(hook).__name__}.",
            )


class saved_tensors_hooks:
    """Pack what the ops within keep for the backward pass (MindSpore: ``saved_tensors_hooks``).

    For graphs there is `register_saved_tensors_hooks`.

    Args:
        pack_hook: gets each Tensor that an op keeps and gives what is kept in its place.
        unpack_hook: gets that and gives a Tensor of the first one's shape and dtype.

    Raises:
        TypeError: a hook is not callable.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        _check_hooks(pack_hook, unpack_hook)
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self._before: list[Any] = []

    def __enter__(self) -> None:
        """Start packing.

        Raises:
            RuntimeError: a graph is being compiled.
        """
        if current.frame is not None:
            raise located(
                RuntimeError,
                "'saved_tensors_hooks' works in PYNATIVE_MODE only: use the decorator "
                "'register_saved_tensors_hooks' for what a graph holds.",
            )
        self._before.append(current.saved_hooks)
        current.saved_hooks = self.pack_hook, self.unpack_hook

    def __exit__(self, *exc: object) -> None:
        current.saved_hooks = self._before.pop()


def register_saved_tensors_hooks(
    pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Make a decorator that packs what a function keeps for the backward pass, also in a graph.

    MindSpore: ``register_saved_tensors_hooks``.

    Args:
        pack_hook: gets each Tensor that is kept, and gives a Tensor or a tuple, list or dict of
            such.
        unpack_hook: gets that and gives a Tensor of the first one's shape and dtype.

    Returns:
        The decorator.

    Raises:
        TypeError: a hook is not callable.
    """
    _check_hooks(pack_hook, unpack_hook)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if current.frame is None or current.tape is not None:
                before, current.saved_hooks = current.saved_hooks, (pack_hook, unpack_hook)
                try:
                    return function(*args, **kwargs)
                finally:
                    current.saved_hooks = before
            return _packed(function, args, kwargs, pack_hook, unpack_hook)

        return call

    return decorate


def _packed(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    pack: Callable[[Any], Any],
    unpack: Callable[[Any], Any],
) -> Any:
    """Call a function in a graph, with hooks on the residuals of its vjp."""
    with Wide():
        traced = Traced(function, args, kwargs)
        evaluate = traced.pure.call
        kept: dict[str, Any] = {}

        @jax.custom_vjp
        def call(reads: Any, inputs: Any) -> Any:
            return evaluate(reads, inputs)

        def forward(reads: Any, inputs: Any) -> Any:
            out, pull_back = jax.vjp(evaluate, reads, inputs)
            leaves, kept["tree"] = jax.tree.flatten(pull_back)
            return out, [in_user_x64(pack, wrap(a)) for a in leaves]

        def backward(residuals: Any, cotangents: Any) -> Any:
            leaves = [in_user_x64(unpack, p).array for p in residuals]
            return jax.tree.unflatten(kept["tree"], leaves)(cotangents)

        call.defvjp(forward, backward)
        outs, writes = call(list(traced.pure.reads), traced.inputs)
    traced.pure.write_back(writes)
    return traced.build(outs)


def recompute(
    block: Any,
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Any = None,
    **kwargs: Any,
) -> Any:
    """Run a Cell whose inner values the backward pass computes again (MindSpore: ``recompute``).

    The Cell is traced as one program, in PYNATIVE too.

    Args:
        block: the Cell.
        args: its arguments.
        use_reentrant: which of two mechanisms the original uses; here there is one, which
            differentiates by Tensors inside tuples and lists, too.
        output_recompute: whether the output is computed again as well. The backward pass keeps
            what the ops that take it keep.
        early_stop: whether computing again stops early; XLA drops what is not needed.
        context_fn: gives contexts for the two runs; taken with ``use_reentrant=True`` only, where
            it has no effect.
        kwargs: keyword arguments of the Cell.

    Returns:
        What the Cell returns.

    Raises:
        TypeError: ``block`` is no Cell.
        NotImplementedError: ``context_fn`` is given with ``use_reentrant=False``.
    """
    if not hasattr(block, "construct"):
        raise located(
            TypeError,
            "Recompute function now only support block which inherited from Cell, but got "
            f"{type(block).__name__}.",
        )
    if context_fn is not None and not use_reentrant:
        raise located(
            NotImplementedError,
            "For 'recompute', the 'context_fn' is not supported: enter the contexts inside the "
            "Cell's construct, which runs in both passes.",
        )
    return compute_again(block, args, kwargs)


class _Again(GraphCall, register=False):
    """A program as one op, of which the tape keeps the inputs."""

    keep_residuals = False


class _Recomputed(Programs):
    """Programs whose inner values the backward pass computes again."""

    def _trace(
        self,
        variants: list[Program],
        args: Any,
        kwargs: Any,
        signature: Signature,
        may_leave: bool = False,
    ) -> Program:
        program = super()._trace(variants, args, kwargs, signature, may_leave)
        program.record = _Again(program)
        return program


_programs: weakref.WeakKeyDictionary[Any, dict[str, Programs]] = weakref.WeakKeyDictionary()


def compute_again(
    block: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    how: Again = Again(),  # noqa: B008 never written
) -> Any:
    """Run a function so that a backward pass keeps its inputs only, or what ``how`` says."""
    if how.offload and current.frame is None:
        return block(*args, **kwargs)
    if current.frame is not None or (current.tape is None and jax_private.tracing()):
        if current.tape is not None:
            return block(*args, **kwargs)
        with Wide():
            traced = Traced(block, args, kwargs)
            spread = partitioner()
            if spread is not None:
                again = spread.again(traced.pure.call, how)
            else:
                again = (offloaded if how.offload else jax.checkpoint)(traced.pure.call)
            outs, writes = again(list(traced.pure.reads), traced.inputs)
        traced.pure.write_back(writes)
        return traced.build(outs)
    if current.tape is None:
        return block(*args, **kwargs)
    key = getattr(block, "__self__", block)
    found = _programs.setdefault(key, {})
    name = getattr(block, "__name__", "")
    if name not in found:
        found[name] = _Recomputed(block)
    return found[name].call(args, kwargs)


def recompute_block(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let the backward pass compute a function's inner values again.

    MindSpore: ``ops.composite.recompute_block``.

    Args:
        fn: function of Tensors; it is traced as one program.

    Returns:
        A function of the same arguments.
    """
    return lambda *args, **kwargs: compute_again(fn, args, kwargs)
