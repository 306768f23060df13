"""The base of distributions: calling conventions, and what follows from what a subclass defines."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

import mindjax.ops as ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.random import Generator, seeded
from mindjax.nn.cell import Cell
from mindjax.nn.probability import conditions
from mindjax.ops.sampling import draw
from mindjax.tensor.tensor import Tensor

# The stream of a distribution whose samples another one draws.
_stream: ContextVar[Generator | None] = ContextVar("stream", default=None)


def log(x: Any) -> Any:
    """Logarithm; integers become Float32 first."""
    return ops.log(x if conditions.is_float(x.dtype) else ops.cast(x, float32))


def exp(x: Any) -> Any:
    """Exponential; integers become Float32 first."""
    return ops.exp(x if conditions.is_float(x.dtype) else ops.cast(x, float32))


def constant(value: float) -> Any:
    """Make a Float32 Tensor of a number."""
    return Tensor(value, dtype=float32)


def _complement(x: Any) -> Any:
    return 1.0 - x


# Function -> what it is computed from, best first: a method that a subclass may define, or, without
# an underscore, another function; and how.
_WAYS: dict[str, list[tuple[str, Callable[[Any], Any] | None]]] = {
    "prob": [("_prob", None), ("_log_prob", exp)],
    "log_prob": [("_log_prob", None), ("_prob", log)],
    "sd": [("_sd", None), ("_var", lambda x: ops.sqrt(x))],
    "var": [("_var", None), ("_sd", lambda x: ops.square(x))],
    "cdf": [
        ("_cdf", None),
        ("_log_cdf", exp),
        ("_survival_function", _complement),
        ("_log_survival", lambda x: 1.0 - exp(x)),
    ],
    "survival_function": [
        ("_survival_function", None),
        ("_log_survival", exp),
        ("cdf", _complement),
    ],
    "log_cdf": [("_log_cdf", None), ("cdf", log)],
    "log_survival": [("_log_survival", None), ("survival_function", log)],
    "cross_entropy": [("_cross_entropy", None)],
}
_DIRECT = ("kl_loss", "mean", "mode", "entropy", "sample", "get_dist_args")
_TAILS = ("_cdf", "_log_cdf", "_survival_function", "_log_survival")


class Distribution(Cell):
    """The base of distributions (MindSpore: ``nn.probability.distribution.Distribution``).

    Every function is a method, ``normal.prob(x)``, and an instruction, ``normal("prob", x)``, which
    in GRAPH_MODE runs as one compiled program. Parameters that were not given at the start, or that
    shall differ, follow the function's own arguments as Tensors: ``normal.prob(x, mean, sd)``.

    A subclass defines some of ``_prob``, ``_log_prob``, ``_cdf``, ``_log_cdf``,
    ``_survival_function``, ``_log_survival``, ``_mean``, ``_mode``, ``_sd``, ``_var``,
    ``_entropy``, ``_kl_loss``, ``_cross_entropy`` and ``_sample``; what can be computed from these
    is there too.

    Args:
        seed: of a stream of random numbers of its own; None or 0 takes the default stream.
        dtype: of samples and, for floats, of values.
        name: of the distribution.
        param: what the subclass was made with, and as ``"param_dict"`` the parameters alone.

    Raises:
        TypeError: ``name`` is no string, ``seed`` no integer, or parameters differ in dtype.
        ValueError: ``seed`` is negative.
    """

    def __init__(self, seed: int | None, dtype: Any, name: str, param: dict[str, Any]) -> None:
        super().__init__()
        seed = 0 if seed is None else seed
        checks.of_type("name", name, str, type(self).__name__)
        checks.non_negative_int("seed", seed, name)
        own = self.__dict__
        own["_name"], own["_seed"], own["_dtype"] = name, seed, dtype
        own["_generator"] = seeded(seed) if seed else None
        own["_parameters"] = {
            k: v for k, v in param.items() if k != "self" and not k.startswith("_")
        }
        self._reset_parameters()
        if "distribution" not in own["_parameters"]:
            values = own["_parameters"].get("param_dict", {})
            own["parameter_type"] = conditions.common_dtype(values, dtype)
            own["_batch_shape"] = conditions.batch_shape(values)
            own["_is_scalar_batch"] = conditions.is_scalar_batch(values)
            own["_broadcast_shape"] = own["_batch_shape"]

    # -- what it is --

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed; 0 stands for the default stream."""
        return self._seed

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with."""
        return self._parameters

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters are numbers."""
        return self._is_scalar_batch

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The common shape of the parameters; None where one was not given."""
        return self._batch_shape

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of one sample; None where a parameter was not given."""
        return self._broadcast_shape

    # -- parameters --

    def _reset_parameters(self) -> None:
        # Not registered: the attributes of a subclass are.
        self.__dict__["default_parameters"] = []
        self.__dict__["parameter_names"] = []

    def _add_parameter(self, value: Any, name: str) -> Any:
        """Take a parameter in and give it as a Tensor; None stays."""
        tensor = None if value is None else conditions.as_tensor(value, self.parameter_type)
        self.default_parameters.append(tensor)
        self.parameter_names.append(name)
        return tensor

    def _check_param_type(self, *args: Any) -> Any:
        """Give the parameters of a call: as given, else as at the start; all of one shape.

        Raises:
            TypeError: one is no Tensor, was never given, or has another dtype than the first.
        """
        found: list[Any] = []
        for arg, name, default in zip(
            args, self.parameter_names, self.default_parameters, strict=False
        ):
            if arg is not None:
                self.checktensor(arg, name)
            elif default is None:
                raise located(
                    TypeError,
                    f"For '{self.name}', the type {name} must be subclass of Tensor. It can not be "
                    "None since it is not specified during initialization.",
                )
            found.append(default if arg is None else arg)
            if found[-1].dtype != found[0].dtype:
                raise located(
                    TypeError,
                    f"For '{self.name}', the dtype of {name} should be that of "
                    f"{self.parameter_names[0]}: {found[0].dtype}, but got {found[-1].dtype}.",
                )
        full = np.broadcast_shapes(*(tuple(v.shape) for v in found))
        found = [ops.cast(self._spread(v, full), self.parameter_type) for v in found]
        return found[0] if len(found) == 1 else tuple(found)

    def _spread(self, value: Any, shape: tuple[int, ...]) -> Any:
        return value if tuple(value.shape) == shape else ops.broadcast_to(value, shape)

    def checktensor(self, x: Any, name: str) -> Any:
        """Check that an argument is a Tensor; TypeError otherwise."""
        if not isinstance(x, Tensor):
            raise located(
                TypeError,
                f"For '{self.name}', the {name} must be a Tensor or Parameter: input type must be "
                f"a Tensor, but got {type(x).__name__}.",
            )
        return x

    def checktuple(self, x: Any, name: str) -> tuple[int, ...]:
        """Check that an argument is a tuple; TypeError otherwise."""
        if not isinstance(x, tuple):
            raise located(
                TypeError,
                f"For '{self.name}', the {name} must be a tuple, but got {type(x).__name__}.",
            )
        return x

    def _check_value(self, value: Any, name: str) -> Any:
        return self.checktensor(value, name)

    def _value(self, value: Any) -> Any:
        """Check a value and cast it to the distribution's dtype."""
        return ops.cast(self._check_value(value, "value"), self.dtype)

    def _others(self, **values: Any) -> tuple[Any, ...]:
        """Check the parameters of another distribution and cast them to those of this one."""
        return tuple(
            ops.cast(self._check_value(v, k), self.parameter_type) for k, v in values.items()
        )

    def _same_kind(self, dist: Any) -> None:
        """Check that the other distribution of a divergence is of this kind.

        Raises:
            ValueError: it is of another.
        """
        own = self._get_dist_type()
        if dist is None:
            raise located(
                ValueError, f"For '{own}', input dist must be a constant which is not None."
            )
        if dist != own:
            raise located(ValueError, f"Expected dist input is {own}, but got {dist}.")

    def _given(self, *pairs: tuple[Any, Any, str]) -> tuple[Any, ...]:
        """Give parameters as a call gave them, else as at the start."""
        return tuple(d if v is None else self.checktensor(v, n) for v, d, n in pairs)

    def _key(self) -> tuple[Any, Any]:
        """Give seed and offset of the next draw."""
        return draw(self.name, generator=_stream.get() or self._generator)

    def _describe(self, **values: Any) -> str:
        if self.is_scalar_batch:
            return ", ".join(f"{k.replace('_', ' ')} = {v}" for k, v in values.items())
        return f"batch_shape = {self._broadcast_shape}"

    # -- functions --

    def _missing(self, function: str) -> NotImplementedError:
        return located(
            NotImplementedError, f"{function} is not implemented for {self.name} distribution."
        )

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        """Compute a function by the first way that is open."""
        for way, finish in _WAYS[function]:
            if way.startswith("_"):
                method = getattr(self, way, None)
                if method is not None:
                    out = method(*args, **kwargs)
                    return out if finish is None else finish(out)
            elif finish is not None and any(hasattr(self, tail) for tail in _TAILS):
                return finish(self._call(way, *args, **kwargs))
        raise self._missing(function)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Compute a function by its name.

        Args:
            name: such as ``"log_prob"`` or ``"sample"``.
            *args: arguments of the method of that name.
            **kwargs: the same by name.

        Raises:
            NotImplementedError: the distribution has no such function.
        """
        if name in _WAYS:
            return self._call(name, *args, **kwargs)
        if name == "get_dist_type":
            # Cells that add parameters to every instruction add them to this one too.
            return self._get_dist_type()
        if name in _DIRECT:
            return getattr(self, f"_{name}")(*args, **kwargs)
        raise self._missing(str(name))

    def prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Probability density, or probability of a discrete value."""
        return self._call("prob", value, *args, **kwargs)

    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of `prob`."""
        return self._call("log_prob", value, *args, **kwargs)

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Probability of numbers up to a value."""
        return self._call("cdf", value, *args, **kwargs)

    def log_cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of `cdf`."""
        return self._call("log_cdf", value, *args, **kwargs)

    def survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Probability of numbers above a value."""
        return self._call("survival_function", value, *args, **kwargs)

    def log_survival(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Logarithm of `survival_function`."""
        return self._call("log_survival", value, *args, **kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Any:
        """Standard deviation."""
        return self._call("sd", *args, **kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """Variance."""
        return self._call("var", *args, **kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """Cross entropy with another distribution: its kind, and its parameters."""
        return self._call("cross_entropy", dist, *args, **kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """Kullback-Leibler divergence to another distribution: its kind, and its parameters."""
        return self._kl_loss(dist, *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """Mean."""
        return self._mean(*args, **kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Any:
        """Most likely value."""
        return self._mode(*args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """Entropy in nats."""
        return self._entropy(*args, **kwargs)

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        """Draw: a tuple of sizes, which stand before the parameters' own, then parameters."""
        return self._sample(*args, **kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> Any:
        """Give the parameters."""
        return self._get_dist_args(*args, **kwargs)

    def get_dist_type(self) -> str:
        """Give the kind, as `kl_loss` takes it."""
        return self._get_dist_type()

    def _kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("kl_loss")

    def _mean(self, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("mean")

    def _mode(self, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("mode")

    def _entropy(self, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("entropy")

    def _sample(self, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("sample")

    def _get_dist_args(self, *args: Any, **kwargs: Any) -> Any:
        raise self._missing("get_dist_args")

    def _get_dist_type(self) -> str:
        raise self._missing("get_dist_type")

    # -- names by which users' subclasses call ops --

    def cast_base(self, x: Any, dtype: Any) -> Any:
        """Cast."""
        return ops.cast(x, dtype)

    def exp_base(self, x: Any) -> Any:
        """Exponential."""
        return exp(x)

    def log_base(self, x: Any) -> Any:
        """Logarithm."""
        return log(x)

    def sq_base(self, x: Any) -> Any:
        """Square."""
        return ops.square(x)

    def sqrt_base(self, x: Any) -> Any:
        """Square root."""
        return ops.sqrt(x)

    def shape_base(self, x: Any) -> tuple[int, ...]:
        """Shape."""
        return tuple(x.shape)

    def dtype_base(self, x: Any) -> Any:
        """Element type."""
        return x.dtype

    def broadcast(self, x: Any, target: Any) -> Any:
        """Bring to the shape of another Tensor."""
        return self._spread(x, tuple(target.shape))


def given(seed: Any, dtype: Any, name: Any, **values: Any) -> dict[str, Any]:
    """Write down what a distribution was made with, as `Distribution` takes it."""
    return {**values, "seed": seed, "dtype": dtype, "name": name, "param_dict": values}
