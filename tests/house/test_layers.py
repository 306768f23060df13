"""Imports go downwards only, and packages are whole."""

import ast

import pytest

from tests.house.source import PACKAGES, ids, imports, module_name, package_files, tree

RANKS = {
    "version": 0,
    "old_paths": 0,
    "_checkparam": 1,
    "_c_expression": 1,
    "_extends": 0,
    "core": 0,
    "mindrecord": 0,
    "dataset": 0,
    "ops": 1,
    "tensor": 2,
    "autodiff": 3,
    "graph": 3,
    "mint": 4,
    "numpy": 4,
    "scipy": 4,
    "nn": 5,
    "experimental": 6,
    "train": 6,
    "checkpoint": 6,
    "mindir": 6,
    "onnx": 6,
    "amp": 6,
    "boost": 6,
    "mindjax_parallel": 7,
    "parallel": 8,
    "profiler": 8,
    "communication": 8,
    "mint.nn": 5,
    "mint.optim": 5,
    "mint.distributed": 8,
    "common": 8,
    "context": 8,
    "dtype": 8,
    "log": 0,
    "runtime": 8,
    "hal": 8,
    "device_context": 8,
    "device_manager": 8,
    "tools": 8,
    "utils": 8,
    "rewrite": 8,
    "safeguard": 8,
    "multiprocessing": 8,
    "interop": 8,
    "alias": 9,
    "cli": 9,
    "__main__": 9,
    "root": 9,
}
# Workers of a pipeline load these modules and no others: they must not load XLA.
DATASET_MAY_IMPORT = (
    "mindjax.dataset",
    "mindjax.mindrecord",
    "mindjax.core.dtype",
    "mindjax.core.errors",
)
# A worker in which the user's program has loaded jax makes its operations raise.
FORBIDS_JAX = "mindjax/dataset/engine/workers.py"


def layer(name):
    """Name the layer of a dotted import, None for other people's packages."""
    parts = name.split(".")
    if parts[0] == "mindjax_parallel":
        return "mindjax_parallel"
    if parts[0] != "mindjax":
        return None
    if len(parts) == 1:
        return "root"
    inner = ".".join(parts[1:3])
    return inner if inner in RANKS else parts[1]


def lazy_lists(path):
    """Lines of a module's own ``__getattr__``: the explicit list of names of higher layers."""
    lines = set()
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            lines.update(range(node.lineno, node.end_lineno + 1))
    return lines


def upward(path):
    """Describe a file's imports from layers above its own."""
    own = layer(module_name(path))
    allowed = lazy_lists(path)
    return [
        f"line {line}: {name}"
        for name, line, _ in imports(path)
        if (target := layer(name)) is not None
        and line not in allowed
        and RANKS.get(target, RANKS["root"]) > RANKS[own]
    ]


@pytest.mark.parametrize("path", package_files(), ids=ids)
def test_imports_go_downwards(path):
    own = layer(module_name(path))
    if own == "dataset":
        pytest.skip("test_dataset_loads_no_xla looks at it")
    assert own in RANKS, f"give the package {own} a place among the layers"
    assert not upward(path)


def test_dataset_loads_no_xla():
    wrong = [
        f"{ids(path)}:{line}: {name}"
        for path in package_files()
        if layer(module_name(path)) == "dataset"
        for name, line, lazy in imports(path)
        if (
            name.split(".")[0] in ("jax", "jaxlib", "flax", "optax")
            and not (lazy and ids(path) == FORBIDS_JAX)
        )
        or (layer(name) is not None and not name.startswith(DATASET_MAY_IMPORT))
    ]
    assert not wrong


def test_private_jax_has_one_door():
    door = PACKAGES[0] / "core/jax_private.py"
    wrong = [
        f"{ids(path)}:{line}: {name}"
        for path in package_files()
        if path != door
        for name, line, _ in imports(path)
        if name.startswith(("jax._src", "jaxlib"))
    ]
    assert not wrong


def test_every_folder_is_a_package():
    folders = {path.parent for path in package_files()}
    assert not [ids(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_an_upward_import_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.house.source.ROOT", tmp_path)
    path = tmp_path / "mindjax/ops/bad.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from mindjax.tensor import Tensor\n"
        "def __getattr__(name):\n    from mindjax.nn import Cell\n"
        "def late():\n    import mindjax.nn.cell\n"
        "from ..train import model\n"
        "from mindjax.core import dtype\n"
    )
    assert upward(path) == ["line 7: mindjax.nn.cell", "line 8: mindjax.train.model"]
