"""What collective operators and functions share: checks, groups, handles, writing of outputs."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import world
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.state import write

Array = jax.Array
REDUCTIONS = ("sum", "prod", "min", "max", "avg")


class ReduceOp:
    """Names of the operations by which ranks' values are combined (MindSpore: ``ops.ReduceOp``)."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


class Collective(Primitive, register=False):
    """Base of operators that every rank of a group runs together."""

    effect: ClassVar[bool] = True
    collective: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator.

        Raises:
            RuntimeError: `communication.init` has not run, or there is no such group.
        """
        world.find(self.__dict__["group"], self.name)
        return Primitive.__call__(self, *inputs)

    @property
    def members(self) -> world.Group:
        """The group."""
        return world.find(self.__dict__["group"], self.name)


class OfTuples(Collective, register=False):
    """Base of operators that take and give a tuple of Tensors."""

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator on the Tensors of a tuple."""
        if len(inputs) != 1 or not isinstance(inputs[0], tuple | list):
            raise located(TypeError, f"For '{self.name}', the input must be a tuple of Tensors.")
        return super().__call__(*inputs[0])


def tied(value: Array, other: Array) -> Array:
    """Give a value that needs another one too: a rank must not drop a collective it has no use for.

    Args:
        value: the value.
        other: result of a collective.
    """
    if world.transport.size == 1 or not other.size:
        return value
    first = other.reshape(-1)[0]
    return jax.lax.select(jnp.broadcast_to(first == first, value.shape), value, value)


def check_group(group: Any, owner: str) -> None:
    """Check the type of an operator's group; TypeError if it is no string."""
    if not isinstance(group, str):
        raise located(
            TypeError, f"For '{owner}', the 'group' must be str, but got {type(group).__name__}."
        )


def check_reduction(op: Any, owner: str) -> None:
    """Check an operator's reduction.

    Raises:
        TypeError: it is no string.
        ValueError: it is none of `ReduceOp`.
    """
    if not isinstance(op, str):
        raise located(
            TypeError, f"For '{owner}', the 'op' must be str, but got {type(op).__name__}."
        )
    if op not in REDUCTIONS:
        raise located(
            ValueError, f"For '{owner}', the 'op' must be one of {list(REDUCTIONS)}, but got {op}."
        )


def check_number(x: Array, owner: str) -> None:
    """Refuse truth values, which cannot be reduced."""
    if x.dtype == np.bool_:
        raise located(
            TypeError,
            f"For primitive[{owner}], the input argument[input_x] must not be of type "
            f"Tensor[{from_np(x.dtype)}].",
        )


def check_rank_of(rank: Any, group: world.Group, name: str, owner: str) -> int:
    """Check a rank of a group.

    Raises:
        TypeError: it is no int.
        ValueError: the group has no such rank.
    """
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise located(
            TypeError, f"For '{owner}', the '{name}' must be int, but got {type(rank).__name__}."
        )
    if not 0 <= rank < group.size:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be a rank of the group {group.name}, in [0, "
            f"{group.size}), but got {rank}.",
        )
    return rank


class CommHandle:
    """What an asynchronous collective gives: `wait` returns when its results are there."""

    def __init__(self, *tensors: Any) -> None:
        self._tensors = tensors

    def wait(self) -> None:
        """Wait for the results."""
        for tensor in self._tensors:
            array = unwrap(tensor) if isinstance(tensor, Handle) else None
            if array is not None and not is_traced(array):
                jax.block_until_ready(array)


def check_tensor(value: Any, owner: str, what: str = "input") -> None:
    """Check that an argument is a Tensor; TypeError otherwise."""
    if not isinstance(value, Handle):
        raise located(TypeError, f"For {owner}, the {what} tensor must be tensor")


def check_int(value: Any, name: str, owner: str) -> None:
    """Check that an argument is an int; TypeError otherwise."""
    if not isinstance(value, int):
        raise located(TypeError, f"For {owner}, the {name} must be int")


def check_op(op: Any, owner: str, accepted: tuple[str, ...] = REDUCTIONS) -> None:
    """Check a function's reduction, which raises TypeError for a wrong name too."""
    if not isinstance(op, str):
        raise located(TypeError, f"For {owner}, the input op type must be str")
    if op not in accepted:
        raise located(
            TypeError,
            f"For {owner}, the input op value must be one of {', '.join(accepted)}, but got {op}",
        )


def check_async(async_op: Any) -> None:
    """Check the argument 'async_op'; TypeError if it is no bool."""
    if not isinstance(async_op, bool):
        raise located(
            TypeError, f"The argument 'async_op' must be a bool, but got {type(async_op)}."
        )


def check_list(tensors: Any) -> None:
    """Check that an argument is a list or tuple of Tensors; TypeError otherwise."""
    if not isinstance(tensors, list | tuple):
        raise located(TypeError, f"Expected list or tuple, but got {type(tensors)}.")
    for tensor in tensors:
        if not isinstance(tensor, Handle):
            raise located(TypeError, f"Expected tensor, but got {type(tensor)}")


def check_alike(tensors: Any, owner: str, shapes: bool = False) -> None:
    """Check that Tensors have one dtype, and one shape if asked; TypeError otherwise."""
    for tensor in tensors[1:]:
        if tensor.dtype != tensors[0].dtype:
            raise located(
                TypeError,
                f"{owner} input dtype must be the same, but got {tensors[0].dtype} and "
                f"{tensor.dtype}.",
            )
        if shapes and tensor.value_shape != tensors[0].value_shape:
            raise located(
                TypeError,
                f"tensor_lists shape must be the same, but got {tensors[0].value_shape} and "
                f"{tensor.value_shape}.",
            )


def check_count(tensors: Any, group: world.Group) -> None:
    """Check that a list has one Tensor for each rank; TypeError otherwise."""
    if len(tensors) != group.size:
        raise located(
            TypeError,
            "The argument list tensor len must be equal to group rank size, but got "
            f"{len(tensors)}.",
        )


def fill(output: Any, fresh: Any, owner: str) -> None:
    """Write a result into the Tensor that the caller gave for it.

    Args:
        output: the caller's Tensor.
        fresh: result of the same shape and dtype.
        owner: function named in the error.

    Raises:
        TypeError: shape or dtype differ.
    """
    if output.value_shape != fresh.value_shape:
        raise located(
            TypeError,
            f"For {owner}, the output shape should be {fresh.value_shape}, but got "
            f"{output.value_shape}.",
        )
    if output.dtype != fresh.dtype:
        raise located(
            TypeError,
            f"For {owner}, the output dtype should be {fresh.dtype}, but got {output.dtype}.",
        )
    write(output, fresh)


def handle(async_op: bool, *tensors: Any) -> CommHandle | None:
    """Give the handle of an asynchronous call, None for one that has waited."""
    return CommHandle(*tensors) if async_op else None
