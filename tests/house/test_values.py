"""Only core reads what is behind a handle (decision 8): elsewhere an op would miss the engine."""

import ast

import pytest

from tests.house.source import ROOT, ids, module_name, package_files, tree

# Files that may, each with its reason.
MAY = {
    "mindjax/tensor/tensor.py": "Tensor is the handle: asnumpy, __jax_array__ and pickling read it",
    "mindjax/tensor/methods/memory.py": "devices, files and DLPack take the array itself",
    "mindjax/tensor/parameter.py": "Parameter is the handle: set_data writes it",
}
# Packages that may: they move values between frames and programs.
PACKAGES = ("core", "autodiff", "graph", "interop", "dataset")


def touches(path):
    """List the lines of a file that reach for an array: ``x.array`` outside ``compute``.

    ``self.array`` is an attribute of the class's own, unless the class is a handle.
    """
    computes = {
        id(inner)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and node.name == "compute"
        for inner in ast.walk(node)
    }
    return [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in ("array", "_value")
        if id(node) not in computes and ast.unparse(node.value) not in ("np", "jnp", "numpy")
        if str(path.relative_to(ROOT)) in MAY or ast.unparse(node.value) != "self"
    ]


def judged(path):
    """Tell whether the rule holds for a file."""
    package = module_name(path).split(".")[1:2]
    return not set(package) & set(PACKAGES) and str(path.relative_to(ROOT)) not in MAY


@pytest.mark.parametrize("path", [p for p in package_files() if judged(p)], ids=ids)
def test_values_stay_behind_the_dispatch(path):
    assert not touches(path)


def test_exceptions_are_needed():
    unneeded = [name for name in MAY if not (ROOT / name).exists() or not touches(ROOT / name)]
    assert not unneeded
