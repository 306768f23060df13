"""`export`: a network as an ONNX file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindjax import version
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.core.state import changed
from mindjax.mindir import dynamic
from mindjax.mindir.graph import FuncGraph
from mindjax.mindir.interpreter import Again, Choice, Closure
from mindjax.mindir.lowering import UnknownOperation
from mindjax.mindir.message import Message, MindIRError
from mindjax.mindir.primitives import UnknownPrimitive
from mindjax.mindir.write import to_model
from mindjax.nn.cell import Cell
from mindjax.onnx.package import package
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.types import find_types
from mindjax.onnx.writing.walk import Walk, needed, outputs, used_names
from mindjax.tensor import Tensor

# A protobuf holds 2 GiB; above this, the Parameters lie in a file of their own.
TOGETHER_BYTES = (2 << 30) - (64 << 20)
# Smaller ones stay in the model, so that the tools that read shapes still find them.
_SMALL = 1024
OPSETS = (17, 23)
_ANYWAY = ": use 'STABLEHLO', which holds any network"


def export(
    net: Any,
    *inputs: Any,
    file_name: str,
    input_names: list[str] | None = None,
    output_names: list[str] | None = None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: dict[str, dict[int, str]] | None = None,
) -> None:
    """Write a network as an ONNX file of opset 17 (MindSpore: ``onnx.export``).

    Args:
        net: Cell, or function of Tensors; a Cell is exported as it runs after
            ``set_train(False)``.
        *inputs: Tensors, or tuples and lists of Tensors, of the shapes that the network gets;
            ``Tensor(shape=[None, 4], dtype=...)`` declares a size that may change.
        file_name: path; ``.onnx`` is appended if it does not end so.
        input_names: names of the inputs, in order; by default the network's own.
        output_names: names of the outputs, in order; by default ``output``, or ``output_0``, ...
        export_params: False leaves the Parameters' values out: they become inputs.
        keep_initializers_as_inputs: whether the Parameters are inputs too, with their values as
            defaults.
        dynamic_axes: the name of an input -> {axis: name of the size}, for sizes that may change.

    Raises:
        NotImplementedError: ONNX has no form for an operation of the network; the message names
            it.
        ValueError: an argument has a wrong value.
        ImportError: the package onnx is not installed.
        OSError: the file cannot be written.
    """
    export_onnx(
        net,
        inputs,
        file_name,
        input_names,
        output_names,
        export_params,
        keep_initializers_as_inputs,
        dynamic_axes,
    )


def export_onnx(
    net: Any,
    inputs: tuple[Any, ...],
    file_name: str,
    input_names: list[str] | None = None,
    output_names: list[str] | None = None,
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: dict[str, dict[int, str]] | None = None,
    opset: int = 17,
    sealed: Callable[[bytes], bytes] | None = None,
) -> None:
    """Write a network as an ONNX file of any opset.

    Args:
        net: as in `export`, and so the others.
        inputs: what it is called with.
        file_name: path.
        input_names: names of the inputs.
        output_names: names of the outputs.
        export_params: whether the Parameters' values are written.
        keep_initializers_as_inputs: whether the Parameters are inputs too.
        dynamic_axes: sizes that may change.
        opset: version of ONNX's operators, from 17 to 23.
        sealed: function that encrypts the file's bytes.
    """
    package()
    names = {"input_names": input_names or [], "output_names": output_names or []}
    for name, value in names.items():
        if not isinstance(value, list) or not all(isinstance(n, str) and n for n in value):
            raise located(
                ValueError, f"For 'export', '{name}' must be a list of names, but got {value!r}."
            )
    if not isinstance(dynamic_axes or {}, dict):
        raise located(
            ValueError, f"For 'export', 'dynamic_axes' must be a dict, but got {dynamic_axes!r}."
        )
    if not isinstance(opset, int) or not OPSETS[0] <= opset <= OPSETS[1]:
        raise located(
            ValueError,
            f"For 'export', the 'opset' must be from {OPSETS[0]} to {OPSETS[1]}, but got "
            f"{opset!r}.",
        )
    if not isinstance(file_name, str) or not file_name:
        raise located(
            ValueError, f"For 'export', the 'file_name' must be a path, but got {file_name!r}."
        )
    if not isinstance(net, Cell) and not callable(net):
        raise located(
            ValueError,
            f"For 'export', the 'net' must be a Cell or function, but got {type(net).__name__}.",
        )
    try:
        with _evaluating(net):
            model = to_onnx(
                net, inputs, opset, dynamic_axes or {}, names["input_names"], names["output_names"]
            )
        write(model, file_name, export_params, keep_initializers_as_inputs, sealed)
    except (UnknownOperation, UnknownPrimitive, MindIRError) as error:
        more = "" if "use '" in str(error) or "give " in str(error) else _ANYWAY
        raise located(NotImplementedError, f"For 'export' to ONNX, {error}{more}.") from error


@contextlib.contextmanager
def _evaluating(net: Any) -> Iterator[None]:
    """Set a Cell, and each in it, to evaluation, and back."""
    if not isinstance(net, Cell):
        yield
        return
    before = [(cell, cell.training) for _, cell in net.cells_and_names()]
    net.set_train(False)
    try:
        yield
    finally:
        for cell, training in before:
            cell.__dict__["training"] = training
        changed()


class Model:
    """A network as ONNX, with the Parameters beside it.

    Args:
        graph: nodes, constants, inputs and outputs.
        parameters: values of the Parameters that nodes use.
        opset: version of the operators.
    """

    def __init__(self, graph: Any, parameters: dict[str, np.ndarray], opset: int) -> None:
        self.graph, self.parameters, self.opset = graph, parameters, opset


def to_onnx(
    net: Any,
    inputs: tuple[Any, ...],
    opset: int,
    dynamic_axes: dict[str, dict[int, str]],
    input_names: Sequence[str],
    output_names: Sequence[str],
) -> Model:
    """Make the ONNX graph of a network.

    Args:
        net: Cell, or function of Tensors.
        inputs: what it is called with.
        opset: version of ONNX's operators.
        dynamic_axes: names of sizes that may change, by input and axis.
        input_names: of the first inputs.
        output_names: of the first outputs.

    Returns:
        The graph and the Parameters.
    """
    if dynamic_axes:
        inputs = _opened(net, inputs, dynamic_axes, input_names)
    if any(map(dynamic.is_open, inputs)):

        def make(given: tuple[Any, ...]) -> Message:
            return to_model(net, given, 3, dynamic.FOLDED)[0]

        model = dynamic.open_model(inputs, make)
    else:
        model = to_model(net, inputs)[0]
    network = FuncGraph(model)
    names = _renamed([i.name for i in network.inputs], input_names, "input_names")
    types = find_types(network, _samples(network))
    emitter = Emitter(opset)
    sizes = _size_names(network, names, dynamic_axes)
    refs = [
        Ref(name, tuple(None if n < 0 else n for n in kind.shape), np.dtype(kind.dtype))
        for name, kind in zip(names, network.inputs, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = Walk(network, types).enter(emitter, network.name, refs)
    results = _named(emitter, result, output_names)
    nodes = needed(emitter.nodes, results)
    _check_names([*names, *(r.name for r in results), *network.parameters])
    used = used_names(nodes)
    _check_state(network, used)
    make_input = emitter.onnx.helper.make_tensor_value_info
    graph = emitter.onnx.helper.make_graph(
        nodes,
        type(net).__name__ if isinstance(net, Cell) else getattr(net, "__name__", "main"),
        [
            make_input(ref.name, emitter.type_code(ref.dtype), shape)
            for ref, shape in zip(refs, sizes, strict=True)
        ],
        outputs(emitter, results),
        [value for name, value in emitter.initializers.items() if name in used],
    )
    parameters = {n: a for n, a in network.parameters.items() if n in used}
    for array in parameters.values():
        emitter.type_code(array.dtype)
    return Model(graph, parameters, opset)


def _check_state(network: FuncGraph, used: set[str]) -> None:
    """Raise if results depend on state that the network writes; other writes change no result."""
    assigns = [
        node
        for graph in network.graphs.values()
        for node in graph.nodes
        if node.operator is not None and node.operator.name == "Assign"
    ]
    written = {network.parameter_names.get(node.inputs[0], "") for node in assigns}
    needed_ones = sorted(name for name in written if name in used or not name)
    if needed_ones:
        raise UnknownOperation(
            f"the network writes {needed_ones[0]!r}, which its results depend on, and ONNX cannot "
            "hold that: use 'MINDIR'"
        )


def _renamed(own: list[str], given: Sequence[str], argument: str) -> list[str]:
    """Put the names that the user gives in the place of the first ones."""
    if len(given) > len(own):
        raise located(
            ValueError,
            f"For 'export', '{argument}' has {len(given)} names, but the network has {len(own)}.",
        )
    return [*given, *own[len(given) :]]


def _opened(
    net: Any, inputs: tuple[Any, ...], axes: dict[str, dict[int, str]], names: Sequence[str]
) -> tuple[Any, ...]:
    """Declare the sizes open that may change."""
    from mindjax.mindir.write import input_names

    own = _renamed(input_names(net, inputs, len(inputs)), names, "input_names")
    unknown = [name for name in axes if name not in own]
    if unknown:
        raise located(
            ValueError, f"For 'export', 'dynamic_axes' names {unknown[0]!r}, but inputs are {own}."
        )
    opened = list(inputs)
    for i, (name, value) in enumerate(zip(own, inputs, strict=True)):
        if name not in axes:
            continue
        if not isinstance(value, Tensor):
            raise located(
                ValueError, f"For 'export', the input '{name}' in 'dynamic_axes' is no Tensor."
            )
        shape: list[int | None] = list(value.shape)
        for axis in axes[name]:
            if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
                raise located(ValueError, f"For 'export', the input '{name}' has no axis {axis!r}.")
            shape[axis] = None
        opened[i] = Tensor(shape=shape, dtype=value.dtype)
    return tuple(opened)


def _samples(network: FuncGraph) -> list[list[Any]]:
    """Give inputs to find types with: at two sizes, where sizes may change."""
    places = [(i, a) for i, kind in enumerate(network.inputs)
              for a, n in enumerate(kind.shape) if n < 0]  # fmt: skip
    if not places:
        return [[Tensor(np.zeros(k.shape, k.dtype)) for k in network.inputs]]
    axes = sorted({a for _, a in places})
    # Inputs whose sizes have to agree have them at one axis (see `dynamic`).
    samples = []
    for numbers in (dynamic.SIZES, dynamic.OTHERS):
        values = []
        for kind in network.inputs:
            shape = [
                numbers[axes.index(a) % len(numbers)] if n < 0 else n
                for a, n in enumerate(kind.shape)
            ]
            values.append(Tensor(np.zeros(shape, kind.dtype)))
        samples.append(values)
    return samples


def _size_names(
    network: FuncGraph, names: Sequence[str], axes: dict[str, dict[int, str]]
) -> list[list[Any]]:
    """Give the inputs' shapes, with names for the sizes that may change."""
    shapes = []
    for name, kind in zip(names, network.inputs, strict=True):
        rank = len(kind.shape)
        own = {axis % rank: size for axis, size in axes.get(name, {}).items()}
        shapes.append([n if n >= 0 else str(own.get(a) or f"{name}_{a}")
                       for a, n in enumerate(kind.shape)])  # fmt: skip
    return shapes


