"""MindIR's names and MindJAX's primitives: a class has the name, its fields are attributes."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from mindjax import ops
from mindjax.core.dtype import Number, from_np
from mindjax.core.handle import Handle
from mindjax.core.primitive import PRIMITIVES, Primitive
from mindjax.mindir.schema import DTYPE_CODES, TYPE_IDS
from mindjax.mindir.values import DType, np_dtype
from mindjax.ops.bound import BoundPrimitive


class UnknownPrimitive(NotImplementedError):
    """A node names a primitive that MindJAX does not have, or uses it in an unknown way."""


class Form(NamedTuple):
    """How a primitive is called.

    Attributes:
        cls: the class.
        arity: number of inputs of a call.
        optional: how many of these, at the end, may be missing.
        fields: names of the attributes in the order of the constructor.
    """

    cls: type[Primitive]
    arity: int
    optional: int
    fields: tuple[str, ...]


# Attributes that MindIR names otherwise than the class's field: primitive -> {ours: MindIR's}.
RENAMED = {
    "Conv2D": {"data_format": "format"},
    "Conv3D": {"data_format": "format"},
    "Conv2DTranspose": {"data_format": "format"},
    "Conv2DBackpropInput": {"data_format": "format"},
    "MaxPool": {"data_format": "format"},
    "MaxPool3D": {"data_format": "format"},
    "AvgPool": {"data_format": "format"},
    "AvgPool3D": {"data_format": "format"},
    "BatchNorm": {"data_format": "format"},
    "BiasAdd": {"data_format": "format"},
    "TensorScatterElements": {"reduction": "reduce"},
}

# Numbers that stand for the names of layouts, paddings and the like: field -> number -> name.
_FORMATS = {0: "NCHW", 1: "NHWC", 14: "NCDHW", 20: "ND"}
ENUMERATIONS: dict[str, dict[int, str]] = {
    "data_format": _FORMATS,
    "pad_mode": {0: "pad", 1: "same", 2: "valid", 3: "full"},
    "reduction": {0: "sum", 1: "mean", 2: "none"},
    "coordinate_transformation_mode": {0: "asymmetric", 1: "align_corners", 2: "half_pixel"},
    "interpolation_mode": {0: "bilinear", 1: "nearest"},
    "padding_mode": {0: "zeros", 1: "border", 2: "reflection"},
    "approximate": {2: "none", 10: "tanh"},
    "rounding_mode": {1: "trunc", 2: "floor"},
}

# Fields that hold dtypes, which nodes give as numbers.
_DTYPE_FIELDS = {"dtype", "output_type", "dst_type", "out_type", "output_dtype"}

# Convolutions and poolings give sizes for all four or five dimensions.
_SPATIAL = {
    "Conv2D": (2, ("stride", "dilation", "kernel_size")),
    "Conv3D": (3, ("stride", "dilation", "kernel_size")),
    "MaxPool": (2, ("kernel_size", "strides")),
    "AvgPool": (2, ("kernel_size", "strides")),
    "MaxPool3D": (3, ("kernel_size", "strides")),
    "AvgPool3D": (3, ("kernel_size", "strides")),
    "Conv2DBackpropInput": (2, ("stride", "dilation", "kernel_size")),
}

# What the original calls a padding by given numbers with windows that only begin inside.
_CALCULATED = {"CALCULATED": "PAD"}


@cache
def form_of(name: str) -> Form:
    """Find the class of a MindIR name and how it is called.

    Raises:
        UnknownPrimitive: MindJAX has no such primitive.
    """
    cls = getattr(ops, name, None) or PRIMITIVES.get(name)
    if cls is None and not name.startswith("_"):
        for package in ops.families.packages:
            importlib.import_module(f"mindjax.ops.{package}")
        cls = PRIMITIVES.get(name)
    if not (isinstance(cls, type) and issubclass(cls, Primitive)) or name.startswith("_"):
        raise UnknownPrimitive(f"MindJAX has no primitive '{name}'")
    statics = getattr(cls, "statics", ())
    own = dataclasses.fields(cls) if cls._fields else ()  # type: ignore[arg-type]
    fields = tuple(f.name for f in own if not f.kw_only and f.name not in statics and f.init)
    if issubclass(cls, BoundPrimitive) and cls.__call__ is BoundPrimitive.__call__:
        return Form(cls, cls.arrays + len(statics), 0, fields)
    called = cls.__call__ if cls.__call__ is not Primitive.__call__ else cls.compute
    parameters = list(inspect.signature(called).parameters.values())[1:]
    places = [p for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    if len(places) != len(parameters):
        # A call without a list of its own: as many inputs as the node has beside the attributes.
        return Form(cls, -1, 0, fields)
    optional = sum(p.default is not p.empty for p in places)
    return Form(cls, len(places), optional, fields)


def check_known(name: str) -> None:
    """Refuse a name that no node can be run by.

    Raises:
        UnknownPrimitive: MindJAX has no such primitive.
    """
    if _special(name) is None:
        form_of(name)


def call(name: str, attributes: dict[str, Any], function: bool, values: list[Any]) -> Any:
    """Run a node's primitive.

    Args:
        name: MindIR name.
        attributes: the attributes that the file keeps beside the name.
        function: whether all attributes stand behind the inputs.
        values: Tensors and Python values of the node's inputs, tokens left out.

    Returns:
        Tensors or Python values.

    Raises:
        UnknownPrimitive: MindJAX has no such primitive, or not in this form.
    """
    special = _special(name)
    if special is not None:
        return special(attributes, *values)
    fields, inputs = arguments(name, attributes, function, values)
    return form_of(name).cls(**fields)(*inputs)


def arguments(
    name: str, attributes: dict[str, Any], function: bool, values: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Tell a primitive's attributes from the inputs of its call (see `call`).

    Returns:
        Attributes by the class's fields, and inputs.

    Raises:
        UnknownPrimitive: MindJAX has no such primitive, or not in this form.
    """
    form = form_of(name)
    if function:
        return _behind_the_inputs(name, form, values)
    return _beside_the_name(name, form, attributes), values


