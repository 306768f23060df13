"""Operators of the original's ``ops.auto_generate`` that a function of ours does the work of.

Libraries make them in a Cell's ``__init__`` and call them in ``construct``; their functions are
what `mindjax.mint` and `mindjax.ops` list.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located

# Name -> home of a class of ours of that name.
CLASSES = {
    **dict.fromkeys(("AddExt", "SubExt"), "ops.arithmetic"),
    **dict.fromkeys(("MeanExt", "SumExt"), "ops.reduction"),
    "SiLU": "ops.activation",
    "SplitWithSize": "ops.sequence",
}
# Name -> function, names of what the class is made with, and names of what the function takes by
# name though the operator may be given it by position: place -> name.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], dict[int, str]]] = {
    "Arange": ("mint.arange", (), {3: "dtype"}),
    "BatchMatMulExt": ("mint.bmm", (), {}),
    "Chunk": ("mint.chunk", (), {}),
    "ClampScalar": ("mint.clamp", (), {}),
    "CumsumExt": ("mint.cumsum", (), {}),
    "FmodScalar": ("mint.fmod", (), {}),
    "IndexSelect": ("mint.index_select", (), {}),
    "InplaceCopy": ("Tensor.copy_", (), {}),
    "Muls": ("mint.mul", (), {}),
    "Outer": ("mint.outer", (), {}),
    "RepeatInterleaveInt": ("mint.repeat_interleave", (), {3: "output_size"}),
    "RepeatInterleaveTensor": ("mint.repeat_interleave", (), {3: "output_size"}),
    "SortExt": ("mint.sort", (), {1: "dim", 2: "descending", 3: "stable"}),
    "StackExt": ("mint.stack", ("dim",), {}),
    "TopkExt": ("mint.topk", (), {}),
    "TrilExt": ("mint.tril", (), {}),
    "ZerosLikeExt": ("mint.zeros_like", (), {1: "dtype"}),
}
# Name -> what to use in its place.
_REFUSED = {
    "AdamW": "mint.optim.AdamW",
    "DropoutExt": "mint.nn.functional.dropout",
    "MoeDistributeCombine": "ops.AlltoAll with ops.moe_token_unpermute",
    "MoeDistributeDispatch": "ops.AlltoAll with ops.moe_token_permute",
    "Scatter": "mint.scatter or ops.tensor_scatter_elements",
}


class GeneratedOperator:
    """Base of operators that call a function.

    Args:
        args: what the operator is made with, by position or name, as the original's takes it.
        named: the same by name.

    Raises:
        TypeError: the operator is not made with such arguments.
    """

    _made_with: tuple[str, ...] = ()
    _by_name: dict[int, str]
    _work: Callable[..., Any]

    def __init__(self, *args: Any, **named: Any) -> None:
        given = dict(zip(self._made_with, args, strict=False))
        free = set(self._made_with) - set(given)
        if len(args) > len(self._made_with) or not named.keys() <= free:
            raise located(
                TypeError,
                f"For '{self.name}', it is made with {self._made_with}, but got {args} {named}.",
            )
        self.attrs: dict[str, Any] = {}
        self._run = self._unspread = functools.partial(type(self)._work, **(given | named))

    @property
    def name(self) -> str:
        """The operator's name."""
        return type(self).__name__

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run the operator.

        Args:
            inputs: as the original's operator takes them.
            named: the same by name.
        """
        taken = {self._by_name[i]: x for i, x in enumerate(inputs) if i in self._by_name}
        plain = [x for i, x in enumerate(inputs) if i not in self._by_name]
        return self._run(*plain, **taken, **named)

    def add_prim_attr(self, name: str, value: Any) -> GeneratedOperator:
        """Note something in ``attrs``, and give the operator.

        Args:
            name: of the note.
            value: the note.
        """
        self.attrs[name] = value
        return self

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> GeneratedOperator:
        """Say how parallel training splits inputs and outputs, and give the operator.

        Args:
            in_strategy: for each input a tuple of the numbers of parts of its dimensions, or a
                `Layout`; None leaves all to the program around.
            out_strategy: the same of the outputs.

        Raises:
            TypeError: a strategy is of another form.
        """
        work: Callable[..., Any] = self._unspread
        if in_strategy is not None:
            work = import_module("mindjax.parallel").shard(work, in_strategy, out_strategy)
        self._run = work
        return self


def find(name: str) -> Any:
    """Give a class of the original's ``ops.auto_generate``.

    Args:
        name: of the class, or ``format_cast``.

    Returns:
        The class; None if there is none here.
    """
    if name in CLASSES:
        return getattr(import_module(f"mindjax.{CLASSES[name]}"), name)
    if name in _FUNCTIONS or name in _REFUSED or name in _OWN:
        return _made(name)
    return format_cast if name == "format_cast" else None


@functools.cache
def _made(name: str) -> type:
    path, made_with, by_name = _FUNCTIONS.get(name, ("", (), {}))
    if name in _REFUSED:
        work: Any = functools.partial(_refuse, name)
    elif name in _OWN:
        made_with, work = _OWN[name]
    else:
        home, _, function = path.rpartition(".")
        holder = import_module("mindjax")
        for part in home.split("."):
            holder = getattr(holder, part)
        work = getattr(holder, function)
    members = {"_work": staticmethod(work), "_made_with": made_with, "_by_name": by_name}
    members["__doc__"] = f"Operator ``{name}`` (MindSpore: ``ops.auto_generate.{name}``)."
    return type(name, (GeneratedOperator,), members)


def _refuse(name: str, *inputs: Any, **named: Any) -> Any:
    raise located(
        NotImplementedError, f"For '{name}', the operator is not supported: use {_REFUSED[name]}."
    )


def _one_hot(tensor: Any, num_classes: Any, on: Any, off: Any, axis: int = -1) -> Any:
    from mindjax import ops

    return ops.OneHot(axis)(tensor, num_classes, on, off)


def _slice(input: Any, dim: int, start: int, end: int, step: int) -> Any:
    places: list[Any] = [slice(None)] * input.ndim
    places[dim] = slice(start, end, step)
    return input[tuple(places)]


def _swiglu_grad(grad_output: Any, input: Any, dim: int = -1) -> Any:
    from mindjax import ops

    _, pull_back = ops.vjp(lambda x: ops.swiglu(x, dim), input)
    gradients = pull_back(grad_output)
    return gradients[0] if isinstance(gradients, tuple) else gradients


_OWN: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "OneHotExt": (("axis",), _one_hot),
    "SliceExt": ((), _slice),
    "SwigluGrad": ((), _swiglu_grad),
}


def format_cast(input: Any, acl_format: int) -> Any:
    """Give a Tensor as it is: arrays have no formats of an NPU here.

    Args:
        input: Tensor.
        acl_format: number of a format (MindSpore: ``ops.auto_generate.format_cast``).

    Raises:
        TypeError: the format is no number.
    """
    checks.integer("acl_format", acl_format, "format_cast")
    return input
