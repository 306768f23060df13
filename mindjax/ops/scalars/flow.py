"""Choices, environments of gradients, and what else graph code writes of itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.core.values import can_leave, need_values
from mindjax.ops.creation import zeros_like
from mindjax.ops.logic import select
from mindjax.ops.state import identity

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _needs_value(op: str, condition: Any) -> None:
    if isinstance(condition, Handle) and is_traced(unwrap(condition)):
        if can_leave():
            raise need_values("the condition")
        raise located(
            NotImplementedError,
            f"For '{op}', the condition is not known while a program is compiled: write "
            "an if statement.",
        )


def switch(cond: Any, true_branch: Any, false_branch: Any) -> Any:
    """Choose one of two values (MindSpore: ``ops.switch``).

    Args:
        cond: truth value, or Bool Tensor of one element.
        true_branch: value if it holds.
        false_branch: value if not.

    Returns:
        The value.

    Raises:
        NotImplementedError: the condition is traced and the values are no Tensors.
    """
    branches: Any = (true_branch, false_branch)
    tensors = all(isinstance(b, Handle) for b in branches)
    if tensors and isinstance(cond, Handle) and is_traced(unwrap(cond)):
        condition: Any = cond
        return select(condition, *branches)
    _needs_value("switch", cond)
    return true_branch if bool(cond) else false_branch


def switch_layer(index: Any, layers: Any) -> Any:
    """Choose one of several functions (MindSpore: ``ops.switch_layer``).

    Args:
        index: integer, or integer Tensor of one element; negative ones count from the end.
        layers: tuple of functions or Cells.

    Returns:
        The function.

    Raises:
        IndexError: there is no such one.
        NotImplementedError: the index is traced.
    """
    _needs_value("switch_layer", index)
    number = checks.integer("index", index, "switch_layer")
    if not -len(layers) <= number < len(layers):
        raise located(
            IndexError,
            f"For 'switch_layer', the index must be in [-{len(layers)}, {len(layers)}), but got "
            f"{number}.",
        )
    return layers[number]


class GeSwitch(Primitive):
    """Data sent one of two ways; call: ``GeSwitch()(data, pred)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Send it.

        Returns:
            Pair: the data where ``pred`` does not hold and where it holds; None is the other.

        Raises:
            NotImplementedError: ``pred`` is traced.
        """
        data, pred = inputs
        _needs_value(self.name, pred)
        return (None, data) if bool(pred) else (data, None)


class Merge(Primitive):
    """What came of the ways that `GeSwitch` opens; call: ``Merge()(inputs)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Find the one input that is there.

        Returns:
            Pair of it and its place.

        Raises:
            ValueError: none is there, or more than one.
        """
        given = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], tuple | list) else inputs
        there = [i for i, x in enumerate(given) if x is not None]
        if len(there) != 1:
            raise located(
                ValueError,
                f"For 'Merge', one and only one input must be there, but got {len(there)} of "
                f"{len(given)}.",
            )
        return given[there[0]], there[0]


def geswitch(data: Any, pred: Any) -> Any:
    """Send data one of two ways (MindSpore: ``ops.geswitch``); see `GeSwitch`.

    Args:
        data: anything.
        pred: truth value, or Bool Tensor of one element.

    Returns:
        Pair of which the one is the data, the other None.
    """
    return GeSwitch()(data, pred)


def merge(*inputs: Any) -> Any:
    """Find the one of several inputs that is there (MindSpore: ``ops.merge``); see `Merge`.

    Args:
        inputs: values, or a sequence of them.

    Returns:
        Pair of it and its place.
    """
    return Merge()(*inputs)


class Environment(dict[Any, Any]):
    """Gradients by key; every change gives a new one."""


def embed(x: Any) -> Any:
    """Give the key of a value in an environment (MindSpore: ``ops.embed``).

    Args:
        x: Parameter, which counts by its identity, or any value that can be hashed.

    Returns:
        The key.
    """
    return id(x) if isinstance(x, Handle) else x


def ref_to_embed(x: Any) -> Any:
    """Give the key of a Parameter in an environment (MindSpore: ``ops.ref_to_embed``).

    Args:
        x: Parameter.

    Returns:
        The key.
    """
    return embed(checks.of_type("x", x, Handle, "RefToEmbed"))


def environ_create() -> Environment:
    """Make an empty environment (MindSpore: ``ops.environ_create``)."""
    return Environment()


def environ_set(env: Environment, key: Any, value: Any) -> Environment:
    """Copy an environment with another value of a key (MindSpore: ``ops.environ_set``).

    Args:
        env: environment.
        key: what `embed` gives.
        value: the value.

    Returns:
        A new environment.
    """
    checks.of_type("env", env, Environment, "environ_set")
    return Environment({**env, key: value})


def environ_get(env: Environment, key: Any, default: Any) -> Any:
    """Give the value of a key (MindSpore: ``ops.environ_get``).

    Args:
        env: environment.
        key: what `embed` gives.
        default: value if there is none.

    Returns:
        The value.
    """
    checks.of_type("env", env, Environment, "environ_get")
    return env.get(key, default)


def environ_add(x: Environment, y: Environment) -> Environment:
    """Add the values of equal keys (MindSpore: ``ops.environ_add``).

    Args:
        x: environment.
        y: environment.

    Returns:
        A new environment with the keys of both.
    """
    for name, value in (("x", x), ("y", y)):
        checks.of_type(name, value, Environment, "environ_add")
    both = {k: x[k] + v if k in x else v for k, v in y.items()}
    return Environment({**x, **both})


def env_get(env: Environment, parameter: Any) -> Any:
    """Give the gradient of a Parameter (MindSpore: ``ops.env_get``).

    Args:
        env: environment.
        parameter: Parameter.

    Returns:
        Its value in the environment, or zeros.
    """
    return environ_get(env, ref_to_embed(parameter), zeros_like(parameter))


def J(x: Any) -> Any:
    """Give a function with its pullback (MindSpore: ``ops.J``).

    Args:
        x: function; another value stays.

    Returns:
        A function of the same arguments that gives the value and the pullback, which takes a
        cotangent to the gradients by the arguments.
    """
    if not callable(x):
        return x

    def with_pullback(*args: Any) -> Any:
        return import_module("mindjax.autodiff").vjp(x, *args)

    return with_pullback


def deepcopy(input_x: Tensor) -> Tensor:
    """Copy a Tensor (MindSpore: ``ops.deepcopy``).

    Args:
        input_x: Tensor.

    Returns:
        A new Tensor with the same elements; gradients pass.

    Raises:
        TypeError: it is no Tensor.
    """
    return identity(checks.of_type("input_x", input_x, Handle, "deepcopy"))


def distribute(x: Any) -> Any:
    """Mark a value as distributed, which this library has another way for.

    MindSpore: ``ops.distribute``.

    Args:
        x: value.

    Raises:
        NotImplementedError: always.
    """
    raise located(
        NotImplementedError,
        f"For 'distribute', {type(x).__name__} cannot be marked: leave the call out; one device "
        "holds the whole.",
    )


def make_map_parameter(*inputs: Any) -> Any:
    """Make a hash table of Parameters, which XLA has none of (``ops.make_map_parameter``).

    Args:
        inputs: key type, value type, shape and default value.

    Raises:
        NotImplementedError: always.
    """
    raise located(
        NotImplementedError,
        f"For 'MakeMapParameter', there are no tables that grow ({len(inputs)} inputs): use a "
        "Parameter with a row a key, as nn.Embedding has.",
    )


class GetNext(Primitive):
    """The next row of a queue that a data set fills on the device, which there is none of here.

    Args:
        types: dtypes of the columns.
        shapes: shapes of the columns.
        output_num: number of columns.
        shared_name: name of the queue.
    """

    types: Any
    shapes: Any
    output_num: int
    shared_name: str
    effect: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.of_type("types", self.types, (list, tuple), self.name)
        checks.of_type("shapes", self.shapes, (list, tuple), self.name)
        count = checks.positive_int("output_num", self.output_num, self.name)
        checks.same_shape(self.name, types=(len(self.types),), shapes=(len(self.shapes),))
        if len(self.types) != count:
            raise located(
                ValueError,
                f"For 'GetNext', the 'output_num' must be {len(self.types)}, but got {count}.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise located(
            NotImplementedError,
            f"For 'GetNext', there is no queue '{self.shared_name}' on the device: iterate over "
            "data_set.create_tuple_iterator(), or train with Model, which feeds the rows ahead.",
        )
