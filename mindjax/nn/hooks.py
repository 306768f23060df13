"""Hooks of Cells: functions that see, and may replace, inputs, outputs and gradients."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mindjax.autodiff.custom import watch_gradient
from mindjax.core.errors import located
from mindjax.tensor.parameter import changed

_numbers = itertools.count(1)


class HookHandle:
    """A registered hook, to be removed again.

    Args:
        hooks: table that holds it.
        number: its key there.
    """

    def __init__(self, hooks: OrderedDict[int, Any], number: int) -> None:
        self._hooks, self.handle_id = hooks, number

    def remove(self) -> None:
        """Remove the hook."""
        if self._hooks.pop(self.handle_id, None) is not None:
            changed()


class HookMixin:
    """Registration and running of hooks."""

    _hooks: dict[str, OrderedDict[int, Any]]

    @property
    def cls_name(self) -> str:
        """Name of the class."""
        return type(self).__name__

    def _init_hooks(self) -> None:
        self.__dict__["_hooks"] = {}

    @property
    def _hook_version(self) -> tuple[int, ...]:
        return tuple(n for table in self._hooks.values() for n in table)

    def _register(self, kind: str, hook: Any, prepend: bool = False) -> HookHandle:
        if not callable(hook):
            raise located(
                TypeError,
                f"When using 'register_{kind}(hook_fn)', the type of 'hook_fn' must be python "
                f"function, but got {type(hook).__name__}.",
            )
        table = self._hooks.setdefault(kind, OrderedDict())
        number = next(_numbers)
        table[number] = hook
        if prepend:
            table.move_to_end(number, last=False)
        changed()
        return HookHandle(table, number)

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Run a function before each call.

        Args:
            hook_fn: ``hook_fn(cell, inputs)``, or ``hook_fn(cell, args, kwargs)``; what it returns
                replaces the inputs unless it is None.
            prepend: whether it runs before those registered earlier.
            with_kwargs: whether it gets keyword arguments.

        Returns:
            A handle to remove it with.
        """
        return self._register("forward_pre_hook", _Forward(hook_fn, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Run a function after each call.

        Args:
            hook_fn: ``hook_fn(cell, inputs, output)``, or ``hook_fn(cell, args, kwargs, output)``;
                what it returns replaces the output unless it is None.
            prepend: whether it runs before those registered earlier.
            with_kwargs: whether it gets keyword arguments.
            always_call: whether it runs even if the call raises.

        Returns:
            A handle to remove it with.

        Raises:
            NotImplementedError: ``always_call`` is True.
        """
        if always_call:
            raise located(
                NotImplementedError,
                "For 'register_forward_hook', 'always_call=True' is not supported: use try/finally "
                "in construct.",
            )
        return self._register("forward_hook", _Forward(hook_fn, with_kwargs), prepend)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Run a function on the gradients of the outputs before they flow through the Cell.

        Args:
            hook_fn: ``hook_fn(cell, grad_output)``; what it returns replaces them unless None.

        Returns:
            A handle to remove it with.
        """
        return self._register("backward_pre_hook", hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Run a function on the gradients once they have flowed through the Cell.

        Args:
            hook_fn: ``hook_fn(cell, grad_input, grad_output)``; what it returns replaces
                ``grad_input`` unless None.

        Returns:
            A handle to remove it with.
        """
        return self._register("backward_hook", hook_fn)

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in list(self._hooks.get("forward_pre_hook", {}).values()):
            replaced = hook.before(self, args, kwargs)
            if replaced is not None:
                args, kwargs = replaced
        backward = list(self._hooks.get("backward_hook", {}).values())
        if backward:
            box: dict[str, Any] = {}
            self.__dict__.setdefault("_grad_outputs", []).append(box)

            def see_inputs(grads: list[Any]) -> Any:
                result: Any = tuple(grads)
                for hook in backward:
                    replaced = hook(self, result, box.get("grad_output"))
                    if replaced is not None:
                        result = replaced if isinstance(replaced, tuple | list) else (replaced,)
                return result

            args = watch_gradient(args, see_inputs)
        return args, kwargs

    def _after(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        for hook in list(self._hooks.get("forward_hook", {}).values()):
            replaced = hook.after(self, args, kwargs, out)
            if replaced is not None:
                out = replaced
        pre = list(self._hooks.get("backward_pre_hook", {}).values())
        boxes = self.__dict__.get("_grad_outputs") if self._hooks.get("backward_hook") else None
        if not pre and not boxes:
            return out
        box = boxes.pop() if boxes else None

        def see_outputs(grads: list[Any]) -> Any:
            result: Any = tuple(grads)
            for hook in pre:
                replaced = hook(self, result)
                if replaced is not None:
                    result = replaced if isinstance(replaced, tuple | list) else (replaced,)
            if box is not None:
                box["grad_output"] = result
            return result

        return watch_gradient(out, see_outputs)


class _Forward:
    """A forward hook with the arguments that it wants."""

    __slots__ = ("hook", "with_kwargs")

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool) -> None:
        if not callable(hook):
            raise located(
                TypeError,
                f"When registering a forward hook, 'hook_fn' must be a python function, but got "
                f"{type(hook).__name__}.",
            )
        self.hook, self.with_kwargs = hook, with_kwargs

    def __call__(self) -> None:
        """Mark the object as callable for registration."""

    def before(self, cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as a pre-hook; gives replaced arguments or None."""
        if self.with_kwargs:
            return self.hook(cell, args, kwargs)
        replaced = self.hook(cell, args)
        if replaced is None:
            return None
        return (replaced if isinstance(replaced, tuple) else (replaced,)), kwargs

    def after(self, cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        """Run as a hook on the output; gives its replacement or None."""
        if self.with_kwargs:
            return self.hook(cell, args, kwargs, out)
        return self.hook(cell, args, out)
