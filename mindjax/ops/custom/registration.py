"""Registration records of kernels: what users write down about their operators' kernels.

The records are checked and kept, as the original does. Here a kernel's dtypes are those of the
arrays that it gets, so the records choose nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, ClassVar

from mindjax.core.errors import located

_FORMATS: dict[str, tuple[str, ...]] = {
    "None": ("",),
    "Default": ("DefaultFormat",),
    "5HD": ("NC1HWC0",),
    "FracZ": ("FRACTAL_Z",),
    "FracNZ": ("FRACTAL_NZ",),
    "C1HWNCoC0": ("C1HWNCoC0",),
    "NCHW": ("NCHW",),
    "NHWC": ("NHWC",),
    "HWCN": ("HWCN",),
    "NDHWC": ("NDHWC",),
    "ChannelLast": ("ChannelLast",),
    "Default_Tuple": ("DefaultFormat", "tuple"),
    "Default_List": ("DefaultFormat", "list"),
    "NCDHW": ("NCDHW",),
    "NDC1HWC0": ("NDC1HWC0",),
    "NC1HWC0": ("NC1HWC0",),
    "DHWCN": ("DHWCN",),
    "FRACTAL_Z_3D": ("FRACTAL_Z_3D",),
    "FracZNLSTM": ("FRACTAL_ZN_LSTM",),
    "FracZNRNN": ("FRACTAL_ZN_RNN",),
    "ND_RNNBIAS": ("ND_RNN_BIAS",),
}
_COMMON = (
    "None Default 5HD FracZ FracNZ C1HWNCoC0 NCHW NHWC HWCN NDHWC ChannelLast Default_Tuple "
    "Default_List"
)
_BYTE = f"{_COMMON} NCDHW NDC1HWC0 NC1HWC0"
_REAL = f"{_COMMON} NCDHW DHWCN NDC1HWC0 FRACTAL_Z_3D FracZNLSTM FracZNRNN ND_RNNBIAS"
_DTYPES: dict[str, tuple[str, str]] = {
    "None": ("", "None Default"),
    "BOOL": ("bool", _COMMON),
    "I8": ("int8", _BYTE),
    "U8": ("uint8", _BYTE),
    "I16": ("int16", _COMMON),
    "U16": ("uint16", _COMMON),
    "I32": ("int32", f"{_COMMON} NDC1HWC0 NCDHW"),
    "U32": ("uint32", _COMMON),
    "I64": ("int64", _COMMON),
    "U64": ("uint64", _COMMON),
    "F16": ("float16", _REAL),
    "F32": ("float32", _REAL),
    "F64": ("float64", _COMMON),
    "BF16": ("bfloat16", _REAL),
    "C64": ("complex64", "Default Default_Tuple"),
    "C128": ("complex128", "Default Default_Tuple"),
}


class _Combinations(type):
    """Class whose attributes are the combinations of dtype and format."""

    def __getattr__(cls, name: str) -> tuple[str, ...]:
        kind, _, layout = name.partition("_")
        if kind in _DTYPES and layout in _DTYPES[kind][1].split():
            return (_DTYPES[kind][0], *_FORMATS[layout])
        raise AttributeError(f"'DataType' has no combination '{name}'")

    def __dir__(cls) -> list[str]:
        return [f"{kind}_{part}" for kind, (_, parts) in _DTYPES.items() for part in parts.split()]


class DataType(metaclass=_Combinations):
    """Combinations of dtype and format, such as ``F32_Default`` (MindSpore: ``ops.DataType``)."""


def _text(owner: str, name: str, value: Any) -> Any:
    if not isinstance(value, str):
        raise located(TypeError, f"For '{owner}', the '{name}' must be str, but got {value!r}.")
    return value


class RegOp:
    """Base of registration records.

    Args:
        op_name: name of the operator.

    Raises:
        ValueError: the name is no string, or empty.
    """

    _further: ClassVar[dict[str, Any]] = {}

    def __init__(self, op_name: str) -> None:
        if not isinstance(op_name, str) or not op_name.strip():
            raise located(
                ValueError,
                f"For '{type(self).__name__}', op name value must be string, and not "
                f"empty, but got {op_name!r}.",
            )
        self.op_name = op_name
        self.inputs: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        self.attr_: list[dict[str, Any]] = []
        self.fusion_type_ = ""
        self.dtype_format_: list[tuple[Any, ...]] = []
        self._more = dict(self._further)

    def _entry(self, group: list[dict[str, Any]], entry: dict[str, Any], more: Any) -> Any:
        """Check and keep one input, output or attribute."""
        kept = {key: value for key, value in entry.items() if value is not None}
        for key in ("name", "paramType", "type"):
            if key in kept:
                _text(type(self).__name__, key, kept[key])
        index = kept.get("index")
        if "index" in entry and (isinstance(index, bool) or not isinstance(index, int | None)):
            raise located(
                TypeError,
                f"For '{type(self).__name__}', the 'index' must be int, but got {index!r}.",
            )
        group.append({**kept, **more})
        return self

    def fusion_type(self, fusion_type: str) -> Any:
        """Note how the kernel is fused.

        Args:
            fusion_type: name of a kind of fusion.
        """
        self.fusion_type_ = _text(type(self).__name__, "fusion_type", fusion_type)
        return self

    def dtype_format(self, *args: Any) -> Any:
        """Add a combination that the kernel takes.

        Args:
            args: a `DataType` for each input and output.

        Raises:
            ValueError: there are more or fewer than inputs and outputs.
        """
        count = len(self.inputs) + len(self.outputs)
        if len(args) != count:
            raise located(
                ValueError,
                f"For '{type(self).__name__}', The size of 'args' must be equal to the sum of "
                f"input tensors and output tensors, but got {len(args)} vs {count}",
            )
        self.dtype_format_.append(tuple(args))
        return self

    def get_op_info(self) -> dict[str, Any]:
        """Give the record as a dict."""
        return {
            "op_name": self.op_name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "attr": self.attr_,
            "fusion_type": self.fusion_type_,
            "dtype_format": self.dtype_format_,
            **self._more,
        }


class CpuRegOp(RegOp):
    """Record of a kernel on CPUs (MindSpore: ``ops.CpuRegOp``)."""

    _further: ClassVar[dict[str, Any]] = {"imply_type": "CPU"}

    def input(
        self, index: Any = None, name: Any = None, param_type: Any = None, **kwargs: Any
    ) -> Any:
        """Add an input.

        Args:
            index: its number.
            name: its name.
            param_type: ``"required"``, ``"optional"`` or ``"dynamic"``.
            kwargs: more, which is kept.
        """
        entry = {"index": index, "name": name, "paramType": param_type}
        return self._entry(self.inputs, entry, kwargs)

    def output(
        self, index: Any = None, name: Any = None, param_type: Any = None, **kwargs: Any
    ) -> Any:
        """Add an output; arguments as of `input`."""
        entry = {"index": index, "name": name, "paramType": param_type}
        return self._entry(self.outputs, entry, kwargs)

    def attr(
        self, name: Any = None, value_type: Any = None, value: Any = None, **kwargs: Any
    ) -> Any:
        """Add an attribute.

        Args:
            name: its name.
            value_type: name of its type.
            value: the values that it may have.
            kwargs: more, which is kept.
        """
        return self._entry(self.attr_, {"name": name, "type": value_type, "value": value}, kwargs)


class AiCPURegOp(CpuRegOp):
    """Record of a kernel on the host part of an Ascend device (MindSpore: ``ops.AiCPURegOp``)."""

    _further: ClassVar[dict[str, Any]] = {"imply_type": "AiCPU"}


class AkgRegOp(RegOp):
    """Record of a kernel that the original's polyhedral compiler makes.

    Args:
        op_name: name of the operator.
        processor: what it runs on.
    """

    def __init__(self, op_name: str, processor: str) -> None:
        super().__init__(op_name)
        self._more = {"imply_type": "AKG", "processor": processor}

    def input(
        self, index: Any = None, name: Any = None, param_type: Any = None, **kwargs: Any
    ) -> Any:
        """Add an input; arguments as of `CpuRegOp.input`."""
        entry = {"index": index, "name": name, "paramType": param_type}
        return self._entry(self.inputs, entry, kwargs)

    def output(self, index: Any = None, name: Any = None, **kwargs: Any) -> Any:
        """Add an output; arguments as of `CpuRegOp.input`."""
        return self._entry(self.outputs, {"index": index, "name": name}, kwargs)

    def attr(
        self, name: Any = None, param_type: Any = None, value_type: Any = None, **kwargs: Any
    ) -> Any:
        """Add an attribute.

        Args:
            name: its name.
            param_type: ``"required"`` or ``"optional"``.
            value_type: name of its type.
            kwargs: more, which is kept.
        """
        entry = {"name": name, "paramType": param_type, "type": value_type}
        return self._entry(self.attr_, entry, kwargs)


class AkgAscendRegOp(AkgRegOp):
    """Record of a compiled kernel on Ascend devices (MindSpore: ``ops.AkgAscendRegOp``).

    Args:
        op_name: name of the operator.
    """

    def __init__(self, op_name: str) -> None:
        super().__init__(op_name, "AiCore")


class AkgGpuRegOp(AkgRegOp):
    """Record of a compiled kernel on GPUs (MindSpore: ``ops.AkgGpuRegOp``).

    Args:
        op_name: name of the operator.
    """

    def __init__(self, op_name: str) -> None:
        super().__init__(op_name, "CUDA")


class CustomRegOp(RegOp):
    """Record of the function of a `Custom` operator (MindSpore: ``ops.CustomRegOp``).

    Args:
        op_name: name of the operator.
    """

    def __init__(self, op_name: str = "Custom") -> None:
        super().__init__(op_name)
        self._more = {"target": ""}

    def input(
        self, index: Any = None, name: Any = None, param_type: Any = "required", **kwargs: Any
    ) -> Any:
        """Add an input; arguments as of `CpuRegOp.input`."""
        entry = {"index": index, "name": name, "paramType": param_type}
        return self._entry(self.inputs, entry, kwargs)

    def output(
        self, index: Any = None, name: Any = None, param_type: Any = "required", **kwargs: Any
    ) -> Any:
        """Add an output; arguments as of `CpuRegOp.input`."""
        entry = {"index": index, "name": name, "paramType": param_type}
        return self._entry(self.outputs, entry, kwargs)

    def attr(
        self,
        name: Any = None,
        param_type: Any = None,
        value_type: Any = None,
        default_value: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Add an attribute: what `Custom` is called with behind the Tensors.

        Args:
            name: its name.
            param_type: ``"required"`` or ``"optional"``.
            value_type: name of its type.
            default_value: its value where none is given.
            kwargs: more, which is kept.
        """
        entry = {
            "name": name,
            "paramType": param_type,
            "type": value_type,
            "defaultValue": default_value,
        }
        return self._entry(self.attr_, entry, kwargs)

    def target(self, target: str | None = None) -> Any:
        """Note the device.

        Args:
            target: ``"Ascend"``, ``"GPU"`` or ``"CPU"``.
        """
        self._more["target"] = "" if target is None else _text("CustomRegOp", "target", target)
        return self


