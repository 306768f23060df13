"""`import mindspore`: an opt-in import hook that answers with the modules of MindJAX themselves."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from mindjax.old_paths import FORWARDS

ALIAS = "mindspore"
TARGET = "mindjax"


def _target_of(path: str) -> str:
    """Give our module for a path below the original's package."""
    forwarded = FORWARDS.get(path)
    if forwarded is None and path.startswith("ops.composite.multitype_ops."):
        forwarded = "ops.composite"
    return f"{TARGET}.{forwarded or path}"


class _Kept(ModuleType):
    """A module whose functions stay when an old path of the same name below it is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        shown = self.__dict__.get(name)
        if isinstance(value, ModuleType) and callable(shown) and not isinstance(shown, ModuleType):
            return
        super().__setattr__(name, value)


class _AliasLoader(Loader):
    """Load one alias by importing the module it stands for."""

    def __init__(self, alias: str, target: str) -> None:
        self.alias = alias
        self.target = target

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.target)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just written the alias's spec into the module. Reloading, pickling
        # and multiprocessing ask the spec for the module's name, so it gets its own back.
        module.__spec__ = self.spec
        parent, _, child = self.alias.rpartition(".")
        holder = sys.modules.get(parent)
        if type(holder) is ModuleType and holder is not None:
            forwarded = self.target != f"{holder.__name__}.{child}"
            if forwarded and callable(getattr(holder, child, None)):
                # `from mindspore.graph.lazy_inline import lazy_inline`: the function comes first.
                holder.__class__ = _Kept
        # Importing a submodule binds it in its package, over a function of the same name
        # (`common.seed`). What is imported already is left as its package shows it.
        below = f"{module.__name__}."
        for name, submodule in list(sys.modules.items()):
            child = name.removeprefix(below)
            if name.startswith(below) and "." not in child:
                shown = module.__dict__.get(child, submodule)
                if shown is not submodule:
                    sys.modules[f"{self.alias}.{child}"] = submodule


class _AliasFinder(MetaPathFinder):
    """Find `mindspore` and `mindspore.x.y` wherever `mindjax.x.y` exists."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if top != ALIAS:
            return None
        name = _target_of(rest) if rest else TARGET
        real = importlib.util.find_spec(name)
        if real is None:
            return None
        spec = ModuleSpec(fullname, _AliasLoader(fullname, name), origin=real.origin)
        # A forward is a package to the import system, so that paths below it are looked up here.
        spec.submodule_search_locations = real.submodule_search_locations or (
            [] if rest in FORWARDS else None
        )
        return spec


def installed() -> bool:
    """Tell whether `import mindspore` gives MindJAX in this process."""
    return any(isinstance(finder, _AliasFinder) for finder in sys.meta_path)


def install() -> None:
    """Make `import mindspore` give MindJAX in this process; a second call does nothing.

    Raises:
        ImportError: the real MindSpore is imported already, so that both would be mixed.
    """
    if installed():
        return
    package = sys.modules.get(ALIAS)
    if package is not None and package is not sys.modules.get(TARGET):
        where = getattr(package, "__file__", None) or "an unknown place"
        raise ImportError(
            f"mindjax.install() must come before the first 'import {ALIAS}': "
            f"another {ALIAS} is imported already, from {where}",
            name=ALIAS,
        )
    sys.meta_path.insert(0, _AliasFinder())
