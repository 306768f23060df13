"""StableHLO: networks as artifacts that jax, IREE and the tools of XLA run."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Any
from urllib.parse import quote, unquote

from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.graph.portable import (
    PLATFORMS,
    Artifact,
    ArtifactError,
    RunArtifact,
    deserialize,
    platform,
    serialize,
    structure,
)
from mindjax.graph.recorded import Recorded, record
from mindjax.mindir.message import Message
from mindjax.mindir.message import serialize as message_bytes
from mindjax.nn.cell import Cell
from mindjax.tensor import Parameter

# What follows the artifact: this, and the SHA-256 of the bytes before. jax reads past neither.
_MARK = b"mindjax.sha256:"
# The usual suffix of MLIR's bytecode.
_BARE = ".mlirbc"
PAYLOAD, HASH = "mindjax.stablehlo", "mindjax.hash"


def export_stablehlo(
    net: Any, inputs: tuple[Any, ...], file_name: str, kwargs: dict[str, Any]
) -> None:
    """Write a network as an artifact.

    Args:
        net: Cell, or function of Tensors, that writes no Parameters.
        inputs: what it is called with.
        file_name: path; ``.stablehlo`` is appended if it does not end so. One that ends with
            ``.mlirbc`` gets the bare program as StableHLO's portable bytecode, which IREE and the
            tools of XLA read, for one platform; MindJAX does not read it back.
        kwargs: ``kernels`` (bool), whether the operators' own kernels for the platform in use take
            the place of what runs everywhere; ``gradients`` (bool), whether the backward pass is
            part of it; ``platforms``, a sequence of jax's names.

    Raises:
        NotImplementedError: the network writes Parameters.
        TypeError: an argument is not known.
        ValueError: a bare program is to hold gradients, or to run on several platforms.
    """
    kernels, gradients = bool(kwargs.pop("kernels", False)), bool(kwargs.pop("gradients", False))
    platforms = kwargs.pop("platforms", None)
    if kwargs:
        raise located(
            TypeError,
            f"For 'export', the argument '{next(iter(kwargs))}' does not belong to 'STABLEHLO'.",
        )
    recorded = record(net, inputs, portable=not kernels)
    if recorded.written:
        names = [getattr(h, "name", "a Tensor") for h in recorded.written]
        raise located(
            NotImplementedError,
            f"For 'export', the network writes {names[:3]}, which 'STABLEHLO' cannot hold: use "
            "'MINDIR', or call set_train(False).",
        )
    bare = file_name.endswith(_BARE)
    if platforms is None:
        platforms = (platform(),) if kernels or bare else PLATFORMS
    if bare and gradients:
        raise located(
            ValueError,
            f"For 'export', 'gradients' cannot be True for {file_name}: a bare program has no "
            "backward pass; write a '.stablehlo' file.",
        )
    if bare and len(platforms) != 1:
        raise located(
            ValueError,
            f"For 'export', 'platforms' must be one name for {file_name}, but got {platforms}: a "
            "program for several takes the number of the platform as one more input.",
        )
    content = serialize(recorded, platforms, gradients)
    if bare:
        content = deserialize(content).bytecode
    else:
        content += _MARK + hashlib.sha256(content).digest()
    path = file_name if bare or file_name.endswith(".stablehlo") else f"{file_name}.stablehlo"
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with replacing(path, 0o644) as file:
        file.write(content)


def read_artifact(path: str) -> Artifact:
    """Read an artifact, of MindJAX or of jax alone.

    Raises:
        ArtifactError: the file is damaged, or something else.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read()
    size = len(_MARK) + hashlib.sha256().digest_size
    if content[-size:].startswith(_MARK):
        content, kept = content[:-size], content[len(_MARK) - size :]
        if hashlib.sha256(content).digest() != kept:
            raise ArtifactError("its check sum is wrong")
    return deserialize(content)


def load_stablehlo(file_name: str) -> StableHLO:
    """Read a StableHLO artifact, such as ``export`` and ``jax.export`` write it, as a network.

    Args:
        file_name: path.

    Returns:
        A Cell without Parameters.

    Raises:
        RuntimeError: the file is damaged or something else (`ArtifactError`).
        OSError: it cannot be read.
    """
    try:
        return StableHLO(read_artifact(file_name))
    except ArtifactError as error:
        raise located(
            ArtifactError, f"For 'load_stablehlo', {file_name} cannot be read: {error}."
        ) from error


class StableHLO(Cell):
    """A program out of a StableHLO artifact.

    Args:
        artifact: the program.
    """

    def __init__(self, artifact: Artifact) -> None:
        super().__init__()
        self.artifact = artifact
        self._program = RunArtifact(artifact)

    def construct(self, *inputs: Any) -> Any:
        """Run the program on Tensors."""
        return run(self._program, inputs)


def run(program: RunArtifact, inputs: Any) -> Any:
    """Run an artifact and give its results in their structure."""
    results = program(*inputs)

    def put(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(put(v) for v in value)
        if isinstance(value, dict):
            return {k: put(v) for k, v in value.items()}
        return results[value] if isinstance(value, int) else value

    return put(structure(program.artifact))


# -- the artifact inside a MindIR file --


def network_hash(model: Message) -> str:
    """Give the hash of a file's graphs and weights, without what users noted in it."""
    kept = model.user_info
    model.clear("user_info")
    try:
        return hashlib.sha256(message_bytes(model)).hexdigest()
    finally:
        if kept:
            model.user_info = kept


def add_payload(model: Message, recorded: Recorded) -> None:
    """Keep the traced program in a file, beside the graph that says the same.

    Args:
        model: the file's message.
        recorded: the traced network, which writes no state.
    """
    places = {i: c.name for i, c in enumerate(recorded.constants) if isinstance(c, Parameter)}
    content = serialize(recorded, PLATFORMS, True, list(places))
    model.user_info[HASH] = " ".join([network_hash(model), *map(quote, places.values())])
    model.user_info[PAYLOAD] = base64.b64encode(content).decode()


def payload(model: Message) -> tuple[RunArtifact, list[str]] | None:
    """Find the program in a file; None if there is none or it is not the graph's own.

    Args:
        model: the file's message.

    Returns:
        The program, and the names of the Parameters that it takes before the inputs.
    """
    if PAYLOAD not in model.user_info or HASH not in model.user_info:
        return None
    kept, *names = model.user_info[HASH].split(" ")
    if kept != network_hash(model):
        return None
    try:
        content = base64.b64decode(model.user_info[PAYLOAD], validate=True)
        return RunArtifact(deserialize(content)), [unquote(n) for n in names]
    except (ValueError, ArtifactError):
        return None