class TBERegOp(RegOp):
    """Record of an Ascend kernel of the original's tensor engine (MindSpore: ``ops.TBERegOp``)."""

    _further: ClassVar[dict[str, Any]] = {
        "imply_type": "TBE",
        "async_flag": False,
        "binfile": "",
        "compute_cost": 10,
        "kernel": "",
        "partial_flag": False,
        "reshape_type": "",
        "dynamicRankSupport": False,
        "dynamicShapeSupport": False,
        "dynamicCompileStatic": False,
        "needCheckSupport": False,
        "dynamicFormat": False,
        "op_pattern": "",
        "real_input_index": [],
        "input_to_attr_index": [],
        "unknown_shape_formats": [],
    }

    def input(
        self,
        index: Any = None,
        name: Any = None,
        need_compile: Any = None,
        param_type: Any = None,
        shape: Any = None,
        value_depend: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Add an input.

        Args:
            index: its number.
            name: its name.
            need_compile: whether it takes part in compilation.
            param_type: ``"required"``, ``"optional"`` or ``"dynamic"``.
            shape: which shapes it may have.
            value_depend: whether the kernel depends on its values.
            kwargs: more, which is kept.
        """
        entry = {
            "index": index,
            "name": name,
            "need_compile": need_compile,
            "paramType": param_type,
            "shape": shape,
            "value_depend": value_depend,
        }
        return self._entry(self.inputs, entry, kwargs)

    def output(
        self,
        index: Any = None,
        name: Any = None,
        need_compile: Any = None,
        param_type: Any = None,
        shape: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Add an output; arguments as of `input`."""
        entry = {
            "index": index,
            "name": name,
            "need_compile": need_compile,
            "paramType": param_type,
            "shape": shape,
        }
        return self._entry(self.outputs, entry, kwargs)

    def attr(
        self,
        name: Any = None,
        param_type: Any = None,
        value_type: Any = None,
        value: Any = None,
        default_value: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Add an attribute.

        Args:
            name: its name.
            param_type: ``"required"`` or ``"optional"``.
            value_type: name of its type.
            value: the values that it may have.
            default_value: its value where none is given.
            kwargs: more, which is kept.
        """
        entry = {
            "name": name,
            "paramType": param_type,
            "type": value_type,
            "value": value,
            "defaultValue": default_value,
        }
        return self._entry(self.attr_, entry, kwargs)

    def _note(self, key: str, name: str, value: Any, kind: type) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise located(
                TypeError,
                f"For 'TBERegOp', the '{name}' must be {kind.__name__}, but got {value!r}.",
            )
        self._more[key] = value
        return self

    def async_flag(self, async_flag: bool = False) -> Any:
        """Note whether the kernel runs asynchronously."""
        return self._note("async_flag", "async_flag", async_flag, bool)

    def binfile_name(self, binfile_name: str) -> Any:
        """Note the kernel's file."""
        return self._note("binfile", "binfile_name", binfile_name, str)

    def compute_cost(self, compute_cost: int = 10) -> Any:
        """Note the kernel's cost."""
        return self._note("compute_cost", "compute_cost", compute_cost, int)

    def dynamic_compile_static(self, dynamic_compile_static: bool = False) -> Any:
        """Note whether shapes that change are compiled as fixed ones."""
        return self._note(
            "dynamicCompileStatic", "dynamic_compile_static", dynamic_compile_static, bool
        )

    def dynamic_rank_support(self, dynamic_rank_support: bool) -> Any:
        """Note whether the number of axes may change."""
        return self._note("dynamicRankSupport", "dynamic_rank_support", dynamic_rank_support, bool)

    def dynamic_shape(self, dynamic_shape: bool = False) -> Any:
        """Note whether shapes may change."""
        return self._note("dynamicShapeSupport", "dynamic_shape", dynamic_shape, bool)

    def input_to_attr_index(self, input_to_attr_index: Any) -> Any:
        """Note which inputs are attributes of the kernel."""
        return self._note("input_to_attr_index", "input_to_attr_index", input_to_attr_index, list)

    def is_dynamic_format(self, is_dynamic_format: bool = False) -> Any:
        """Note whether formats may change."""
        return self._note("dynamicFormat", "is_dynamic_format", is_dynamic_format, bool)

    def kernel_name(self, kernel_name: str) -> Any:
        """Note the kernel's name."""
        return self._note("kernel", "kernel_name", kernel_name, str)

    def need_check_supported(self, need_check_supported: bool = False) -> Any:
        """Note whether the kernel is asked if it takes an input."""
        return self._note("needCheckSupport", "need_check_supported", need_check_supported, bool)

    def op_pattern(self, pattern: str | None = None) -> Any:
        """Note the kernel's pattern of formats."""
        return self._note("op_pattern", "pattern", "" if pattern is None else pattern, str)

    def partial_flag(self, partial_flag: bool = True) -> Any:
        """Note whether the kernel may be part of another."""
        return self._note("partial_flag", "partial_flag", partial_flag, bool)

    def real_input_index(self, real_input_index: Any) -> Any:
        """Note the order of the kernel's inputs."""
        return self._note("real_input_index", "real_input_index", real_input_index, list)

    def reshape_type(self, reshape_type: str) -> Any:
        """Note how the kernel pads axes."""
        return self._note("reshape_type", "reshape_type", reshape_type, str)

    def unknown_shape_formats(self, unknown_shape_formats: Any) -> Any:
        """Note the formats for shapes that change."""
        self._note("unknown_shape_formats", "unknown_shape_formats", unknown_shape_formats, list)
        # The original adds the whole list as one entry.
        self._more["unknown_shape_formats"] = [unknown_shape_formats]
        return self


REGISTERED: list[dict[str, Any]] = []
"""Records of `op_info_register`, in order."""


def _record(info: Any, owner: str) -> dict[str, Any]:
    """Read a record."""
    if isinstance(info, str):
        info = json.loads(info)
    if not isinstance(info, dict):
        raise located(
            TypeError, f"For '{owner}', the record must be a str or a dict, but got {info!r}."
        )
    return info


def op_info_register(op_info: Any) -> Callable[..., Any]:
    """Make a decorator that registers a kernel's record (MindSpore: ``ops.op_info_register``).

    Args:
        op_info: the record, as a dict or as JSON.

    Returns:
        The decorator; it gives a function that calls the kernel.

    Raises:
        TypeError: the record is neither.
    """
    REGISTERED.append(_record(op_info, "op_info_register"))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))

    return decorate


def custom_info_register(*reg_info: Any) -> Callable[..., Any]:
    """Make a decorator that binds records to a `Custom` operator's function.

    MindSpore: ``ops.custom_info_register``.

    Args:
        reg_info: records, each as a dict or as JSON.

    Returns:
        The decorator; it gives a function that calls the function, with the records in its
        ``reg_info``.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        call.reg_info = reg_info  # type: ignore[attr-defined]
        return call

    return decorate
