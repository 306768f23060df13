"""Families of a namespace that are loaded when one of their names is first asked for.

A family is a package whose `__init__` is an explicit list of ``from module import name as name``.
The list is read without running it, so that importing the namespace does not load every part.
"""

from __future__ import annotations

import ast
from functools import cached_property
from importlib import import_module, resources
from typing import Any


class Families:
    """The packages of one namespace that load late.

    Args:
        parent: the namespace's module name.
        packages: names of the packages under it.
    """

    def __init__(self, parent: str, packages: tuple[str, ...]) -> None:
        self.parent = parent
        self.packages = packages

    @cached_property
    def _index(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for package in self.packages:
            source = resources.files(self.parent).joinpath(package, "__init__.py").read_text()
            for node in ast.parse(source).body:
                if isinstance(node, ast.ImportFrom) and node.module is not None:
                    found.update({n.asname: node.module for n in node.names if n.asname})
        return found

    def index(self) -> dict[str, str]:
        """Map every name of the families to the module that defines it."""
        return self._index

    def load(self, name: str) -> Any:
        """Load what a name stands for.

        Args:
            name: public name that a family lists.

        Raises:
            KeyError: no family lists it.
        """
        return getattr(import_module(self._index[name]), name)
