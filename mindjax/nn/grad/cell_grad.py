"""Products of a function's Jacobian with vectors, as Cells."""

from __future__ import annotations

from typing import Any

from mindjax.autodiff.products import jvp, vjp
from mindjax.core.errors import located
from mindjax.nn.cell import Cell


class _Product(Cell):
    """What both share: a function, and a vector behind its inputs."""

    def __init__(self, fn: Any) -> None:
        super().__init__()
        if not callable(fn):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the 'fn' must be a Cell or a function, but got "
                f"{type(fn).__name__}.",
            )
        self.fn = fn

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        if len(args) < 2:
            raise located(
                TypeError,
                f"For '{self.cls_name}', the inputs must be those of the function and a vector, "
                f"but got {len(args)}.",
            )
        return args[:-1], args[-1]


class Jvp(_Product):
    """The Jacobian times a vector of input tangents (MindSpore: ``nn.Jvp``).

    Args:
        fn: Cell or function of Tensors.

    Raises:
        TypeError: it is neither.
    """

    def construct(self, *args: Any) -> Any:
        """Give the function's output and its directional derivative.

        Args:
            *args: the function's inputs, then the direction: a Tensor for one input, a tuple for
                several.
        """
        inputs, v = self._split(args)
        return jvp(self.fn, inputs[0] if len(inputs) == 1 else inputs, v)


class Vjp(_Product):
    """A vector of output weights times the Jacobian (MindSpore: ``nn.Vjp``).

    Args:
        fn: Cell or function of Tensors.

    Raises:
        TypeError: it is neither.
    """

    def construct(self, *args: Any) -> Any:
        """Give the function's output and the gradients of its inputs.

        Args:
            *args: the function's inputs, then the weights of its output.

        Returns:
            The output, and the gradient of the only input or a tuple of them.
        """
        inputs, v = self._split(args)
        out, pull = vjp(self.fn, *inputs)
        found = pull(v)
        single = len(inputs) == 1 and isinstance(found, tuple)
        return out, found[0] if single else found
