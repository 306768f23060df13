"""`export`: a network as a MindIR file that MindSpore and MindSpore Lite run."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax import version
from mindjax.core import cipher
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.graph.recorded import Recorded, record
from mindjax.mindir.builder import Graph, Model, Name, Value
from mindjax.mindir.dynamic import FOLDED, is_open, open_model
from mindjax.mindir.lowering import Lowering, UnknownOperation
from mindjax.mindir.message import Message, MindIRError, serialize
from mindjax.mindir.stablehlo import add_payload, export_stablehlo
from mindjax.mindir.values import make_tensor
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor

# Parameters of more bytes than this together are written to files of their own.
TOGETHER_BYTES = 1 << 30
# Such a file's size, and what each of its tensors begins at a multiple of.
_DATA_BYTES = 1 << 40
_ALIGNED = 64

FORMATS = ("AIR", "ONNX", "MINDIR", "STABLEHLO")


def to_model(
    net: Any, inputs: tuple[Any, ...], dialect: int = 3, folded: int = 1 << 14
) -> tuple[Message, Recorded]:
    """Make the message of a network, with its Parameters' values.

    Args:
        net: Cell, or function of Tensors.
        inputs: what it is called with.
        dialect: 3, or 1 for MindSpore Lite.
        folded: results of constants alone up to this many elements are computed, and stored.

    Returns:
        The message, and the trace that it was made of.

    Raises:
        NotImplementedError: MindIR has no form for an operation of the network.
    """
    recorded = record(net, inputs)
    model = Model(dialect, folded)
    main = Graph(model, "main")
    low = Lowering(main, recorded.calls)
    names = input_names(net, inputs, len(recorded.handles))
    values: list[Value] = [
        main.input(name, v.aval.shape, v.aval.dtype.name)
        for name, v in zip(names, recorded.jaxpr.invars, strict=True)
    ]
    state = _State(main, recorded)
    outs = low.run(recorded.jaxpr, state.read(), values)
    types = [v.aval for v in recorded.jaxpr.outvars]
    results, after = outs[: recorded.outputs], outs[recorded.outputs :]
    if after:
        results = state.write(low, results, after)
    result = _result(low, recorded.result, results)
    if isinstance(result, Name) and recorded.outputs == 1 and recorded.result.single:
        main.output(result, types[0].shape, types[0].dtype.name)
    else:
        main.output(result)
    return model.message(main, version.mindjax), recorded


class _State:
    """The Parameters of a network that is exported."""

    def __init__(self, main: Graph, recorded: Recorded) -> None:
        self._main = main
        self._recorded = recorded
        self._names: dict[Handle, Name] = {}

    def _name(self, handle: Any, array: Any) -> Name:
        found = self._names.get(handle)
        if found is not None:
            return found
        own = getattr(handle, "name", None)
        if not isinstance(own, str) or not own:
            own = f"state_{len(self._names)}"
        known = {tensor.ref_key for tensor in self._main.message.parameter}
        if own in known:
            raise located(
                ValueError,
                f"For 'export', two Parameters of the network have the name '{own}': give one "
                "another name.",
            )
        full = Name(f"{self._main.name}:{own}")
        tensor = make_tensor(array, full, ref_key=own)
        self._main.message.parameter = [*self._main.message.parameter, tensor]
        self._names[handle] = full
        return full

    def read(self) -> list[Value]:
        """Give the values of the jaxpr's constants: Parameters, and arrays as they are."""
        writes = set(self._recorded.written)
        values: list[Value] = []
        for owner in self._recorded.constants:
            if not isinstance(owner, Handle):
                values.append(np.asarray(owner))
                continue
            array = _array_of(owner)
            if not isinstance(owner, Parameter) and owner not in writes and array.size <= 64:
                values.append(array)
                continue
            name = self._name(owner, array)
            values.append(self._main.op("Load", name, self._main.monad()) if writes else name)
        return values

    def write(self, low: Lowering, results: list[Value], after: list[Value]) -> list[Value]:
        """Assign new values when all are computed, and give the results behind that."""
        main = self._main
        after = [low.node(v) for v in after]
        results = [low.node(v) for v in results]
        computed = main.tuple([*after, *results])
        token = main.op("UpdateState", main.monad(), computed)
        written: list[Value] = []
        for handle, value in zip(self._recorded.written, after, strict=True):
            target = self._name(handle, _array_of(handle))
            value = main.op("Depend", value, computed, side_effect_propagate=1)
            written.append(main.op("Assign", target, value, token))
            token = main.op("UpdateState", token, written[-1])
        # Not behind the last token: when the original exports a loaded graph again, it takes an
        # Assign that only a token comes of for unneeded.
        done = written[0] if len(written) == 1 else main.tuple(written)
        return [main.op("Depend", r, done, side_effect_propagate=1) for r in results]


