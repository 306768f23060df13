"""What the house tests read: our source files, their imports, and the original's API."""

import ast
import functools
import gzip
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "mindjax", ROOT / "parallel/mindjax_parallel")


def package_files():
    """List the source files of the distribution."""
    return sorted(path for package in PACKAGES for path in package.rglob("*.py"))


def all_files():
    """List every Python file of the repository."""
    folders = ("mindjax", "parallel", "backends", "tests", "examples", "benchmarks")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def ids(path):
    """Name a file in a test's id."""
    return str(path.relative_to(ROOT))


def module_name(path):
    """Give the dotted import name of a file of the distribution."""
    base = ROOT / "parallel" if path.is_relative_to(ROOT / "parallel") else ROOT
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree(path):
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@functools.cache
def imports(path):
    """List a file's imports, those for type checkers apart left out.

    Returns:
        A tuple of triples of imported module, line, and whether the import waits inside a function.
    """
    found = []
    package = (
        module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    )

    def visit(node, lazy):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child, lazy)
            return
        if isinstance(node, ast.Import):
            found.extend((name.name, node.lineno, lazy) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            found.extend((f"{base}.{name.name}", node.lineno, lazy) for name in node.names)
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        # An import is a statement: what stands in an expression is not looked at.
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for child in getattr(node, field, ()):
                visit(child, inside)

    visit(tree(path), False)
    return tuple(found)


@functools.cache
def _golden():
    with gzip.open(ROOT / "tests/goldens/api_names.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def api():
    """Give the original's API: namespace -> name -> (kind, signature or None, members)."""
    return _golden()["modules"]


def undocumented(namespace):
    """Give the names that one of the original's namespaces shows without documenting them."""
    return set(_golden()["undocumented"].get(namespace, ()))
