"""The public gradient functions: `grad`, `value_and_grad`, `GradOperation`, `get_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from mindjax.autodiff.differentiate import differentiate
from mindjax.core.context import graph_mode
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.graph.jit import Programs
from mindjax.graph.program import is_tracing_outside
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Make a function that gives outputs and gradients (MindSpore: ``value_and_grad``).

    Args:
        fn: function of Tensors, or Cell.
        grad_position: arguments to differentiate by; None for none.
        weights: Parameter, or list or tuple of such, to differentiate by; None for none.
        has_aux: whether only the first output is differentiated.
        return_ids: whether each gradient comes as ``(position or name, gradient)``.
        sens_param: whether the function takes the cotangent of the differentiated output as its
            last argument, or as ``sens``.

    Returns:
        A function ``(*args) -> (outputs, gradients)``. Outputs that are no scalars are summed.

    Raises:
        TypeError: ``fn`` is not callable, or another argument has the wrong type.
        ValueError: neither positions nor weights are given, or a position is given twice.
    """
    return _Gradient(fn, grad_position, weights, has_aux, return_ids, sens_param, True)


def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Make a function that gives gradients (MindSpore: ``grad``).

    Args:
        fn: function of Tensors, or Cell.
        grad_position: arguments to differentiate by; None for none.
        weights: Parameter, or list or tuple of such, to differentiate by; None for none.
        has_aux: whether only the first output is differentiated and the others come back too.
        return_ids: whether each gradient comes as ``(position or name, gradient)``.
        sens_param: whether the function takes the cotangent of the differentiated output as its
            last argument, or as ``sens``.

    Returns:
        A function ``(*args) -> gradients``, or ``(gradients, other outputs)`` with ``has_aux``.

    Raises:
        TypeError: ``fn`` is not callable, or another argument has the wrong type.
        ValueError: neither positions nor weights are given, or a position is given twice.
    """
    return _Gradient(fn, grad_position, weights, has_aux, return_ids, sens_param, False)


def _take_name(gradient: Any, fn: Callable[..., Any]) -> None:
    """Name a gradient function as its function; a Cell has no name, and takes long to say so."""
    if hasattr(type(fn), "construct"):
        gradient.__wrapped__ = fn
    else:
        functools.update_wrapper(gradient, fn, assigned=("__name__", "__qualname__"), updated=())


class _Gradient:
    """What `grad` and `value_and_grad` return."""

    def __init__(
        self,
        fn: Callable[..., Any],
        grad_position: Any,
        weights: Any,
        has_aux: bool,
        return_ids: bool,
        sens_param: bool,
        with_value: bool,
    ) -> None:
        if not callable(fn):
            raise located(TypeError, f"The fn should be callable, but got {type(fn).__name__}")
        if grad_position is None and weights is None:
            raise located(
                ValueError, "`grad_position` and `weight` can not be None at the same time."
            )
        flags = (("has_aux", has_aux), ("return_ids", return_ids), ("sens_param", sens_param))
        for name, flag in flags:
            if not isinstance(flag, bool):
                raise located(
                    TypeError, f"The '{name}' should be bool, but got {type(flag).__name__}"
                )
        self.fn, self.has_aux, self.return_ids = fn, has_aux, return_ids
        self.sens_param, self.with_value = sens_param, with_value
        self.positions = _check_positions(grad_position)
        # MindSpore: a tuple of one position gives a bare gradient too.
        self.single = len(self.positions) == 1
        self.position_given = grad_position is not None
        self.single_weight = isinstance(weights, Parameter)
        self.weights = _check_weights(weights)
        _take_name(self, fn)

    @functools.cached_property
    def _programs(self) -> Programs:
        """Those of GRAPH_MODE; a step that makes its gradient function anew may need none."""
        return Programs(self._compute)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradients for these arguments."""
        if (
            graph_mode()
            and current.frame is None
            and current.tape is None
            and not is_tracing_outside()
        ):
            return self._programs.call(args, kwargs)
        return self._compute(*args, **kwargs)

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        seeds = None
        if self.sens_param:
            args, kwargs, seeds = _without_seeds(args, kwargs)
        if self.positions:
            args = _tensors_for(args, self.positions)
            for position in self.positions:
                if position >= len(args):
                    raise located(
                        RuntimeError,
                        f"For 'grad', the 'grad_position' {position} exceeds the number of "
                        f"arguments, {len(args)}.",
                    )
        out, inputs, weights = differentiate(
            self.fn, args, kwargs, self.positions, self.weights or (), self.has_aux, seeds
        )
        gradients = self._arrange(inputs, weights)
        if self.with_value:
            return out, gradients
        if self.has_aux:
            return gradients, tuple(out[1:]) if isinstance(out, tuple | list) else ()
        return gradients

    def _arrange(self, inputs: list[Any], weights: list[Any]) -> Any:
        if self.return_ids:
            inputs = list(zip(self.positions, inputs, strict=True))
            weights = [(w.name, g) for w, g in zip(self.weights or (), weights, strict=True)]
        by_weight = weights[0] if self.single_weight else tuple(weights)
        if not self.position_given:
            return by_weight
        by_input = inputs[0] if self.single else tuple(inputs)
        return by_input if self.weights is None else (by_input, by_weight)


