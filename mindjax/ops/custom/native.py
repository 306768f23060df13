"""Kernels in C and C++: functions of shared libraries, and sources that are compiled here."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shlex
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from mindjax.core.dtype import as_dtype
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.compiled import compile_library

_SOURCES = (".c", ".cc", ".cpp", ".cxx")


def aot_function(path: str, name: str) -> Callable[..., Any]:
    """Give a function of a shared library as one of numpy arrays.

    Args:
        path: the library, or a C++ source that is compiled to one.
        name: function ``int f(int, void **, int *, int64_t **, const char **, void *, void *)`` of
            the original's interface: number of parameters, their data, numbers of axes, shapes,
            names of dtypes, the stream and an object for extensions, both null.

    Returns:
        ``call(inputs, outputs)``, which fills the output arrays.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it holds no such function.
    """
    if path.endswith(_SOURCES):
        path = compile_library([path], name)
    if not os.path.isfile(path):
        raise located(FileNotFoundError, f"For 'Custom', there is no library '{path}'.")
    library = ctypes.CDLL(os.path.abspath(path))
    if hasattr(library, f"{name}Init"):
        raise located(
            NotImplementedError,
            f"For 'Custom', '{name}Init' of {path} takes an object of the original's C++ classes: "
            "write what it prepares into the function itself.",
        )
    try:
        function = getattr(library, name)
    except AttributeError:
        raise located(ValueError, f"For 'Custom', {path} has no function '{name}'.") from None
    function.restype = ctypes.c_int

    def call(inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        arrays = [np.ascontiguousarray(a) for a in inputs] + list(outputs)
        count = len(arrays)
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        pointer = ctypes.POINTER(ctypes.c_int64)
        code = function(
            ctypes.c_int(count),
            (ctypes.c_void_p * count)(*(a.ctypes.data for a in arrays)),
            (ctypes.c_int * count)(*(a.ndim for a in arrays)),
            (pointer * count)(*(ctypes.cast(s, pointer) for s in shapes)),
            (ctypes.c_char_p * count)(*(a.dtype.name.encode() for a in arrays)),
            None,
            None,
        )
        if code:
            raise located(
                RuntimeError, f"For 'Custom', the function '{name}' of {path} returned {code}."
            )

    return call


class ForeignCall(Primitive, register=False):
    """A handler of XLA's foreign function interface as an op.

    Fields: name of the registered handler; shape and numpy dtype of each output; whether the output
    is a tuple; attributes of the handler.
    """

    target: str
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    several: bool
    attributes: tuple[tuple[str, Any], ...] = ()

    def compute(self, *arrays: Any) -> Any:
        """Call the handler."""
        shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in self.outputs]
        call = jax.ffi.ffi_call(self.target, shapes, vmap_method="sequential")
        out = call(*arrays, **dict(self.attributes))
        return tuple(out) if self.several else out[0]


class CustomOpBuilder:
    """Compile C++ sources and load their operators (MindSpore: ``ops.CustomOpBuilder``).

    A source defines handlers of XLA's foreign function interface
    (``XLA_FFI_DEFINE_HANDLER_SYMBOL``, from ``xla/ffi/api/ffi.h``), or is a Python extension module
    of the builder's name.

    Args:
        name: name of the module.
        sources: path or paths.
        backend: ``"CPU"`` or None; others have compilers of their own.
        include_paths: folders of headers, beside those of jax.
        cflags: flags of the compiler.
        ldflags: flags of the linker.
        kwargs: ``build_dir``, where the library is put.

    Raises:
        ValueError: ``backend`` is unknown.
        TypeError: an argument is unknown.
        NotImplementedError: the backend is Ascend, or a source includes the original's headers.
    """

    def __init__(
        self,
        name: str,
        sources: Any,
        backend: str | None = None,
        include_paths: Any = None,
        cflags: str | None = None,
        ldflags: str | None = None,
        **kwargs: Any,
    ) -> None:
        if backend not in (None, "CPU", "Ascend"):
            raise located(
                ValueError,
                f"For 'CustomOpBuilder', the 'backend' must be one of ['CPU', 'Ascend', None], but "
                f"got {backend!r}.",
            )
        if backend == "Ascend":
            raise located(
                NotImplementedError,
                "For 'CustomOpBuilder', sources for Ascend devices are compiled with the vendor's "
                "tools: register their handlers with jax.ffi.register_ffi_target.",
            )
        unknown = kwargs.keys() - {"build_dir"}
        if unknown:
            raise located(
                NotImplementedError,
                f"For 'CustomOpBuilder', the arguments {sorted(unknown)} are not supported: "
                "handlers of XLA's foreign function interface need no further description.",
            )
        self.name, self.backend, self.build_dir = name, backend, kwargs.get("build_dir")
        self._sources, self._include_paths = _paths(sources), _paths(include_paths)
        self._cflags, self._ldflags = cflags or "", ldflags or ""

    def get_sources(self) -> list[str]:
        """List the sources."""
        return self._sources

    def get_include_paths(self) -> list[str]:
        """List the folders of headers."""
        return [*self._include_paths, jax.ffi.include_dir(), sysconfig.get_paths()["include"]]

    def get_cflags(self) -> str:
        """Give the compiler's flags."""
        return self._cflags

    def get_ldflags(self) -> str:
        """Give the linker's flags."""
        return self._ldflags

    def build(self) -> str:
        """Compile the sources.

        Returns:
            Path of the library.

        Raises:
            RuntimeError: the compiler refuses them.
            NotImplementedError: a source includes the original's headers.
        """
        for source in self.get_sources():
            if os.path.isfile(source) and "ms_extension" in Path(source).read_text(
                errors="replace"
            ):
                raise located(
                    NotImplementedError,
                    f"For 'CustomOpBuilder', '{source}' includes the original's C++ headers: write "
                    "handlers of XLA's foreign function interface (xla/ffi/api/ffi.h).",
                )
        flags = [f"-I{path}" for path in self.get_include_paths()]
        flags += shlex.split(self.get_cflags()) + shlex.split(self.get_ldflags())
        return compile_library(self.get_sources(), self.name, flags, self.build_dir)

    def load(self) -> Any:
        """Compile the sources and load what they define.

        Returns:
            The Python extension module, or an object whose attributes are the handlers as
            operators: ``ops.handler(*Tensors, out_shape=None, out_dtype=None, **attributes)``.
            Shape and dtype are by default those of the first input; lists of them give several
            outputs.
        """
        path = self.build()
        library = ctypes.CDLL(os.path.abspath(path))
        if hasattr(library, f"PyInit_{self.name}"):
            spec = importlib.util.spec_from_file_location(self.name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        return Handlers(self.name, library)


def _paths(value: Any) -> list[str]:
    if value is None:
        return []
    return [os.fspath(value)] if isinstance(value, str | os.PathLike) else [*map(os.fspath, value)]


class Handlers:
    """The handlers of a library as operators.

    Args:
        name: name of the library, part of the handlers' registered names.
        library: the loaded library.
    """

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self._name, self._library = name, library
        self._ops: dict[str, Any] = {}

    def __getattr__(self, handler: str) -> Callable[..., Any]:
        if handler.startswith("_"):
            raise AttributeError(handler)
        found = self._ops.get(handler)
        if found is None:
            symbol = getattr(self._library, handler, None)
            if symbol is None:
                raise AttributeError(f"'{self._name}' defines no handler '{handler}'")
            target = f"{self._name}.{handler}.{id(self)}"
            jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(symbol), platform="cpu")
            found = self._ops[handler] = _operator(target)
        return found


def _operator(target: str) -> Callable[..., Any]:
    def op(*inputs: Any, out_shape: Any = None, out_dtype: Any = None, **attributes: Any) -> Any:
        several = isinstance(out_dtype, tuple | list)
        dtypes = list(out_dtype) if several else [out_dtype or inputs[0].dtype]
        shapes = (
            list(out_shape) if several else [inputs[0].shape if out_shape is None else out_shape]
        )
        outputs = tuple((tuple(s), as_dtype(d).np) for s, d in zip(shapes, dtypes, strict=True))
        values = tuple(sorted((k, _attribute(v)) for k, v in attributes.items()))
        return ForeignCall(target, outputs, several, values)(*inputs)

    return op


def _attribute(value: Any) -> Any:
    """Bring a Python number to the type that handlers take by default."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return np.int64(value) if isinstance(value, int) else np.float32(value)