def _array_of(handle: Any) -> np.ndarray:
    if isinstance(handle, Tensor):
        return handle.asnumpy()
    raise located(
        NotImplementedError,
        f"For 'export', the network changes the attribute '{getattr(handle, 'name', '')}' of a "
        "Cell, which MindIR cannot hold: make it a Parameter.",
    )


def input_names(net: Any, inputs: tuple[Any, ...], count: int) -> list[str]:
    """Name the inputs as the network's own arguments are named, where one Tensor is one input."""
    function = net.construct if isinstance(net, Cell) else net
    try:
        own = [p.name for p in inspect.signature(function).parameters.values()
               if p.kind == p.POSITIONAL_OR_KEYWORD]  # fmt: skip
    except (TypeError, ValueError):
        own = []
    names: list[str] = []
    for i, value in enumerate(inputs):
        name = own[i] if i < len(own) else f"input_{i}"
        tensors = _tensors(value)
        names += [name] if isinstance(value, Tensor) else [f"{name}_{j}" for j in range(tensors)]
    if len(names) != count:
        return [f"input_{i}" for i in range(count)]
    return names


def _tensors(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(map(_tensors, value))
    if isinstance(value, dict):
        return sum(map(_tensors, value.values()))
    return int(isinstance(value, Tensor) and not isinstance(value, Parameter))


class _Result:
    """A result in the place of the Tensor or array that the network returned."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.array = self


def _result(low: Lowering, template: Any, values: list[Value]) -> Value:
    built = template.build([_Result(v) for v in values])

    def put(value: Any) -> Value:
        if isinstance(value, _Result):
            return low.node(value.value)
        if isinstance(value, dict):
            value = tuple(value.values())
        if isinstance(value, tuple | list):
            return low.graph.tuple([put(v) for v in value])
        if value is None or isinstance(value, bool | int | float | str):
            return low.graph.constant(value)
        raise located(
            TypeError,
            f"For 'export', the network returns a {type(value).__name__}, which MindIR cannot "
            "hold.",
        )

    return put(built)


def export(net: Any, *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Write a network to a file that other programs run (MindSpore: ``export``).

    Args:
        net: Cell, or function of Tensors.
        *inputs: Tensors, or tuples and lists of Tensors, of the shapes that the network gets;
            other Python values become constants of the file. ``Tensor(shape=[None, 4],
            dtype=...)`` declares a size that may change, for MindIR and ONNX.
        file_name: path; the format's suffix is appended if it has none.
        file_format: ``"MINDIR"``, ``"ONNX"``, or ``"STABLEHLO"`` for an artifact of
            ``jax.export``, which holds the Parameters' values.
        **kwargs: for MindIR, ``enc_key`` (bytes) and ``enc_mode`` (``"AES-GCM"``, ``"AES-CBC"``,
            ``"SM4-CBC"``, or ``f(content, key) -> bytes``) encrypt the file; ``custom_func`` gets
            the file's message before it is written; ``dialect`` is 3, or 1 for MindSpore Lite;
            ``stablehlo`` (bool) keeps the artifact in the file too, which then is what runs here.
            For StableHLO, ``kernels``, ``gradients`` (bool) and ``platforms`` (names of jax's).
            For ONNX, those of `onnx.export`, ``opset``, from 17 to 23, and ``enc_key`` with a
            function as ``enc_mode``.

    Raises:
        ValueError: an argument has a wrong value.
        TypeError: an argument is not known.
        NotImplementedError: the format has no form for an operation of the network, or the format
            itself is not supported.
        OSError: the file cannot be written.
    """
    if "obf_func" in kwargs:
        raise located(
            NotImplementedError, "Dynamic model structure obfuscation is no longer supported."
        )
    if file_format not in FORMATS:
        raise located(
            ValueError,
            f"For 'export', 'file_format' must be one of {list(FORMATS)}, but got {file_format}.",
        )
    if file_format == "AIR":
        raise located(
            ValueError,
            "For 'export', the format 'AIR' is written on the Ascend backend only: use 'MINDIR'.",
        )
    if not isinstance(file_name, str) or not file_name:
        raise located(
            ValueError, f"For 'export', the 'file_name' must be a path, but got {file_name!r}."
        )
    if not isinstance(net, Cell) and not callable(net):
        raise located(
            TypeError,
            f"For 'export', the 'net' must be a Cell or function, but got {type(net).__name__}.",
        )
    _WRITERS[file_format](net, inputs, os.path.realpath(file_name), kwargs)


def _export_mindir(
    net: Any, inputs: tuple[Any, ...], file_name: str, kwargs: dict[str, Any]
) -> None:
    custom = kwargs.pop("custom_func", None)
    dialect, with_artifact = kwargs.pop("dialect", 3), bool(kwargs.pop("stablehlo", False))
    sealed = _sealing(kwargs)
    for name in ("dataset", "incremental"):
        if kwargs.pop(name, None):
            raise located(
                NotImplementedError,
                f"For 'export', the argument '{name}' is not supported: leave it out.",
            )
    if kwargs:
        raise located(TypeError, f"For 'export', the argument '{next(iter(kwargs))}' is not known.")
    if dialect not in (1, 3):
        raise located(
            ValueError, f"For 'export', the 'dialect' must be 1 or 3, but got {dialect!r}."
        )
    try:
        if is_open(inputs):
            model = open_model(inputs, lambda given: to_model(net, given, dialect, FOLDED)[0])
        else:
            model, recorded = to_model(net, inputs, dialect)
            if with_artifact and not recorded.written:
                add_payload(model, recorded)
    except (UnknownOperation, MindIRError) as error:
        raise located(NotImplementedError, f"For 'export', {error}.") from error
    if custom is not None:
        custom(model)
    write(model, file_name, sealed)


def _sealing(kwargs: dict[str, Any]) -> Callable[[bytes], bytes] | None:
    key, mode = kwargs.pop("enc_key", None), kwargs.pop("enc_mode", "AES-GCM")
    if key is None:
        return None
    if not isinstance(key, bytes):
        raise located(
            ValueError, f"For 'export', the 'enc_key' must be bytes, but got {type(key).__name__}."
        )
    if callable(mode):
        return lambda content: bytes(mode(content, key))  # type: ignore[arg-type]
    try:
        cipher.check_key(key, mode)
    except ValueError as error:
        raise located(ValueError, f"For 'export', {error}.") from None
    return lambda content: cipher.encrypt(content, key, mode)


def write(model: Message, file_name: str, sealed: Callable[[bytes], bytes] | None = None) -> None:
    """Write a file, or, above 1 GiB of parameters, one for the graph and some for those.

    Args:
        model: the file's message; parameters move out of it where they get files of their own.
        file_name: path; ``.mindir`` is appended if it does not end so.
        sealed: function that encrypts the content of a file.
    """
    stem = file_name.removesuffix(".mindir")
    folder = os.path.dirname(os.path.abspath(stem))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    total = sum(len(t.raw_data) for t in model.graph.parameter)
    path = f"{stem}.mindir"
    if total > TOGETHER_BYTES:
        path = f"{stem}_graph.mindir"
        _write_parameters(model, folder, os.path.basename(stem), sealed)
    content = serialize(model)
    with replacing(path) as file:
        file.write(content if sealed is None else sealed(content))


def _write_parameters(
    model: Message, folder: str, stem: str, sealed: Callable[[bytes], bytes] | None
) -> None:
    """Move the parameters to data files; each begins with 64 bytes that tell the byte order."""
    os.makedirs(os.path.join(folder, f"{stem}_variables"), mode=0o700, exist_ok=True)
    tensors = sorted(model.graph.parameter, key=lambda t: t.ref_key)
    groups: list[list[Message]] = [[]]
    size = _ALIGNED
    for tensor in tensors:
        if size + len(tensor.raw_data) > _DATA_BYTES and groups[-1]:
            groups.append([])
            size = _ALIGNED
        groups[-1].append(tensor)
        size += _filled(len(tensor.raw_data))
    for number, group in enumerate(groups):
        location = f"{stem}_variables/data_{number}"
        with replacing(os.path.join(folder, location)) as file:
            offset = _put(file, b"\1".ljust(_ALIGNED, b"\0"), sealed)
            for tensor in group:
                raw = tensor.raw_data
                tensor.clear("raw_data")
                tensor.external_data = Message(
                    "External", location=location, offset=offset, length=len(raw)
                )
                offset += _put(file, bytes(raw).ljust(_filled(len(raw)), b"\0"), sealed)


def _put(file: Any, content: bytes, sealed: Callable[[bytes], bytes] | None) -> int:
    file.write(content if sealed is None else sealed(content))
    return len(content)


def _filled(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _export_onnx(net: Any, inputs: tuple[Any, ...], file_name: str, kwargs: dict[str, Any]) -> None:
    from mindjax.onnx.writing.model import export_onnx

    key, mode = kwargs.pop("enc_key", None), kwargs.pop("enc_mode", "AES-GCM")
    if key is not None and not callable(mode):
        raise located(ValueError, f"AIR/ONNX only support customized encryption, but got {mode}.")
    sealed = None if key is None else _sealing({"enc_key": key, "enc_mode": mode})
    known = inspect.signature(export_onnx).parameters
    for name in kwargs:
        if name not in known or name == "sealed":
            raise located(
                TypeError, f"For 'export', the argument '{name}' does not belong to 'ONNX'."
            )
    export_onnx(net, inputs, file_name, **kwargs, sealed=sealed)


_WRITERS: dict[str, Callable[..., None]] = {
    "MINDIR": _export_mindir,
    "ONNX": _export_onnx,
    "STABLEHLO": export_stablehlo,
}
