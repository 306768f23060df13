"""In-place Tensor methods: each computes with an op and writes the result into the Tensor.

They change the Tensor, what views it and what it views, and return it; the new value keeps the
Tensor's shape and dtype. Gradients follow the written value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindjax.core.dtype import promote_types
from mindjax.core.errors import located
from mindjax.core.random import Generator
from mindjax.ops import (
    addmm,
    cast,
    clamp,
    div,
    erfinv,
    exp,
    floor,
    floor_divide,
    log,
    masked_fill,
    mul,
    relu,
    remainder,
    sigmoid,
    sign,
    tanh,
)
from mindjax.ops.arithmetic import add_ext, sub_ext
from mindjax.ops.creation import full, full_like
from mindjax.ops.sampling import (
    draw,
    draw_bernoulli,
    draw_exponential,
    draw_integers,
    draw_normal,
    draw_uniform,
)
from mindjax.ops.scatter import (
    TensorScatterElements,
    index_fill,
    index_sum,
    index_write,
    masked_scatter,
)
from mindjax.ops.shape import broadcast_to, reshape, shape_of
from mindjax.ops.slicing import diagonal_scatter
from mindjax.ops.state import write
from mindjax.tensor.indexing import index_put

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _replace(x: Any, fresh: Any, op: str) -> Any:
    """Write a fresh result into a Tensor whose shape and dtype it must keep."""
    if shape_of(fresh) != x.value_shape:
        raise located(
            ValueError,
            f"For '{op}', the result has the shape {shape_of(fresh)}, which is not that of the "
            f"Tensor that is changed in place, {x.value_shape}.",
        )
    if fresh.dtype is not x.dtype:
        common = promote_types(x.dtype, fresh.dtype)
        if common is not x.dtype:
            raise located(
                TypeError,
                "Data type conversion is not supported for a 'Parameter', nor for the input tensor "
                f"of an in-place operator, so for '{op}' data type {x.dtype.name} cannot be "
                f"converted to data type {common.name} automatically.",
            )
        fresh = cast(fresh, x.dtype)
    return write(x, fresh)


def _inplace(name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    """Bind an op as a method that writes its result into its first argument."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _replace(self, op(self, *args, **kwargs), name)

    method.__name__ = name
    method.__qualname__ = f"InplaceMethods.{name}"
    method.__doc__ = f"Write what ``{name[:-1]}`` gives into the Tensor, and give the Tensor."
    return method


def _unless_one(alpha: Any) -> tuple[Any, ...]:
    return () if isinstance(alpha, int) and alpha == 1 else (alpha,)