def _without_seeds(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Take the cotangent, ``sens`` or the last argument, from a call's arguments."""
    if "sens" in kwargs:
        return args, {k: v for k, v in kwargs.items() if k != "sens"}, kwargs["sens"]
    if not args:
        raise located(
            TypeError, "For 'grad', 'sens_param' needs the cotangent as the last argument."
        )
    return args[:-1], kwargs, args[-1]


def _tensors_for(args: tuple[Any, ...], positions: tuple[int, ...]) -> tuple[Any, ...]:
    """Make Tensors of raw jax arrays that are differentiated by."""
    return tuple(
        Tensor._from_array(a) if i in positions and isinstance(a, jax.Array) else a
        for i, a in enumerate(args)
    )


def _check_positions(positions: Any) -> tuple[int, ...]:
    if positions is None:
        return ()
    given = (positions,) if isinstance(positions, int) else positions
    if isinstance(positions, bool) or not isinstance(given, tuple | list):
        raise located(
            TypeError,
            f"For 'grad', the 'grad_position' should be int or tuple, but got "
            f"{type(positions).__name__}",
        )
    for p in given:
        if isinstance(p, bool) or not isinstance(p, int):
            raise located(
                TypeError,
                f"For 'grad', the element in 'grad_position' should be int, but got "
                f"{type(p).__name__}",
            )
        if p < 0:
            raise located(
                ValueError,
                f"For 'grad', the element in 'grad_position' must be >= 0, but got {p}",
            )
    if len(set(given)) != len(given):
        raise located(
            ValueError, "There are duplicate positions in `grad_position`, please check it"
        )
    return tuple(given)


def _check_weights(weights: Any) -> tuple[Parameter, ...] | None:
    if weights is None:
        return None
    given = (weights,) if isinstance(weights, Parameter) else weights
    if not isinstance(given, tuple | list):
        raise located(
            TypeError,
            f"The weights you provided is expected to be a tensor, or a list or tuple, but got "
            f"{weights}",
        )
    for w in given:
        if not isinstance(w, Parameter):
            raise located(
                TypeError,
                f"For 'grad', the elements of 'weights' should be Parameters, but got "
                f"{type(w).__name__}",
            )
    return tuple(given)


class GradOperation:
    """Make gradient functions (MindSpore: ``GradOperation``).

    Args:
        get_all: whether to differentiate by every argument, else by the first.
        get_by_list: whether to differentiate by Parameters.
        sens_param: whether the gradient function takes the cotangent of the output last.

    Raises:
        TypeError: an argument is not a bool.
    """

    def __init__(
        self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False
    ) -> None:
        for name, flag in (
            ("get_all", get_all),
            ("get_by_list", get_by_list),
            ("sens_param", sens_param),
        ):
            if not isinstance(flag, bool):
                raise located(
                    TypeError,
                    f"For 'GradOperation', the '{name}' should be bool, but got "
                    f"{type(flag).__name__}",
                )
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        """Make the gradient function of ``fn``.

        Args:
            fn: function of Tensors, or Cell.
            weights: Parameter or list of such, with ``get_by_list``; by default the Cell's
                trainable ones.

        Returns:
            A function that gives the gradients: by inputs, by weights, or a pair of both.

        Raises:
            TypeError: ``fn`` is not callable.
        """
        if not callable(fn):
            raise located(
                TypeError,
                f"For 'GradOperation', the first argument must be a 'Function' or 'Cell', but got "
                f"{type(fn).__name__}",
            )
        if self.get_by_list and weights is None and hasattr(fn, "trainable_params"):
            weights = fn.trainable_params()  # type: ignore[attr-defined]
        return _OperationGradient(self, fn, weights if self.get_by_list else None)


class _OperationGradient:
    """What `GradOperation` returns."""

    def __init__(self, operation: GradOperation, fn: Callable[..., Any], weights: Any) -> None:
        self.operation, self.fn = operation, fn
        self.single_weight = isinstance(weights, Parameter)
        self.weights = _check_weights(weights)
        _take_name(self, fn)

    @functools.cached_property
    def _programs(self) -> Programs:
        """Those of GRAPH_MODE; a step that makes its gradient function anew may need none."""
        return Programs(self._compute)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradients for these arguments."""
        if (
            graph_mode()
            and current.frame is None
            and current.tape is None
            and not is_tracing_outside()
        ):
            return self._programs.call(args, kwargs)
        return self._compute(*args, **kwargs)

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        operation, seeds = self.operation, None
        if operation.sens_param:
            args, kwargs, seeds = _without_seeds(args, kwargs)
        if operation.get_all:
            positions = tuple(i for i, a in enumerate(args) if _has_tensor(a))
        else:
            positions = () if operation.get_by_list or not args else (0,)
        args = _tensors_for(args, positions)
        _, inputs, weights = differentiate(
            self.fn, args, kwargs, positions, self.weights or (), seeds=seeds
        )
        by_weight = weights[0] if self.single_weight else tuple(weights)
        if operation.get_all:
            return (tuple(inputs), by_weight) if operation.get_by_list else tuple(inputs)
        if operation.get_by_list:
            return by_weight
        return inputs[0] if inputs else ()


def _has_tensor(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_has_tensor(v) for v in value)
    if isinstance(value, dict):
        return any(_has_tensor(v) for v in value.values())
    return isinstance(value, Tensor)


def get_grad(gradients: Any, identifier: int | Tensor | str) -> Any:
    """Pick a gradient out of what ``return_ids=True`` gives (MindSpore: ``get_grad``).

    Args:
        gradients: nested tuples of ``(position or name, gradient)``.
        identifier: position of an argument, or a Parameter or its name.

    Returns:
        The gradient.

    Raises:
        RuntimeError: there is no such gradient.
        TypeError: ``identifier`` has the wrong type.
    """
    wanted = identifier.name if isinstance(identifier, Parameter) else identifier
    if isinstance(wanted, bool) or not isinstance(wanted, int | str):
        raise located(
            TypeError,
            f"For 'get_grad', the 'x' must be an int or a Parameter, but got "
            f"{type(identifier).__name__}",
        )
    found = _find(gradients, wanted)
    if found is None:
        raise located(RuntimeError, f"Can not find the gradient for position or parameter {wanted}")
    return found


def _find(gradients: Any, wanted: Any) -> Any:
    if isinstance(gradients, tuple):
        if len(gradients) == 2 and isinstance(gradients[0], int | str):
            return gradients[1] if gradients[0] == wanted else None
        for item in gradients:
            found = _find(item, wanted)
            if found is not None:
                return found
    return None
