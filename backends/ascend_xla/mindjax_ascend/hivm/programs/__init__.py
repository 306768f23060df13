"""Kernels written in MLIR by hand, to compile and simulate like those that come from JAX."""

from importlib import resources


def names() -> list[str]:
    """The names of the kernels that come with the package, sorted."""
    files = resources.files(__name__).iterdir()
    return sorted(f.name.removesuffix(".mlir") for f in files if f.name.endswith(".mlir"))


def source(name: str) -> str:
    """The MLIR text of a kernel.

    Args:
        name: One of `names()`.

    Returns:
        The text of a module for `compiler.compile`.

    Raises:
        FileNotFoundError: There is no kernel of that name.
    """
    return resources.files(__name__).joinpath(f"{name}.mlir").read_text()
