"""Gradients with every option in one place: `_Grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax.autodiff.grad import GradOperation, grad, value_and_grad
from mindjax.core.errors import located


class _Grad:
    """Make gradient functions (MindSpore: ``ops.composite._Grad``).

    Args:
        get_all: whether to differentiate by every argument.
        get_by_list: whether to differentiate by Parameters.
        sens_param: whether the gradient function takes the cotangent of the output last.
        get_by_position: whether to differentiate by given positions.
        has_aux: whether only the first output is differentiated.
        get_value: whether the outputs come too.
        return_ids: whether each gradient comes as ``(position or name, gradient)``.
        merge_forward: how the original compiles; without effect on results.

    Raises:
        TypeError: an option is no bool.
        NotImplementedError: ``sens_param`` is asked for together with a newer option.
    """

    def __init__(
        self,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
        get_by_position: bool = False,
        has_aux: bool = False,
        get_value: bool = False,
        return_ids: bool = False,
        merge_forward: bool = False,
    ) -> None:
        for name, flag in list(locals().items()):
            if name != "self" and not isinstance(flag, bool):
                raise located(
                    TypeError,
                    f"For '_Grad', the '{name}' should be bool, but got {type(flag).__name__}",
                )
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.get_by_position, self.has_aux = get_by_position, has_aux
        self.get_value, self.return_ids = get_value, return_ids
        newer = get_by_position or has_aux or get_value or return_ids
        if newer and (sens_param or get_all):
            raise located(
                NotImplementedError,
                "For '_Grad', 'sens_param' and 'get_all' go with neither 'get_by_position', "
                "'has_aux', 'get_value' nor 'return_ids': use 'vjp'.",
            )
        self._newer = newer

    def __call__(
        self, fn: Callable[..., Any], weights: Any = None, grad_position: Any = 0
    ) -> Callable[..., Any]:
        """Make the gradient function of ``fn``.

        Args:
            fn: function of Tensors, or Cell.
            weights: Parameters, with ``get_by_list``.
            grad_position: positions, with ``get_by_position``.

        Returns:
            The gradient function.
        """
        if not self._newer:
            return GradOperation(self.get_all, self.get_by_list, self.sens_param)(fn, weights)
        make = value_and_grad if self.get_value else grad
        position = None if self.get_by_list and not self.get_by_position else grad_position
        return make(
            fn, position, weights if self.get_by_list else None, self.has_aux, self.return_ids
        )
