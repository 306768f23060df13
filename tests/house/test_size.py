"""Files stay short, are named for what they hold, and no two bodies of ops say the same."""

import ast
from collections import defaultdict

import pytest

from tests.house.source import (
    ROOT,
    all_files,
    api,
    ids,
    module_name,
    package_files,
    undocumented,
)

LINES = 800
VAGUE = {"util", "utils", "helper", "helpers", "common", "misc", "tools", "lib"}


@pytest.mark.parametrize("path", all_files(), ids=ids)
def test_file_is_short(path):
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert count <= LINES, f"{count} lines: split the family"


def test_no_vague_names():
    """Only import paths of the original may have one."""
    wrong = set()
    for path in package_files():
        parts = module_name(path).split(".")
        for end, part in enumerate(parts, 1):
            above = ".".join(["mindspore", *parts[1 : end - 1]])
            if part in VAGUE and not (f"{above}.{part}" in api() or part in undocumented(above)):
                wrong.add(ids(path))
    wrong |= {ids(p) for p in (ROOT / "tests").rglob("*.py") if p.stem in VAGUE}
    assert not wrong


SMALL = 30


def body(function):
    """Write a function's body with its own names and texts made alike.

    Returns:
        The text, and its size in syntax nodes.
    """
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    own = {a.arg: f"argument{i}" for i, a in enumerate(named)}
    lines = function.body[1:] if ast.get_docstring(function) is not None else function.body
    nodes = [n for line in lines for n in ast.walk(line)]
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.setdefault(node.id, f"local{len(own)}")

    class Alike(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Name(own.get(node.id, node.id), node.ctx)

        def visit_Constant(self, node):
            return ast.Constant("text") if isinstance(node.value, str) else node

    text = "\n".join(ast.dump(Alike().visit(line)) for line in lines)
    return text, len(nodes)


def test_no_two_bodies_of_ops_say_the_same():
    places = defaultdict(list)
    for path in (ROOT / "mindjax/ops").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                text, size = body(node)
                if size >= SMALL:
                    places[text].append(f"{ids(path)}:{node.lineno} {node.name}")
    assert [p for p in places.values() if len(p) > 1] == []
