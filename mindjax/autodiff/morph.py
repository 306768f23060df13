"""A user's function as an operator, with the user's gradient if one is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax.autodiff.custom import with_bprop
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive


class Morph(Primitive):
    """A user's function in place of an operator (MindSpore: ``ops.Morph``).

    It works in PYNATIVE too, where the original has none.

    Args:
        fn: function of Tensors.
        infer_shape: ``infer_shape(*shapes)`` gives the shape of the result, or a tuple of such.
        infer_dtype: ``infer_dtype(*dtypes)`` gives its dtype, or a tuple of such.
        bprop_fn: ``bprop_fn(*inputs, out, dout)`` gives one gradient an input; None for that of
            ``fn``.

    Raises:
        TypeError: one of them is no function.
    """

    fn: Callable[..., Any]
    infer_shape: Callable[..., Any]
    infer_dtype: Callable[..., Any]
    bprop_fn: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        for name in ("fn", "infer_shape", "infer_dtype"):
            if not callable(getattr(self, name)):
                raise located(
                    TypeError,
                    f"For 'Morph', the '{name}' must be a function, but got "
                    f"'{type(getattr(self, name)).__name__}'.",
                )
        if self.bprop_fn is not None and not callable(self.bprop_fn):
            raise located(
                TypeError,
                "For 'Morph', the 'bprop_fn' must be a function or None, but got "
                f"'{type(self.bprop_fn).__name__}'.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Run the function.

        Raises:
            ValueError: the result has another shape than ``infer_shape`` says.
            TypeError: it has another dtype than ``infer_dtype`` says.
        """
        if self.bprop_fn is None:
            out = self.fn(*inputs)
        else:
            out = with_bprop(self.fn, self.bprop_fn, inputs, owner="Morph")
        results = out if isinstance(out, tuple) else (out,)
        tensors = [x for x in inputs if hasattr(x, "shape")]
        shapes = self.infer_shape(*(list(x.shape) for x in tensors))
        dtypes = self.infer_dtype(*(x.dtype for x in tensors))
        nested = isinstance(out, tuple)
        told = zip(shapes if nested else (shapes,), dtypes if nested else (dtypes,), strict=True)
        for value, (shape, dtype) in zip(results, told, strict=True):
            if tuple(value.shape) != tuple(shape):
                raise located(
                    ValueError,
                    f"For 'Morph', the result's shape must be {tuple(shape)}, which 'infer_shape' "
                    f"gives, but got {tuple(value.shape)}.",
                )
            if value.dtype != dtype:
                raise located(
                    TypeError,
                    f"For 'Morph', the result's dtype must be {dtype}, which 'infer_dtype' gives, "
                    f"but got {value.dtype}.",
                )
        return out
