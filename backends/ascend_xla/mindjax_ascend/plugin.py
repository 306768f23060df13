"""Registers the platform ``ascend`` with jax."""


def register() -> None:
    """Register nothing: the plugin's library is not built yet."""
