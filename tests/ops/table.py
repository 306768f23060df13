"""The rows of the op tables: a case is one line of data, its inputs are made from its name.

It runs under the original (numpy 1.26) and under MindJAX (numpy 2) alike, so it imports neither.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import linecache
import pkgutil
import re
import sys
import types
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

VARIABLES = "abcdefgh"
MS_NAMES = {
    "bool": "bool_",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
FLOATS = ("f16", "bf16", "f32", "f64")
Judge = Literal["original", "math"]


@dataclasses.dataclass(frozen=True)
class Arr:
    """An input: uniform numbers of ``shape`` in [lo, hi), or the literal ``values``."""

    shape: tuple[int, ...]
    dtype: str = "f32"
    lo: float = -2.0
    hi: float = 2.0
    values: Any = None

    def make(self, seed: int) -> np.ndarray:
        """Make the array, the same bits under every numpy."""
        np_dtype = np.dtype("float32" if self.dtype == "bf16" else MS_NAMES[self.dtype].rstrip("_"))
        if self.values is not None:
            return np.array(self.values).astype(np_dtype)
        # Only `random` is promised to give the same stream in every release.
        x = self.lo + (self.hi - self.lo) * np.random.Generator(np.random.PCG64(seed)).random(
            self.shape
        )
        if self.dtype == "bool":
            return x > 0
        if np_dtype.kind in "iu":
            x = np.floor(x)
            if np_dtype.kind == "u":
                x = np.abs(x)
            return x.astype(np_dtype)
        if np_dtype.kind == "c":
            return (x + 1j * np.flip(x)).astype(np_dtype)
        if self.dtype == "bf16":
            return (x.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
        return x.astype(np_dtype)

    def with_dtype(self, dtype: str) -> Arr:
        """Give the same input in another dtype (floats become small integers where needed)."""
        if self.dtype != "f32":
            return self
        if dtype in FLOATS or dtype == "bool" or dtype.startswith("c") or self.values is not None:
            return dataclasses.replace(self, dtype=dtype)
        lo, hi = (1.0, 7.0) if self.lo > 0 else (-6.0, 7.0)
        return dataclasses.replace(self, dtype=dtype, lo=lo, hi=hi)


def f32(*shape: int, lo: float = -2.0, hi: float = 2.0) -> Arr:
    """Describe Float32 numbers between -2 and 2."""
    return Arr(shape, "f32", lo, hi)


def pos(*shape: int) -> Arr:
    """Describe positive Float32 numbers, away from 0."""
    return Arr(shape, "f32", 0.5, 2.5)


def unit(*shape: int) -> Arr:
    """Describe Float32 probabilities, away from 0 and 1."""
    return Arr(shape, "f32", 0.1, 0.9)


def i32(*shape: int, lo: int = -6, hi: int = 7) -> Arr:
    """Describe Int32 numbers in [lo, hi)."""
    return Arr(shape, "i32", lo, hi)


def i64(*shape: int, lo: int = -6, hi: int = 7) -> Arr:
    """Describe Int64 numbers in [lo, hi)."""
    return Arr(shape, "i64", lo, hi)


def mask(*shape: int) -> Arr:
    """Describe truth values."""
    return Arr(shape, "bool")


def lit(values: Any, dtype: str = "f32") -> Arr:
    """Describe a literal array."""
    return Arr(np.shape(values), dtype, values=values)


@dataclasses.dataclass(frozen=True, init=False)
class Case:
    """One op on one set of inputs, written through every face that the original has.

    Args:
        name: unique within its family; the seed of the inputs.
        inputs: described arrays; the faces know them as ``a``, ``b``, ...
        faces: Python expressions of the inputs (``"ops.sum(a, 1)"``), or statements that end in
            ``return``; ``"ops.add"`` stands for ``ops.add(a, b)``, ``"ops.Add()"`` for
            ``ops.Add()(a, b)`` and ``"Tensor.add"`` for ``a.add(b)``.
        dtypes: other dtypes in which the Float32 inputs are tried, in one string.
        grad: compare the gradients of the float inputs too.
        math: expression in numpy (``np``) and scipy.special (``sp``) that gives the value in
            float64, for faces that the original's CPU has no kernel for.
        judge: ``"math"`` where the original's CPU kernel contradicts its documentation.
        graph: whether GRAPH can do it (shapes that depend on values cannot be traced).
        raises: the original raises an error here.
        both: record GRAPH too, since there the original gives another value.
        tol: relative and absolute tolerance, if the dtype's own does not do.
        slow: costly to compile, and near to another row: only `make test-all` runs it.
    """

    name: str
    inputs: tuple[Arr, ...]
    faces: tuple[str, ...]
    grad: bool
    math: str | None
    judge: Judge
    graph: bool
    raises: bool
    both: bool
    tol: tuple[float, float] | None
    slow: bool
    dtypes: str

    def __init__(
        self,
        name: str,
        inputs: Sequence[Arr],
        *faces: str,
        dtypes: str = "",
        grad: bool = True,
        math: str | None = None,
        judge: Judge = "original",
        graph: bool = True,
        raises: bool = False,
        both: bool = False,
        tol: tuple[float, float] | None = None,
        slow: bool = False,
    ) -> None:
        values = {
            "name": name,
            "inputs": tuple(inputs),
            "faces": faces,
            "grad": grad and any(x.dtype in FLOATS for x in inputs),
            "math": math,
            "judge": judge,
            "graph": graph,
            "raises": raises,
            "both": both,
            "tol": tol,
            "slow": slow,
            "dtypes": dtypes,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def variants(self) -> list[Case]:
        """Give the case itself and one more for each other dtype."""
        more = []
        for dtype in self.dtypes.split():
            inputs = [x.with_dtype(dtype) for x in self.inputs]
            more.append(
                Case(
                    f"{self.name}@{dtype}",
                    inputs,
                    *self.faces,
                    grad=False,
                    math=self.math,
                    judge=self.judge,
                    graph=self.graph,
                    tol=self.tol,
                    slow=self.slow,
                )
            )
        return [self, *more]

    @property
    def params(self) -> str:
        """Give the names of the inputs."""
        return ", ".join(VARIABLES[: len(self.inputs)])

    def arrays(self) -> list[np.ndarray]:
        """Make the inputs."""
        base = self.name.split("@")[0]
        return [x.make(zlib.crc32(f"{base}/{i}".encode())) for i, x in enumerate(self.inputs)]

    def weight(self, i: int, shape: tuple[int, ...]) -> np.ndarray:
        """Make the cotangent of the i-th output."""
        return Arr(shape, "f32", 0.5, 1.5).make(zlib.crc32(f"{self.name}/sens/{i}".encode()))

    def checksum(self) -> int:
        """Give a number that tells whether two machines make the same inputs."""
        total = 0
        for x in self.arrays():
            total = zlib.crc32(np.ascontiguousarray(x).tobytes(), total)
        return total

    def body(self, face: str) -> list[str]:
        """Write a face as the statements of a function."""
        first, _, rest = self.params.partition(", ")
        if re.fullmatch(r"Tensor\.\w+", face):
            return [f"return {first}.{face[7:]}({rest})"]
        if re.fullmatch(r"(ops|mint|nn|ms)\.[\w.]+(\(\))?", face):
            return [f"return {face}({self.params})"]
        if "return " in face:
            return [line.strip() for line in face.split(";")]
        return [f"return {face}"]

    def names(self, index: int) -> set[str]:
        """Give the public names that a face uses, such as ``ops.add`` and ``Tensor.add``."""
        tree = ast.parse("\n".join(self.body(self.faces[index])).replace("return ", ""))
        found = set()
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute):
                continue
            path = ast.unparse(node)
            if re.fullmatch(r"(ops|mint|nn|ms)(\.\w+)+", path):
                found.add(path)
            elif not re.match(r"(ops|mint|nn|ms|np)\.[\w.]+$", path):
                found.add(f"Tensor.{node.attr}")
        return found

    def function(self, index: int, names: dict[str, Any]) -> Callable[..., Any]:
        """Compile a face into a function of the inputs whose source can be found."""
        ident = "case_" + re.sub(r"\W", "_", self.name)
        lines = [f"def {ident}({self.params}):"]
        lines += [f"    {line}" for line in self.body(self.faces[index])]
        return compile_source("\n".join(lines) + "\n", ident, f"<case {self.name} {index}>", names)


def compile_source(source: str, ident: str, filename: str, names: dict[str, Any]) -> Any:
    """Run a source text in ``names`` and give what it calls ``ident``.

    Both GRAPH compilers read the source of a function, so it is left where inspect looks.
    """
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = types.ModuleType(f"table_{ident}")
    module.__dict__.update(names)
    sys.modules[module.__name__] = module  # the original's parser imports it by this name
    exec(compile(source, filename, "exec"), module.__dict__)
    return module.__dict__[ident]


def families(group: str = "ops") -> dict[str, list[Case]]:
    """Give the tables of a folder of tests: family name to its cases with their dtype variants.

    The families of other groups than ``ops`` have the group's name in front: ``numpy/creation``.
    """
    cases = importlib.import_module(f"tests.{group}.cases")
    prefix = "" if group == "ops" else f"{group}/"
    tables = {}
    for module in pkgutil.iter_modules(cases.__path__):
        rows = importlib.import_module(f"{cases.__name__}.{module.name}").CASES
        tables[prefix + module.name] = [variant for row in rows for variant in row.variants()]
        names = [case.name for case in tables[prefix + module.name]]
        assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
    return tables
