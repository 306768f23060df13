"""Only core reads what is behind a handle (decision 8): elsewhere an op would miss the engine."""

import ast

import pytest

from tests.house.source import ROOT, ids, module_name, package_files, tree

# Files that may, each with its reason; `dataset` has no handles, its `.value` is an enum's.
MAY = {
    "mindjax/tensor/tensor.py": "Tensor is the handle: asnumpy, __jax_array__ and pickling read it",
    "mindjax/tensor/parameter.py": "Parameter is the handle: set_data writes it",
    "mindjax/checkpoint/ckpt.py": "the value of a checksum",
}


def touches(path):
    """List the lines of a file that read or write the attribute ``value``."""
    return [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in ("value", "assign_value")
    ]


def judged(path):
    """Tell whether the rule holds for a file."""
    package = module_name(path).split(".")[1:2]
    return package not in (["core"], ["dataset"]) and str(path.relative_to(ROOT)) not in MAY


@pytest.mark.parametrize("path", [p for p in package_files() if judged(p)], ids=ids)
def test_values_stay_behind_the_dispatch(path):
    assert not touches(path)


def test_exceptions_are_needed():
    unneeded = [name for name in MAY if not (ROOT / name).exists() or not touches(ROOT / name)]
    assert not unneeded
