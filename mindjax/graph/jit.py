"""`jit` and the GRAPH call path: find the program of a signature, or trace a new one."""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from mindjax import log
from mindjax.core import jax_private
from mindjax.core.caches import Cache
from mindjax.core.context import get_context
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.core.partition import partitioner
from mindjax.core.values import ArraysAlone, ValuesNeeded
from mindjax.graph import journal
from mindjax.graph.options import check_options, strict
from mindjax.graph.program import Program, is_tracing_outside
from mindjax.graph.sharing import Families
from mindjax.graph.signature import Signature
from mindjax.graph.syntax import converted

_MODES = ("ast", "bytecode", "trace")


class Programs:
    """The programs of one function.

    Args:
        function: function on Tensors.
        whole: whether all of it must be in the graph, whatever the context says.
        arrays: whether calls with numpy arrays that call nothing of MindJAX are Python's.
        joins: whether they may run as a part of what the deferred engine has recorded.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        whole: bool = False,
        arrays: bool = False,
        joins: bool = False,
    ) -> None:
        self.function, self.whole, self.arrays, self.joins = function, whole, arrays, joins
        name = getattr(function, "__qualname__", type(function).__name__)
        self.name = name
        # Signatures whose calls run op by op, and why.
        self.eager: dict[Any, str] = {}
        name = f"{name} at {id(self):#x}"
        self.programs: Cache[list[Program]] = Cache(f"programs of {name}", 256)
        self.families = Families(name)
        self.compiled = self.recompiled = 0
        self.announced = False

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function as one program."""
        if current.frame is not None or is_tracing_outside():
            return converted(self.function)(*args, **kwargs)
        if jax_private.jit_disabled():
            return self.function(*args, **kwargs)
        spread = partitioner()
        if spread is not None:
            args, kwargs = spread.enter(args, kwargs)
        if get_context("precompile_only"):
            self.prepare(args, kwargs)
            return None
        signature = Signature(args, kwargs)
        if self.eager and signature.key in self.eager:
            return self.function(*args, **kwargs)
        variants = self._variants(signature)
        for program in variants:
            if program.valid():
                if current.tape is not None and not program.matches():
                    variants.remove(program)
                    break
                try:
                    return program(signature.handles, signature.dicts)
                except TypeError:
                    if program.matches():
                        raise
                    variants.remove(program)
                    break
        may_leave = not (self.whole or strict(getattr(self.function, "jit_config", None)))
        try:
            program = self._trace(variants, args, kwargs, signature, may_leave)
        except ArraysAlone as alone:
            self.eager[signature.key] = alone.reason
            return self.function(*args, **kwargs)
        except ValuesNeeded as need:
            self._leave(signature, need)
            return self.function(*args, **kwargs)
        return program(signature.handles, signature.dicts)

    def _leave(self, signature: Signature, need: ValuesNeeded) -> None:
        """Run calls of a signature op by op from now on."""
        if all(reason == ArraysAlone.REASON for reason in self.eager.values()):
            log.warning(
                f"'{self.name}' runs op by op, as in PYNATIVE_MODE, where {need.reason}: a "
                "compiled program does not have it."
            )
        if len(self.eager) > 4096:
            self.eager.clear()
        self.eager[signature.key] = need.reason

    def __deepcopy__(self, memo: dict[int, Any]) -> Programs:
        function = copy.deepcopy(self.function, memo)
        return Programs(function, self.whole, self.arrays, self.joins)

    def __reduce__(self) -> tuple[Any, ...]:
        return Programs, (self.function, self.whole, self.arrays, self.joins)

    def prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
        """Trace and compile the program for these arguments without running it."""
        signature = Signature(args, kwargs)
        variants = self._variants(signature)
        for program in variants:
            if program.valid():
                return program
        program = self._trace(variants, args, kwargs, signature)
        program.prepare(signature.handles)
        return program

    def _variants(self, signature: Signature) -> list[Program]:
        found = self.programs.get(signature.key)
        return self.programs.put(signature.key, []) if found is None else found

    def _trace(
        self,
        variants: list[Program],
        args: Any,
        kwargs: Any,
        signature: Signature,
        may_leave: bool = False,
    ) -> Program:
        entry = self._enter(variants, signature)
        program = Program(
            self.function,
            args,
            kwargs,
            signature,
            self.families,
            entry,
            may_leave,
            may_leave and self.arrays and signature.arrays,
            self.joins,
        )
        variants.append(program)
        # A constant that changes at every call would keep a program a value.
        del variants[:-16]
        return program

    def _enter(self, variants: list[Program], signature: Signature) -> journal.Compilation:
        """Enter a compilation into the journal, with the reason why it is needed."""
        if variants:
            reason = journal.why_stale(variants[-1])
        else:
            known = [key for key, found in self.programs.entries.items() if found]
            reason = journal.why_again(self.function, known, signature.key)
        self.compiled += 1
        entry = journal.Compilation(self.function, self.compiled, reason)
        # A new value of a number shares the executable.
        self.recompiled += bool(reason) and "the value of argument" not in reason
        if self.recompiled == journal.AGAIN and not self.announced:
            self.announced = True
            journal.announce(entry)
        return journal.record(entry)


