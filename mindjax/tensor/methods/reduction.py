"""Tensor methods that reduce, accumulate or sort; each takes both faces' argument names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.ops import extremes, reduction, sorting, statistics
from mindjax.ops.arithmetic import add_ext
from mindjax.ops.cast import cast
from mindjax.ops.softmax import softmax

if TYPE_CHECKING:
    from mindjax.tensor import Tensor


class ReductionMethods:
    """Methods of the reduction family."""

    __slots__ = ()

    amax = reduction.amax
    amin = reduction.amin
    aminmax = reduction.aminmax
    nansum = reduction.nansum
    nanmean = reduction.nanmean
    cumprod = sorting.cumprod
    cummax = sorting.cummax
    cummin = sorting.cummin
    topk = sorting.topk
    top_k = sorting.topk

    def softmax(self, axis: int = -1, dtype: Any = None) -> Tensor:
        """Make exponentials that sum to 1 along an axis (MindSpore: ``Tensor.softmax``).

        Args:
            axis: the axis.
            dtype: dtype to cast to first.

        Returns:
            Tensor of the same shape.

        Raises:
            ValueError: there is no such axis.
        """
        return softmax(self, axis, dtype=dtype)

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        *,
        dim: Any = None,
        keepdim: Any = None,
    ) -> Tensor:
        """Sum over axes (MindSpore: ``Tensor.sum``).

        Args:
            axis: axes to sum over, all by default; also called ``dim``.
            dtype: element type of the result; Int64 by default for Bool, UInt8 and signed
                integers. A bool in this place is ``keepdim``.
            keepdims: whether reduced axes stay, with size 1; also called ``keepdim``.
            initial: number to add to the sum.

        Raises:
            ValueError: there is no such axis.
        """
        if axis is dtype is dim is keepdim is initial is None and keepdims is False:
            return reduction.sum_ext._dispatch(self)
        if isinstance(dtype, bool):
            keepdims, dtype = dtype, None
        axis, keepdims = _either(axis, dim), _either(keepdims, keepdim)
        out = reduction.sum_ext(self, axis, keepdims, dtype)
        return out if initial is None else add_ext(out, initial)

    def mean(
        self,
        axis: Any = None,
        keep_dims: Any = False,
        *,
        dim: Any = None,
        keepdim: Any = None,
        dtype: Any = None,
    ) -> Tensor:
        """Average over axes (MindSpore: ``Tensor.mean``).

        Args:
            axis: axes to average over, all by default; also called ``dim``.
            keep_dims: whether reduced axes stay, with size 1; also called ``keepdim``.
            dtype: element type to convert to first.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self if dtype is None else cast(self, as_dtype(dtype))
        return reduction.mean(x, _either(axis, dim), _either(keep_dims, keepdim))

    def prod(
        self,
        axis: Any = None,
        keep_dims: Any = False,
        dtype: Any = None,
        *,
        dim: Any = None,
        keepdim: Any = None,
    ) -> Tensor:
        """Multiply over axes (MindSpore: ``Tensor.prod``).

        Args:
            axis: axes to multiply over, all by default; also called ``dim``.
            keep_dims: whether reduced axes stay, with size 1; also called ``keepdim``.
            dtype: element type of the result.

        Raises:
            ValueError: there is no such axis.
        """
        return reduction.prod_ext(self, _either(axis, dim), _either(keep_dims, keepdim), dtype)

    def any(
        self, axis: Any = None, keep_dims: Any = False, *, dim: Any = None, keepdim: Any = None
    ) -> Tensor:
        """Tell whether any element is not zero (MindSpore: ``Tensor.any``).

        Args:
            axis: axes to reduce, all by default; also called ``dim``.
            keep_dims: whether reduced axes stay, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return reduction.any(x, _either(axis, dim), _either(keep_dims, keepdim))

    def all(
        self, axis: Any = None, keep_dims: Any = False, *, dim: Any = None, keepdim: Any = None
    ) -> Tensor:
        """Tell whether all elements are not zero (MindSpore: ``Tensor.all``).

        Args:
            axis: axes to reduce, all by default; also called ``dim``.
            keep_dims: whether reduced axes stay, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return reduction.all(x, _either(axis, dim), _either(keep_dims, keepdim))

    def max(self, *args: Any, **kwargs: Any) -> Any:
        """Take the largest element over axes (MindSpore: ``Tensor.max``).

        Args:
            args: ``axis`` and ``keepdims``. An int ``axis`` in this place, or the name ``dim``,
                gives the positions too.
            kwargs: ``axis``, ``keepdims``, ``initial``, ``where``, ``return_indices``; or ``dim``,
                ``keepdim``.

        Returns:
            Tensor, or Tensor and Int64 positions.

        Raises:
            TypeError: an argument is unknown.
            ValueError: there is no such axis.
        """
        return _extreme(True, self, args, kwargs)

    def min(self, *args: Any, **kwargs: Any) -> Any:
        """Take the smallest element over axes (MindSpore: ``Tensor.min``).

        Args:
            args: ``axis`` and ``keepdims``. An int ``axis`` in this place, or the name ``dim``,
                gives the positions too.
            kwargs: ``axis``, ``keepdims``, ``initial``, ``where``, ``return_indices``; or ``dim``,
                ``keepdim``.

        Returns:
            Tensor, or Tensor and Int64 positions.

        Raises:
            TypeError: an argument is unknown.
            ValueError: there is no such axis.
        """
        return _extreme(False, self, args, kwargs)

    def argmax(
        self, axis: Any = None, keepdims: Any = False, *, dim: Any = None, keepdim: Any = None
    ) -> Tensor:
        """Find the position of the largest element (MindSpore: ``Tensor.argmax``).

        Args:
            axis: axis, None for the flat Tensor; also called ``dim``.
            keepdims: whether the axis stays, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return extremes.argmax(x, _either(axis, dim), _either(keepdims, keepdim))

    def argmin(
        self, axis: Any = None, keepdims: Any = False, *, dim: Any = None, keepdim: Any = None
    ) -> Tensor:
        """Find the position of the smallest element (MindSpore: ``Tensor.argmin``).

        Args:
            axis: axis, None for the flat Tensor; also called ``dim``.
            keepdims: whether the axis stays, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return extremes.argmin(x, _either(axis, dim), _either(keepdims, keepdim))

    def argmax_with_value(
        self, axis: int | None = 0, keep_dims: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Find values and positions of the largest elements (MindSpore: ``argmax_with_value``).

        Args:
            axis: the axis; None means all elements, and gives 0 as position.
            keep_dims: whether the axis stays, with size 1.

        Raises:
            ValueError: there is no such axis.
        """
        if axis is None:
            return extremes.value_index(True, self, None, False, None, None)
        index, value = extremes.ArgMaxWithValue(axis, bool(keep_dims))(self)
        return value, index

    def argmin_with_value(
        self, axis: int | None = 0, keep_dims: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Find values and positions of the smallest elements (MindSpore: ``argmin_with_value``).

        Args:
            axis: the axis; None means all elements, and gives 0 as position.
            keep_dims: whether the axis stays, with size 1.

        Raises:
            ValueError: there is no such axis.
        """
        if axis is None:
            return extremes.value_index(False, self, None, False, None, None)
        index, value = extremes.ArgMinWithValue(axis, bool(keep_dims))(self)
        return value, index

    def var(
        self,
        axis: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        dim: Any = None,
        correction: Any = None,
        keepdim: Any = None,
    ) -> Tensor:
        """Take the variance over axes (MindSpore: ``Tensor.var``).

        Args:
            axis: axes to reduce, all by default; also called ``dim``.
            ddof: what is taken from the number of elements before dividing by it; also called
                ``correction``, then 1 by default.
            keepdims: whether reduced axes stay, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        return _moment(statistics.Var, self, axis, ddof, keepdims, dim, correction, keepdim)

    def std(
        self,
        axis: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        dim: Any = None,
        correction: Any = None,
        keepdim: Any = None,
    ) -> Tensor:
        """Take the standard deviation over axes (MindSpore: ``Tensor.std``).

        Args:
            axis: axes to reduce, all by default; also called ``dim``.
            ddof: what is taken from the number of elements before dividing by it; also called
                ``correction``, then 1 by default.
            keepdims: whether reduced axes stay, with size 1; also called ``keepdim``.

        Raises:
            ValueError: there is no such axis.
        """
        return _moment(statistics.Std, self, axis, ddof, keepdims, dim, correction, keepdim)

    def median(
        self, axis: Any = -1, keepdims: Any = False, *, dim: Any = None, keepdim: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Take the lower median along an axis (MindSpore: ``Tensor.median``).

        Args:
            axis: the axis; also called ``dim``.
            keepdims: whether the axis stays, with size 1; also called ``keepdim``.

        Returns:
            Medians and their Int64 positions.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return statistics.median(x, _either(axis, dim), _either(keepdims, keepdim))

    nanmedian = statistics.nanmedian

    def cumsum(self, axis: Any = None, dtype: Any = None, *, dim: Any = None) -> Tensor:
        """Add up along an axis (MindSpore: ``Tensor.cumsum``).

        Args:
            axis: the axis, None for the flat Tensor; also called ``dim``.
            dtype: element type of the result; by default the Tensor's, Int32 for narrower integers.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        axis = _either(axis, dim)
        if axis is None:
            x, axis = x.reshape((-1,)), 0
        # The sum is cast, not what is summed, other than in `ops.cumsum`.
        total = sorting.cumsum(x, axis)
        return total if dtype is None else cast(total, as_dtype(dtype))

    def logsumexp(
        self, dim: Any = None, keepdim: Any = False, *, axis: Any = None, keepdims: Any = None
    ) -> Tensor:
        """Take the logarithm of the sum of exponentials (MindSpore: ``Tensor.logsumexp``).

        Args:
            dim: axes to reduce; also called ``axis``.
            keepdim: whether reduced axes stay, with size 1; also called ``keepdims``.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return reduction.logsumexp(x, _either(dim, axis), _either(keepdim, keepdims))

    def count_nonzero(
        self, axis: Any = (), keep_dims: bool = False, dtype: Any = None, *, dim: Any = None
    ) -> Tensor:
        """Count the elements that are not zero (MindSpore: ``Tensor.count_nonzero``).

        Args:
            axis: axes to reduce, all by default; also called ``dim``.
            keep_dims: whether reduced axes stay, with size 1.
            dtype: element type of the result, Int32 by default.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        wanted = reduction.int32 if dtype is None else as_dtype(dtype)
        return reduction.count_nonzero(x, _either(axis, dim), keep_dims, wanted)

    def sort(
        self, axis: Any = -1, descending: bool = False, stable: bool = False, *, dim: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Sort along an axis; equal elements always keep their order (MindSpore: ``Tensor.sort``).

        Args:
            axis: the axis; also called ``dim``.
            descending: whether the largest come first.
            stable: whether equal elements must keep their order; they always do.

        Returns:
            Sorted Tensor and the Int32 positions that its elements had.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return sorting.sort(x, _either(axis, dim), descending)

    def argsort(
        self, axis: Any = -1, descending: bool = False, stable: bool = False, *, dim: Any = None
    ) -> Tensor:
        """Give the positions that sort along an axis (MindSpore: ``Tensor.argsort``).

        Args:
            axis: the axis; also called ``dim``.
            descending: whether the largest come first.
            stable: whether equal elements must keep their order; they always do.

        Raises:
            ValueError: there is no such axis.
        """
        x: Any = self
        return sorting.argsort(x, _either(axis, dim), descending)


def _either(value: Any, alias: Any) -> Any:
    """Give an argument under the name by which it was passed."""
    return value if alias is None else alias


def _moment(
    cls: Any, x: Any, axis: Any, ddof: Any, keepdims: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    other_face = dim is not None or correction is not None or keepdim is not None
    if other_face:
        ddof = 1 if correction is None else correction
    record = statistics.moments_record(cls, _either(axis, dim), ddof, _either(keepdims, keepdim))
    return record(x)


_AXIS_FACE = {"axis", "keepdims", "initial", "where", "return_indices"}


def _extreme(largest: bool, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Sort out the two faces of `max` and `min`: by int ``dim``, and by ``axis``."""
    name = "max" if largest else "min"
    function = extremes.max if largest else extremes.min
    by_dim = (args and type(args[0]) is int and kwargs.keys() <= {"keepdim"}) or "dim" in kwargs
    names = ("dim", "keepdim") if by_dim else ("axis", "keepdims")
    given = dict(zip(names, args, strict=False)) | kwargs
    unknown = given.keys() - (set(names) if by_dim else _AXIS_FACE)
    axis: Any = given.get(names[0])
    if unknown or len(args) > 2 or not isinstance(axis, int | tuple | list | None):
        raise located(
            TypeError,
            f"For 'Tensor.{name}', the arguments must be (dim, keepdim) or (axis, keepdims, *, "
            f"initial, where, return_indices), but got {args} and {sorted(kwargs)}.",
        )
    keep = given.get(names[1], False)
    if by_dim:
        return function(x, axis, keep)  # type: ignore[arg-type]
    options = {"initial": given.get("initial"), "where": given.get("where")}
    if given.get("return_indices", False):
        return function(x, axis, keep, **options)  # type: ignore[arg-type]
    if type(axis) is int:
        return function(x, axis, keep, **options)[0]
    reduce = reduction.amax if largest else reduction.amin
    return reduce(x, axis, keep, **options)  # type: ignore[arg-type]
