"""Each argument of a public function, method or Primitive is used by its body.

What only a `del` or `_ = ...` names is not used. That a used argument has an effect is what
tests/ops/test_arguments.py sees.
"""

import ast

import pytest

from tests.house.arguments import DEVICE_TUNING, LIMIT, is_tuning
from tests.house.source import ROOT, ids, tree

FOLDERS = ("ops", "mint", "numpy", "scipy", "tensor", "autodiff")
FILES = sorted(path for f in FOLDERS for path in (ROOT / "mindjax" / f).rglob("*.py"))
# Methods that other code calls with arguments that not every one of them needs.
INTERFACES = {"compute", "bind", "bprop", "reduced", "scaled", "__call__", "__exit__", "__array__"}


def named(function):
    """List the names of a function's parameters."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [arg.arg for arg in every if arg and not arg.arg.startswith("_")]


def read(function):
    """Collect the names that a function's body reads."""
    kept = [s for s in function.body if not (isinstance(s, ast.Assign) and is_thrown_away(s))]
    return {
        node.id
        for statement in kept
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def is_thrown_away(statement):
    """Tell whether a statement only gives a value the name ``_``."""
    return all(isinstance(t, ast.Name) and t.id == "_" for t in statement.targets)


def is_declaration(function):
    """Tell whether a function has no body of its own, or only raises."""
    marked = any(
        word in ast.unparse(d) for d in function.decorator_list for word in ("overload", "abstract")
    )
    texts = (ast.Expr, ast.Pass, ast.Raise)
    return marked or all(
        isinstance(s, texts) and isinstance(getattr(s, "value", ast.Constant(0)), ast.Constant)
        for s in function.body
    )


def unused_parameters(path):
    """List ``function.parameter`` for what the functions of a file do not read."""
    found = []
    for node in tree(path).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in members:
            if not isinstance(function, ast.FunctionDef) or is_declaration(function):
                continue
            private = function.name.startswith("_") and not function.name.startswith("__")
            if private or function.name in INTERFACES:
                continue
            used = read(function) | {"self", "cls"}
            owner = node.name if function.name == "__init__" else function.name
            found += [f"{owner}.{p}" for p in named(function) if p not in used]
    return found


def is_plain_record(node):
    """Tell whether a class only keeps values."""
    return any("NamedTuple" in ast.unparse(base) for base in node.bases)


def unused_fields(path):
    """List ``Class.field`` for attributes of records that their file does not read."""
    nodes = list(ast.walk(tree(path)))
    read_names = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    read_names |= {n.value for n in nodes if isinstance(n, ast.Constant)}
    read_names |= {n.arg for n in nodes if isinstance(n, ast.keyword)}
    return [
        f"{node.name}.{field.target.id}"
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not is_plain_record(node)
        for field in node.body
        if isinstance(field, ast.AnnAssign)
        and "ClassVar" not in ast.unparse(field.annotation)
        and not field.target.id.startswith("_")
        and field.target.id not in read_names
    ]


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_every_argument_is_used(path):
    unused = unused_parameters(path) + unused_fields(path)
    assert sorted(n for n in set(unused) if not is_tuning(n)) == []


def test_the_list_is_short():
    assert len(DEVICE_TUNING) <= LIMIT
    assert all(DEVICE_TUNING.values())
