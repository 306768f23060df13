"""The original's names say what they take; that a docstring is there at all is ruff's to check."""

import ast

import pytest

from tests.house.source import api, ids, module_name, package_files, tree


def face_names(path):
    """Give the original's names that a file of ours may define."""
    package = ".".join(["mindspore", *module_name(path).split(".")[1:2]])
    spaces = [s for s in api() if s in ("mindspore", package) or s.startswith(package + ".")]
    return set().union(*(api()[space] for space in spaces))


def parameters(node):
    """List what a function takes, or what a class is made with."""
    if isinstance(node, ast.ClassDef):
        inits = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        return parameters(inits[0])[1:] if inits else []
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [arg.arg for arg in every if arg is not None]


def undescribed(path):
    """List a file's public functions and classes that take something and do not describe it."""
    faces = face_names(path)
    return [
        f"line {node.lineno}: {node.name}"
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in faces
        if parameters(node) and "Args:" not in (ast.get_docstring(node) or "")
    ]


@pytest.mark.parametrize("path", package_files(), ids=ids)
def test_arguments_are_described(path):
    assert not undescribed(path)


@pytest.mark.parametrize("path", package_files(), ids=ids)
def test_module_says_what_lives_there(path):
    assert ast.get_docstring(tree(path))
