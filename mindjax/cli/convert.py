"""``mindjax convert weights``: a file of torch as a checkpoint."""

from __future__ import annotations

import sys

from mindjax.alias import install


def convert_weights(
    source: str,
    target: str,
    to: str | None = None,
    network: str | None = None,
    key: str | None = None,
) -> int:
    """Convert a file of weights, and print the names that change.

    Args:
        source: the file of torch, or a safetensors file.
        target: the file to write.
        to: ``"ckpt"`` or ``"safetensors"``; by default what ``target`` ends with.
        network: ``FILE.py:NAME`` of the network that takes the weights; without it the new names
            are worked out from the old ones.
        key: the entry of ``source`` that holds the state_dict.

    Returns:
        The process's exit status: 0, or 2 if something given does not fit.
    """
    install()
    from mindjax import checkpoint
    from mindjax.cli import export

    try:
        net = None if network is None else export.network(network)
        names = checkpoint.convert_weights(source, target, to, net, key=key)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        print(f"mindjax: {source} is not converted: {error}", file=sys.stderr)
        return 2
    for old, new in names.items():
        if old != new:
            print(f"{old} -> {new}")
    print(f"{len(names)} weights of {source} converted to {target}")
    return 0