def _named(emitter: Emitter, result: Any, names: Sequence[str]) -> list[Ref]:
    """Give the results their names, which no other value has."""
    flat: list[Any] = []

    def put(value: Any) -> None:
        if isinstance(value, Again | Choice | Closure) or value is None or isinstance(value, str):
            raise UnknownOperation(f"the network returns {value!r}, which ONNX cannot hold")
        if isinstance(value, tuple | list) and not isinstance(value, Ref):
            for inner in value:
                put(inner)
        else:
            flat.append(value if isinstance(value, Ref) else emitter.constant(value))

    put(result)
    own = ["output"] if len(flat) == 1 else [f"output_{i}" for i in range(len(flat))]
    own = _renamed(own, names, "output_names")
    named = []
    for name, value in zip(own, flat, strict=True):
        made = emitter.op("Identity", value)
        emitter.nodes[-1].output[0] = name
        named.append(Ref(name, value.shape, made.dtype))
    return named


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({n for n in names if list(names).count(n) > 1})
    if twice:
        raise located(
            ValueError,
            f"For 'export', {twice[0]!r} names two of the inputs, outputs and Parameters: give "
            "'input_names' or 'output_names'.",
        )


def write(
    model: Model,
    file_name: str,
    with_values: bool = True,
    as_inputs: bool = False,
    sealed: Callable[[bytes], bytes] | None = None,
) -> None:
    """Check a model and write it, in one step.

    Args:
        model: the model.
        file_name: path; ``.onnx`` is appended if it does not end so.
        with_values: False leaves the Parameters' values out.
        as_inputs: whether the Parameters are inputs too.
        sealed: function that encrypts the file's bytes.
    """
    onnx = package()
    path = os.path.realpath(file_name)
    path = path if path.endswith(".onnx") else f"{path}.onnx"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    graph = model.graph
    # Numbers stay in the model where they fit; the checker sees all others as inputs.
    total = sum(a.nbytes for a in model.parameters.values())
    apart = with_values and total > TOGETHER_BYTES
    inside = {n: a for n, a in model.parameters.items()
              if with_values and (not apart or a.nbytes <= _SMALL)}  # fmt: skip
    for name, array in model.parameters.items():
        code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        described = onnx.helper.make_tensor_value_info(name, code, array.shape)
        if name in inside:
            graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        if name not in inside or as_inputs:
            graph.input.append(described)
    opset = onnx.helper.make_opsetid("", model.opset)
    proto = onnx.helper.make_model(
        graph,
        opset_imports=[opset],
        producer_name="MindJAX",
        producer_version=version.mindjax,
        ir_version=onnx.helper.find_min_ir_version_for([opset]),
    )
    try:
        onnx.checker.check_model(proto)
    except onnx.checker.ValidationError as error:
        text = str(error).strip().splitlines()[0][:300]
        raise UnknownOperation(f"the checker of ONNX refuses the model: {text}") from error
    if not apart:
        content = proto.SerializeToString()
        with replacing(path, 0o644) as file:
            file.write(content if sealed is None else sealed(content))
        return
    if sealed is not None:
        raise UnknownOperation("Parameters of more than 2 GiB cannot be encrypted: use 'MINDIR'")
    outside = [n for n in model.parameters if n not in inside]
    kept = [i for i in proto.graph.input if as_inputs or i.name not in outside]
    del proto.graph.input[:]
    proto.graph.input.extend(kept)
    _write_apart(onnx, proto, path, {n: model.parameters[n] for n in outside})