class JitFunction:
    """A function that runs as one compiled program (MindSpore: what ``jit`` returns)."""

    is_program = True

    def __init__(self, function: Callable[..., Any], whole: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.whole = function, whole
        self._programs = Programs(function, whole, arrays=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program for these arguments."""
        if os.environ.get("MS_JIT") == "0":
            return self.function(*args, **kwargs)
        return self._programs.call(args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance: each has programs of its own."""
        if instance is None:
            return self
        key = f"_jit_{self.__name__}"
        bound = instance.__dict__.get(key)
        if bound is None or bound.function.__self__ is not instance:
            bound = JitFunction(self.function.__get__(instance, owner), self.whole)
            instance.__dict__[key] = bound
        return bound

    def __deepcopy__(self, memo: dict[int, Any]) -> JitFunction:
        return JitFunction(copy.deepcopy(self.function, memo), self.whole)

    def __reduce__(self) -> str | tuple[Any, ...]:
        name = getattr(self.function, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self.function, "__module__", ""))
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (JitFunction, (self.function, self.whole))


def jit(
    function: Callable[..., Any] | None = None,
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    **options: Any,
) -> Any:
    """Compile a function of Tensors into one program (MindSpore: ``jit``).

    Args:
        function: the function; None when used as a decorator with arguments.
        capture_mode: ``"ast"``, ``"bytecode"`` or ``"trace"``: all rewrite the function's control
            flow and trace it, so that Python runs once a signature.
        jit_level: ``"O0"`` or ``"O1"``: XLA optimises alike at both.
        dynamic: 0 or 1; a new shape compiles again at both (see `mindjax.graph.row_wise`).
        fullgraph: whether the whole function must be one graph: without it a function that asks for
            values which a graph does not have runs op by op, with one warning; with it that is an
            error.
        backend: ``""``, ``"ms_backend"`` or ``"GE"``: all mean XLA here.
        **options: options of the original's backends: checked, and ignored with a warning.

    Returns:
        A callable with the function's signature.

    Raises:
        ValueError: an argument has a value that the original does not know.
        TypeError: ``function`` is not callable, or an option has the wrong type.
        RuntimeError: no such backend.
    """
    if capture_mode not in _MODES:
        raise located(
            ValueError,
            f"For 'jit', the parameter 'capture_mode' must be one of {list(_MODES)}, but got "
            f"'{capture_mode}'.",
        )
    if jit_level not in ("O0", "O1"):
        raise located(
            ValueError,
            f"For 'jit', the parameter 'jit_level' must be one of ['O0', 'O1'], but got "
            f"'{jit_level}'.",
        )
    if dynamic not in (0, 1):
        raise located(
            ValueError, f"For 'jit', the parameter 'dynamic' must be 0 or 1, but got {dynamic}."
        )
    if not isinstance(fullgraph, bool):
        raise located(
            TypeError,
            f"For 'jit', the parameter 'fullgraph' must be bool, but got {fullgraph!r}.",
        )
    if backend not in ("", "ms_backend", "GE"):
        raise located(
            RuntimeError,
            f"Invalid backend name: {backend}, you should register custom backend first",
            named=False,
        )

    check_options(options)

    def decorate(target: Any) -> Any:
        if isinstance(target, type) and hasattr(target, "construct"):
            # A class of Cells: each of them runs its own construct as one program.
            target.construct = JitFunction(target.construct, fullgraph)
            return target
        if not callable(target):
            raise located(
                TypeError, f"For 'jit', the function must be callable, but got {target!r}."
            )
        return target if isinstance(target, JitFunction) else JitFunction(target, fullgraph)

    return decorate if function is None else decorate(function)


def ms_memory_recycle() -> None:
    """Do nothing: XLA frees buffers by itself (MindSpore: ``ms_memory_recycle``)."""


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Mark an argument of a compiled function as an input (MindSpore: ``mutable``).

    Tensors are inputs wherever they stand, and numbers that change become inputs of one executable,
    so the mark changes nothing.

    Args:
        input_data: Tensor, int, float, or tuple, list or dict of these.
        dynamic_len: whether the length may change; each length is traced.

    Returns:
        The argument itself.

    Raises:
        TypeError: ``input_data`` is none of these.
        ValueError: ``dynamic_len`` is set for something without a length of its own.
    """
    if not isinstance(input_data, Handle | int | float | tuple | list | dict):
        raise located(
            TypeError,
            "For 'mutable', the 'input_data' should be one of (int, float, Tensor, tuple, list, "
            f"dict) or their nested structures, but got {input_data!r}.",
        )
    if dynamic_len and not isinstance(input_data, tuple | list):
        raise located(
            ValueError,
            "For 'mutable', when 'dynamic_len' is True, the 'input_data' should be list or tuple, "
            f"but got {type(input_data).__name__}.",
        )
    return input_data
