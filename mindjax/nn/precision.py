"""What a Cell computes in, and whether the backward pass computes it again."""

from __future__ import annotations

from typing import Any, Self

from mindjax.core import checks
from mindjax.core.dtype import bfloat16, float16, float32
from mindjax.core.errors import located
from mindjax.core.partition import Again
from mindjax.core.precision import KINDS, MixedPrecisionType
from mindjax.tensor.parameter import changed
from mindjax.tensor.tensor import Tensor

_FLAGS = {"fp16": float16, "fp32": float32, "bf16": bfloat16}
_PARALLEL = (
    "mp_comm_recompute",
    "parallel_optimizer_comm_recompute",
    "recompute_slice_activation",
)


class PrecisionMixin:
    """Mixed precision and recomputation of a Cell.

    A Cell's ``_cast`` is the dtype that its inputs and Parameters are cast to, or the `OpLists`
    that its ops follow; ``_cast_out`` is the dtype that its outputs are cast to.
    """

    _flags: dict[str, Any]

    def to_float(self, dst_type: Any) -> Self:
        """Compute in another precision: inputs and Parameters are cast on entry.

        Args:
            dst_type: Float16, BFloat16 or Float32.

        Returns:
            The Cell itself.

        Raises:
            ValueError: any other dtype.
        """
        if dst_type not in _FLAGS.values():
            raise located(
                ValueError,
                "For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or "
                f"mstype.bfloat16, but got type: {type(dst_type)} and value: {dst_type}.",
            )
        flags = {name: dtype is dst_type for name, dtype in _FLAGS.items()}
        self.add_flags_recursive(**flags)  # type: ignore[attr-defined]
        return self

    def _follow_flags(self, flags: dict[str, Any]) -> None:
        for name, dtype in _FLAGS.items():
            if flags.get(name):
                self.__dict__["_cast"] = dtype
                changed()

    @property
    def mixed_precision_type(self) -> MixedPrecisionType | None:
        """The precision that was set, None without."""
        return KINDS.get(self.__dict__["_cast"])

    def get_mixed_precision_type(self) -> MixedPrecisionType:
        """Give the precision that was set, ``NOTSET`` without."""
        return self.mixed_precision_type or MixedPrecisionType.NOTSET

    def set_mixed_precision_type(self, arg0: MixedPrecisionType) -> None:
        """Set the precision of this Cell alone.

        Args:
            arg0: one of `MixedPrecisionType`.

        Raises:
            TypeError: something else.
        """
        dtypes = {kind: dtype for dtype, kind in KINDS.items()}
        if arg0 not in (*dtypes, MixedPrecisionType.NOTSET):
            raise located(
                TypeError,
                "For 'set_mixed_precision_type', the argument must be NOTSET, FP16, FP32 or BF16 "
                f"of MixedPrecisionType, but got {arg0!r}.",
            )
        self.__dict__["_cast"] = dtypes.get(arg0)
        changed()

    def cast_inputs(self, inputs: tuple[Any, ...], dst_type: Any) -> tuple[Any, ...]:
        """Cast floating-point Tensors among the inputs.

        Args:
            inputs: Tensors or nested tuples of them.
            dst_type: floating-point dtype.

        Returns:
            The inputs, cast.
        """
        return tuple(cast_floats(i, dst_type) for i in inputs)

    def set_boost(self, boost_type: str) -> Self:
        """Mark this Cell and those in it for an algorithm of `mindspore.boost`.

        Args:
            boost_type: ``"less_bn"``. The mark is a flag; the original's compiler leaves out some
                normalizations of residual networks by it, here all are computed.

        Returns:
            The Cell itself.

        Raises:
            ValueError: another algorithm.
        """
        if boost_type != "less_bn":
            raise located(
                ValueError,
                "For 'set_boost', the argument 'boost_type' must be 'less_bn', but got "
                f"{boost_type}.",
            )
        self.add_flags_recursive(less_bn=True)  # type: ignore[attr-defined]
        return self

    def recompute(
        self,
        *,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Any = None,
        **kwargs: Any,
    ) -> None:
        """Let the backward pass compute this Cell's inner values again, so that none are kept.

        Args:
            use_reentrant: which of two mechanisms the original uses; here there is one.
            output_recompute: whether the output is computed again as well; the backward pass keeps
                what the ops that take it keep.
            early_stop: whether computing again stops early; XLA drops what is not needed.
            context_fn: gives contexts for the two runs; taken with ``use_reentrant=True`` only,
                where it has no effect.
            **kwargs: for parallel training. ``mp_comm_recompute=False`` keeps the results of
                operators whose strategy adds parts up on several devices, so that the backward
                pass does not add them up again. ``parallel_optimizer_comm_recompute=True`` keeps
                the shares of Parameters that are shared out, and gathers them again.
                ``recompute_slice_activation`` has no effect.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: another keyword.
            NotImplementedError: ``context_fn`` is given with ``use_reentrant=False``.
        """
        for name, value in (
            ("use_reentrant", use_reentrant),
            ("output_recompute", output_recompute),
            ("early_stop", early_stop),
        ):
            checks.boolean(name, value, "recompute")
        for name, value in kwargs.items():
            if name not in _PARALLEL:
                raise located(
                    ValueError,
                    f"For 'recompute', keyword '{name}' is not recognized! the key kwargs must be "
                    f"{', '.join(map(repr, _PARALLEL))}",
                )
            checks.boolean(name, value, "recompute")
        if context_fn is not None and (output_recompute or not use_reentrant):
            raise located(
                NotImplementedError,
                "For 'recompute', the 'context_fn' is not supported: enter the contexts inside the "
                "Cell's construct, which runs in both passes.",
            )
        if kwargs.get("parallel_optimizer_comm_recompute", False):
            for parameter in self.get_parameters():  # type: ignore[attr-defined]
                parameter.parallel_optimizer_comm_recompute = True
        self.__dict__["_again"] = Again(keeps_sums=not kwargs.get("mp_comm_recompute", True))
        changed()


def cast_floats(value: Any, dtype: Any) -> Any:
    """Cast the floating-point Tensors in a tree of tuples, lists and dicts.

    Args:
        value: Tensor, tuple, list, dict of these, or anything else, which stays.
        dtype: floating-point dtype.
    """
    if isinstance(value, Tensor):
        return value.astype(dtype) if value.dtype.kind == "float" else value
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(cast_floats(v, dtype) for v in value)
    if type(value) is dict:
        return {k: cast_floats(v, dtype) for k, v in value.items()}
    return value