def _write_apart(onnx: Any, proto: Any, path: str, arrays: dict[str, np.ndarray]) -> None:
    """Write the large Parameters to a file whose name says what is in it, then the model."""
    folder, base = os.path.split(path)
    digest = hashlib.sha256()
    for array in arrays.values():
        digest.update(_bytes(array))
    location = f"{base}.{digest.hexdigest()[:16]}.data"
    offset = 0
    with replacing(os.path.join(folder, location), 0o644) as file:
        for name, array in arrays.items():
            padding = -offset % 4096
            file.write(b"\0" * padding)
            offset += padding
            tensor = proto.graph.initializer.add(name=name, dims=array.shape)
            tensor.data_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (
                ("location", location),
                ("offset", offset),
                ("length", array.nbytes),
            ):
                tensor.external_data.add(key=key, value=str(value))
            file.write(_bytes(array))
            offset += array.nbytes
    with replacing(path, 0o644) as file:
        file.write(proto.SerializeToString())
    # What an earlier model of this name kept apart is nobody's now.
    old = re.compile(re.escape(base) + r"\.[0-9a-f]{16}\.data")
    for name in os.listdir(folder):
        if old.fullmatch(name) and name != location:
            os.unlink(os.path.join(folder, name))


def _bytes(array: np.ndarray) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
