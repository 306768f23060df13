"""What jax finds when it looks for plugins; it calls `initialize` before it starts a backend."""


def initialize() -> None:
    """Register the platform ``ascend``, unless jax is told to use others only."""
    import jax

    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    if platforms and "ascend" not in platforms.split(","):
        return
    from mindjax_ascend import plugin

    plugin.register()
