"""What jax finds when it looks for plugins; it calls `initialize` before it starts a backend."""


def initialize() -> None:
    """Register the platform ``ascend`` with jax, where its library is built."""
    from mindjax_ascend import plugin

    plugin.register()
