"""`load` and `GraphCell`: MindIR files as networks."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.graph.jit import Programs
from mindjax.mindir.graph import FuncGraph, read_file
from mindjax.mindir.interpreter import Interpreter, check_primitives
from mindjax.mindir.message import Message, MindIRError, parse
from mindjax.mindir.primitives import UnknownPrimitive
from mindjax.mindir.stablehlo import PAYLOAD, payload, run
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter, Tensor


def load(file_name: str, **kwargs: Any) -> FuncGraph:
    """Read a MindIR file (MindSpore: ``load``).

    Nothing in the file is run, and no file outside its folder is read.

    Args:
        file_name: path that ends with ``.mindir``.
        **kwargs: ``dec_key`` (bytes), the key of an encrypted file; ``dec_mode``, ``"AES-GCM"``,
            ``"AES-CBC"`` or ``"SM4-CBC"``, or a function ``f(path, key)`` that gives the plain
            bytes.

    Returns:
        The graphs, to be run by `GraphCell`.

    Raises:
        ValueError: ``file_name`` is no path of an existing ``.mindir`` file, or the key has a
            wrong type or length.
        RuntimeError: the file is damaged, encrypted otherwise, or no MindIR (`MindIRError`).
        NotImplementedError: MindJAX has not the primitive of a node, or ``obf_func`` is given.
    """
    if "obf_func" in kwargs:
        raise located(
            NotImplementedError, "Dynamic model structure obfuscation is no longer supported."
        )
    unknown = kwargs.keys() - {"dec_key", "dec_mode"}
    if unknown:
        raise located(TypeError, f"For 'load', the argument '{sorted(unknown)[0]}' is not known.")
    if not isinstance(file_name, str):
        raise located(
            ValueError,
            f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.",
        )
    if not file_name.endswith(".mindir"):
        raise located(
            ValueError,
            "For 'load', the argument 'file_name'(MindIR file) should end with '.mindir', but got "
            f"'{file_name}'.",
        )
    if not os.path.isfile(file_name):
        raise located(
            ValueError,
            f"For 'load', the argument 'file_name'(MindIR file) does not exist: '{file_name}'.",
        )
    key, mode = kwargs.get("dec_key"), kwargs.get("dec_mode", "AES-GCM")
    if "dec_key" in kwargs and not isinstance(key, bytes):
        raise located(
            ValueError, f"For 'load', the 'dec_key' must be bytes, but got {type(key).__name__}."
        )
    if not isinstance(mode, str) and not callable(mode):
        raise located(
            ValueError,
            f"For 'load', the 'dec_mode' must be str or a function, but got {type(mode).__name__}.",
        )
    try:
        graph = (
            read_file(file_name, key, function=mode)
            if callable(mode)
            else read_file(file_name, key, mode)
        )
        if PAYLOAD not in graph.model.user_info:
            check_primitives(graph)
        return graph
    except UnknownPrimitive as error:
        raise located(
            NotImplementedError, f"For 'load', {file_name} cannot be run: {error}."
        ) from error
    except MindIRError as error:
        raise located(MindIRError, f"For 'load', {file_name} cannot be read: {error}.") from error
    except ValueError as error:
        raise located(ValueError, f"For 'load', {error}.") from None


def load_mindir(file_name: str) -> Message:
    """Read a MindIR file as the message that it is (MindSpore: ``load_mindir``).

    Args:
        file_name: path.

    Returns:
        The message; its fields are attributes, which may be changed and saved by `save_mindir`.

    Raises:
        ValueError: the file does not exist or is no MindIR.
    """
    try:
        with open(os.path.realpath(_checked_name(file_name)), "rb") as file:
            return parse("Model", file.read())
    except (OSError, MindIRError) as error:
        raise located(
            ValueError, f"For 'load_mindir', {file_name!r} cannot be read: {error}."
        ) from error


def save_mindir(model: Message, file_name: str) -> None:
    """Write a message that `load_mindir` gave to a file (MindSpore: ``save_mindir``).

    Args:
        model: the message.
        file_name: path; ``.mindir`` is appended if it does not end so.

    Raises:
        TypeError: ``model`` is no such message.
        ValueError: ``file_name`` is no path, or the file cannot be written.
    """
    path = os.path.realpath(_checked_name(file_name))
    if not isinstance(model, Message):
        raise located(
            TypeError,
            "For 'save_mindir', the argument 'model' must be ModelProto, but got "
            f"{type(model).__name__}.",
        )
    path = path if path.endswith(".mindir") else f"{path}.mindir"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with replacing(path) as file:
            file.write(model.SerializeToString())
    except OSError as error:
        raise located(
            ValueError, f"For 'save_mindir', {path} cannot be written: {error.strerror}."
        ) from error


def export_split_mindir(
    file_name: str, device_num: int = 8, rank_id: int = 0, dynamic: bool = True, sapp: bool = True
) -> FuncGraph:
    """Split a MindIR file for inference on several devices: not supported, off Ascend as well.

    Args:
        file_name: path that ends with ``.mindir``.
        device_num: number of devices.
        rank_id: the device whose part is wanted.
        dynamic: whether sizes may change.
        sapp: whether the split is searched for.

    Raises:
        ValueError: ``file_name`` is no path of an existing ``.mindir`` file.
        NotImplementedError: it is one.
    """
    owner = "For 'export_split_mindir', the argument 'file_name'(MindIR file)"
    if not isinstance(file_name, str):
        raise located(ValueError, f"{owner} must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise located(ValueError, f"{owner} should end with '.mindir', but got '{file_name}'.")
    if not os.path.isfile(file_name):
        raise located(ValueError, f"{owner} does not exist: '{file_name}'.")
    raise located(
        NotImplementedError,
        f"For 'export_split_mindir', {file_name} cannot be split over device_num={device_num} "
        "devices: shard the network that it was made of with mindjax.parallel.",
    )


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or re.search(r"[\0\n*?\"<>|]", name) or not name:
        raise located(ValueError, f"the 'file_name' must be a file's name, but got {name!r}.")
    return name


class GraphCell(Cell):
    """A network out of a MindIR file (MindSpore: ``nn.GraphCell``).

    It always runs as one program, except while PYNATIVE records gradients.

    Args:
        graph: what `load` gave.
        params_init: Tensors by the names of Parameters, to begin with in place of the file's.
        obf_random_seed: must be None.

    Raises:
        TypeError: an argument has the wrong type.
        NotImplementedError: ``obf_random_seed`` is given.
    """

    def __init__(self, graph: Any, params_init: Any = None, obf_random_seed: Any = None) -> None:
        super().__init__(auto_prefix=True)
        if obf_random_seed is not None:
            raise located(
                NotImplementedError, "Dynamic structure obfuscation is not supported now."
            )
        if not isinstance(graph, FuncGraph):
            raise located(
                TypeError,
                "For 'GraphCell', the argument 'graph' must be a FuncGraph loaded from MindIR, "
                f"but got type {type(graph)}.",
            )
        values = {} if params_init is None else params_init
        if not isinstance(values, dict):
            raise located(
                TypeError,
                "For 'GraphCell', the argument 'params_init' must be a dict, but got "
                f"{type(params_init)}.",
            )
        for name, value in values.items():
            if not isinstance(name, str) or not isinstance(value, Tensor):
                raise located(
                    TypeError,
                    "For 'GraphCell', the key of the 'params_init' must be str, and the value must "
                    f"be Tensor or Parameter, but got the key type: {type(name)}, and the value "
                    f"type: {type(value)}",
                )
        self.graph = graph
        for name, array in graph.parameters.items():
            given = values.get(name)
            data = Tensor(np.array(array)) if given is None else Tensor(given)
            self._params[name] = Parameter(data, name=name)
        self._constants = {
            name: Tensor(np.array(value)) if isinstance(value, np.ndarray) else value
            for name, value in graph.constants.items()
        }
        self._compiled = Programs(self._execute)
        self._artifact = None if graph.writes else payload(graph.model)

    def construct(self, *inputs: Any) -> Any:
        """Run the network on Tensors."""
        if current.tape is not None:
            return self._execute(*inputs)
        return self._compiled.call(inputs, {})

    def _execute(self, *inputs: Any) -> Any:
        wanted = len(self.graph.inputs)
        if len(inputs) != wanted:
            raise located(
                ValueError,
                f"For 'GraphCell', the network takes {wanted} inputs, got {len(inputs)}.",
            )
        if self._artifact is not None and self._fits(inputs):
            program, names = self._artifact
            return run(program, [*(self._params[name] for name in names), *inputs])
        return Interpreter(self.graph, self._params, self._constants).run(inputs)

    def _fits(self, inputs: Any) -> bool:
        """Tell whether inputs have the types that the file's artifact takes."""
        assert self._artifact is not None
        return set(self._artifact[1]) <= set(self._params) and all(
            isinstance(x, Tensor) and tuple(x.shape) == kind.shape and x.dtype.np.name == kind.dtype
            for x, kind in zip(inputs, self.graph.inputs, strict=True)
        )
