"""The base of bijectors: calling conventions and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindjax.ops as ops
from mindjax._checkparam import check_type_name
from mindjax.core import checks
from mindjax.core.dtype import float_type
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.probability import conditions
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

_FUNCTIONS = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")


class Bijector(Cell):
    """The base of bijectors (MindSpore: ``nn.probability.bijector.Bijector``).

    Every function is a method, ``exp.forward(x)``, and an instruction, ``exp("forward", x)``, which
    in GRAPH_MODE runs as one compiled program; called with a distribution a bijector gives the
    distribution of its values. A subclass defines ``_forward``, ``_inverse``,
    ``_forward_log_jacobian`` and ``_inverse_log_jacobian``.

    Args:
        is_constant_jacobian: whether the function is linear.
        is_injective: whether no value occurs twice.
        name: of the bijector.
        dtype: of the values; None for any one of floats.
        param: what the subclass was made with, and as ``"param_dict"`` the parameters alone.

    Raises:
        TypeError: an argument has the wrong type.
    """

    def __init__(
        self,
        is_constant_jacobian: bool = False,
        is_injective: bool = True,
        name: str | None = None,
        dtype: Any = None,
        param: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        checks.of_type("name", name, str, type(self).__name__)
        label = name or type(self).__name__
        checks.of_type("is_constant_jacobian", is_constant_jacobian, bool, label)
        checks.of_type("is_injective", is_injective, bool, label)
        if dtype is not None:
            check_type_name("dtype", dtype, float_type, type(self).__name__)
        own = self.__dict__
        own["_name"], own["_dtype"] = name, dtype
        own["_parameters"] = {
            k: v
            for k, v in (param or {}).items()
            if k not in ("param", "self") and not k.startswith("_")
        }
        values = own["_parameters"].get("param_dict")
        own["_batch_shape"] = None if values is None else conditions.batch_shape(values)
        own["_is_scalar_batch"] = values is not None and conditions.is_scalar_batch(values)
        own["_is_constant_jacobian"] = is_constant_jacobian
        own["_is_injective"] = is_injective
        own["default_parameters"], own["parameter_names"] = [], []
        own["common_dtype"] = None

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the values; None for any one of floats."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the bijector was made with."""
        return self._parameters

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the function is linear."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether no value occurs twice."""
        return self._is_injective

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The common shape of the parameters."""
        return self._batch_shape

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all parameters are numbers."""
        return self._is_scalar_batch

    def _add_parameter(self, value: Any, name: str) -> Any:
        """Take a parameter in and give it as a Tensor of floats.

        Raises:
            TypeError: it is a bool, None or no float, or has another dtype than the others.
        """
        if isinstance(value, bool) or value is None:
            raise located(TypeError, f"{name} cannot be type {type(value)}")
        tensor = value if isinstance(value, Parameter) else Tensor(value)
        if self.dtype is not None and tensor.dtype != self.dtype:
            raise located(
                TypeError,
                f"{name} should have the same dtype as the bijector's dtype {self.dtype}, but got "
                f"{tensor.dtype}.",
            )
        if self.common_dtype not in (None, tensor.dtype):
            raise located(
                TypeError,
                f"{name} should have the same dtype as other arguments, but got {tensor.dtype} and "
                f"{self.common_dtype}.",
            )
        check_type_name(f"dtype of {name}", tensor.dtype, float_type, type(self).__name__)
        self.__dict__["common_dtype"] = tensor.dtype
        self.default_parameters.append(value)
        self.parameter_names.append(name)
        return tensor

    def _check_value(self, value: Any, name: str) -> Any:
        if not isinstance(value, Tensor):
            raise located(
                TypeError,
                f"For {name}, input type must be a Tensor or Parameter, but got "
                f"{type(value).__name__}.",
            )
        return value

    def _check_value_dtype(self, value: Any) -> Any:
        """Check that a value is a Tensor of floats, or of the bijector's dtype.

        Raises:
            TypeError: it is not.
        """
        self._check_value(value, "input value of bijector")
        wrong = not conditions.is_float(value.dtype) or self.dtype not in (None, value.dtype)
        if wrong:
            raise located(
                TypeError,
                "For input value of bijector, the type must be or be subclass of "
                f"{self.dtype or 'Float'}, but got {value.dtype}",
            )
        return value

    def cast_param_by_value(self, value: Any, para: Any) -> Any:
        """Cast a parameter to a value's dtype.

        Args:
            value: Tensor.
            para: Tensor.
        """
        return ops.cast(para, value.dtype)

    def shape_mapping(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for values of a shape.

        Args:
            shape: of the values.
        """
        return np.broadcast_shapes(shape, self.batch_shape or ())

    def forward(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the function."""
        return self._forward(value, *args, **kwargs)

    def inverse(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the inverse."""
        return self._inverse(value, *args, **kwargs)

    def forward_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the logarithm of the derivative's size."""
        return self._forward_log_jacobian(value, *args, **kwargs)

    def inverse_log_jacobian(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the logarithm of the size of the inverse's derivative."""
        return self._inverse_log_jacobian(value, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute a function by its name, or give a transformed distribution."""
        from mindjax.nn.probability.distribution import Distribution, TransformedDistribution

        if args and isinstance(args[0], Distribution):
            return TransformedDistribution(self, args[0])
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Compute a function by its name.

        Args:
            name: ``"forward"``, ``"inverse"``, ``"forward_log_jacobian"`` or
                ``"inverse_log_jacobian"``.
            *args: the value.
            **kwargs: the value by name.

        Raises:
            Exception: there is no such function.
        """
        if name not in _FUNCTIONS:
            raise located(Exception, f"Invalid name: must be one of {_FUNCTIONS}, but got {name}.")
        return getattr(self, name)(*args, **kwargs)

    def _describe(self, **values: Any) -> str:
        if self.is_scalar_batch:
            return ", ".join(f"{k} = {v}" for k, v in values.items())
        return f"batch_shape = {self.batch_shape}"


def given(name: str, **values: Any) -> dict[str, Any]:
    """Write down what a bijector was made with, as `Bijector` takes it."""
    return {**values, "name": name, "param_dict": values}