@cache
def _composites() -> dict[str, Callable[..., Any]]:
    from mindjax.mindir.composites import COMPOSITES

    return COMPOSITES


def _special(name: str) -> Callable[..., Any] | None:
    return _composites().get(name)


def _behind_the_inputs(
    name: str, form: Form, values: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Split the inputs of a node into those of the call and the attributes behind them."""
    count = len(form.fields)
    arity = len(values) - count
    fits = form.arity < 0 or form.arity - form.optional <= arity <= form.arity
    if arity < 0 or not fits:
        # Some classes take as attributes what the original takes as inputs.
        if form.arity < 0 or not form.arity <= len(values) <= form.arity + count:
            raise UnknownPrimitive(
                f"'{name}' has {len(values)} inputs, which MindJAX's primitive does not take"
            )
        arity = form.arity
    fields = dict(zip(form.fields, values[arity:], strict=False))
    return {f: _field(f, v) for f, v in fields.items()}, _inputs(form, values[:arity])


def _beside_the_name(name: str, form: Form, attributes: dict[str, Any]) -> dict[str, Any]:
    renamed = RENAMED.get(name, {})
    fields: dict[str, Any] = {}
    for field in form.fields:
        given = renamed.get(field, field)
        given = field if given not in attributes else given
        if given in attributes:
            fields[field] = _field(field, attributes[given])
    dimensions, sizes = _SPATIAL.get(name, (0, ()))
    for field in sizes:
        value = fields.get(field)
        if isinstance(value, tuple | list) and len(value) == dimensions + 2:
            last = attributes.get("format", "NCHW")[-1:] == "C"
            fields[field] = tuple(value[1:-1] if last else value[2:])
    if name == "MaxPool3D":
        mode = fields.get("pad_mode", "VALID")
        fields["pad_mode"] = mode = _CALCULATED.get(mode, mode)
        fields["ceil_mode"] = bool(fields.get("ceil_mode")) if mode == "PAD" else None
    if name in _SPATIAL and fields.get("pad_mode", "").lower() != "pad":
        # The original writes what it worked out: the class works it out itself.
        fields.update({field: 0 for field in ("pad", "pad_list") if field in fields})
    if "pad_mode" in fields and name.startswith("Conv"):
        fields["pad_mode"] = fields["pad_mode"].lower()
    return fields


def _inputs(form: Form, values: list[Any]) -> list[Any]:
    """Bring static inputs of a call to the form that the class takes."""
    statics = getattr(form.cls, "statics", ())
    if not statics or form.cls.__call__ is not BoundPrimitive.__call__:
        return [dtype_of(v) if isinstance(v, DType) else v for v in values]
    count = form.arity - len(statics)
    return values[:count] + [_field(f, v) for f, v in zip(statics, values[count:], strict=False)]


def _field(name: str, value: Any) -> Any:
    """Bring a value of a file to the form that a field takes."""
    if isinstance(value, DType):
        return dtype_of(value)
    if isinstance(value, Handle):
        value = python_value(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
        value = tuple(value) if isinstance(value, list) else value
    if isinstance(value, int) and not isinstance(value, bool):
        if name in _DTYPE_FIELDS:
            return dtype_of(value)
        names = ENUMERATIONS.get(name)
        if names is not None:
            return names.get(value, value)
    return value


def python_value(tensor: Any) -> Any:
    """Give a Tensor's values as a number or tuple, where they are known."""
    value = tensor.asnumpy().tolist()
    return tuple(value) if isinstance(value, list) else value


def dtype_of(number: Any) -> Number:
    """Give the dtype that a number among a node's inputs stands for.

    Raises:
        UnknownPrimitive: there is none.
    """
    name = number if isinstance(number, DType) else TYPE_IDS.get(number)
    if name not in DTYPE_CODES:
        raise UnknownPrimitive(f"{number!r} stands for no dtype")
    return from_np(np_dtype(DTYPE_CODES[name]))
