"""Programs as portable StableHLO artifacts, those of ``jax.export``: written, read and run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.export

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.state import Wide
from mindjax.graph.recorded import Recorded

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


class ArtifactError(RuntimeError):
    """The bytes are no StableHLO artifact; the message says why."""


class Artifact(NamedTuple):
    """A program that was read.

    Attributes:
        exported: jax's object.
        inputs: shape (as text) and dtype of each input.
        outputs: the same of each output.
    """

    exported: Any
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]

    @property
    def text(self) -> str:
        """The program as StableHLO."""
        return self.exported.mlir_module()

    @property
    def bytecode(self) -> bytes:
        """The program alone as StableHLO's portable bytecode."""
        return bytes(self.exported.mlir_module_serialized)


def serialize(
    recorded: Recorded, platforms: Sequence[str], gradients: bool, inputs: Sequence[int] = ()
) -> bytes:
    """Lower a network to an artifact.

    Args:
        recorded: the traced network, which writes no state.
        platforms: jax platforms that it shall run on.
        gradients: whether it holds its backward pass too.
        inputs: which of the constants are inputs, before the others, and not part of the artifact.

    Returns:
        The artifact, the bytes of ``jax.export``.
    """
    state = recorded.arrays()
    count = len(inputs)

    def program(*arrays: Any) -> Any:
        full = list(state)
        for place, array in zip(inputs, arrays[:count], strict=True):
            full[place] = array
        return recorded.results(full, arrays[count:])

    types = [jax.ShapeDtypeStruct(state[i].shape, state[i].dtype) for i in inputs]
    types += [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in recorded.jaxpr.invars]
    with Wide():
        exported = jax.export.export(jax.jit(program), platforms=tuple(platforms))(*types)
        return bytes(exported.serialize(vjp_order=int(gradients)))


def deserialize(content: bytes) -> Artifact:
    """Read an artifact.

    Args:
        content: its bytes.

    Returns:
        The program.

    Raises:
        ArtifactError: the bytes are none.
    """
    try:
        exported = jax.export.deserialize(bytearray(content))
        inputs, outputs = _types(exported.in_avals), _types(exported.out_avals)
    except Exception as error:
        raise ArtifactError(
            f"the content is no artifact of jax.export: {type(error).__name__}"
        ) from error
    return Artifact(exported, inputs, outputs)


def _types(avals: Sequence[Any]) -> list[tuple[str, str]]:
    return [("x".join(map(str, a.shape)) or "scalar", a.dtype.name) for a in avals]


class RunArtifact(Primitive, register=False):
    """An artifact as an operator."""

    own_executable = True

    artifact: Any

    def compute(self, *arrays: Any) -> Any:
        """Run the program; its results come as one flat tuple."""
        exported = self.artifact.exported
        given = [(a.shape, a.dtype) for a in arrays]
        wanted = [(t.shape, t.dtype) for t in exported.in_avals]
        fixed = all(isinstance(n, int) for shape, _ in wanted for n in shape)
        if len(given) != len(wanted) or (fixed and given != wanted):
            raise located(
                ValueError,
                f"The program takes arrays of {self.artifact.inputs}, but got "
                f"{[(shape, dtype.name) for shape, dtype in given]}.",
            )
        return tuple(jax.tree.leaves(exported.call(*arrays)))


def platform() -> str:
    """Name the platform that programs run on now."""
    return jax.default_backend()


def structure(artifact: Artifact) -> Any:
    """Give the structure of the results of an artifact, with their numbers as leaves."""
    tree = artifact.exported.out_tree
    return jax.tree.unflatten(tree, list(range(tree.num_leaves)))