class InplaceMethods:
    """Methods that change the Tensor and give it back."""

    __slots__ = ()

    mul_ = _inplace("mul_", mul)
    div_ = _inplace("div_", div)
    floor_divide_ = _inplace("floor_divide_", floor_divide)
    remainder_ = _inplace("remainder_", remainder)
    clamp_ = _inplace("clamp_", clamp)
    exp_ = _inplace("exp_", exp)
    log_ = _inplace("log_", log)
    floor_ = _inplace("floor_", floor)
    sign_ = _inplace("sign_", sign)
    erfinv_ = _inplace("erfinv_", erfinv)
    sigmoid_ = _inplace("sigmoid_", sigmoid)
    tanh_ = _inplace("tanh_", tanh)
    relu_ = _inplace("relu_", relu)
    addmm_ = _inplace("addmm_", addmm)
    masked_fill_ = _inplace("masked_fill_", masked_fill)
    masked_scatter_ = _inplace("masked_scatter_", masked_scatter)
    index_fill_ = _inplace("index_fill_", index_fill)
    index_add_ = _inplace("index_add_", index_sum)
    index_put_ = _inplace("index_put_", index_put)

    def add_(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add ``alpha * other``.

        Args:
            other: number, or Tensor that broadcasts to this one.
            alpha: number.

        Returns:
            This Tensor.

        Raises:
            TypeError: the common dtype is not this Tensor's.
            ValueError: ``other`` does not broadcast to this Tensor.
        """
        return _replace(self, add_ext(self, other, *_unless_one(alpha)), "add_")

    def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        """Subtract ``alpha * other``; as `add_`."""
        return _replace(self, sub_ext(self, other, *_unless_one(alpha)), "sub_")

    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Tensor:
        """Copy the elements of another Tensor into this one.

        Args:
            src: Tensor that broadcasts to this one; cast to its dtype.
            non_blocking: kept for the original's signature: copies never wait.

        Returns:
            This Tensor.

        Raises:
            ValueError: the shapes do not broadcast.
        """
        fresh = cast(broadcast_to(src, self.value_shape), self.dtype)
        return write(self, fresh)

    def fill_(self: Any, value: Any) -> Tensor:
        """Fill with a number or 0-d Tensor."""
        return write(self, full_like(self, value))

    def zero_(self: Any) -> Tensor:
        """Fill with zeros."""
        return write(self, full_like(self, 0))

    def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Tensor:
        """Fill the main diagonal of a matrix.

        Args:
            fill_value: number.
            wrap: must be False.

        Returns:
            This Tensor.

        Raises:
            NotImplementedError: ``wrap`` is True, or there are not two axes.
        """
        shape = self.value_shape
        if wrap or len(shape) != 2:
            raise located(
                NotImplementedError,
                f"For 'fill_diagonal_', only wrap=False and matrices are supported, but got "
                f"wrap={wrap} and shape {shape}: write with x[i, i] = value.",
            )
        diagonal = full((min(shape),), fill_value, dtype=self.dtype)
        return write(self, diagonal_scatter(self, diagonal))

    def index_copy_(self: Any, dim: int, index: Any, tensor: Any) -> Tensor:
        """Copy slices of a Tensor to the indices of an axis.

        Args:
            dim: the axis.
            index: integer vector.
            tensor: Tensor like this one, as long as ``index`` along the axis.

        Returns:
            This Tensor.
        """
        return _replace(self, index_write(self, dim, index, tensor), "index_copy_")

    def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Tensor:
        """Write elements at flat indices.

        Args:
            index: integer Tensor.
            source: Tensor with as many elements.
            accumulate: whether to add instead of replacing.

        Returns:
            This Tensor.
        """
        flat = index_put(
            reshape(self, (-1,)), (reshape(index, (-1,)),), reshape(source, (-1,)), accumulate
        )
        return _replace(self, reshape(flat, self.value_shape), "put_")

    def scatter_(
        self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
    ) -> Tensor:
        """Write single elements along an axis.

        Args:
            dim: the axis.
            index: integer Tensor of the same rank.
            src: Tensor not smaller than ``index``, or a number.
            value: number, in place of ``src``.
            reduce: None replaces, ``"add"`` adds, ``"multiply"`` multiplies.

        Returns:
            This Tensor.

        Raises:
            ValueError: ``reduce`` is unknown, or the shapes do not fit.
        """
        kinds = {None: "none", "none": "none", "add": "add", "multiply": "mul"}
        if reduce not in kinds:
            raise located(
                ValueError,
                f"For 'scatter_', 'reduce' must be 'add' or 'multiply', but got {reduce!r}.",
            )
        updates = value if src is None else src
        record = TensorScatterElements(dim, kinds[reduce])
        return _replace(self, record(self, index, updates), "scatter_")

    def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Tensor:
        """Add single elements along an axis; as ``mint.scatter_add``."""
        return _replace(self, TensorScatterElements(dim, "add")(self, index, src), "scatter_add_")

    def normal_(
        self: Any, mean: Any = 0, std: Any = 1, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with normal numbers.

        Args:
            mean: number.
            std: number.
            generator: stream; None takes the default one.

        Returns:
            This Tensor.
        """
        key = draw("normal_", generator=generator)
        return write(self, draw_normal(self.value_shape, self.dtype, mean, std, key))

    def uniform_(
        self: Any, from_: Any = 0, to: Any = 1, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with uniform numbers from [from_, to).

        Args:
            from_: lower bound.
            to: upper bound.
            generator: stream; None takes the default one.

        Returns:
            This Tensor.
        """
        key = draw("uniform_", generator=generator)
        return write(self, draw_uniform(self.value_shape, self.dtype, from_, to, key))

    def random_(
        self: Any, from_: int = 0, to: int | None = None, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with integers from [from_, to).

        Args:
            from_: smallest integer; the upper bound when it is the only one.
            to: integer above the largest; by default what the dtype holds exactly.
            generator: stream; None takes the default one.

        Returns:
            This Tensor.
        """
        if to is None:
            limit = _exact_limit(self.dtype)
            from_, to = (0, from_) if from_ else (0, limit)
        key = draw("random_", generator=generator)
        drawn = draw_integers("random_", from_, to, self.value_shape, None, key)
        return write(self, cast(drawn, self.dtype))

    def bernoulli_(self: Any, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill with ones with a probability, else zeros.

        Args:
            p: probability, a number or a Tensor that broadcasts to this one.
            generator: stream; None takes the default one.

        Returns:
            This Tensor.
        """
        return write(self, draw_bernoulli(self, p, draw("bernoulli_", generator=generator)))

    def exponential_(self: Any, lambd: Any = 1, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of the exponential distribution of rate ``lambd``."""
        key = draw("exponential_", generator=generator)
        return write(self, draw_exponential(self.value_shape, self.dtype, lambd, key))


def _exact_limit(dtype: Any) -> int:
    """Give the integer above the largest that random integers of a dtype reach."""
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
    if dtype.kind == "float":
        return 2 ** digits[dtype.name.lower()]
    return 2 ** min(63, dtype.bits - (dtype.kind == "int")) - (dtype.bits == 64)
