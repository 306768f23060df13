"""Functions on numpy arrays as ops: they run on the host while the program waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from mindjax.core import jax_private
from mindjax.core.errors import located, raised
from mindjax.core.handle import Tracer, current
from mindjax.core.primitive import Primitive


class HostCall(Primitive, register=False):
    """A function of numpy arrays as an op; it has no gradient.

    Fields: the function; shape and numpy dtype of each output; whether the output is a tuple; a
    name for errors; whether it must run in program order even if nothing uses it.
    """

    own_executable: ClassVar[bool] = True

    function: Callable[..., Any]
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    several: bool
    owner: str
    ordered: bool = False

    def compute(self, *arrays: Any) -> Any:
        """Call the function when the program comes to it."""
        shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in self.outputs]

        def run(*values: Any) -> list[np.ndarray[Any, Any]]:
            try:
                return self._checked(self.function(*(np.asarray(v) for v in values)))
            except Exception as error:
                # The user's own error passes as it is.
                error.mindjax_located = True  # type: ignore[attr-defined]
                raised.append(error)
                raise

        if self.concrete and not any(isinstance(a, Tracer) for a in arrays):
            now = [jnp.asarray(a) for a in run(*arrays)]
            return tuple(now) if self.several else now[0]
        given = [_without_gradient(v, self.owner) for v in arrays]
        if self.ordered:
            out = io_callback(run, shapes, *given, ordered=True)
        else:
            out = jax.pure_callback(run, shapes, *given, vmap_method="sequential")
        return tuple(out) if self.several else out[0]

    def _checked(self, result: Any) -> list[np.ndarray[Any, Any]]:
        """Bring a result to the declared shapes and dtypes.

        Raises:
            ValueError: there are not as many outputs, or one has not as many elements.
        """
        given = list(result) if self.several and isinstance(result, tuple | list) else [result]
        if len(given) != len(self.outputs):
            raise located(
                ValueError,
                f"For '{self.owner}', {len(self.outputs)} outputs were declared, but the function "
                f"gave {len(given)}.",
            )
        arrays = []
        for value, (shape, dtype) in zip(given, self.outputs, strict=True):
            array = np.asarray(value)
            if array.size != int(np.prod(shape, dtype=np.int64)):
                raise located(
                    ValueError,
                    f"For '{self.owner}', an output of shape {shape} was declared, but the "
                    f"function gave {array.shape}.",
                )
            arrays.append(np.asarray(array.reshape(shape).astype(dtype, copy=False), order="C"))
        return arrays


class HostCallNow(HostCall, register=False):
    """A function of numpy arrays that is called at once, outside of any program."""

    concrete: ClassVar[bool] = True


def host_call(calls: dict[bool, HostCall], *inputs: Any) -> Any:
    """Run a host function: at once where nothing is traced, else as part of the program.

    Args:
        calls: the op by whether it is called at once.
        inputs: Tensors.

    Returns:
        What the op gives.
    """
    return calls[current.frame is None and not jax_private.tracing()](*inputs)


def host_calls(*fields: Any) -> dict[bool, HostCall]:
    """Make both ops of a host function, as `host_call` takes them.

    Args:
        fields: those of `HostCall`.
    """
    return {True: HostCallNow(*fields), False: HostCall(*fields)}


def _without_gradient(value: Any, owner: str) -> Any:
    """Give a value through which no gradient may be asked for."""

    @jax.custom_vjp
    def same(x: Any) -> Any:
        return x

    def forward(x: Any) -> Any:
        raise located(
            RuntimeError,
            f"For '{owner}', no backward pass is defined, but a gradient is asked for: give "
            "'bprop', or put ops.stop_gradient around its inputs.",
        )

    same.defvjp(forward, lambda residuals, cotangent: (cotangent,))
    return jax.lax.stop_gradient(same(value))
